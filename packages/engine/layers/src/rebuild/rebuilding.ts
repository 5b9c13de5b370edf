/** Learning anew: beside the facts in force, then taken or dropped. */
import { type Event, type EventLog, MemoryLayers, Session } from "@memfold/core"
import { Effect, Random, Stream } from "effect"
import { byOf, type Extractor } from "../Extractor.js"
import { failing, inWords } from "../failing.js"
import { isHome } from "../homes.js"
import { isWithin, sessionOfFact, standing } from "../identity.js"
import { find, type Teaching } from "../learn.js"
import { allFacts, layers } from "../places.js"
import type { SharedLogs } from "../SharedLogs.js"
import { afterEvents, planOf } from "./plan.js"
import {
  isLearnedFor,
  learnedFrom,
  readable,
  readTurns,
  type Transcript,
  transcriptOf,
  type Unit,
  withoutMessages,
} from "./transcript.js"

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
    const refused = rebuilt.reduce((sum, one) => countedWith(sum, one.refused), {})
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
      const transcript = yield* readable(transcriptOf(sessions, extractor, session))
      if (transcript === null) continue
      if (((yield* shared.homeOf("user", transcript.state, "rebuild")) ?? session) === home)
        found.push(transcript)
    }
    return found
  })

type Charged = Parameters<MemoryLayers.Rebuilding["learn"]>[2]["charged"]
type Facts = ReadonlyArray<Session.KnownFact>

/**
 * The facts that may be learned anew: from a message that a fact was redacted from only what is known, since nobody can compare it with
 * what was erased.
 */
const open = (
  facts: ReadonlyArray<Event.Fact>,
  redacted: ReadonlySet<string>,
  known: Facts,
): ReadonlyArray<Event.Fact> =>
  facts.filter(
    (fact) =>
      !(fact.sources ?? []).some((source) => redacted.has(MemoryLayers.placeOf(source))) ||
      known.some((old) => MemoryLayers.isLearnedAgain(old, fact)),
  )

/** The ends that nobody has taken back of the fact that is learned again. */
const standingEnds = (
  ended: ReadonlyArray<Event.FactEnded>,
  factOf: (id: string) => Event.Fact | undefined,
  known: Facts,
): ReadonlyArray<Event.FactEnded> =>
  ended.filter(({ fact: id, source }) => {
    const fact = factOf(id)
    return !known.some(
      (old) =>
        fact !== undefined &&
        MemoryLayers.isLearnedAgain(old, fact) &&
        old.notEnded?.some((end) => isOnePlace(end.source, source)) === true,
    )
  })

const countedWith = (
  counts: Readonly<Record<string, number>> = {},
  more: Readonly<Record<string, number>> = {},
): Readonly<Record<string, number>> => {
  const sum = { ...counts }
  for (const [why, count] of Object.entries(more)) if (count > 0) sum[why] = (sum[why] ?? 0) + count
  return sum
}

const isOnePlace = (one: Event.FactSource | undefined, other: Event.FactSource | undefined): boolean =>
  one !== undefined && other !== undefined && MemoryLayers.placeOf(one) === MemoryLayers.placeOf(other)

/**
 * The batches of all sessions, in the order in which they were learned from first. Of what came at one time, a batch that nothing was learned
 * from comes as early as it can: behind what it could have ended, it would have ended it.
 */
const unitsOf = ({ sessions }: RebuildingParts, home: string, transcripts: ReadonlyArray<Transcript>) =>
  Effect.gen(function* () {
    /** Where the home has what was learned from a message first. */
    const firstAt = new Map<string, number>()
    yield* Stream.runForEach(sessions.events(home), ({ event, version }) =>
      Effect.sync(() => {
        for (const place of learnedFrom(event)) if (!firstAt.has(place)) firstAt.set(place, version)
      }),
    )
    return transcripts
      .flatMap((transcript) => {
        const { units, versions, state } = transcript
        const placeOf = ({ from, to }: Unit): number =>
          versions.slice(from, to).reduce((first, event) => {
            const at = firstAt.get(MemoryLayers.placeOf({ session: state.session, event }))
            return Math.min(first, at ?? first)
          }, Number.POSITIVE_INFINITY)
        let last = 0
        return units.map((unit) => {
          const place = placeOf(unit)
          if (Number.isFinite(place)) last = Math.max(last, place)
          return { ...unit, transcript, place: last }
        })
      })
      .toSorted((one, other) => one.time - other.time || one.place - other.place)
  })

