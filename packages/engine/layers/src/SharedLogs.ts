/** Which logs a session shares with others, and the facts in them. */
import { type MemoryLayers, Session } from "@memfold/core"
import { Effect, Stream } from "effect"
import { failing, type Operation } from "./failing.js"
import { isHome, scopeHome, userHome } from "./homes.js"
import { isLeft, isLeftSource, standingIn } from "./identity.js"
import type { Options } from "./options.js"
import type { LogFacts, Places } from "./places.js"

type Name = "user" | "scope"

/** The logs that the sessions of one user or one scope share. */
export interface SharedLogs {
  /** The id of the layer's shared log, `null` if the session has none. A shared log itself has none. */
  readonly homeOf: (
    layer: Name,
    session: Pick<Session.SessionState, "session" | "description">,
    operation: Operation,
  ) => Effect.Effect<string | null, MemoryLayers.LayersError>
  /** All logs with facts of a session, now or at a time in milliseconds since the epoch. */
  readonly placesOf: (
    state: Session.SessionState,
    operation: Operation,
    until?: number,
  ) => Effect.Effect<Places, MemoryLayers.LayersError>
}

type Facts = LogFacts["facts"]
type Changed = Parameters<typeof isLeft>[1]

/** The facts and ends without those that were said in messages of a session that are not on its branch in force. */
export const onBranch = (facts: Facts, state: Changed): Facts => {
  if (state.gaps.length === 0) return facts
  let isSame = true
  const kept = facts.flatMap((fact): Facts => {
    const { ended, ...begun } = fact
    if (isLeft(fact, state)) isSame = false
    else if (ended?.source !== undefined && isLeftSource(ended.source, state)) {
      isSame = false
      return [begun]
    } else return [fact]
    return []
  })
  // An unchanged list stays the same list: indexes and earlier results are kept by it.
  return isSame ? facts : kept
}

const sessionsOf = (facts: Facts): ReadonlySet<string> =>
  new Set(
    facts.flatMap(({ sources = [], ended }) =>
      [...sources, ...(ended?.source === undefined ? [] : [ended.source])].map(({ session }) => session),
    ),
  )

const inCopies = new WeakMap<Facts, Facts>()

/** The facts in the log of a session, and their ends, where they stand there. */
const ownFacts = ({ session, facts }: Pick<Session.SessionState, "session" | "facts">): Facts => {
  const known = isHome(session) ? facts : inCopies.get(facts)
  if (known !== undefined) return known
  if ([...sessionsOf(facts)].every((one) => one === session)) return facts
  const here = facts.map((fact) => {
    const { ended } = fact
    const isCopied = ended?.source !== undefined
    return {
      ...standingIn(session, fact),
      ...(isCopied ? { ended: { ...ended, source: { ...ended.source, session } } } : {}),
    }
  })
  inCopies.set(facts, here)
  return here
}

/** The sessions that facts were said in and that do not stand behind all of them any more. */
export interface Left {
  /** They have left a branch. */
  readonly states: ReadonlyArray<Session.SessionState>
  /** They were erased. */
  readonly erased: ReadonlySet<string>
}

/**
 * Finds the sessions that facts were said in and that have left a branch, or were erased. Of one that cannot be read for another reason,
 * nobody knows it: its facts stay, and it keeps nobody else waiting.
 */
export const leftSessions = (
  sessions: Session.Sessions,
  here: string,
  facts: Facts,
): Effect.Effect<Left, Session.SessionError> =>
  Effect.gen(function* () {
    const erased = new Set<string>()
    const loaded = yield* Effect.forEach(
      [...sessionsOf(facts)].filter((session) => session !== here),
      (session) =>
        Effect.catchIf(sessions.load(session), Session.isUnreadable, (error) =>
          Effect.sync(() => {
            if (Session.isErased(error)) erased.add(session)
            return null
          }),
        ),
      { concurrency: 8 },
    )
    return { states: loaded.filter((state) => state !== null).filter(({ gaps }) => gaps.length > 0), erased }
  })

/** The facts and ends that rest on nothing that was erased. */
const unerased = (facts: Facts, erased: Left["erased"]): Facts =>
  erased.size === 0
    ? facts
    : facts.flatMap(({ ended, ...begun }): Facts => {
        const isErased = ({ session }: { readonly session: string }) => erased.has(session)
        if (begun.sources?.some(isErased) === true) return []
        return ended === undefined || (ended.source !== undefined && isErased(ended.source))
          ? [begun]
          : [{ ...begun, ended }]
      })

/** Places without what was said on branches that were left, and in sessions that were erased. */
export const withoutLeft = ({ own, user, scope }: Places, { states, erased }: Left): Places => {
  const without = (place: LogFacts): LogFacts => ({
    ...place,
    facts: states.reduce(onBranch, unerased(place.facts, erased)),
  })
  return {
    // The log of a session has left branches by itself.
    own: isHome(own.log) ? without(own) : own,
    user: user === null ? null : without(user),
    scope: scope === null ? null : without(scope),
  }
}

/** Makes what finds shared logs, and reads them. */
export const makeSharedLogs = (
  sessions: Session.Sessions,
  names: Pick<Options, "userOf" | "scopeOf">,
): SharedLogs => {
  const homeOf: SharedLogs["homeOf"] = (layer, { session, description }, operation) => {
    const owner = layer === "user" ? description.owner : null
    const ask = (layer === "user" ? names.userOf : names.scopeOf) ?? (() => owner ?? undefined)
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
        Effect.flatMap(homeOf(layer, state, operation), (home) =>
          home === null
            ? Effect.succeed(null)
            : folded(home, until).pipe(
                Effect.map(({ facts }) => ({ log: home, facts: onBranch(facts, state) })),
                Effect.mapError(({ message }) => fail(message)),
              ),
        )
      // A shared log is read by itself, whatever owner it may have.
      return Effect.all({ user: shared("user"), scope: shared("scope") }, { concurrency: 2 }).pipe(
        Effect.map((homes) => ({ own: { log: state.session, facts: ownFacts(state) }, ...homes })),
      )
    },
  }
}
