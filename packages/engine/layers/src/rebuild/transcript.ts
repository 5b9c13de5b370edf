/** What was said in a session, and the batches in which facts were learned from it. */
import { type Event, EventCodec, MemoryLayers, Session } from "@memfold/core"
import { Effect, Stream, Struct } from "effect"
import { byOf, type Extractor } from "../Extractor.js"
import { isHome } from "../homes.js"
import { sessionOfFact } from "../identity.js"

/** Turns that are read in one batch, as they were when facts were learned from them first. */
export interface Unit {
  readonly from: number
  readonly to: number
  readonly time: number
}

/**
 * A session without its messages, of which nobody can hold all that an owner has said.
 *
 * - `versions`: the messages of its branch in force, by their index, those that a summary covers as well
 * - `toVersion`: the version of the last message that is read
 */
export interface Transcript {
  readonly state: Session.SessionState
  readonly versions: ReadonlyArray<number>
  readonly units: ReadonlyArray<Unit>
  readonly toVersion: number
}

/** The most messages of batches that are read as one. */
const mostTogether = 200

/** The messages that facts, or ends, of an event were learned from. */
export const learnedFrom = (event: EventCodec.AnyEvent): ReadonlyArray<string> => {
  if (event._tag === "FactEnded")
    return event.source === undefined ? [] : [MemoryLayers.placeOf(event.source)]
  return event._tag === "FactsLearned"
    ? event.facts.flatMap(({ sources = [] }) => sources.map(MemoryLayers.placeOf))
    : []
}

/** Whether a log has a fact that was learned for it, and no copy that a fork has brought. */
export const isLearnedFor = (fact: Event.Fact, log: string): boolean =>
  isHome(log) || sessionOfFact(fact) === log

/** A state without its messages. */
export const withoutMessages = (state: Session.SessionState): Session.SessionState => ({
  ...Session.empty(state.session),
  ...Struct.pick(state, "version", "startTime", "clears", "description", "gaps", "facts", "redactions"),
})

/** What is read of a session; `null` for one that nobody can read here, such as an erased one: its facts stay as they are. */
export const readable = <A>(
  read: Effect.Effect<A, Session.SessionError>,
): Effect.Effect<A | null, Session.SessionError> =>
  Effect.catchIf(read, Session.isUnreadable, () => Effect.succeed(null))

interface Learned extends Unit {
  readonly by: Event.FoundBy | undefined
}

/**
 * The batches up to a message. Of those that overlap, the newest one has been read on the branch in force. What nobody has learned from
 * is read, too.
 */
const batchesTo = (
  end: number,
  learned: ReadonlyArray<Learned>,
  timeOf: (index: number) => number,
): ReadonlyArray<Learned> => {
  const batches: Array<Learned> = []
  let lowest = end
  const add = (from: number, to: number, { time, by }: Omit<Learned, "from" | "to">): void => {
    if (from < to) batches.push({ from, to, time, by })
    lowest = Math.min(from, lowest)
  }
  for (const { from, to, ...rest } of learned.toReversed()) {
    if (from >= Math.min(to, lowest)) continue
    add(to, lowest, { time: timeOf(lowest - 1), by: rest.by })
    add(from, Math.min(to, lowest), rest)
  }
  add(0, lowest, { time: timeOf(lowest - 1), by: undefined })
  return batches.toReversed()
}

/** The batches as an extractor reads them: what another one has read turn by turn goes into one request, if the extractor likes that. */
const unitsFor = (extractor: Extractor, batches: ReadonlyArray<Learned>): ReadonlyArray<Unit> => {
  const { extractor: name, version } = byOf(extractor)
  const isOwn = ({ by }: Learned) => by?.extractor === name && by.version === version
  const units: Array<Learned> = []
  for (const batch of batches) {
    const last = units.at(-1)
    const isJoined =
      extractor.learnAt === "compaction" &&
      last !== undefined &&
      !isOwn(last) &&
      !isOwn(batch) &&
      batch.to - last.from <= mostTogether
    if (isJoined) units[units.length - 1] = { ...batch, from: last.from }
    else units.push(batch)
  }
  return units
}

/**
 * Reads a session; `null` if nothing was learned from it. Turns that came into a fork with what was learned from them are read in the
 * session that they come from.
 */
export const transcriptOf = (
  sessions: Session.Sessions,
  extractor: Extractor,
  session: string,
): Effect.Effect<Transcript | null, Session.SessionError> =>
  Effect.gen(function* () {
    const { coveredTo, learnedTo, ...state } = yield* sessions.load(session)
    const { gaps, version } = state
    if (version === 0) return null
    const [versions, times]: [Array<number>, Array<number>] = [[], []]
    let learned: Array<Learned> = []
    let [firstBatch, copied] = ["", 0]
    yield* Stream.runForEach(sessions.events(session, { toVersion: version }), ({ event, ...recorded }) =>
      Effect.sync(() => {
        const { time } = recorded
        if (recorded.version === 1) firstBatch = EventCodec.batchIdOf(recorded)
        if (event._tag === "MessageAppended" || event._tag === "DamagedMessage") {
          if (!Session.isOnBranch(gaps, recorded.version)) return
          versions.push(recorded.version)
          times.push(time)
        } else if (event._tag === "SessionCleared") learned = []
        else if (event._tag === "FactsLearned" && event.session === undefined) {
          learned.push({ from: event.from, to: event.to, time, by: event.by })
          // Only a fork begins with what was learned.
          if (EventCodec.batchIdOf(recorded) === firstBatch)
            copied = Math.max(copied, Math.min(event.to, versions.length))
        }
      }),
    )
    const end = Math.min(Math.max(learnedTo, coveredTo), versions.length)
    if (end <= copied) return null
    const batches = batchesTo(end, learned, (index) => times[index] ?? 0)
      .filter(({ to }) => to > copied)
      .map((batch) => ({ ...batch, from: Math.max(batch.from, copied) }))
    return {
      state: withoutMessages({ ...state, coveredTo, learnedTo }),
      versions,
      units: unitsFor(extractor, batches),
      toVersion: versions[end - 1] ?? 0,
    }
  })

/** The turns of a unit, as they are now; `null` if the session is not there any more. */
export const readTurns = (
  sessions: Session.Sessions,
  { state, versions }: Transcript,
  { from, to }: Unit,
): Effect.Effect<MemoryLayers.CompletedTurns | null, Session.SessionError> =>
  sessions.events(state.session, { fromVersion: versions[from] ?? 1, toVersion: versions[to - 1] ?? 0 }).pipe(
    Stream.filter(
      ({ event, version }) =>
        (event._tag === "MessageAppended" || event._tag === "DamagedMessage") &&
        Session.isOnBranch(state.gaps, version),
    ),
    Stream.runFold(
      {
        ...Session.empty(state.session),
        total: from,
        uncovered: Session.Sequence.of<Session.Entry>([], from),
      },
      (before, recorded) => Session.evolve(before, recorded),
    ),
    Effect.map(({ uncovered }) =>
      uncovered.to < to
        ? null
        : {
            state: { ...state, uncovered },
            from,
            to,
            messages: uncovered.slice().map(({ message }) => message),
          },
    ),
  )
