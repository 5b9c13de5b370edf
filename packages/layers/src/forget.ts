/** Erases facts learned from a redacted message from a shared log. */
import { type Event, EventCodec, type EventLog, type Session } from "@memfold/core"
import { Array, Clock, Effect, Stream } from "effect"
import { origin, originOfFact } from "./identity.js"

/** The event without its facts from that message; `null` if it had none. */
const without = (
  event: EventCodec.AnyEvent,
  state: Session.SessionState,
  index: number,
): Event.FactsLearned | null => {
  if (event._tag !== "FactsLearned") return null
  const facts = event.facts.filter(
    (fact) => index < fact.from || index >= fact.to || originOfFact(fact) !== origin(state),
  )
  return facts.length === event.facts.length ? null : { ...event, facts }
}

/**
 * Rewrites a shared log without the facts learned from the message at an index, active or not. Does nothing if there
 * are none.
 */
export const forget = (
  log: EventLog.Service,
  sessions: Session.Sessions,
  home: string,
  state: Session.SessionState,
  index: number,
): Effect.Effect<void, Session.SessionError> =>
  Effect.gen(function* () {
    const events = [...(yield* Stream.runCollect(sessions.events(home)))]
    const rewritten = events.flatMap((recorded) => {
      const changed = without(recorded.event, state, index)
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
    const batchId = `forgotten.${index}@${last.version}.${origin(state)}`
    const records = EventCodec.encodeBatch(last, batchId, Array.of({ time, event: redaction }))
    yield* log
      .rewrite(home, rewritten, records, {
        expectedVersion: last.version,
        // The id of an event is its batch id, followed by a dot and its version.
        lastBatchId: last.id.slice(0, -`.${last.version}`.length),
        batchId,
      })
      .pipe(
        // Another writer added facts meanwhile: search again.
        Effect.catchTag("VersionConflict", () => forget(log, sessions, home, state, index)),
      )
    // Loading brings the cached state of the log up to date.
    yield* sessions.load(home)
    yield* finished
  })
