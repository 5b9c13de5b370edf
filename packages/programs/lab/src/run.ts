/** A run of the lab: every conversation under every policy, and the report of all of them. */
import type { Prices } from "@memfold/prices"
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

/** Does at most `most` pieces of work at a time, in the given order. */
const limited = (most: number) => {
  const waiting: Array<() => void> = []
  let running = 0
  let broken = false
  return async <A>(work: () => Promise<A>): Promise<A> => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve))
    else running++
    try {
      return await work()
    } catch (error) {
      broken = true
      throw error
    } finally {
      // After a failure nothing is started any more: the run has failed.
      const next = broken ? undefined : waiting.shift()
      if (next === undefined) running--
      else next()
    }
  }
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
  const atATime = limited(size)
  const total = conversations.length * (1 + all.length)
  let done = 0
  const replays = await Promise.all(
    conversations.map(async (conversation) => {
      const prepared = await atATime(() => prepare({ conversation, recallTokens }))
      onProgress({ done: ++done, total, conversation: conversation.name })
      return Promise.all(
        all.map(async ({ name: policy }) => {
          const replayed = await atATime(() => replay({ conversation, policy, prices, prepared }))
          onProgress({ done: ++done, total, conversation: conversation.name, policy })
          return replayed
        }),
      )
    }),
  )
  return reportOf({ conversations, policies: all, prices, recallTokens, replays })
}