/** Learns from transcripts, in the order in which they were learned from first. It reads one batch at a time. */
const learnAnew = (
  parts: RebuildingParts,
  home: string,
  transcripts: ReadonlyArray<Transcript>,
  charged: Charged,
) =>
  Effect.gen(function* () {
    const { sessions, shared, teaching } = parts
    const rebuild = String(yield* Random.nextIntBetween(1, Number.MAX_SAFE_INTEGER))
    const bySession = new Map(transcripts.map((one) => [one.state.session, one]))
    const isRebuilt = (fact: Event.Fact, log: string): boolean => {
      const read = bySession.get(sessionOfFact(fact) ?? "")
      return read !== undefined && isLearnedFor(fact, log) && isWithin(fact, read.state, read.toVersion)
    }
    /** The logs as they would be, their facts in force, and the messages that facts were redacted from. */
    const logs = new Map<string, Session.SessionState>()
    const known: Array<Session.KnownFact> = []
    const redacted = new Set<string>()
    const stateOf = (log: string) =>
      Effect.gen(function* () {
        const before = logs.get(log)
        if (before !== undefined) return before
        const now = withoutMessages(yield* sessions.load(log))
        const seeded = { ...now, facts: now.facts.filter((fact) => !isRebuilt(fact, log)) }
        logs.set(log, seeded)
        known.push(...now.facts)
        for (const place of now.redactions) redacted.add(MemoryLayers.placeOf(place))
        return seeded
      })
    const learned = new Map<string, Pick<Event.FactsRebuilt, "facts" | "ended" | "refused">>()
    for (const unit of yield* unitsOf(parts, home, transcripts)) {
      const { from, to, time, transcript } = unit
      const { state } = transcript
      const { session } = state
      const turns = yield* readTurns(sessions, transcript, unit)
      if (turns === null) continue
      const scopeHome = yield* shared.homeOf("scope", state, "rebuild")
      const place = (log: string) => Effect.map(stateOf(log), ({ facts }) => ({ log, facts }))
      const places = {
        own: yield* place(session),
        user: home === session ? null : yield* place(home),
        scope: scopeHome === null ? null : yield* place(scopeHome),
      }
      const run = find(teaching, { turns, known: allFacts(places), now: time, number: rebuild })
      const found = yield* Effect.retry(teaching.extractor.isFree === true ? run : charged(turns, run), {
        times: 2,
      })
      const facts = open(found.facts, redacted, known)
      const factOf = (id: string) =>
        [...logs.values(), { facts }]
          .flatMap((one): ReadonlyArray<Event.Fact> => one.facts)
          .find((one) => one.id === id)
      const ended = standingEnds(found.ended ?? [], factOf, known)
      const before = learned.get(session) ?? { facts: [], ended: [] }
      learned.set(session, {
        facts: [...before.facts, ...facts],
        ended: [...before.ended, ...ended],
        refused: countedWith(countedWith(before.refused, found.refused), {
          redacted: found.facts.length - facts.length,
        }),
      })
      for (const layer of layers) {
        const log = places[layer]?.log ?? session
        const state = yield* stateOf(log)
        const added = facts.filter((fact) => fact.layer === layer)
        const events: ReadonlyArray<Event.Event> = [
          { _tag: "FactsLearned", from, to, facts: added, session },
          ...ended,
        ]
        logs.set(log, afterEvents(state, events, time))
      }
    }
    const rebuilt = transcripts.map(({ state: { session }, toVersion }): Event.FactsRebuilt => {
      const { refused = {}, ...found } = learned.get(session) ?? { facts: [], ended: [] }
      return {
        _tag: "FactsRebuilt",
        rebuild,
        by: byOf(teaching.extractor),
        session,
        toVersion,
        ...found,
        ...(Object.keys(refused).length === 0 ? {} : { refused }),
      }
    })
    return { rebuilt, logs: new Set([home, ...logs.keys()]) }
  })

