/**
 * Sessions of Gemini CLI: one JSON object with `messages` in older files, JSON Lines in newer ones, where a message is
 * written again whenever it changes.
 *
 * - a message of the model has its thoughts, text, calls and their results, which become a message and one with results
 * - `$rewindTo` takes messages back from the named one on; they are a branch that was left
 * - `$set` with other `messages` is how the program compacts: a compaction, whose messages up to there stay
 * - notices of the program (`info`, `warning`, `error`) are not read
 */
import type { Message } from "@memfold/core"
import { Either } from "effect"
import { brokenOf } from "./chat.js"
import {
  type Compaction,
  countOf,
  type StoredConversation,
  inOrder,
  listOf,
  objectOf,
  type Reader,
  type Reading,
  recorded,
  textOf,
  timeAt,
  valuesOf,
  written,
} from "./Reader.js"
import { isObject, type JsonObject, type Problem, type Source } from "./source.js"

interface Row {
  readonly value: JsonObject
  readonly line: number | undefined
}

const isSaid = (value: unknown): boolean =>
  isObject(value) &&
  (value["type"] === "user" || value["type"] === "gemini") &&
  "content" in value &&
  "id" in value

const isSession = (value: unknown): boolean =>
  isObject(value) && typeof value["sessionId"] === "string" && "startTime" in value && !("uuid" in value)

/** A part of Gemini's API: a text, a file, or what stays as it is. */
const partOf = (part: unknown): Message.Part => {
  if (typeof part === "string") return { type: "text", text: part }
  const { text, thought, inlineData, fileData } = objectOf(part)
  if (typeof text === "string") return { type: thought === true ? "reasoning" : "text", text }
  const inline = objectOf(inlineData)
  const file = objectOf(fileData)
  const mediaType = textOf(inline["mimeType"]) ?? textOf(file["mimeType"]) ?? "application/octet-stream"
  if (isObject(inlineData)) {
    return { type: "file", mediaType, uri: `data:${mediaType};base64,${written(inline["data"])}` }
  }
  return isObject(fileData)
    ? { type: "file", mediaType, uri: written(file["fileUri"]) }
    : { type: "opaque", provider: "gemini", data: part }
}

const partsOf = (content: unknown): ReadonlyArray<Message.Part> =>
  [content]
    .flat()
    .filter((part) => part !== "" && part !== undefined && part !== null)
    .map(partOf)

/** The output that a result gives the model; the whole response where it has another form. */
const outputOf = (result: unknown): string =>
  [result]
    .flat()
    .map((one) => {
      const response = objectOf(objectOf(one)["functionResponse"])["response"]
      const { output, error } = objectOf(response)
      return textOf(output) ?? textOf(error) ?? textOf(objectOf(one)["text"]) ?? written(response ?? one)
    })
    .join("\n")

const resultOf = (call: JsonObject): ReadonlyArray<Message.ToolResult> => {
  const { id, name, result, status } = call
  if (result === undefined || result === null) return []
  const isError = status === "error" ? { isError: true } : {}
  return [{ type: "tool-result", id: written(id), name: written(name), output: outputOf(result), ...isError }]
}

const usageOf = (tokens: JsonObject): Message.Usage | undefined => {
  const [input, output] = [countOf(tokens["input"]), countOf(tokens["output"])]
  if (output === undefined) return undefined
  return { ...(input === undefined ? {} : { input }), output: output + (countOf(tokens["thoughts"]) ?? 0) }
}

