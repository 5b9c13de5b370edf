/** What taking facts that were learned anew changes: a function of the logs as they are. */
import { type Event, MemoryLayers, Session } from "@memfold/core"
import { Clock, Effect, Struct } from "effect"
import { isLeftSource, isWithin, sessionOfFact } from "../identity.js"
import { layers } from "../places.js"
import { onBranch, type SharedLogs } from "../SharedLogs.js"
import { isLearnedFor, readable, withoutMessages } from "./transcript.js"

/** A log, and the events that put what was learned anew in its place. */
export interface LogPlan {
  readonly state: Session.SessionState
  readonly events: ReadonlyArray<Event.Event>
}

/** The logs that change, the one of the facts about the owner at the end, and the facts before and behind. */
export interface Plan {
  readonly logs: ReadonlyArray<LogPlan>
  readonly before: ReadonlyArray<MemoryLayers.FactInTime>
  readonly after: ReadonlyArray<MemoryLayers.FactInTime>
}

/** What was learned anew from a session, with the session as it is now and the shared logs that it has. */
interface Read {
  readonly rebuilt: Event.FactsRebuilt
  readonly state: Session.SessionState
  readonly logs: Readonly<Record<Event.Fact["layer"], string>>
}

type Ended = Session.KnownFact["ended"]

interface Old {
  readonly log: string
  readonly fact: Session.KnownFact
}

/** What was learned, without what became of it, and who has learned it when. */
const contentsOf = (fact: Event.Fact & Partial<Session.KnownFact>): string =>
  MemoryLayers.sameText(Struct.omit(fact, "id", "by", "time", "ended", "notEnded", "retracted", "confirmed"))

/** Whether somebody, and not an extractor, has said that a fact is over or was never true. */
const isChanged = ({ retracted, ended }: Session.KnownFact): boolean =>
  retracted === true || (ended !== undefined && ended.source === undefined)

/** Whether a fact in force is what was learned anew. */
const isSame = (old: Session.KnownFact, fact: Event.Fact, end: Ended): boolean =>
  contentsOf(old) === contentsOf(fact) &&
  (isChanged(old) || MemoryLayers.sameText(old.ended ?? null) === MemoryLayers.sameText(end ?? null))

/** Whether somebody has confirmed that a message says something else of what has one value at a time. */
const isOtherwise = (old: Session.KnownFact, fact: Event.Fact): boolean =>
  old.confirmed === true &&
  fact.key !== undefined &&
  old.key === fact.key &&
  old.layer === fact.layer &&
  (old.subject ?? "user") === (fact.subject ?? "user") &&
  MemoryLayers.shareSource(old, fact) &&
  MemoryLayers.sayingOf(old) !== MemoryLayers.sayingOf(fact)

/** What became of a fact that another one takes the place of: what people have said of it holds of the other one. */
const carried = (
  { retracted, ended, notEnded = [], confirmed }: Session.KnownFact,
  fact: string,
  reason: string,
): ReadonlyArray<Event.Event> => [
  ...notEnded.flatMap((end): ReadonlyArray<Event.Event> => [
    { _tag: "FactEnded", fact, reason, ...end },
    { _tag: "FactReverted", fact },
  ]),
  ...(ended !== undefined && ended.source === undefined
    ? [{ _tag: "FactEnded" as const, fact, reason, until: ended.until, timeSource: ended.timeSource }]
    : []),
  ...(retracted === true ? [{ _tag: "FactRetracted" as const, fact, reason }] : []),
  ...(confirmed === true ? [{ _tag: "FactConfirmed" as const, fact }] : []),
]

