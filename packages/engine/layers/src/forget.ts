/** Erases facts from a log: those learned from a redacted message, or in deleted sessions, and those that must not be known. */
import { type Event, EventCodec, type EventLog, MemoryLayers, Session } from "@memfold/core"
import { Array, Clock, Effect, Stream } from "effect"
import { isOfOrigin, origin, sessionOfFact, standingIn } from "./identity.js"

/** Which facts to erase. */
export interface Erasure extends MemoryLayers.ErasedFacts {
  /** A name for the erasure. The batch id has it. */
  readonly name: string
  /** What is noted of it; that a message was redacted, by default. */
  readonly noted?: ReadonlyArray<Event.Event>
}

/**
 * Some facts, what was learned again from their messages, and of what was learned anew from these, and waits to be taken, all that is not
 * known already.
 *
 * @param known - the facts in force
 */
export const ofFacts = (facts: ReadonlyArray<Event.Fact>, known: ReadonlyArray<Event.Fact> = []): Erasure => {
  const ids = facts.map(({ id }) => id)
  return {
    name: `facts.${ids[0] ?? ""}`,
    erases: (fact) => ids.includes(fact.id) || facts.some((one) => MemoryLayers.isLearnedAgain(one, fact)),
    erasesAnew: (fact) =>
      facts.some((one) => MemoryLayers.shareSource(one, fact)) &&
      !known.some((old) => MemoryLayers.isLearnedAgain(old, fact)),
    noted: facts.map(({ id, sources = [] }) => ({
      _tag: "FactRedacted",
      fact: id,
      places: sources.map(({ session, event }) => ({ session, event })),
    })),
  }
}

/** The facts and ends that were learned from a message. */
export const ofMessage = (
  state: Session.SessionState,
  { index, version }: MemoryLayers.MessagePlace,
): Erasure => {
  const isThere = ({ session, event }: Event.FactSource) => session === state.session && event === version
  return {
    name: `${version}.${origin(state)}`,
    erases: (fact) =>
      isOfOrigin(fact, state) &&
      ((index >= fact.from && index < fact.to) || (fact.sources ?? []).some(isThere)),
    erasesEnd: isThere,
  }
}

/** The facts learned in sessions. */
export const ofSessions = (learnedIn: ReadonlySet<string>): Erasure => ({
  name: "sessions",
  erases: (fact) => {
    const session = sessionOfFact(fact)
    return session !== null && learnedIn.has(session)
  },
  erasesEnd: ({ session }) => learnedIn.has(session),
})

/** Rewrites a log without facts, active or not. Does nothing if it has none of them. */
export const forget = (
  log: EventLog.Service,
  sessions: Session.Sessions,
  home: string,
  erasure: Erasure,
): Effect.Effect<void, Session.SessionError> =>
  Effect.gen(function* () {
    const events = [...(yield* Stream.runCollect(sessions.events(home)))]
    const { erases, erasesAnew } = erasure
    const erased: MemoryLayers.ErasedFacts = {
      ...erasure,
      erases: (fact) => erases(standingIn(home, fact)),
      erasesAnew: (fact) => erasesAnew?.(standingIn(home, fact)) === true,
    }
    const rewritten: Array<EventLog.RewrittenRecord> = []
    const changed = events.map((recorded) => {
      const event = MemoryLayers.withoutFacts(recorded.event, erased)
      if (event === null) return recorded
      rewritten.push(EventCodec.encodeRewritten({ ...recorded, event }))
      return { ...recorded, event }
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
    const noted = erasure.noted ?? []
    const timed = yield* EventCodec.timedNow(
      time,
      Array.isNonEmptyReadonlyArray(noted) ? noted : Array.of(redaction),
    )
    const records = EventCodec.encodeBatch(last, batchId, timed)
    const added = EventCodec.recordedAfter(last, batchId, timed)
    const projections = yield* Session.projectionsOf(home, Stream.fromIterable([...changed, ...added]))
    yield* log
      .rewrite(home, rewritten, records, {
        expectedVersion: last.version,
        lastBatchId: EventCodec.batchIdOf(last),
        batchId,
        projections,
      })
      .pipe(
        // Another writer added facts meanwhile: search again.
        Effect.catchTag("VersionConflict", () => forget(log, sessions, home, erasure)),
      )
    // Loading brings the cached state of the log up to date.
    yield* sessions.load(home)
    yield* finished
  })
