/** Learning anew: beside the facts in force, then taken or dropped. */
import { type Event, type EventLog, MemoryLayers, type Session } from "@memfold/core"
import { Effect, Random, Stream } from "effect"
import { byOf, type Extractor } from "../Extractor.js"
import { failing } from "../failing.js"
import { forget, ofMessage } from "../forget.js"
import { isHome, userHome } from "../homes.js"
import { isWithin, sessionOfFact } from "../identity.js"
import { find, type Teaching } from "../learn.js"
import { allFacts, layers } from "../places.js"
import type { SharedLogs } from "../SharedLogs.js"
import { afterEvents, planOf } from "./plan.js"
import { learnedFrom, placeOf, redactedFrom, type Transcript, transcriptOf } from "./transcript.js"

/** What learning anew works with. */
export interface RebuildingParts {
  readonly log: EventLog.Service
  readonly sessions: Session.Sessions
  readonly shared: SharedLogs
  readonly teaching: Teaching
}

/** After so many attempts to take, the facts change faster than they can be taken. */
const mostAttempts = 100

/** What was learned anew, and is neither taken nor dropped. */
const openIn = (
  { sessions }: Pick<RebuildingParts, "sessions">,
  home: string,
): Effect.Effect<ReadonlyArray<Event.FactsRebuilt>, Session.SessionError> => {
  let rebuild: string | null = null
  return sessions.events(home, { reverse: true }).pipe(
    Stream.takeWhile(({ event }) => {
      if (event._tag === "RebuildEnded") return false
      if (event._tag !== "FactsRebuilt") return rebuild === null
      rebuild ??= event.rebuild
      return event.rebuild === rebuild
    }),
    Stream.runCollect,
    Effect.map((events) =>
      [...events].flatMap(({ event }) => (event._tag === "FactsRebuilt" ? [event] : [])).toReversed(),
    ),
  )
}

const diffOf = (
  parts: RebuildingParts,
  home: string,
  rebuilt: ReadonlyArray<Event.FactsRebuilt>,
): Effect.Effect<MemoryLayers.FactsDiff | null, Session.SessionError | MemoryLayers.LayersError> =>
  Effect.gen(function* () {
    const [first] = rebuilt
    if (first === undefined) return null
    const { before, after } = yield* planOf(parts, home, rebuilt)
    const refused: Record<string, number> = {}
    for (const one of rebuilt)
      for (const [why, count] of Object.entries(one.refused ?? {})) refused[why] = (refused[why] ?? 0) + count
    return { by: first.by, ...MemoryLayers.factsDiff(before, after), refused }
  })

const transcriptsOf = (
  { sessions, shared }: RebuildingParts,
  home: string,
  owned: ReadonlyArray<string>,
  extractor: Extractor,
) =>
  Effect.gen(function* () {
    const { facts } = yield* sessions.load(home)
    const named = facts.flatMap((fact) => sessionOfFact(fact) ?? [])
    const found: Array<Transcript> = []
    for (const session of new Set([...owned, ...named].filter((one) => !isHome(one)))) {
      const transcript = yield* transcriptOf(sessions, extractor, session)
      if (transcript === null) continue
      if ((yield* shared.homeOf("user", transcript.state, "rebuild")) === home) found.push(transcript)
    }
    return found
  })

type Charged = Parameters<MemoryLayers.Rebuilding["learn"]>[2]["charged"]

