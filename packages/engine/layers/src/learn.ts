/** Learns facts from turns: asks the extractor, and writes what a shared log does not have yet into it. */
import type { Event, MemoryLayers, Session } from "@memfold/core"
import { Duration, Effect } from "effect"
import type { Extractor, NewFact } from "./Extractor.js"
import { failing } from "./failing.js"
import { batchIdOf } from "./identity.js"
import { toFacts, unknownOf } from "./learned.js"
import { layers, type Places } from "./places.js"

/** Asks an extractor for the facts of turns. */
export const extract = (
  extractor: Extractor,
  timeout: Duration.Duration,
  turns: MemoryLayers.CompletedTurns,
  known: ReadonlyArray<Session.KnownFact>,
): Effect.Effect<ReadonlyArray<NewFact>, MemoryLayers.LayersError> => {
  const fail = failing(turns.state.session, "learn")
  return Effect.suspend(() => extractor.extract({ ...turns, known })).pipe(
    // A thrown error may contain text of messages, so it is dropped.
    Effect.catchAllDefect(() => fail(`the extractor "${extractor.name}" threw an error`)),
    Effect.timeoutFail({
      duration: timeout,
      onTimeout: () =>
        fail(
          `the extractor "${extractor.name}" took longer than ${Duration.format(timeout)}; the turns are tried again with the next one`,
        ),
    }),
  )
}

/** Appends the facts of a layer that its shared log does not have yet. */
const share = (
  sessions: Session.Sessions,
  home: string,
  layer: Event.Fact["layer"],
  facts: ReadonlyArray<Event.Fact>,
  turns: MemoryLayers.CompletedTurns,
): Effect.Effect<void, Session.SessionError> => {
  const { state, from, to } = turns
  return Effect.asVoid(
    sessions.transact(
      home,
      (now) => {
        const fresh = unknownOf(facts, now.facts)
        return {
          events:
            fresh.length === 0
              ? []
              : [{ _tag: "FactsLearned", from, to, facts: fresh, session: state.session }],
          answer: undefined,
        }
      },
      batchIdOf(layer, turns, state),
    ),
  )
}

/** Writes the facts of turns into the shared logs, and returns those that belong into the session's own log. */
export const keep = (
  sessions: Session.Sessions,
  places: Places,
  found: ReadonlyArray<NewFact>,
  turns: MemoryLayers.CompletedTurns,
): Effect.Effect<ReadonlyArray<Event.Fact>, MemoryLayers.LayersError> =>
  Effect.gen(function* () {
    const { state } = turns
    const own: Array<Event.Fact> = []
    for (const layer of layers) {
      const facts = toFacts(found, layer, turns)
      const home = places[layer]
      if (home === null) own.push(...unknownOf(facts, state.facts))
      else if (facts.length > 0)
        yield* share(sessions, home.log, layer, facts, turns).pipe(
          Effect.mapError(({ message }) => failing(state.session, "learn")(message)),
        )
    }
    return own
  })
