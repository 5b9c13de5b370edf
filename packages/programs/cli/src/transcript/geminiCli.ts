/**
 * Sessions of Gemini CLI: one JSON object with `messages` in older files, JSON Lines in newer ones, where a message is
 * written again whenever it changes.
 *
 * - a message of the model has its thoughts, text, calls and their results, which become a message and one with results
 * - `$rewindTo` takes messages back from the named one on; they are a branch that was left
 * - `$set` with other `messages` is how the program compacts: a compaction, whose messages up to there stay
 * - notices of the program (`info`, `warning`, `error`) are not read
 *
 * What `/chat save` and checkpoints keep is a list of `Content` of Gemini's API, alone or in `history` or `clientHistory`.
 */
import type { Message } from "@memfold/core"
import { Either } from "effect"
import * as Field from "./Field.js"
import { spokenIn } from "./leftOut.js"
import type { Said } from "./EntryFormat.js"
import { readerOf } from "./Log.js"
import {
  allRecorded,
  call,
  type Called,
  file,
  inlined,
  joined,
  reasoning,
  result,
  Steps,
  textsIn,
  timeAt,
  unknown,
  usageOf,
} from "./parts.js"
import { isObject, type Row, type Source } from "./source.js"

const readMessage = Field.reads({
  id: Field.any,
  type: Field.any,
  timestamp: Field.any,
  content: Field.any,
  model: Field.text,
  thoughts: Field.list,
  toolCalls: Field.records({
    id: Field.any,
    name: Field.any,
    args: Field.any,
    result: Field.any,
    resultDisplay: Field.any,
    status: Field.any,
  }),
  tokens: Field.record({ input: Field.count, output: Field.count, thoughts: Field.count }),
})

const readLine = Field.reads({
  messages: Field.list,
  $set: Field.record({ messages: Field.any, lastUpdated: Field.any }),
  $rewindTo: Field.text,
})

/** A message, the list of messages that a line has, or the message that a line goes back to. */
interface Entry extends ReturnType<typeof readMessage> {
  readonly isSaid: boolean
  readonly rewindTo?: string
  /** What a content of Gemini's API says. */
  readonly messages?: ReadonlyArray<Message.Message>
  readonly list?: { readonly ids: ReadonlySet<unknown>; readonly time: number | undefined }
}

const isMessage = (value: unknown): boolean =>
  isObject(value) &&
  (value["type"] === "user" || value["type"] === "gemini") &&
  "content" in value &&
  "id" in value

const isSession = (value: unknown): boolean =>
  isObject(value) && typeof value["sessionId"] === "string" && "startTime" in value && !("uuid" in value)

const readContent = Field.reads({ role: Field.text, parts: Field.list })

const readCalls = Field.reads({
  functionCall: Field.record({ id: Field.text, name: Field.text, args: Field.any }),
  functionResponse: Field.record({ id: Field.text, name: Field.text }),
})

const isContent = (value: unknown): boolean =>
  isObject(value) &&
  (value["role"] === "user" || value["role"] === "model") &&
  Array.isArray(value["parts"]) &&
  value["parts"].every((part) => isObject(part) && !("type" in part))

/** A content of a list that was cut off before its parts. */
const isCut = (value: unknown): boolean =>
  isObject(value) && Object.keys(value).every((name) => name === "role")

const contentsIn = ({ document }: Source): ReadonlyArray<Row> | undefined => {
  const { clientHistory, history } = isObject(document) ? document : { history: document }
  const list = [clientHistory, history].find((one) => Array.isArray(one) && one.length > 0)
  return Array.isArray(list) && list.some(isContent) && list.every((one) => isContent(one) || isCut(one))
    ? list.map((value, index) => ({ value, index }))
    : undefined
}

