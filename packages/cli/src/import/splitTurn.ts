/**
 * Reads the state of split-turn compaction: a table of summaries, each of the whole conversation up to an index. The
 * messages were in a checkpointer, so they come from a transcript.
 */
import { type Message, Wording } from "@memfold/core"
import { Either } from "effect"
import type { JsonObject, Problem } from "../transcript/source.js"
import { idOf } from "./fields.js"
import type { OldState, OldSummary } from "./OldState.js"
import { inOrderOfTime, readOldTime, timeAllowed } from "./time.js"

export const table = "summaries"
export const thread = "thread_id"

/** The required columns. */
export const required = ["summary_id", thread, "summary_text", "compact_up_to_index", "is_active"] as const

/** The text between the two parts of a split turn's summary. */
const seam = Wording.conversationSummary.beforeTurnPrefix

const isTrue = (value: unknown): boolean => value === true || value === 1 || /^(true|1)$/i.test(String(value))

const textIn = (row: JsonObject, column: string): Either.Either<string, string> => {
  const value = row[column] ?? ""
  return typeof value === "string" ? Either.right(value) : Either.left(`${column} is no text`)
}

/** The two parts of a split turn's summary, or the whole text of any other. */
const partsOf = (row: JsonObject): Either.Either<Pick<OldSummary, "text" | "turnPrefix">, string> =>
  Either.gen(function* () {
    const text = yield* textIn(row, "summary_text")
    const turnPrefix = yield* textIn(row, "split_turn_prefix")
    if (!isTrue(row["is_split_turn"])) return { text }
    const at = text.indexOf(seam)
    if (at !== -1) return { text: text.slice(0, at), turnPrefix: text.slice(at + seam.length) }
    return turnPrefix === "" ? { text } : { text, turnPrefix }
  })

const readRow = (row: JsonObject, total: number): Either.Either<OldSummary, string> =>
  Either.gen(function* () {
    const index = row["compact_up_to_index"]
    const to = typeof index === "number" && Number.isInteger(index) ? index : -1
    const status = isTrue(row["is_active"]) ? ("active" as const) : ("superseded" as const)
    // The design rebuilds a summary whose data is inconsistent. A superseded summary may just be from before the
    // conversation was rewound.
    const beyond = to > total && status === "active"
    const damaged =
      to < 0
        ? "compact_up_to_index is no index of a message"
        : beyond
          ? `compact_up_to_index is ${to}, and there are ${total} messages (if more were said, give the whole transcript with --messages)`
          : undefined
    const time = yield* Either.mapLeft(
      readOldTime(row["created_at"]),
      () => `created_at is no time; allowed: ${timeAllowed}`,
    )
    const then = row["compacted_at"]
    return {
      id: idOf(row["summary_id"]) ?? "",
      status,
      ...(yield* partsOf(row)),
      covers: to <= 0 || to > total ? [] : [{ from: 0, to }],
      ...(damaged === undefined ? {} : { damaged }),
      time,
      total: typeof then === "number" && Number.isInteger(then) ? then : null,
    }
  })

/** The state of one thread: the rows of its summaries, and its messages. */
export const read = (
  rows: ReadonlyArray<JsonObject>,
  messages: ReadonlyArray<Message.Message>,
): Either.Either<OldState, Problem> =>
  Either.all(
    rows.map((row, position) =>
      Either.mapLeft(readRow(row, messages.length), (wrong) => ({
        problem: `summary "${idOf(row["summary_id"]) ?? position}": ${wrong}`,
      })),
    ),
  ).pipe(Either.map((summaries) => ({ messages, summaries: inOrderOfTime(summaries, ({ time }) => time) })))
