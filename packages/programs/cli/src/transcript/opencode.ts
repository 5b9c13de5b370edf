/**
 * Sessions of opencode, as `opencode export` writes them: `{ "info", "messages": [{ "info", "parts" }] }`.
 *
 * - an answer has its steps, each with its calls and their results, which become a message and one with results
 * - a part `compaction` and the summary behind it (`summary: true`) are a compaction, and no messages. The messages from
 *   `tail_start_id` on were kept
 * - `revert` of the session says from which message, or part, on the user took it back: that is a branch that was left
 * - marks of steps, snapshots and patches are of the program, and not read
 */
import type { Message } from "@memfold/core"
import { Either } from "effect"
import * as Field from "./Field.js"
import type { Compacted, Said } from "./EntryFormat.js"
import { readerOf } from "./Log.js"
import {
  allRecorded,
  call,
  file,
  reasoning,
  recorded,
  result,
  Steps,
  text,
  textsIn,
  timeAt,
  unknown,
  usageOf,
} from "./parts.js"
import { isObject, type Row, rowsOf, type Source } from "./source.js"

const readMessage = Field.reads({
  info: Field.record({
    id: Field.text,
    role: Field.any,
    time: Field.record({ created: Field.any }),
    summary: Field.any,
    modelID: Field.text,
    model: Field.record({ modelID: Field.text }),
    tokens: Field.record({
      input: Field.count,
      output: Field.count,
      reasoning: Field.count,
      cache: Field.record({ read: Field.count, write: Field.count }),
    }),
  }),
  parts: Field.list,
})

const readPart = Field.reads({
  type: Field.text,
  text: Field.any,
  mime: Field.text,
  url: Field.any,
  filename: Field.text,
  callID: Field.any,
  tool: Field.any,
  state: Field.record({
    status: Field.any,
    input: Field.any,
    output: Field.any,
    error: Field.any,
  }),
  auto: Field.any,
  tail_start_id: Field.text,
})

const readSession = Field.reads({
  info: Field.record({ revert: Field.record({ messageID: Field.text, partID: Field.text }) }),
})

/** A message, what of one is behind the part from which on it was taken back, or the mark of what was taken back. */
type Entry = ReturnType<typeof readMessage> & {
  readonly isMessage: boolean
  readonly isRest?: boolean
  readonly reverts?: Entry
}

const isMessage = (value: unknown): boolean =>
  isObject(value) && isObject(value["info"]) && Array.isArray(value["parts"])

const rowsIn = ({ document }: Source): ReadonlyArray<Row> | undefined => {
  const list: unknown = isObject(document) ? document["messages"] : document
  return Array.isArray(list) && list.some(isMessage) ? rowsOf(list) : undefined
}

const entryOf = (value: unknown): Entry => ({ ...readMessage(value), isMessage: isMessage(value) })

const readId = Field.reads({ id: Field.text })

/** The entries, and behind them what of them the user took back, if the session says so. */
const entriesOf = ({ document }: Source, rows: ReadonlyArray<Row>): ReadonlyArray<Row<Entry>> => {
  const { messageID, partID } = readSession(document).info.revert
  const entries: Array<Row<Entry>> = []
  let reverts: Entry | undefined
  for (const { value, ...row } of rows) {
    const entry = entryOf(value)
    const isFirst = messageID !== undefined && entry.info.id === messageID && reverts === undefined
    const at =
      isFirst && partID !== undefined ? entry.parts.findIndex((part) => readId(part).id === partID) : -1
    const split = at > 0 ? [entry.parts.slice(0, at), entry.parts.slice(at)] : [entry.parts]
    for (const [index, parts] of split.entries())
      entries.push({ ...row, value: { ...entry, parts, ...(index === 0 ? {} : { isRest: true }) } })
    if (isFirst) reverts = entries.at(-1)!.value
  }
  return reverts === undefined ? entries : [...entries, { value: { ...entryOf(undefined), reverts } }]
}

/** Parts of the program, in which nothing is said. */
const silent = new Set(["step-start", "step-finish", "snapshot", "patch", "retry", "compaction"])

const addPart = (steps: Steps, data: unknown): void => {
  const part = readPart(data)
  const { type = "", state } = part
  switch (type) {
    case "step-start":
      return steps.begin()
    case "text":
      return steps.said(...text(typeof part.text === "string" ? part.text : undefined))
    case "reasoning":
      return steps.said(reasoning(Field.written(part.text)))
    case "file":
      return steps.said(file(part.mime, Field.written(part.url), part.filename))
    case "tool": {
      const made = call(part.callID, part.tool, state.input)
      const failed = state.status === "error"
      steps.said(made)
      if (failed || state.status === "completed")
        steps.answered(result(made, failed ? state.error : state.output, failed))
      return
    }
    default:
      if (!silent.has(type)) steps.said(unknown("opencode", isObject(data) ? data : {}))
  }
}

const stepsOf = ({ parts }: Entry): ReadonlyArray<Message.Message> => {
  const steps = new Steps()
  for (const part of parts) addPart(steps, part)
  return steps.messages
}

const usageIn = ({ input, output, reasoning = 0, cache }: Entry["info"]["tokens"]) =>
  input === undefined || output === undefined || input + output === 0
    ? undefined
    : usageOf(input + (cache.read ?? 0) + (cache.write ?? 0), output + reasoning)

const isSummary = ({ info }: Entry): boolean => info.role === "assistant" && info.summary === true

const compaction = (entry: Entry): Compacted | undefined => {
  const time = Either.getOrUndefined(timeAt(entry.info.time, "created"))
  if (isSummary(entry)) {
    const said = stepsOf(entry).flatMap(({ parts }) => parts)
    return { time, summary: textsIn(said), isRest: true }
  }
  const mark = entry.parts.map(readPart).find(({ type }) => type === "compaction")
  if (mark === undefined) return undefined
  const { auto, tail_start_id: keeps } = mark
  return { trigger: auto === undefined ? undefined : auto === true ? "auto" : "manual", time, keeps }
}

const says = (entry: Entry): Said =>
  Either.gen(function* () {
    const { role, id, time: made, ...info } = entry.info
    if (!entry.isMessage) return yield* Either.left({ problem: "has no info or no parts" })
    if (role !== "user" && role !== "assistant")
      return yield* Either.left({ problem: "has an unknown role", allowed: "user, assistant" })
    const kept = { id, time: yield* timeAt(made, "created") }
    const steps = stepsOf(entry)
    if (isSummary(entry)) return []
    if (role === "user") return allRecorded([{ role, parts: steps.flatMap(({ parts }) => parts) }], kept)
    const model = info.modelID ?? info.model.modelID
    // The tokens are those of the last step.
    const last = steps.findLastIndex((step) => step.role === "assistant")
    return steps.map((step, index) =>
      step.role === "tool"
        ? recorded(step, kept)
        : recorded(step, { ...kept, model, usage: index === last ? usageIn(info.tokens) : undefined }),
    )
  })

export const reader = readerOf<Entry>({
  recognizes: (source) => rowsIn(source) !== undefined,
  logs: (source) =>
    Either.fromNullable(rowsIn(source), () => ({
      problem: "the file holds no session of opencode",
      allowed: "what opencode export writes",
    })).pipe(Either.map((rows) => [{ rows: entriesOf(source, rows) }])),
  id: ({ info, isRest }) => (isRest === true ? undefined : info.id),
  isSaid: ({ reverts }) => reverts === undefined,
  takesBack: ({ reverts }) => reverts,
  compaction,
  says: ([message]) => says(message),
})