/** The entries of contents: calls have no ids in older versions, and a response answers the oldest open call of its name. */
const entriesOfContents = (rows: ReadonlyArray<Row>): ReadonlyArray<Row<Entry>> => {
  const open: Array<Called> = []
  let count = 0
  const stepOf = (part: unknown): Message.Part | undefined => {
    if (!isObject(part)) return undefined
    const { functionCall, functionResponse } = readCalls(part)
    if (isObject(part["functionCall"])) {
      const made = call(functionCall.id ?? `call-${(count += 1)}`, functionCall.name, functionCall.args)
      open.push(made)
      return made
    }
    if (!isObject(part["functionResponse"])) return undefined
    const { id, name = "" } = functionResponse
    const byId = open.findIndex((one) => one.id === id)
    const at = byId >= 0 ? byId : open.findIndex((one) => one.name === name)
    const [called = { id: id ?? `call-${(count += 1)}`, name }] = at < 0 ? [] : open.splice(at, 1)
    return result(called, outputOf(part))
  }
  return rows.map(({ value, index = 0 }) => {
    const { role, parts } = readContent(value)
    const read = parts.map((part) => stepOf(part) ?? partOf(part))
    const results = read.filter(({ type }) => type === "tool-result")
    const said = read.filter(
      (part) => part.type !== "tool-result" && !(part.type === "text" && part.text === ""),
    )
    const messages: ReadonlyArray<Message.Message> = [
      ...(results.length === 0 ? [] : [{ role: "tool" as const, parts: results }]),
      ...(said.length === 0
        ? []
        : [{ role: role === "model" ? ("assistant" as const) : ("user" as const), parts: said }]),
    ]
    return { index, value: { ...entryOf(undefined), isSaid: true, messages } }
  })
}

const entryOf = (value: unknown): Entry => ({ ...readMessage(value), isSaid: isMessage(value) })

const rowsOf = ({ value, line }: Row): ReadonlyArray<Row<Entry>> => {
  const at = line === undefined ? {} : { line }
  const { messages, $set: changed, $rewindTo: rewindTo } = readLine(value)
  if (rewindTo !== undefined) return [{ ...at, value: { ...entryOf(undefined), rewindTo } }]
  const time = Either.getOrUndefined(timeAt(changed, "lastUpdated"))
  const lists = [changed.messages, messages].filter((one) => Array.isArray(one)) as ReadonlyArray<
    ReadonlyArray<unknown>
  >
  return [
    { ...at, value: entryOf(value) },
    ...lists.flatMap((list) => {
      const entries = list.map(entryOf)
      const ids = new Set(entries.map(({ id }) => id))
      const mark: Entry = { ...entryOf(undefined), list: { ids, time } }
      return (entries.length === 0 && list === messages ? [] : [mark, ...entries]).map((one) => ({
        ...at,
        value: one,
      }))
    }),
  ]
}

const readPart = Field.reads({
  text: Field.any,
  thought: Field.flag,
  inlineData: Field.any,
  fileData: Field.any,
})
const readData = Field.reads({ mimeType: Field.text, data: Field.any, fileUri: Field.any })

/** A part of Gemini's API: a text, a file, or what stays as it is. */
const partOf = (part: unknown): Message.Part => {
  if (typeof part === "string") return { type: "text", text: part }
  const { text, thought, inlineData, fileData } = readPart(part)
  if (typeof text === "string") return { type: thought === true ? "reasoning" : "text", text }
  const [inline, stored] = [readData(inlineData), readData(fileData)]
  const mediaType = inline.mimeType ?? stored.mimeType ?? "application/octet-stream"
  if (isObject(inlineData)) return inlined(mediaType, inline.data)
  return isObject(fileData) ? file(mediaType, Field.written(stored.fileUri)) : unknown("gemini", part)
}

const readThought = Field.reads({ subject: Field.text, description: Field.text })

/** A thought: a text, or one with its subject. */
const thoughtOf = (thought: unknown): ReadonlyArray<Message.Part> => {
  const { subject, description } = readThought(thought)
  const said =
    typeof thought === "string"
      ? thought
      : joined(
          subject === undefined && description === undefined ? spokenIn(thought) : [subject, description],
        )
  return said === "" ? [] : [reasoning(said)]
}

