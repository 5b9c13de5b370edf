/** What was said in a session, and the batches in which facts were learned from it. */
import { type Event, type EventCodec, Session } from "@memfold/core"
import { Effect, Stream } from "effect"
import { byOf, type Extractor } from "../Extractor.js"

/** Turns that are read in one batch, as they were when facts were learned from them first. */
export interface Unit {
  readonly from: number
  readonly to: number
  readonly time: number
}

/**
 * - `state`: the session with all messages of its branch in force, those that a summary covers as well
 * - `toVersion`: the version of the last message that is read
 * - `redactedFrom`: the messages that facts were redacted from
 */
export interface Transcript {
  readonly state: Session.SessionState
  readonly units: ReadonlyArray<Unit>
  readonly toVersion: number
  readonly redactedFrom: ReadonlyArray<string>
}

/** The most messages of batches that are read as one. */
const mostTogether = 200

/** A message as a text. */
export const placeOf = ({ session, event }: Omit<Event.FactSource, "quote">): string => `${event} ${session}`

/** The messages that an event redacts facts from. */
export const redactedFrom = (event: EventCodec.AnyEvent): ReadonlyArray<string> =>
  event._tag === "FactRedacted" ? (event.places ?? []).map(placeOf) : []

/** The messages that facts, or ends, of an event were learned from. */
export const learnedFrom = (event: EventCodec.AnyEvent): ReadonlyArray<string> => {
  if (event._tag === "FactEnded") return event.source === undefined ? [] : [placeOf(event.source)]
  return event._tag === "FactsLearned"
    ? event.facts.flatMap(({ sources = [] }) => sources.map((source) => placeOf(source)))
    : []
}

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

/** Reads a session; `null` if nothing was learned from it. */
export const transcriptOf = (
  sessions: Session.Sessions,
  extractor: Extractor,
  session: string,
): Effect.Effect<Transcript | null, Session.SessionError> =>
  Effect.gen(function* () {
    const state = yield* sessions.load(session)
    const { gaps, version, startTime, clears, description } = state
    if (version === 0) return null
    const said: Array<Parameters<typeof Session.fold>[1][number]> = []
    const redacted: Array<string> = []
    let learned: Array<Learned> = []
    yield* Stream.runForEach(sessions.events(session, { toVersion: version }), (recorded) =>
      Effect.sync(() => {
        const { event, time } = recorded
        if (event._tag === "MessageAppended" || event._tag === "DamagedMessage") {
          if (Session.isOnBranch(gaps, recorded.version)) said.push(recorded)
        } else if (event._tag === "SessionCleared") learned = []
        else if (event._tag === "FactsLearned" && event.session === undefined)
          learned.push({ from: event.from, to: event.to, time, by: event.by })
        redacted.push(...redactedFrom(event))
      }),
    )
    const whole = Session.fold(Session.empty(session), said)
    const end = Math.min(Math.max(state.learnedTo, state.coveredTo), whole.total)
    if (end === 0) return null
    const batches = batchesTo(end, learned, (index) => whole.uncovered.at(index)?.time ?? 0)
    return {
      state: { ...whole, version, startTime, clears, description, gaps },
      units: unitsFor(extractor, batches),
      toVersion: whole.uncovered.at(end - 1)?.version ?? 0,
      redactedFrom: redacted,
    }
  })
