/** The policies that are measured: each strategy alone, with automatic recall, and with memory layers. */
import { Keep, Strategy, SummaryMode, Trigger } from "@memfold/core"
import { type Policy, reference } from "@memfold/lab"
import { make } from "@memfold/layers"
import { BreakEven } from "@memfold/strategy-break-even"
import { RollingBuffer, SummaryBuffer, TokenBuffer, Window } from "@memfold/strategy-rolling-buffer"
import { Rounds } from "@memfold/strategy-rounds"
import { SlidingWindow } from "@memfold/strategy-sliding-window"
import { SplitTurn } from "@memfold/strategy-split-turn"

/** As the summarization of other libraries: above 4,000 tokens, all but 20 messages into one summary. */
const summarization = Strategy.make({
  name: "rolling, 4,000 tokens, keep 20",
  when: Trigger.contextAbove(4_000),
  keep: Keep.lastMessages(20),
  summaryMode: SummaryMode.rolling,
})

/** The tokens of a recall, on demand or by itself. */
export const recallTokens = 1_000

const breakEven = BreakEven()

/** The default strategy of `createMemory`, which the bounds are about. */
export const own: Policy = { name: breakEven.name, strategy: breakEven }

const others = [
  SlidingWindow(),
  Rounds(),
  SplitTurn(),
  RollingBuffer(),
  Window(),
  TokenBuffer(),
  SummaryBuffer(),
  summarization,
].map((strategy): Policy => ({ name: strategy.name, strategy }))

/** Every strategy alone. */
export const plain: ReadonlyArray<Policy> = [...others, own]

/** A policy with automatic recall. */
export const withRecall = (policy: Policy): Policy => ({
  ...policy,
  name: `${policy.name} + recall`,
  automaticRecall: recallTokens,
})

/** A policy with the facts that rules find, without a model. */
const withLayers = (policy: Policy): Policy => ({
  ...policy,
  name: `${policy.name} + layers`,
  layers: make(),
})

/** What costs tokens in each context, by the policy that it is added to. Recall adds nothing to the full history. */
export const additions: ReadonlyArray<{
  readonly to: Policy
  readonly kind: "layers" | "recall"
  readonly policy: Policy
}> = [reference, ...plain].flatMap((to) => [
  ...(to === reference ? [] : [{ to, kind: "recall" as const, policy: withRecall(to) }]),
  { to, kind: "layers" as const, policy: withLayers(to) },
])