const messagesOf = ({ value, line }: Row): Either.Either<ReadonlyArray<Message.Message>, Problem> =>
  Either.gen(function* () {
    const time = yield* Either.mapLeft(timeAt(value, "timestamp"), (problem) =>
      line === undefined ? problem : { line, ...problem },
    )
    const kept = { id: textOf(value["id"]), time }
    const parts = partsOf(value["content"])
    if (value["type"] === "user") return parts.length === 0 ? [] : [recorded({ role: "user", parts }, kept)]
    const calls = listOf(value["toolCalls"]).map(objectOf)
    const all: ReadonlyArray<Message.Part> = [
      ...listOf(value["thoughts"])
        .map(objectOf)
        .map(({ subject, description }) => ({
          type: "reasoning" as const,
          text: [subject, description].flatMap((one) => textOf(one) ?? []).join("\n"),
        })),
      ...parts,
      ...calls.map((call) => ({
        type: "tool-call" as const,
        id: written(call["id"]),
        name: written(call["name"]),
        arguments: JSON.stringify(call["args"] ?? {}),
      })),
    ]
    if (all.length === 0) return []
    const results = calls.flatMap(resultOf)
    const usage = usageOf(objectOf(value["tokens"]))
    return [
      recorded({ role: "assistant", parts: all }, { ...kept, model: textOf(value["model"]), usage }),
      ...(results.length === 0 ? [] : [recorded({ role: "tool", parts: results }, kept)]),
    ]
  })

/** The place of a compaction among the rows. */
interface Cut {
  readonly rows: number
  readonly time: number | undefined
}

const readRows = (
  rows: ReadonlyArray<Row>,
  cuts: ReadonlyArray<Cut>,
  broken: Problem | undefined,
): Reading => {
  const messages: Array<Message.Message> = []
  const compactions: Array<Compaction> = []
  for (const [index, row] of rows.entries()) {
    for (const cut of cuts) {
      if (cut.rows === index) {
        compactions.push({ after: messages.length, ...(cut.time === undefined ? {} : { time: cut.time }) })
      }
    }
    const some = messagesOf(row)
    if (Either.isLeft(some)) return { messages, broken: some.left, compactions }
    messages.push(...some.right)
  }
  for (const { rows: at, time } of cuts) {
    if (at >= rows.length)
      compactions.push({ after: messages.length, ...(time === undefined ? {} : { time }) })
  }
  return { messages, broken, compactions }
}

const find = (source: Source): ReadonlyArray<StoredConversation> => {
  let rows: Array<Row> = []
  let cuts: Array<Cut> = []
  const left: Array<() => Reading> = []
  const put = (value: unknown, line: number | undefined) => {
    if (!isObject(value) || !isSaid(value)) return
    const at = rows.findIndex((row) => row.value["id"] === value["id"])
    if (at >= 0) rows[at] = { value, line }
    else rows.push({ value, line })
  }
  const set = (list: ReadonlyArray<unknown>, line: number | undefined, time: number | undefined) => {
    const ids = new Set(list.map((one) => objectOf(one)["id"]))
    // A list without one of the messages is a shorter history for the model; what was said stays.
    if (rows.some(({ value }) => !ids.has(value["id"]))) cuts.push({ rows: rows.length, time })
    for (const one of list) put(one, line)
  }
  for (const { value, line } of valuesOf(source)) {
    const fields = objectOf(value)
    const changed = objectOf(fields["$set"])
    const target = fields["$rewindTo"]
    if (typeof target === "string") {
      const index = rows.findIndex((row) => row.value["id"] === target)
      const [old, oldCuts] = [rows, cuts]
      if (index >= 0) left.push(() => readRows(old, oldCuts, undefined))
      rows = index >= 0 ? rows.slice(0, index) : rows
      cuts = cuts.filter((cut) => cut.rows <= rows.length)
      continue
    }
    put(value, line)
    for (const list of [changed["messages"], fields["messages"]]) {
      if (Array.isArray(list)) set(list, line, Either.getOrUndefined(timeAt(changed, "lastUpdated")))
    }
  }
  return inOrder([{ read: () => readRows(rows, cuts, brokenOf(source)), left }])
}

export const reader: Reader = {
  recognizes: (source) =>
    valuesOf(source).some(({ value }) => isSession(value)) &&
    valuesOf(source).some(
      ({ value }) =>
        isSaid(value) ||
        listOf(objectOf(value)["messages"]).some(isSaid) ||
        listOf(objectOf(objectOf(value)["$set"])["messages"]).some(isSaid),
    ),
  find,
}
