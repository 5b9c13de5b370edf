/**
 * Specifications of reducers and strategies that read like sentences: given these events, when others follow or a
 * strategy decides, then this holds.
 */
import { type EventCodec, type Message, Policy, Session, type Strategy } from "@memfold/core"
import { startOfTime } from "../arbitrary/conversation.js"
import { recorded } from "../arbitrary/event.js"
import { canonical, must } from "../law/Law.js"
import { appended } from "./events.js"

/** Events, and messages that stand for the events that append them. */
export type Happened =
  | EventCodec.AnyEvent
  | Message.Message
  | ReadonlyArray<EventCodec.AnyEvent | Message.Message>

/** The result of a specification. A check that throws fails the test. */
export interface Then<A> {
  readonly then: (check: (found: A) => void) => void
}

/** The events so far: `when` adds further events, or lets a strategy decide. */
export interface Given {
  readonly state: Session.SessionState
  readonly when: {
    (strategy: Strategy.Strategy, options?: Partial<Policy.DecideOptions>): Then<Policy.Decision>
    (...happened: ReadonlyArray<Happened>): Then<Session.SessionState>
  }
}

const isStrategy = (value: unknown): value is Strategy.Strategy =>
  typeof value === "object" && value !== null && "keep" in value && "summaryMode" in value

/** The events, with messages replaced by the events that append them. */
const eventsOf = (total: number, happened: ReadonlyArray<Happened>): ReadonlyArray<EventCodec.AnyEvent> => {
  let next = total
  return happened.flat().flatMap((one): ReadonlyArray<EventCodec.AnyEvent> => {
    const events =
      "_tag" in one ? [one as EventCodec.AnyEvent] : appended([one as Message.Message], { from: next })
    next += events.filter(({ _tag }) => _tag === "MessageAppended").length
    return events
  })
}

const then = <A>(found: A): Then<A> => ({
  // Part of the sentence; it is never awaited.
  // oxlint-disable-next-line unicorn/no-thenable
  then: (check) => check(found),
})

/**
 * Starts a specification with events and messages. Each message counts ten tokens, and events are a millisecond apart.
 * Returns the state so far and `when`, whose `then` passes the new state, or the strategy's decision, to your check.
 *
 * @example
 * ```ts
 * import { Keep, Message, Strategy, SummaryMode, Trigger } from "@memfold/core"
 * import { committed, decides, given, started } from "@memfold/testing"
 *
 * const said = ["one", "two", "three", "four"].map((text) => Message.user(text))
 *
 * // A reducer:
 * given(said, started(2))
 *   .when(committed(2))
 *   .then(({ coveredTo, running }) => console.log(coveredTo, running)) // 2 null
 *
 * // A strategy:
 * const brief = Strategy.make({
 *   name: "brief",
 *   when: Trigger.uncovered({ messages: 4 }),
 *   keep: Keep.lastMessages(1),
 *   summaryMode: SummaryMode.rolling,
 * })
 * given(said).when(brief).then(decides.compact({ from: 0, to: 3 }))
 * given(said.slice(1)).when(brief).then(decides.nothing("not-due"))
 * ```
 */
export const given = (...past: ReadonlyArray<Happened>): Given => {
  const before = recorded(eventsOf(0, past))
  const state = Session.fold(Session.empty("s"), before)
  const when = (...what: ReadonlyArray<unknown>): Then<Policy.Decision> | Then<Session.SessionState> => {
    const [first, options] = what
    if (isStrategy(first)) {
      const now = startOfTime + before.length
      return then(Policy.decide(first, state, { now, ...(options as Partial<Policy.DecideOptions>) }))
    }
    const all = recorded([
      ...before.map(({ event }) => event),
      ...eventsOf(state.total, what as ReadonlyArray<Happened>),
    ])
    return then(Session.fold(Session.empty("s"), all))
  }
  return { state, when: when as Given["when"] }
}

/** Checks of a strategy's decision, for `then`. They throw an `Error` that says what was decided instead. */
export const decides = {
  /** A compaction is due, and its plan has at least these fields. */
  compact:
    (expected: Partial<Policy.Plan> = {}) =>
    (decision: Policy.Decision): void => {
      must(
        decision._tag === "Due",
        () => `nothing is due (${decision._tag === "Idle" ? decision.reason : ""})`,
      )
      for (const [field, value] of Object.entries(expected)) {
        const found = decision.plan[field as keyof Policy.Plan]
        must(
          canonical(found) === canonical(value),
          () => `the plan has ${field} ${canonical(found)}, expected is ${canonical(value)}`,
        )
      }
    },
  /** Nothing is due, for this reason if one is given. */
  nothing:
    (why?: Extract<Policy.Decision, { readonly _tag: "Idle" }>["reason"]) =>
    (decision: Policy.Decision): void => {
      must(decision._tag === "Idle", () => `a compaction is due: ${canonical(decision)}`)
      must(
        why === undefined || decision.reason === why,
        () => `nothing is due (${decision.reason}), expected is (${why})`,
      )
    },
} as const
