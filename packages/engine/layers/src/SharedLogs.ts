/** Which logs a session shares with others, and the facts in them. */
import { type MemoryLayers, Session } from "@memfold/core"
import { Effect, Stream } from "effect"
import { failing, type Operation } from "./failing.js"
import { isHome, scopeHome, userHome } from "./homes.js"
import { isLeft } from "./identity.js"
import type { Options } from "./options.js"
import type { LogFacts, Places } from "./places.js"

type Name = "user" | "scope"

/** The logs that the sessions of one user or one scope share. */
export interface SharedLogs {
  /** The id of the layer's shared log, `null` if the session has none. A shared log itself has none. */
  readonly homeOf: (
    layer: Name,
    session: string,
    operation: Operation,
  ) => Effect.Effect<string | null, MemoryLayers.LayersError>
  /** All logs with facts of a session, now or at a time in milliseconds since the epoch. */
  readonly placesOf: (
    state: Session.SessionState,
    operation: Operation,
    until?: number,
  ) => Effect.Effect<Places, MemoryLayers.LayersError>
}

/** The facts without those that were learned from messages beside the branch in force of the session. */
const onBranch = (facts: LogFacts["facts"], state: Session.SessionState): LogFacts["facts"] => {
  if (state.gaps.length === 0) return facts
  const kept = facts.filter((fact) => !isLeft(fact, state))
  // An unchanged list stays the same list: indexes and earlier results are kept by it.
  return kept.length === facts.length ? facts : kept
}

/** Makes what finds shared logs, and reads them. */
export const makeSharedLogs = (
  sessions: Session.Sessions,
  names: Required<Pick<Options, "userOf" | "scopeOf">>,
): SharedLogs => {
  const homeOf: SharedLogs["homeOf"] = (layer, session, operation) => {
    const ask = layer === "user" ? names.userOf : names.scopeOf
    if (isHome(session)) return Effect.succeed(null)
    const fail = failing(session, operation)
    return Effect.try({
      try: () => ask(session) ?? "",
      catch: () => fail(`${layer}Of threw an error for this session; let it return undefined instead`),
    }).pipe(
      Effect.filterOrFail(
        (name) => typeof name === "string" && name.isWellFormed(),
        () => fail(`${layer}Of has to return a well-formed string, or undefined`),
      ),
      Effect.map((name) => (name === "" ? null : layer === "user" ? userHome(name) : scopeHome(name))),
    )
  }

  /** The state of a shared log, now or at a time. */
  const folded = (home: string, until: number | undefined) =>
    until === undefined
      ? sessions.load(home)
      : sessions.events(home).pipe(
          Stream.filter(({ time }) => time <= until),
          Stream.runFold(Session.empty(home), (state, recorded) => Session.evolve(state, recorded)),
        )

  return {
    homeOf,
    placesOf: (state, operation, until) => {
      const fail = failing(state.session, operation)
      const shared = (layer: Name): Effect.Effect<LogFacts | null, MemoryLayers.LayersError> =>
        Effect.flatMap(homeOf(layer, state.session, operation), (home) =>
          home === null
            ? Effect.succeed(null)
            : folded(home, until).pipe(
                Effect.map(({ facts }) => ({ log: home, facts: onBranch(facts, state) })),
                Effect.mapError(({ message }) => fail(message)),
              ),
        )
      return Effect.all({ user: shared("user"), scope: shared("scope") }, { concurrency: 2 }).pipe(
        Effect.map((homes) => ({ own: { log: state.session, facts: state.facts }, ...homes })),
      )
    },
  }
}
