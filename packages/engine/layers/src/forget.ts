/** Erases facts from a shared log: those learned from a redacted message, or in deleted sessions. */
import { type Event, EventCodec, type EventLog, type Session } from "@memfold/core"
import { Array, Clock, Effect, Stream } from "effect"
import { origin, originOfFact, sessionOfFact } from "./identity.js"

/** Which facts to erase. */
export interface Erasure {
  /** A name for the erasure. The batch id has it. */
  readonly name: string
  readonly erases: (fact: Event.Fact) => boolean
}

/** The facts learned from the message at an index. */
export const ofMessage = (state: Session.SessionState, index: number): Erasure => ({
  name: `${index}.${origin(state)}`,
  erases: (fact) => index >= fact.from && index < fact.to && originOfFact(fact) === origin(state),
})

/** The facts learned in sessions. */
export const ofSessions = (learnedIn: ReadonlySet<string>): Erasure => ({
  name: "sessions",
  erases: (fact) => {
    const session = sessionOfFact(fact)
    return session !== null && learnedIn.has(session)
  },
})

/** The event without the facts to erase; `null` if it has none of them. */
const without = (event: EventCodec.AnyEvent, { erases }: Erasure): Event.FactsLearned | null => {
  if (event._tag !== "FactsLearned") return null
  const facts = event.facts.filter((fact) => !erases(fact))
  return facts.length === event.facts.length ? null : { ...event, facts }
}

/** Rewrites a shared log without facts, active or not. Does nothing if it has none of them. */
export const forget = (
  log: EventLog.Service,
  sessions: Session.Sessions,
  home: string,
  erasure: Erasure,
): Effect.Effect<void, Session.SessionError> =>
  Effect.gen(function* () {
    const events = [...(yield* Stream.runCollect(sessions.events(home)))]
    const rewritten = events.flatMap((recorded) => {
      const changed = without(recorded.event, erasure)
      return changed === null ? [] : [EventCodec.encodeRewritten({ ...recorded, event: changed })]
    })
    const [first] = rewritten
    const last = events.at(-1)
    const finished = log.finishRewrites?.(home) ?? Effect.void
    // An earlier call may have failed to finish.
    if (first === undefined || last === undefined) return yield* finished
    const time = yield* Clock.currentTimeMillis
    const redaction: Event.MessageRedacted = {
      _tag: "MessageRedacted",
      version: first.version,
      rewritten: rewritten.map(({ version }) => version),
    }
    const batchId = `forgotten.${erasure.name}@${last.version}`
    const records = EventCodec.encodeBatch(
      last,
      batchId,
      yield* EventCodec.timedNow(time, Array.of(redaction)),
    )
    yield* log
      .rewrite(home, rewritten, records, {
        expectedVersion: last.version,
        // The id of an event is its batch id, followed by a dot and its version.
        lastBatchId: last.id.slice(0, -`.${last.version}`.length),
        batchId,
      })
      .pipe(
        // Another writer added facts meanwhile: search again.
        Effect.catchTag("VersionConflict", () => forget(log, sessions, home, erasure)),
      )
    // Loading brings the cached state of the log up to date.
    yield* sessions.load(home)
    yield* finished
  })
