/**
 * LongMemEval as its own script defines it: the sessions of a history are ranked for a question by what the user said, and
 * `recall_all@k` is the share of questions whose answer sessions are all among the k best. Questions without an answer are left out.
 */
import { Effect, Layer } from "effect"
import { InMemoryEventLog, Memory, Message } from "@memfold/core"
import { ExtractiveSummarizer } from "@memfold/summarizer-extractive"
import { SlidingWindow } from "@memfold/strategy-sliding-window"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"

/** The files of LongMemEval-S as they are published, and a history with several questions. */
const files = [
  "longmemeval/longmemeval_s_cleaned.json",
  "longmemeval/longmemeval_s.json",
  "longmemeval/histories.json",
]

const depths = [2, 5, 10] as const

interface Turn {
  readonly role: string
  readonly content: string
}

interface History {
  readonly question_id: string
  readonly question?: string
  readonly questions?: ReadonlyArray<string>
  readonly answer_session_ids: ReadonlyArray<string> | ReadonlyArray<ReadonlyArray<string>>
  readonly haystack_session_ids: ReadonlyArray<string>
  readonly haystack_sessions: ReadonlyArray<ReadonlyArray<Turn>>
}

interface Asked {
  readonly question: string
  readonly answers: ReadonlyArray<string>
}

/** The questions of a history, with the sessions that answer them. */
const askedOf = ({ question, questions, answer_session_ids: answers }: History): ReadonlyArray<Asked> =>
  question === undefined
    ? (questions ?? []).map((one, at) => ({ question: one, answers: [answers[at] ?? []].flat() }))
    : [{ question, answers: answers.flat() }]

/** The sessions of a history, the best for each question first. */
const rankedSessions = (
  { haystack_session_ids: ids, haystack_sessions: sessions }: History,
  questions: ReadonlyArray<string>,
): Promise<ReadonlyArray<ReadonlyArray<string>>> =>
  Effect.gen(function* () {
    const memory = yield* Memory.Memory
    const said = sessions.flatMap((turns, at) =>
      turns.flatMap(({ role, content }) => (role === "user" ? [{ session: ids[at]!, content }] : [])),
    )
    yield* memory.append(
      "s",
      said.map(({ content }) => Message.user(content)),
    )
    return yield* Effect.forEach(questions, (question) =>
      Effect.map(memory.recall("s", question, { tokens: 10_000_000 }), ({ messages }) => [
        ...new Set(
          messages
            .toSorted((one, other) => (one.rank ?? 0) - (other.rank ?? 0))
            .map(({ index }) => said[index]!.session),
        ),
      ]),
    )
  }).pipe(
    Effect.provide(
      Memory.layer({ strategy: SlidingWindow(), compaction: { mode: "off" } }).pipe(
        Layer.provide([InMemoryEventLog.layer, ExtractiveSummarizer.layer()]),
      ),
    ),
    Effect.runPromise,
  )

/** Measures and prints, where the folder has a file. */
export const longMemEval = async (folder: string): Promise<void> => {
  const file = files.find((name) => existsSync(join(folder, name)))
  if (file === undefined) {
    console.log(`\nLongMemEval: not measured, because ${folder} has none of ${files.join(", ")}`)
    return
  }
  const histories = (JSON.parse(readFileSync(join(folder, file), "utf8")) as ReadonlyArray<History>).filter(
    ({ question_id: id }) => !id.endsWith("_abs"),
  )
  const found = new Map<number, number>()
  let [asked, sessions] = [0, 0]
  for (const history of histories) {
    const questions = askedOf(history)
    const ranked = await rankedSessions(
      history,
      questions.map(({ question }) => question),
    )
    sessions += history.haystack_session_ids.length
    for (const [at, { answers }] of questions.entries()) {
      asked++
      for (const depth of depths) {
        const best = new Set(ranked[at]!.slice(0, depth))
        if (answers.every((one) => best.has(one))) found.set(depth, (found.get(depth) ?? 0) + 1)
      }
    }
  }
  console.log(
    `\nLongMemEval (${file}), ${asked} questions, ${Math.round(sessions / histories.length)} sessions in a history: recall_all, by words, what the user said`,
  )
  for (const depth of depths)
    console.log(`  @${String(depth).padEnd(4)}${((found.get(depth) ?? 0) / asked).toFixed(3).padStart(8)}`)
}
