/**
 * Reads the state of split-turn compaction: a table of summaries, each of the whole conversation up to an index. The
 * messages were in a checkpointer, so they come from a transcript.
 */
import { type Message, Wording } from "@memfold/core"
import { Either } from "effect"
import type { JsonObject } from "../transcript/source.js"
import { idOf } from "./fields.js"
import type { OldState, OldSummary } from "./OldState.js"
import { inOrderOfTime, readOldTime, timeAllowed } from "./time.js"

export const table = "summaries"
export const thread = "thread_id"

export const required = ["summary_id", thread, "summary_text", "compact_up_to_index", "is_active"] as const

/** The text between the two parts of a split turn's summary. */
const seam = Wording.conversationSummary.beforeTurnPrefix

const isTrue = (value: unknown): boolean => /^(true|1)$/i.test(String(value))
const isFalse = (value: unknown): boolean => /^(false|0|null|undefined|)$/i.test(String(value))

const textIn = (row: JsonObject, column: string): Either.Either<string, string> => {
  const value = row[column] ?? ""
  return typeof value === "string" ? Either.right(value) : Either.left(`${column} is no text`)
}

/** The two parts of a split turn's summary, or the whole text of any other; a `Left` says what is damaged. */
const partsOf = (row: JsonObject): Either.Either<Pick<OldSummary, "text" | "turnPrefix">, string> =>
  Either.gen(function* () {
    const text = yield* textIn(row, "summary_text")
    const turnPrefix = yield* textIn(row, "split_turn_prefix")
    const split = row["is_split_turn"]
    if (!isTrue(split)) {
      return isFalse(split) ? { text } : yield* Either.left("is_split_turn is neither true nor false")
    }
    const at = text.indexOf(seam)
    if (at !== -1) return { text: text.slice(0, at), turnPrefix: text.slice(at + seam.length) }
    return turnPrefix === ""
      ? yield* Either.left("is_split_turn is true, and there is no split_turn_prefix")
      : { text, turnPrefix }
  })

/** A summary. The design rebuilds one whose data do not hold: its messages are summarized anew. */
const readRow = (row: JsonObject, total: number): OldSummary => {
  const index = row["compact_up_to_index"]
  const to = typeof index === "number" && Number.isInteger(index) ? index : -1
  const status = isTrue(row["is_active"]) ? ("active" as const) : ("superseded" as const)
  const parts = partsOf(row)
  const time = readOldTime(row["created_at"])
  const problems = [
    ...(to < 0 ? ["compact_up_to_index is no index of a message"] : []),
    // One that was superseded may just be from before the conversation was rewound.
    ...(to > total && status === "active"
      ? [
          `compact_up_to_index is ${to}, and there are ${total} messages (if more were said, give the whole transcript with --messages)`,
        ]
      : []),
    ...(Either.isLeft(parts) ? [parts.left] : []),
    ...(Either.isLeft(time) ? [`created_at is no time; allowed: ${timeAllowed}`] : []),
  ]
  const then = row["compacted_at"]
  return {
    id: idOf(row["summary_id"]) ?? "",
    status,
    ...Either.getOrElse(parts, () => ({ text: "" })),
    covers: problems.length > 0 || to <= 0 || to > total ? [] : [{ from: 0, to }],
    ...(problems.length === 0 ? {} : { damaged: problems.join("; ") }),
    time: Either.getOrElse(time, () => null),
    total: typeof then === "number" && Number.isInteger(then) ? then : null,
  }
}

/** The state of one thread: the rows of its summaries, and its messages. */
export const read = (rows: ReadonlyArray<JsonObject>, messages: ReadonlyArray<Message.Message>): OldState => {
  const summaries = rows.map((row) => readRow(row, messages.length))
  return { messages, summaries: inOrderOfTime(summaries, ({ time }) => time) }
}
