/**
 * A strategy's decisions alone: messages come in, what is due is decided and taken for done. No log, no
 * summarizer, no clock but the messages' own; so thousands of messages take no time.
 */
import {
  type Event,
  type Message,
  Policy,
  Session,
  type Strategy,
  TokenCounter,
  Wording,
} from "../src/index.js"
import { compose } from "../src/compact/Composition.js"
import { startOfTime } from "./conversations.js"
import { quarter } from "./runs.js"

/** A compaction that was decided on when there were `total` messages, and the summary it led to. */
export interface Decided extends Policy.Plan {
  readonly total: number
  readonly summary: ReadonlyArray<Event.Segment>
}

/** A summary takes so many tokens, whatever it covers. */
export const summaryTokens = 5

/** And so many takes a message whose outputs are pruned. */
const prunedTokens = 5

/** A message that takes so many tokens, four of them for being a message. */
export const ofTokens = (
  role: "system" | "user" | "assistant",
  tokens: number,
  options: Message.Options = {},
): Message.Message => ({
  role,
  parts: [{ type: "text", text: "word".repeat(tokens - TokenCounter.messageOverhead) }],
  ...options,
})

/**
 * What a strategy decides on while these batches come in, each of them whole before it is asked. A message
 * without a time comes at the time of the one before it.
 */
export const decisions = (
  strategy: Strategy.Strategy,
  batches: ReadonlyArray<ReadonlyArray<Message.Message>>,
): ReadonlyArray<Decided> => {
  const found: Array<Decided> = []
  let state = Session.empty("s")
  let now = startOfTime
  const happen = (...events: ReadonlyArray<Event.Event>) => {
    for (const event of events) {
      state = Session.evolve(state, { session: "s", seq: state.version + 1, id: "", at: now, event })
    }
  }
  for (const batch of batches) {
    for (const message of batch) {
      now = message.at ?? now
      const tokens = TokenCounter.ofMessage(quarter, message)
      happen({ _tag: "MessageAppended", index: state.total, message, tokens })
    }
    for (;;) {
      const decision = Policy.decide(strategy, state, { now })
      if (decision._tag === "Idle") break
      const { plan } = decision
      const { carried, assignments } = compose(strategy.fold, state.summary, plan)
      const compaction = `k${found.length}`
      happen({ _tag: "CompactionStarted", compaction, strategy: strategy.name, leaseUntil: now + 1, ...plan })
      if (plan.prune.length > 0) {
        const outputs = plan.prune.map((output) => ({ ...output, tokens: prunedTokens }))
        happen({ _tag: "ToolOutputsPruned", compaction, outputs })
      }
      if (plan.parts.length > 0) {
        happen({
          _tag: "SummaryCommitted",
          compaction,
          summary: `s${found.length}`,
          through: plan.to,
          carried,
          segments: assignments.map(({ part, from, previous }) => ({
            kind: part.kind,
            from,
            to: part.to,
            text: previous === undefined ? "new" : `${previous}+`,
          })),
          wording: Wording.conversationSummary,
          summarizer: "none",
          calls: 0,
          tokens: summaryTokens,
          tokensBefore: 0,
          tokensAfter: 0,
        })
      }
      found.push({ ...plan, total: state.total, summary: state.summary?.segments ?? [] })
    }
  }
  return found
}

/** Each message a batch of its own. */
export const oneByOne = (messages: ReadonlyArray<Message.Message>) => messages.map((message) => [message])
