/**
 * Sessions of opencode, as `opencode export` writes them: `{ "info", "messages": [{ "info", "parts" }] }`.
 *
 * - a message of the assistant has its calls with their results, which become a message and one with results
 * - a part `compaction` and the summary behind it (`summary: true`) are a compaction, and no messages
 * - marks of steps, snapshots and patches are of the program, and not read
 */
import type { Message } from "@memfold/core"
import { Either } from "effect"
import {
  type Compaction,
  countOf,
  listOf,
  objectOf,
  type Reader,
  type Reading,
  recorded,
  single,
  nothing,
  textOf,
  timeAt,
  written,
} from "./Reader.js"
import { isObject, type JsonObject, type Problem, type Source } from "./source.js"

const isMessage = (value: unknown): value is JsonObject =>
  isObject(value) && isObject(value["info"]) && Array.isArray(value["parts"])

const listIn = (source: Source): ReadonlyArray<unknown> | undefined => {
  if (source.kind === "lines") return undefined
  const { value } = source
  const list = Array.isArray(value) ? (value as ReadonlyArray<unknown>) : objectOf(value)["messages"]
  return Array.isArray(list) && list.some(isMessage) ? (list as ReadonlyArray<unknown>) : undefined
}

/** Parts of the program, in which nothing is said. */
const silent = ["step-start", "step-finish", "snapshot", "patch", "retry", "compaction"]

const partsOf = (part: JsonObject): ReadonlyArray<Message.Part> => {
  const { type, text, mime, url, filename, state, callID, tool } = part
  switch (type) {
    case "text":
      return textOf(text) === undefined ? [] : [{ type, text: String(text) }]
    case "reasoning":
      return [{ type, text: written(text) }]
    case "file": {
      const name = textOf(filename) === undefined ? {} : { name: String(filename) }
      return [{ type, mediaType: textOf(mime) ?? "application/octet-stream", uri: written(url), ...name }]
    }
    case "tool":
      return [
        {
          type: "tool-call",
          id: written(callID),
          name: written(tool),
          arguments: JSON.stringify(objectOf(state)["input"] ?? {}),
        },
      ]
    default:
      return silent.some((one) => one === type) ? [] : [{ type: "opaque", provider: "opencode", data: part }]
  }
}

const resultOf = (part: JsonObject): ReadonlyArray<Message.ToolResult> => {
  const state = objectOf(part["state"])
  const failed = state["status"] === "error"
  if (part["type"] !== "tool" || !(failed || state["status"] === "completed")) return []
  const output = written(failed ? state["error"] : state["output"])
  return [
    {
      type: "tool-result",
      id: written(part["callID"]),
      name: written(part["tool"]),
      output,
      isError: failed,
    },
  ]
}

const usageOf = (tokens: JsonObject): Message.Usage | undefined => {
  const cache = objectOf(tokens["cache"])
  const [input, output] = [countOf(tokens["input"]), countOf(tokens["output"])]
  if (input === undefined || output === undefined || input + output === 0) return undefined
  return {
    input: input + (countOf(cache["read"]) ?? 0) + (countOf(cache["write"]) ?? 0),
    output: output + (countOf(tokens["reasoning"]) ?? 0),
  }
}

const textIn = (parts: ReadonlyArray<Message.Part>): string =>
  parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n")

const read = (list: ReadonlyArray<unknown>): Reading => {
  const messages: Array<Message.Message> = []
  const compactions: Array<Compaction> = []
  const stopped = (index: number, { problem, ...rest }: Problem): Reading => ({
    messages,
    compactions,
    broken: { problem: `message ${index} ${problem}`, ...rest },
  })
  for (const [index, message] of list.entries()) {
    if (!isMessage(message)) return stopped(index, { problem: "has no info or no parts" })
    const info = objectOf(message["info"])
    const raw = listOf(message["parts"]).map(objectOf)
    const { role } = info
    if (role !== "user" && role !== "assistant") {
      return stopped(index, { problem: "has an unknown role", allowed: "user, assistant" })
    }
    const time = timeAt(objectOf(info["time"]), "created")
    if (Either.isLeft(time)) {
      const { allowed } = time.left
      return stopped(index, {
        problem: "has no readable time at created",
        ...(allowed === undefined ? {} : { allowed }),
      })
    }
    const parts = raw.flatMap(partsOf)
    const kept = { id: textOf(info["id"]), time: time.right }
    const mark = raw.find(({ type }) => type === "compaction")
    if (mark !== undefined) {
      const trigger = mark["auto"] === undefined ? {} : { trigger: mark["auto"] === true ? "auto" : "manual" }
      compactions.push({
        after: messages.length,
        ...trigger,
        ...(kept.time === undefined ? {} : { time: kept.time }),
      })
    }
    if (role === "assistant" && info["summary"] === true) {
      const known = compactions.at(-1)?.after === messages.length ? compactions.pop() : undefined
      const made = known ?? {
        after: messages.length,
        ...(kept.time === undefined ? {} : { time: kept.time }),
      }
      compactions.push({ ...made, summary: textIn(parts) })
      continue
    }
    if (parts.length === 0) continue
    const assistant = role === "assistant"
    const model = textOf(info["modelID"]) ?? textOf(objectOf(info["model"])["modelID"])
    const usage = assistant ? usageOf(objectOf(info["tokens"])) : undefined
    messages.push(recorded({ role, parts }, { ...kept, model: assistant ? model : undefined, usage }))
    const results = raw.flatMap(resultOf)
    if (results.length > 0) messages.push(recorded({ role: "tool", parts: results }, kept))
  }
  return { messages, compactions, broken: undefined }
}

export const reader: Reader = {
  recognizes: (source) => listIn(source) !== undefined,
  find: (source) =>
    single(() => {
      const list = listIn(source)
      return list === undefined
        ? nothing({
            problem: "the file holds no session of opencode",
            allowed: "what opencode export writes",
          })
        : read(list)
    }),
}