const readResult = Field.reads({ functionResponse: Field.record({ response: Field.any }), text: Field.text })
const readResponse = Field.reads({ output: Field.any, error: Field.text })

/** The output that a result gives the model; the whole response where it has another form. */
const outputOf = (given: unknown): string =>
  [given]
    .flat()
    .map((one) => {
      const { functionResponse, text } = readResult(one)
      const { response } = functionResponse
      const { output, error } = readResponse(response)
      return Field.written(output ?? error ?? text ?? response ?? one)
    })
    .join("\n")

const partsOf = ({ content }: Entry): ReadonlyArray<Message.Part> =>
  [content]
    .flat()
    .filter((part) => (part ?? "") !== "")
    .map(partOf)

/** Whether an entry is a newer version of another: it has what that one says, and goes on behind it. */
const goesOn = (known: Entry, entry: Entry): boolean =>
  known.type === entry.type &&
  textsIn(partsOf(entry)).startsWith(textsIn(partsOf(known))) &&
  known.thoughts.length <= entry.thoughts.length &&
  known.toolCalls.every(({ id }) => entry.toolCalls.some((one) => one.id === id))

const says = (message: Entry): Said =>
  Either.gen(function* () {
    if (message.messages !== undefined) return message.messages
    const kept = {
      id: typeof message.id === "string" && message.id !== "" ? message.id : undefined,
      time: yield* timeAt(message, "timestamp"),
    }
    const parts = partsOf(message)
    if (message.type === "user") return allRecorded([{ role: "user", parts }], kept)
    const steps = new Steps()
    for (const thought of message.thoughts) steps.said(...thoughtOf(thought))
    steps.said(...parts)
    for (const { id, name, args, result: ofModel, resultDisplay: shown, status } of message.toolCalls) {
      const made = call(id, name, args)
      steps.said(made)
      // Of some results, the file has what the screen showed alone.
      if ((ofModel ?? shown ?? undefined) !== undefined)
        steps.answered(
          result(made, outputOf(ofModel) || outputOf(shown), status === "error" ? true : undefined),
        )
    }
    const { input, output, thoughts = 0 } = message.tokens
    const usage = usageOf(input, output === undefined ? undefined : output + thoughts)
    return steps.messages.flatMap((one) =>
      allRecorded([one], one.role === "tool" ? kept : { ...kept, model: message.model, usage }),
    )
  })

export const reader = readerOf<Entry>({
  recognizes: (source) => {
    const { rows } = source
    // Sessions one behind the other: each is a file of its own.
    if (rows.length > 1 && rows.every(({ value }) => isObject(value) && Array.isArray(value["messages"])))
      return false
    if (rows.some(({ value }) => isSession(value)))
      return rows.flatMap(rowsOf).some(({ value }) => value.isSaid)
    return contentsIn(source) !== undefined
  },
  logs: (source) => {
    const contents = contentsIn(source)
    if (contents !== undefined) return Either.right([{ rows: entriesOfContents(contents) }])
    return Either.right([{ rows: source.rows.flatMap(rowsOf), broken: source.broken }])
  },
  id: ({ id, isSaid }) => (isSaid && (id ?? "") !== "" ? Field.written(id) : undefined),
  again: (known, entry) => (goesOn(known, entry) ? "newer" : "other"),
  takesBack: ({ rewindTo }, way) =>
    rewindTo === undefined ? undefined : way().find(({ id, isSaid }) => isSaid && id === rewindTo),
  isSaid: ({ isSaid }) => isSaid,
  // A list without one of the messages is a shorter history for the model; what was said stays.
  compaction: ({ list }, way) =>
    list !== undefined && way().some(({ isSaid, id }) => isSaid && !list.ids.has(id))
      ? { time: list.time }
      : undefined,
  says: ([message]) => says(message),
})
