/**
 * A rehearsal of a strategy: messages arrive, due compactions are decided and assumed to succeed, and all states are
 * recorded. It needs no log and no summarizer, and its only clock is the times of the messages. Thousands of messages
 * take milliseconds, and the same input always gives the same rehearsal.
 */
import {
  type Event,
  type EventCodec,
  type Message,
  Policy,
  Render,
  Session,
  type Strategy,
  TokenCounter,
  type Summary,
} from "@memfold/core"
import { startOfTime } from "../arbitrary/conversation.js"
import { quarter } from "../fakes/counter.js"
import { viewOf } from "./viewOf.js"

/** A compaction that was decided when there were `total` messages, and the summary it led to. */
export interface DecidedCompaction extends Policy.Plan {
  readonly total: number
  /** The time of the decision in milliseconds since the epoch, and the state it was based on. */
  readonly now: number
  readonly before: Session.SessionState
  /** Whether it was a compaction on demand. */
  readonly onDemand: boolean
  readonly summary: ReadonlyArray<Summary.Segment>
}

/** The state and the context after messages arrived (`settled: false`), or after every due compaction (`true`). */
export interface Moment {
  readonly settled: boolean
  readonly now: number
  readonly state: Session.SessionState
  readonly context: Render.Context
  /** The time at which the trigger becomes due without a new message; `null` if it names none. */
  readonly dueTime: number | null
}

/** A rehearsal, from its first message to its last. */
export interface Rehearsal {
  readonly strategy: Strategy.Strategy
  readonly messages: ReadonlyArray<Message.Message>
  readonly events: ReadonlyArray<EventCodec.RecordedEvent<Event.Event>>
  readonly decided: ReadonlyArray<DecidedCompaction>
  readonly moments: ReadonlyArray<Moment>
  /** The number of compactions when the rehearsal gave up because they did not end; `null` if they ended. */
  readonly endless: number | null
  /** The error that a part of the strategy threw; the rehearsal ends there. `null` without one. */
  readonly thrown: { readonly total: number; readonly error: unknown } | null
}

/**
 * Options of {@link rehearse}.
 *
 * - `decide`, `render`: your own replacements of the engine's functions
 * - `afterwards`: whether to decide again a day after the last message, and then to compact on demand
 * - `client`: changes each batch before it arrives, as a client does that has sent a context to a model
 * - `circumstances`: what the decisions of the memory depend on: whether its summarizer asks in context, for instance
 */
export interface RehearsalOptions {
  readonly decide?: typeof Policy.decide | undefined
  readonly render?: typeof Render.render | undefined
  readonly afterwards?: boolean | undefined
  readonly client?: ((batch: Batch, moments: ReadonlyArray<Moment>) => Arriving) | undefined
  readonly circumstances?: Policy.Circumstances | undefined
}

/** Messages that are appended together. */
export type Batch = ReadonlyArray<Message.Message>

/** A batch as it arrives; `prefix` is the prefix of the context that the client has sent, if the client passes it. */
export interface Arriving {
  readonly batch: Batch
  readonly prefix?: Session.Prefix | undefined
}

/** The tokens of every summary. */
export const summaryTokens = 5

/** The tokens of a message whose outputs are pruned. */
const prunedTokens = 5

const day = 24 * 60 * 60_000

/** The text of a summary in a rehearsal: what it covers. */
const covering = ({ from, to }: { readonly from: number; readonly to: number }): string => `[${from},${to})`

/** The summary that a plan leads to. A `history` part replaces all segments, other parts replace a turn prefix. */
const composed = (
  fold: Strategy.Strategy["summaryMode"],
  before: ReadonlyArray<Summary.Segment>,
  { parts: [first, ...others] }: Policy.Plan,
) => {
  if (fold === "drop" || fold === "none" || first === undefined)
    return { carried: before.length, segments: [] }
  const older = before.at(-1)?.kind === "turn-prefix" ? before.length - 1 : before.length
  const carried = first.kind === "history" ? 0 : older
  const segments = [{ ...first, from: before[carried - 1]?.to ?? 0 }, ...others]
  return { carried, segments: segments.map((part) => ({ ...part, text: covering(part) })) }
}

/**
 * Rehearses a strategy with these batches of messages. The strategy decides after each whole batch. A message without a
 * time has the time of the previous one. Returns every compaction and every state; an error thrown by the strategy is
 * in `thrown`.
 *
 * @example
 * ```ts
 * import { Keep, Message, Strategy, SummaryMode, Trigger } from "@memfold/core"
 * import { rehearse } from "@memfold/testing"
 *
 * const strategy = Strategy.make({
 *   name: "by fours",
 *   when: Trigger.backlog({ messages: 4 }),
 *   keep: Keep.lastMessages(2),
 *   summaryMode: SummaryMode.rolling,
 * })
 * const said = Array.from({ length: 6 }, (_, n) => [Message.user(`message ${n}`)])
 * console.log(rehearse(strategy, said).decided.map(({ from, to }) => [from, to])) // [[0, 4]]
 * ```
 */