/** Writes events if a session is still at a version; `false` if it is not. */
const writtenAt = (
  sessions: Session.Sessions,
  { session, version }: Pick<Session.SessionState, "session" | "version">,
  events: ReadonlyArray<Event.Event>,
) =>
  Effect.map(
    sessions.transact(session, (now) =>
      now.version === version ? { events, answer: true } : { events: [], answer: false },
    ),
    ({ answer }) => answer,
  )

/**
 * Writes what was learned anew, without what was redacted while it was read: a redaction is noted in the home before anything else, so
 * it either is known here, or erases what is written here.
 */
const write = (
  { sessions }: RebuildingParts,
  home: string,
  transcripts: ReadonlyArray<Transcript>,
  { rebuilt, logs }: Effect.Effect.Success<ReturnType<typeof learnAnew>>,
) =>
  Effect.gen(function* () {
    const versions = new Map(transcripts.map((one) => [one.state.session, one.versions]))
    let isWritten = false
    while (!isWritten) {
      const { version } = yield* sessions.load(home)
      const states = yield* Effect.forEach(logs, (log) => Effect.map(sessions.load(log), withoutMessages))
      const redactions = states.flatMap((one) => one.redactions)
      const known = states.flatMap((one) => one.facts)
      const redacted = new Set(redactions.map(MemoryLayers.placeOf))
      const events = rebuilt.map((one): Event.FactsRebuilt => {
        const { session } = one
        const { facts, ended } = standing(one, redactions, session, (index) => versions.get(session)?.[index])
        return { ...one, facts: open(facts, redacted, known), ended }
      })
      isWritten = yield* writtenAt(sessions, { session: home, version }, events)
    }
  })

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
        isCurrent = yield* writtenAt(parts.sessions, state, isLast ? [...events, ended] : events)
      }
      if (isCurrent) return true
    }
    return yield* failing(home, "rebuild")("the facts change all the time; take them again later")
  })

/** Makes what learns anew. */
export const makeRebuilding = (given: RebuildingParts): MemoryLayers.Rebuilding => {
  const { shared, teaching } = given
  // What reads all sessions of an owner keeps few of them.
  const parts = { ...given, sessions: Session.make(given.log, { capacity: 4 }) }
  const { sessions } = parts
  /** What was learned anew; it fails for a session whose facts about the user are elsewhere. */
  const opened = (home: string) =>
    Effect.gen(function* () {
      const elsewhere = isHome(home)
        ? null
        : yield* shared.homeOf("user", yield* sessions.load(home), "rebuild")
      return elsewhere === null
        ? yield* openIn(parts, home)
        : yield* failing(home, "rebuild")("its facts are those of its owner; learn those anew")
    })
  return {
    learn: (home, owned, { extractor = teaching.extractor, charged }) =>
      Effect.gen(function* () {
        const fail = failing(home, "rebuild")
        if (typeof extractor.extract !== "function" || typeof extractor.name !== "string")
          return yield* fail("`extractor` has to be an object with a name and a function extract")
        yield* opened(home)
        // It has what an extractor has; what it answers is checked.
        const chosen = { ...parts, teaching: { ...teaching, extractor: extractor as Extractor } }
        const transcripts = yield* transcriptsOf(parts, home, owned, chosen.teaching.extractor)
        if (transcripts.length === 0)
          return { by: byOf(chosen.teaching.extractor), come: [], go: [], change: [], refused: {} }
        yield* write(parts, home, transcripts, yield* learnAnew(chosen, home, transcripts, charged))
        const diff = yield* diffOf(parts, home, yield* openIn(parts, home))
        return diff ?? (yield* fail("it was taken or dropped meanwhile"))
      }).pipe(inWords(home, "rebuild")),
    diff: (home) =>
      Effect.flatMap(opened(home), (rebuilt) => diffOf(parts, home, rebuilt)).pipe(inWords(home, "rebuild")),
    end: (home, as) =>
      Effect.gen(function* () {
        const rebuilt = yield* opened(home)
        const [first] = rebuilt
        if (first === undefined) return false
        if (as === "taken") return yield* take(parts, home, rebuilt)
        const ended: Event.Event = { _tag: "RebuildEnded", rebuild: first.rebuild, as }
        yield* sessions.transact(home, () => ({ events: [ended], answer: undefined }))
        return true
      }).pipe(inWords(home, "rebuild")),
  }
}
