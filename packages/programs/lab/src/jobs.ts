/** The pieces of work of a run. Each is independent of the others and gives the same result wherever it is done. */
import type { Strategy, Summarizer } from "@memfold/core"
import type { Prices } from "@memfold/prices"
import type { Conversation } from "./Conversation.js"
import { prepare, type Prepared } from "./prepare.js"
import { replay, type Replayed } from "./replay.js"
import type { MakeLayers } from "./stage.js"

/** A strategy with a name, and what its contexts show besides the conversation. */
export interface Policy {
  /** Its name in reports; no other policy of a run has it. */
  readonly name: string
  readonly strategy: Strategy.Strategy
  /** The tokens that each context may recall by itself, from 1; without it, none. */
  readonly automaticRecall?: number
  /** Makes the memory layers of each replay, as `make` of `@memfold/layers` does; without it, there are none. */
  readonly layers?: MakeLayers
}

/** What is known wherever the work is done. */
export interface Setup {
  readonly policies: ReadonlyArray<Policy>
  /** The summarizer; the extractive one by default. */
  readonly summarizer?: Summarizer.Service
  /** Whether its calls are charged as questions in context, while the cache is alive; `false` by default. */
  readonly askInContext?: boolean
}

/** Find out what every policy is measured with on a conversation. */
export interface PrepareJob {
  readonly conversation: Conversation
  readonly recallTokens: number
}

/** Replay a conversation under a policy. */
export interface ReplayJob {
  readonly conversation: Conversation
  readonly policy: string
  readonly prices: ReadonlyArray<Prices.Prices>
  readonly prepared: Prepared
}

/** Does the work of a run: in this thread, or in others. */
export interface Executor {
  /** How many pieces of work are done at a time. */
  readonly size: number
  readonly prepare: (job: PrepareJob) => Promise<Prepared>
  readonly replay: (job: ReplayJob) => Promise<Replayed>
}

/** Does the work in this thread. */
export const inThisThread = ({ policies, summarizer, askInContext = false }: Setup): Executor => {
  const byName = new Map(policies.map((one) => [one.name, one]))
  return {
    size: 1,
    prepare: ({ conversation, recallTokens }) => prepare(conversation, { recallTokens }),
    replay: ({ conversation, policy, prices, prepared }) => {
      const known = byName.get(policy)
      if (known === undefined) throw new Error(`there is no policy "${policy}" in this thread`)
      const { name: _name, strategy, ...shown } = known
      return replay(conversation, strategy, {
        ...shown,
        prices,
        prepared,
        askInContext,
        ...(summarizer === undefined ? {} : { summarizer }),
      })
    },
  }
}