export const rehearse = (
  strategy: Strategy.Strategy,
  batches: ReadonlyArray<ReadonlyArray<Message.Message>>,
  options: RehearsalOptions = {},
): Rehearsal => {
  const {
    decide = Policy.decide,
    render = Render.render,
    afterwards = false,
    client,
    circumstances,
  } = options
  const events: Array<EventCodec.RecordedEvent<Event.Event>> = []
  const decided: Array<DecidedCompaction> = []
  const moments: Array<Moment> = []
  let state = Session.empty("s")
  let now = startOfTime
  let endless: number | null = null
  let thrown: Rehearsal["thrown"] = null

  const happen = (event: Event.Event, batchId = "decided") => {
    const version = state.version + 1
    const recorded = { session: "s", version, id: `${batchId}.${version}`, time: now, event }
    events.push(recorded)
    state = Session.evolve(state, recorded)
  }
  const look = (settled: boolean) => {
    const last = moments.at(-1)
    // Most messages make no compaction due.
    if (last?.state === state && last.now === now) {
      moments.push({ ...last, settled })
      return
    }
    moments.push({
      settled,
      now,
      state,
      context: render(state, strategy.context),
      dueTime: strategy.when.dueTime?.(viewOf(state, now, strategy.keep, circumstances)) ?? null,
    })
  }

  const carryOut = (plan: Policy.Plan, before: Session.SessionState, onDemand: boolean) => {
    const compaction = `k${decided.length}`
    const { carried, segments } = composed(strategy.summaryMode, before.summary?.segments ?? [], plan)
    happen({ _tag: "CompactionStarted", compaction, strategy: strategy.name, leaseUntil: now + 1, ...plan })
    if (plan.prune.length > 0) {
      const outputs = plan.prune.map((output) => ({ ...output, tokens: prunedTokens }))
      happen({ _tag: "ToolOutputsPruned", compaction, outputs })
    }
    if (plan.parts.length > 0) {
      const summary = `s${decided.length}`
      happen({
        _tag: "SummaryCommitted",
        compaction,
        summary,
        coveredTo: plan.to,
        carried,
        segments,
        wording: strategy.context.wording,
        summarizer: "rehearsal",
        calls: 0,
        tokens: summaryTokens,
        tokensBefore: 0,
        tokensAfter: 0,
      })
      if (before.summary !== null) {
        happen({ _tag: "SummarySuperseded", summary: before.summary.id, by: summary })
      }
    }
    const { total } = before
    decided.push({ ...plan, total, now, before, onDemand, summary: state.summary?.segments ?? [] })
  }

  const settle = () => {
    // Each compaction covers at least one more message, or prunes by one more rule.
    const most = state.total + (strategy.prune?.length ?? 0) + 2
    for (let steps = 0; ; steps++) {
      const decision = decide(strategy, state, { ...circumstances, now })
      if (decision._tag === "Idle") return
      if (steps === most) {
        endless ??= steps
        return
      }
      carryOut(decision.plan, state, false)
    }
  }

  try {
    for (const [number, given] of batches.entries()) {
      const { batch, prefix } = client?.(given, moments) ?? { batch: given }
      const heads = Session.headsOf(state, batch, { prefix, head: Render.headOf(state, strategy.context) })
      for (const [position, message] of batch.entries()) {
        now = Math.max(now, message.time ?? now)
        const pinned = strategy.pin?.pins(message, state.structure) === true
        const tokens = TokenCounter.ofMessage(quarter, message)
        const boundTokens = TokenCounter.ofBoundParts(quarter, message)
        const head = heads[position]
        happen(
          {
            _tag: "MessageAppended",
            index: state.total,
            message: pinned ? { ...message, pinned } : message,
            tokens,
            ...(boundTokens === undefined
              ? {}
              : { bound: { tokens: boundTokens, ...(head === undefined ? {} : { head }) } }),
          },
          `batch${number}`,
        )
      }
      look(false)
      settle()
      look(true)
    }
    if (afterwards) {
      now += day
      settle()
      look(true)
      const asked = decide(strategy, state, { ...circumstances, now, onDemand: true })
      if (asked._tag === "Due") carryOut(asked.plan, state, true)
      settle()
      look(true)
    }
  } catch (error) {
    thrown = { total: state.total, error }
  }
  return { strategy, messages: batches.flat(), events, decided, moments, endless, thrown }
}

/** The compactions that a strategy decides with these batches. */
export const decisions = (
  strategy: Strategy.Strategy,
  batches: ReadonlyArray<ReadonlyArray<Message.Message>>,
  circumstances: Policy.Circumstances = {},
): ReadonlyArray<DecidedCompaction> => rehearse(strategy, batches, { circumstances }).decided

/** Each message a batch of its own. */
export const oneByOne = <A>(messages: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> =>
  messages.map((message) => [message])

/** A message of `tokens` tokens in a rehearsal; four of them are the overhead of a message. */
export const ofTokens = (
  role: "system" | "user" | "assistant",
  tokens: number,
  options: Message.Options = {},
): Message.Message => ({
  role,
  parts: [{ type: "text", text: "word".repeat(tokens - TokenCounter.messageOverhead) }],
  ...options,
})