/** Learns from transcripts, in the order in which they were learned from first. */
const learnAnew = (
  { sessions, shared, teaching }: RebuildingParts,
  home: string,
  transcripts: ReadonlyArray<Transcript>,
  charged: Charged,
) =>
  Effect.gen(function* () {
    const rebuild = String(yield* Random.nextIntBetween(1, Number.MAX_SAFE_INTEGER))
    const bySession = new Map(transcripts.map((one) => [one.state.session, one]))
    const isRebuilt = (fact: Event.Fact): boolean => {
      const read = bySession.get(sessionOfFact(fact) ?? "")
      return read !== undefined && isWithin(fact, read.state, read.toVersion)
    }
    /** The logs as they would be, and the facts in force of each. */
    const logs = new Map<string, Session.SessionState>()
    const inForce = new Map<string, ReadonlyArray<Session.KnownFact>>()
    const stateOf = (log: string) =>
      Effect.gen(function* () {
        const known = logs.get(log)
        if (known !== undefined) return known
        const now = yield* sessions.load(log)
        const seeded = { ...now, facts: now.facts.filter((fact) => !isRebuilt(fact)) }
        logs.set(log, seeded)
        inForce.set(log, now.facts)
        return seeded
      })
    const redacted = new Set(transcripts.flatMap((one) => one.redactedFrom))
    /** Where the home has what was learned from a message first: of what came at one time, that is the order. */
    const firstAt = new Map<string, number>()
    yield* Stream.runForEach(sessions.events(home), ({ event, version }) =>
      Effect.sync(() => {
        for (const place of redactedFrom(event)) redacted.add(place)
        for (const place of learnedFrom(event)) if (!firstAt.has(place)) firstAt.set(place, version)
      }),
    )
    const learned = new Map<string, { facts: Array<Event.Fact>; ended: Array<Event.FactEnded> }>()
    const refused = new Map<string, Record<string, number>>()
    const units = transcripts
      .flatMap((transcript) => {
        const { session, uncovered } = transcript.state
        let first = Number.MAX_SAFE_INTEGER
        return transcript.units.toReversed().map((unit) => {
          for (const { version: event } of uncovered.slice(unit.from, unit.to))
            first = Math.min(first, firstAt.get(placeOf({ session, event })) ?? first)
          return { ...unit, transcript, first }
        })
      })
      .toReversed()
      .toSorted((one, other) => one.time - other.time || one.first - other.first)
    for (const { from, to, time, transcript } of units) {
      const { state } = transcript
      const { session } = state
      const messages = state.uncovered.slice(from, to).map(({ message }) => message)
      const scopeHome = yield* shared.homeOf("scope", state, "rebuild")
      const place = (log: string) => Effect.map(stateOf(log), ({ facts }) => ({ log, facts }))
      const places = {
        own: yield* place(session),
        user: yield* place(home),
        scope: scopeHome === null ? null : yield* place(scopeHome),
      }
      const turns = { state, from, to, messages }
      const run = find(teaching, { turns, known: allFacts(places), now: time, number: rebuild })
      const found = yield* Effect.retry(teaching.extractor.isFree === true ? run : charged(turns, run), {
        times: 2,
      })
      const counts = refused.get(session) ?? {}
      for (const [why, count] of Object.entries(found.refused ?? {})) counts[why] = (counts[why] ?? 0) + count
      const all = [...inForce.values()].flat()
      const facts = found.facts.filter((fact) => {
        const isOpen =
          !(fact.sources ?? []).some((source) => redacted.has(placeOf(source))) ||
          all.some((old) => MemoryLayers.isLearnedAgain(old, fact))
        if (!isOpen) counts["redacted"] = (counts["redacted"] ?? 0) + 1
        return isOpen
      })
      refused.set(session, counts)
      const { facts: before, ended } = learned.get(session) ?? { facts: [], ended: [] }
      learned.set(session, { facts: [...before, ...facts], ended: [...ended, ...(found.ended ?? [])] })
      for (const layer of layers) {
        const log = places[layer]?.log ?? session
        const state = yield* stateOf(log)
        const added = facts.filter((fact) => fact.layer === layer)
        const events: ReadonlyArray<Event.Event> = [
          { _tag: "FactsLearned", from, to, facts: added, session },
          ...(found.ended ?? []),
        ]
        logs.set(log, afterEvents(state, events, time))
      }
    }
    return transcripts.map(({ state: { session }, toVersion }): Event.FactsRebuilt => {
      const counts = refused.get(session) ?? {}
      return {
        _tag: "FactsRebuilt",
        rebuild,
        by: byOf(teaching.extractor),
        session,
        toVersion,
        ...(learned.get(session) ?? { facts: [], ended: [] }),
        ...(Object.keys(counts).length === 0 ? {} : { refused: counts }),
      }
    })
  })