/** What the logs are to have besides, and what not any more. */
const changesIn = (
  olds: ReadonlyArray<Old>,
  reads: ReadonlyArray<Read>,
): ReadonlyMap<string, ReadonlyArray<Event.Event>> => {
  const ends = new Map<string, NonNullable<Ended>>()
  for (const { rebuilt, state } of reads)
    for (const { fact, until, timeSource, source } of rebuilt.ended)
      if (source !== undefined && !isLeftSource(source, state)) ends.set(fact, { until, timeSource, source })
  const unmatched = new Set(olds)
  const saying = new Map<string, Array<Old>>()
  for (const old of olds) {
    const text = MemoryLayers.sayingOf(old.fact)
    saying.set(text, [...(saying.get(text) ?? []), old])
  }
  const removed: Array<Old> = []
  const learned: Array<{ readonly log: string; readonly events: ReadonlyArray<Event.Event> }> = []
  for (const { rebuilt, state, logs } of reads) {
    const { by, session, facts, toVersion } = rebuilt
    const reason = `learned anew by ${by.extractor} ${by.version}`
    for (const layer of layers) {
      const log = logs[layer]
      const found: Array<Event.Fact> = []
      const besides: Array<Event.Event> = []
      for (const fact of facts) {
        if (fact.layer !== layer || !isWithin(fact, state, toVersion)) continue
        if (olds.some((old) => old.log === log && isOtherwise(old.fact, fact))) continue
        const end = ends.get(fact.id)
        const again = (saying.get(MemoryLayers.sayingOf(fact)) ?? []).filter(
          (old) => unmatched.has(old) && MemoryLayers.shareSource(old.fact, fact),
        )
        const old = again.find((one) => one.log === log && isSame(one.fact, fact, end)) ?? again[0]
        if (old !== undefined) unmatched.delete(old)
        if (old?.log === log && isSame(old.fact, fact, end)) continue
        if (old !== undefined) removed.push(old)
        found.push(fact)
        if (end !== undefined && (old === undefined || !isChanged(old.fact)))
          besides.push({ _tag: "FactEnded", fact: fact.id, ...end })
        if (old !== undefined) besides.push(...carried(old.fact, fact.id, reason))
      }
      // It was learned from these turns before: they are not named, so that nothing counts as learned that was not.
      const event: Event.FactsLearned = { _tag: "FactsLearned", from: 0, to: 0, facts: found, session, by }
      if (found.length > 0) learned.push({ log, events: [event, ...besides] })
    }
  }
  // What somebody has confirmed stays, whatever an extractor finds.
  removed.push(...[...unmatched].filter(({ fact }) => fact.confirmed !== true))
  const changes = new Map<string, Array<Event.Event>>()
  const add = (log: string, events: ReadonlyArray<Event.Event>) =>
    changes.set(log, [...(changes.get(log) ?? []), ...events])
  for (const { log, fact } of removed)
    add(log, [{ _tag: "FactRemoved", fact: fact.id, reason: "not learned anew" }])
  for (const { log, events } of learned) add(log, events)
  return changes
}

/** A state after events. */
export const afterEvents = (
  state: Session.SessionState,
  events: ReadonlyArray<Event.Event>,
  time: number,
): Session.SessionState =>
  events.reduce((before, event) => {
    const version = before.version + 1
    return Session.evolve(before, { session: before.session, version, id: `anew.${version}`, time, event })
  }, state)

/**
 * Plans what taking changes.
 *
 * @param home - the log of the facts about the owner
 * @param rebuilt - what was learned anew, by session
 */
export const planOf = (
  { sessions, shared }: { readonly sessions: Session.Sessions; readonly shared: SharedLogs },
  home: string,
  rebuilt: ReadonlyArray<Event.FactsRebuilt>,
): Effect.Effect<Plan, Session.SessionError | MemoryLayers.LayersError> =>
  Effect.gen(function* () {
    const reads: Array<Read> = []
    for (const one of rebuilt) {
      const loaded = yield* readable(sessions.load(one.session))
      if (loaded === null) continue
      const state = withoutMessages(loaded)
      const user = (yield* shared.homeOf("user", state, "rebuild")) ?? state.session
      const scope = yield* shared.homeOf("scope", state, "rebuild")
      // Of a session that has another owner now, or none, the facts stay where they are.
      if (user === home) reads.push({ rebuilt: one, state, logs: { user, scope: scope ?? state.session } })
    }
    const readOf = new Map(reads.map((read) => [read.state.session, read]))
    const names = new Set(reads.flatMap(({ state, logs }) => [state.session, logs.scope]))
    names.delete(home)
    const now = yield* Clock.currentTimeMillis
    const states = yield* Effect.forEach([...names, home], (log) =>
      Effect.map(sessions.load(log), withoutMessages),
    )
    const left = reads.map(({ state }) => state).filter(({ gaps }) => gaps.length > 0)
    const factsIn = ({ facts }: Session.SessionState) => left.reduce(onBranch, facts)
    const olds = states.flatMap((state) =>
      factsIn(state).flatMap((fact): ReadonlyArray<Old> => {
        const read = readOf.get(sessionOfFact(fact) ?? "")
        return read !== undefined &&
          isLearnedFor(fact, state.session) &&
          isWithin(fact, read.state, read.rebuilt.toVersion)
          ? [{ log: state.session, fact }]
          : []
      }),
    )
    const changes = changesIn(olds, reads)
    const logs = states.map((state) => ({ state, events: changes.get(state.session) ?? [] }))
    return {
      logs,
      before: states.flatMap((state) => MemoryLayers.inTime(factsIn(state))),
      after: logs.flatMap(({ state, events }) =>
        MemoryLayers.inTime(factsIn(afterEvents(state, events, now))),
      ),
    }
  })
