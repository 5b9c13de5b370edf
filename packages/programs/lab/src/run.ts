/** A run of the lab: every conversation under every policy, and the report of all of them. */
import { Memory } from "@memfold/core"
import type { Prices } from "@memfold/prices"
import { Effect } from "effect"
import type { Conversation } from "./Conversation.js"
import { type Setup, type Executor, inThisThread, type Policy } from "./jobs.js"
import { fullHistory } from "./prepare.js"
import { type Report, reportOf } from "./report.js"

/** The reference of every report: nothing is ever compacted. */
export const reference: Policy = { name: fullHistory.name, strategy: fullHistory }

/** How far a run is. */
export interface Progress {
  /** Pieces of work that are done, and all of them. */
  readonly done: number
  readonly total: number
  /** The conversation and the policy whose replay was finished last; no policy after its preparation. */
  readonly conversation: string
  readonly policy?: string
}

/** What to run, and how. */
export interface RunOptions extends Setup {
  readonly conversations: ReadonlyArray<Conversation>
  /** Each of them counts the cost; at least one. */
  readonly prices: ReadonlyArray<Prices.Prices>
  /** How many tokens a search for a question may find; 1,000 by default. */
  readonly recallTokens?: number
  /** Who does the work; this thread by default. The policies of its threads include {@link reference}. */
  readonly executor?: Executor
  readonly onProgress?: (progress: Progress) => void
}

/**
 * Replays every conversation under the full history and under every policy, and reports them side by side. The same
 * input always gives the same report, however many threads do the work.
 *
 * @param options - The conversations, the policies and the prices, and who does the work.
 * @throws WorkerError if a worker thread fails.
 *
 * @example
 * ```ts
 * import { Message } from "@memfold/core"
 * import { Prices } from "@memfold/prices"
 * import { ofTranscript, run } from "@memfold/lab"
 * import { BreakEven } from "memfold"
 *
 * const report = await run({
 *   conversations: [ofTranscript("chat", [Message.user("Hello"), Message.assistant("Hello to you")])],
 *   policies: [{ name: "break-even", strategy: BreakEven() }],
 *   prices: [Prices.presets["claude-sonnet-5.5"]],
 * })
 * for (const { name, costs } of report.policies) console.log(name, costs[0]?.share?.total)
 * ```
 */
export const run = async ({
  conversations,
  policies,
  prices,
  recallTokens = 1_000,
  summarizer,
  askInContext = false,
  executor,
  onProgress = () => {},
}: RunOptions): Promise<Report> => {
  const all = [reference, ...policies]
  const { size, prepare, replay } =
    executor ??
    inThisThread({ policies: all, askInContext, ...(summarizer === undefined ? {} : { summarizer }) })
  const permits = Effect.unsafeMakeSemaphore(size)
  const total = conversations.length * (1 + all.length)
  let [done, hasFailed] = [0, false]
  const atATime = <A>(work: () => Promise<A>, what: Pick<Progress, "conversation" | "policy">) =>
    // After a failure nothing is begun any more: the run has failed.
    Effect.suspend(() =>
      hasFailed ? Effect.never : Effect.tryPromise({ try: work, catch: (error) => error }),
    ).pipe(
      Effect.tap(() => Effect.sync(() => onProgress({ done: ++done, total, ...what }))),
      Effect.tapError(() => Effect.sync(() => (hasFailed = true))),
      permits.withPermits(1),
    )
  const replayAll = (conversation: Conversation) =>
    Effect.gen(function* () {
      const { name } = conversation
      const prepared = yield* atATime(() => prepare({ conversation, recallTokens }), { conversation: name })
      return yield* Effect.forEach(
        all,
        ({ name: policy }) =>
          atATime(() => replay({ conversation, policy, prices, prepared }), { conversation: name, policy }),
        { concurrency: "unbounded" },
      )
    })
  const replays = await Memory.asPromise(
    Effect.forEach(conversations, replayAll, { concurrency: "unbounded" }),
  )
  return reportOf({ conversations, policies: all, prices, recallTokens, replays })
}