/** Erases what was redacted from sessions while they were read. */
const forgetRedacted = (
  { log, sessions }: RebuildingParts,
  home: string,
  transcripts: ReadonlyArray<Transcript>,
): Effect.Effect<void, Session.SessionError> =>
  Effect.forEach(
    transcripts,
    ({ state }) =>
      Stream.runForEach(
        sessions.events(state.session, { fromVersion: state.version + 1 }),
        ({ event }): Effect.Effect<void, Session.SessionError> => {
          const entry =
            event._tag === "MessageRedacted"
              ? state.uncovered.slice().find(({ version }) => version === event.version)
              : undefined
          return entry === undefined ? Effect.void : forget(log, sessions, home, ofMessage(state, entry))
        },
      ),
    { discard: true },
  )

/** Puts what was learned anew in its place, log by log, that of the owner at the end: taking that was cut off goes on from there. */
const take = (
  parts: RebuildingParts,
  home: string,
  rebuilt: ReadonlyArray<Event.FactsRebuilt>,
): Effect.Effect<boolean, Session.SessionError | MemoryLayers.LayersError> =>
  Effect.gen(function* () {
    for (let attempt = 0; attempt < mostAttempts; attempt++) {
      const { logs } = yield* planOf(parts, home, rebuilt)
      let isCurrent = true
      for (const { state, events } of logs) {
        const isLast = state.session === home
        if (!isCurrent || (events.length === 0 && !isLast)) continue
        const rebuild = rebuilt[0]?.rebuild ?? ""
        const ended: Event.Event = { _tag: "RebuildEnded", rebuild, as: "taken" }
        const { answer } = yield* parts.sessions.transact(state.session, ({ version }) =>
          version === state.version
            ? { events: isLast ? [...events, ended] : events, answer: true }
            : { events: [], answer: false },
        )
        isCurrent = answer
      }
      if (isCurrent) return true
    }
    return yield* failing(home, "rebuild")("the facts change all the time; take them again later")
  })

/** Makes what learns anew. */
export const makeRebuilding = (parts: RebuildingParts): MemoryLayers.Rebuilding => {
  const { sessions, teaching } = parts
  const said =
    (owner: string) =>
    (error: Session.SessionError | MemoryLayers.LayersError): MemoryLayers.LayersError =>
      error._tag === "LayersError" ? error : failing(userHome(owner), "rebuild")(error.message)
  return {
    learn: (owner, owned, { extractor = teaching.extractor, charged }) =>
      Effect.gen(function* () {
        const home = userHome(owner)
        const fail = failing(home, "rebuild")
        if (typeof extractor.extract !== "function" || typeof extractor.name !== "string")
          return yield* fail("`extractor` has to be an object with a name and a function extract")
        // It has what an extractor has; what it answers is checked.
        const chosen = { ...parts, teaching: { ...teaching, extractor: extractor as Extractor } }
        const transcripts = yield* transcriptsOf(parts, home, owned, chosen.teaching.extractor)
        if (transcripts.length === 0)
          return { by: byOf(chosen.teaching.extractor), come: [], go: [], change: [], refused: {} }
        const rebuilt = yield* learnAnew(chosen, home, transcripts, charged)
        yield* sessions.transact(home, () => ({ events: rebuilt, answer: undefined }))
        yield* forgetRedacted(parts, home, transcripts)
        const diff = yield* diffOf(parts, home, yield* openIn(parts, home))
        return diff ?? (yield* fail("it was taken or dropped meanwhile"))
      }).pipe(Effect.mapError(said(owner))),
    diff: (owner) =>
      Effect.flatMap(openIn(parts, userHome(owner)), (rebuilt) =>
        diffOf(parts, userHome(owner), rebuilt),
      ).pipe(Effect.mapError(said(owner))),
    end: (owner, as) =>
      Effect.gen(function* () {
        const home = userHome(owner)
        const rebuilt = yield* openIn(parts, home)
        const [first] = rebuilt
        if (first === undefined) return false
        if (as === "taken") return yield* take(parts, home, rebuilt)
        const { answer } = yield* sessions.transact(home, () => ({
          events: [{ _tag: "RebuildEnded", rebuild: first.rebuild, as }],
          answer: true,
        }))
        return answer
      }).pipe(Effect.mapError(said(owner))),
  }
}
