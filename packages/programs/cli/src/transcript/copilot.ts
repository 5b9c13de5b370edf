/**
 * Sessions of GitHub Copilot: of the command line (`~/.copilot/session-state/…/events.jsonl`), events in JSON Lines; and of VS Code
 * (`chatSessions/*.json`), one object with `requests`, or (`*.jsonl`) a line with that object, and a line for each change since.
 *
 * - the calls of an answer of the command line stand in it, their results in events of their own; what a sub-agent does for a call
 *   (`parentToolCallId`) is a conversation of its own
 * - of a request of VS Code, the texts and thoughts of its answer are read, and of a call what the page shows of it
 */
import type { Message } from "@memfold/core"
import { Either } from "effect"
import * as Field from "./Field.js"
import { spokenIn } from "./leftOut.js"
import type { Said } from "./EntryFormat.js"
import { linesIn, readerOf } from "./Log.js"
import { allRecorded, argumentsOf, reasoning, recorded, result, text, timeAt } from "./parts.js"
import { isObject, type JsonObject, type Source } from "./source.js"

const readEvent = Field.reads({
  type: Field.text,
  id: Field.text,
  timestamp: Field.any,
  data: Field.record({
    content: Field.text,
    reasoningText: Field.text,
    model: Field.text,
    toolRequests: Field.records({ toolCallId: Field.any, name: Field.any, arguments: Field.any }),
    toolCallId: Field.text,
    toolName: Field.text,
    success: Field.flag,
    result: Field.any,
    error: Field.any,
    parentToolCallId: Field.text,
  }),
  request: Field.any,
})
type Entry = ReturnType<typeof readEvent>

const saidTypes = new Set(["user.message", "assistant.message", "tool.execution_complete"])

const isEvent = (value: unknown): boolean =>
  isObject(value) &&
  isObject(value["data"]) &&
  /^(?:session|user|assistant|tool)\./.test(readEvent(value).type ?? "")

const readSession = Field.reads({ requests: Field.list })
const readRequest = Field.reads({
  requestId: Field.text,
  timestamp: Field.any,
  modelId: Field.text,
  message: Field.any,
  response: Field.list,
})
const readPart = Field.reads({ kind: Field.text, value: Field.any, text: Field.text })

const readChange = Field.reads({ kind: Field.any, k: Field.list, v: Field.any, i: Field.any })

/** A value with a change at a path: `kind` 1 sets, 2 adds to a list, behind its first `i` elements, and 3 deletes. */
const changed = (
  value: unknown,
  path: ReadonlyArray<unknown>,
  change: ReturnType<typeof readChange>,
): unknown => {
  const { kind, v, i } = change
  const [key, ...rest] = path
  if (key === undefined) {
    const list = Array.isArray(value) ? value.slice(0, typeof i === "number" ? i : undefined) : []
    return kind === 2 ? [...list, ...(Array.isArray(v) ? v : [])] : v
  }
  const isGone = kind === 3 && rest.length === 0
  if (Array.isArray(value))
    return value.toSpliced(Number(key), 1, ...(isGone ? [] : [changed(value[Number(key)], rest, change)]))
  const { [String(key)]: before, ...others } = isObject(value) ? value : {}
  return isGone ? others : { ...others, [String(key)]: changed(before, rest, change) }
}

/** The object of a session of VS Code; `undefined` for any other file. */
const sessionOf = ({ document, rows: [first, ...changes] }: Source): JsonObject | undefined => {
  const begun = first?.line === undefined ? undefined : readChange(first.value)
  const session = begun?.kind === 0 ? begun.v : document
  if (!isObject(session) || !Array.isArray(session["requests"]) || !("responderUsername" in session))
    return undefined
  const now = changes
    .map(({ value }) => readChange(value))
    .reduce<unknown>((value, one) => changed(value, one.k, one), session)
  return isObject(now) ? now : undefined
}

/** The parts of an answer of VS Code: its texts one behind the other, as the page shows them. */
const partOf = (data: unknown): ReadonlyArray<Message.Part> => {
  const { kind, value, text: shown } = readPart(data)
  const said = typeof value === "string" ? value : (shown ?? spokenIn(data).join("\n"))
  return said === "" ? [] : kind === "thinking" ? [reasoning(said)] : [{ type: "text", text: said }]
}

const ofRequest = (value: unknown): Said => {
  const { requestId: id, modelId: model, message, response, ...request } = readRequest(value)
  const asked =
    typeof message === "string" ? message : (readPart(message).text ?? spokenIn(message).join("\n"))
  return Either.map(timeAt(request, "timestamp"), (time) => [
    ...allRecorded([{ role: "user", parts: text(asked) }], { id, time }),
    ...allRecorded([{ role: "assistant", parts: response.flatMap(partOf) }], { time, model }),
  ])
}

const ofEvent = (entry: Entry): Said =>
  Either.map(timeAt(entry, "timestamp"), (time) => {
    const { content, reasoningText: thought, model, toolRequests, ...data } = entry.data
    const kept = { id: entry.id, time }
    if (entry.type === "user.message") return allRecorded([{ role: "user", parts: text(content) }], kept)
    if (entry.type === "tool.execution_complete") {
      const called = {
        id: data.toolCallId ?? "",
        ...(data.toolName === undefined ? {} : { name: data.toolName }),
      }
      const given = data.result ?? data.error
      const output = isObject(given) ? spokenIn(given).join("\n") : given
      return [
        recorded(
          { role: "tool", parts: [result(called, output, data.success === false ? true : undefined)] },
          kept,
        ),
      ]
    }
    const parts: ReadonlyArray<Message.Part> = [
      ...text(thought).map((one) => reasoning(one.text)),
      ...text(content),
      ...toolRequests.map(({ toolCallId, name, arguments: args }): Message.ToolCall => ({
        type: "tool-call",
        id: Field.written(toolCallId),
        name: Field.written(name),
        arguments: argumentsOf(args),
      })),
    ]
    return allRecorded([{ role: "assistant", parts }], { ...kept, model })
  })

export const reader = readerOf<Entry>({
  recognizes: (source) => sessionOf(source) !== undefined || source.rows.some(({ value }) => isEvent(value)),
  logs: (source) => {
    const session = sessionOf(source)
    if (session === undefined) return Either.right([linesIn(source, readEvent)])
    const { requests } = readSession(session)
    return Either.right([
      { rows: requests.map((request, index) => ({ index, value: { ...readEvent(undefined), request } })) },
    ])
  },
  side: ({ data }) => data.parentToolCallId,
  isSaid: ({ type = "", request }) => request !== undefined || saidTypes.has(type),
  notSaid: ["session.start/data", "result.detailedContent"],
  says: ([entry]) => (entry.request === undefined ? ofEvent(entry) : ofRequest(entry.request)),
})
