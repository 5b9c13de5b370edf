/**
 * Reads the log: decodes its records, and folds the events from the first one.
 *
 * One pass is enough unless an event invalidates an earlier commit, or goes back to a state from before messages were covered:
 * the state no longer has those messages. Then a second pass skips the commit, and keeps the state. It ends at the same version
 * as the first pass, which has found all such events up to there. A third pass is never needed.
 */
import { Chunk, Effect, Either, Stream } from "effect"
import { after, breather, breathing, eventsBetween } from "@memfold/log/breathe"
import { DamagedEvent, decode, type RecordedEvent } from "../event/EventCodec.js"
import type {
  LogError,
  LogRecord,
  ProjectionChange,
  ReadOptions,
  Service as EventLog,
} from "@memfold/log/EventLog"
import { records } from "@memfold/log/pages"
import { description } from "../projection/description.js"
import type { Projection } from "../projection/Projection.js"
import { commitsAfter, type History, noCommits, recordsOf, summaries } from "../projection/summaries.js"
import { evolve, requiresReplay } from "../session/evolve.js"
import type { Gap } from "../session/branches.js"
import { empty, type SessionState } from "../session/SessionState.js"
import { keepTip } from "../session/switchBranch.js"

/** Decodes the record that is expected at `version`. A missing event is an error, because its content is unknown. */
export const decodeAt = (version: number, record: LogRecord): Either.Either<RecordedEvent, DamagedEvent> => {
  if (record.version === version) return decode(record)
  const detail = `it is missing, while event ${record.version} is there; restore the log from a backup`
  return Either.left(new DamagedEvent({ session: record.session, version, detail }))
}

/**
 * Decodes records of one session, in their order. The stream fails with `DamagedEvent` at an event that is missing or damaged.
 *
 * @param stored - the records
 * @param options - the range that they were read with
 *
 * @example
 * ```ts
 * import { type EventLog, Session } from "@memfold/core"
 * import { Stream } from "effect"
 *
 * const typesIn = (records: ReadonlyArray<EventLog.LogRecord>) =>
 *   Session.decodeRecords(Stream.fromIterable(records)).pipe(Stream.map(({ event }) => event._tag))
 * ```
 */
export const decodeRecords = <E>(
  stored: Stream.Stream<LogRecord, E>,
  options: ReadOptions = {},
): Stream.Stream<RecordedEvent, E | DamagedEvent> =>
  Stream.suspend(() => {
    const step = options.reverse === true ? -1 : 1
    let next = step === 1 ? Math.max(options.fromVersion ?? 1, 1) : null
    const breathe = breather()
    /** The events of some records, and why the next one cannot be read. */
    const decoded = (some: Chunk.Chunk<LogRecord>) => {
      const events: Array<RecordedEvent> = []
      let damage: DamagedEvent | null = null
      let breath: Effect.Effect<void> | null = null
      for (const record of some) {
        breath = breathe() ?? breath
        const event = decodeAt(next ?? record.version, record)
        if (Either.isLeft(event)) {
          damage = event.left
          break
        }
        next = record.version + step
        events.push(event.right)
      }
      return after(breath, Effect.succeed({ events, damage }))
    }
    return stored.pipe(
      Stream.chunks,
      // The next records are decoded when the reader is done with these: the pauses serve its work too.
      Stream.mapConcat((page) => Chunk.chunksOf(page, eventsBetween)),
      Stream.mapEffect(decoded),
      Stream.flatMap(({ events, damage }) =>
        damage === null
          ? Stream.fromChunk(Chunk.unsafeFromArray(events))
          : Stream.concat(Stream.fromChunk(Chunk.unsafeFromArray(events)), Stream.fail(damage)),
      ),
    )
  })

/**
 * The decoded events of a session, in order.
 *
 * The stream fails with `LogError` if the store fails, and with `DamagedEvent` at an event that is missing or damaged.
 *
 * @param options - the versions to read, and the order; the whole log, oldest first, by default
 *
 * @example
 * ```ts
 * import { type EventLog, Session } from "@memfold/core"
 * import { Stream } from "effect"
 *
 * const summariesOf = (log: EventLog.Service, session: string) =>
 *   Session.readEvents(log, session).pipe(Stream.filter(({ event }) => event._tag === "SummaryCommitted"))
 * ```
 */
export const readEvents = (
  log: Pick<EventLog, "read">,
  session: string,
  options: ReadOptions = {},
): Stream.Stream<RecordedEvent, LogError | DamagedEvent> =>
  decodeRecords(records(log, session, options), options)

/** Collects something else during a fold, from each event and the states before and after it. */
export type Collector<A> = Pick<Projection<A>, "start" | "step">

export interface Replayed<A> {
  readonly state: SessionState
  readonly last: RecordedEvent | null
  readonly collected: A
}

/** What a pass finds that the next one has to know: commits to skip, and the versions of states to keep. */
interface Findings {
  readonly invalidated: Set<number>
  readonly returned: Set<number>
}

const noFindings = (): Findings => ({ invalidated: new Set(), returned: new Set() })

/** Reads events from the first one, up to a version if it is given (included). */
export type ReadTo<E, R = never> = (to?: number) => Stream.Stream<RecordedEvent, E, R>

/** Folds the events of a session from its first one. */
export const replay = <A, E, R>(
  session: string,
  read: ReadTo<E, R>,
  { start, step }: Collector<A>,
): Effect.Effect<Replayed<A>, E, R> => {
  const before = empty(session)
  const pass = ({ invalidated, returned }: Findings, to?: number) =>
    Effect.suspend(() => {
      const findings = noFindings()
      let again = false
      const states = new Map<number, SessionState>()
      const first: Replayed<A> = { state: before, last: null, collected: start(before) }
      return Stream.runFold(read(to), first, ({ state, collected }, recorded): Replayed<A> => {
        const { event, version } = recorded
        if (event._tag === "SummaryInvalidated" && event.version < version) {
          findings.invalidated.add(event.version)
          again ||= requiresReplay(state, recorded)
        }
        keepTip(states, state, recorded)
        if (returned.has(state.version)) states.set(state.version, state)
        if (event._tag === "BranchSwitched") {
          findings.returned.add(event.version)
          again ||= requiresReplay(state, recorded, states)
        }
        const after = evolve(state, recorded, { invalidated, states })
        const skipped = invalidated.has(version)
        return {
          state: after,
          last: recorded,
          collected: step(collected, { recorded, before: state, after, skipped }),
        }
      }).pipe(Effect.map((replayed) => ({ replayed, findings, again })))
    })
  return Effect.flatMap(pass(noFindings()), ({ replayed, findings, again }) =>
    again
      ? Effect.map(pass(findings, replayed.state.version), (second) => second.replayed)
      : Effect.succeed(replayed),
  )
}

/** What was not on the branch that was in force with each event, by the position of the event. */
export const gapsOf = (
  session: string,
  events: ReadonlyArray<RecordedEvent>,
): Effect.Effect<ReadonlyArray<ReadonlyArray<Gap>>> =>
  Effect.map(
    replay(session, () => breathing(Stream.fromIterable(events)), {
      start: (): Array<ReadonlyArray<Gap>> => [],
      step: (collected, { after }) => {
        collected.push(after.gaps)
        return collected
      },
    }),
    ({ collected }) => collected,
  )

/**
 * Computes the history of a session from its events. `read` reads the events from the first one up to a version; it is called
 * twice if a commit was invalidated.
 */
export const historyOf = <E, R>(session: string, read: ReadTo<E, R>): Effect.Effect<History, E, R> =>
  replay(session, read, {
    start: (before) => ({ summaries: summaries.start(before), commits: noCommits }),
    step: (collected, step) => ({
      summaries: summaries.step(collected.summaries, step),
      commits: commitsAfter(collected.commits, step),
    }),
  }).pipe(
    Effect.map(({ state: { version }, collected }) => ({
      version,
      summaries: recordsOf(collected.summaries),
      commits: collected.commits.inForce,
      left: [...collected.commits.left.values()],
    })),
  )

/**
 * Computes the projection rows that an append carries for events that the engine did not append, as in a copy or an import:
 * the summaries, the owner and the title. Append them together with the events.
 *
 * @param events all events of the session, from the first one; the stream may run twice and must end at one event both times
 *
 * @example
 * ```ts
 * import { type EventLog, Session } from "@memfold/core"
 *
 * const changesAt = (log: EventLog.Service, session: string, version: number) =>
 *   Session.projectionsOf(session, Session.readEvents(log, session, { toVersion: version }))
 * ```
 */
export const projectionsOf = <E, R>(
  session: string,
  events: Stream.Stream<RecordedEvent, E, R>,
): Effect.Effect<ReadonlyArray<ProjectionChange>, E, R> =>
  Effect.map(
    replay(session, () => events, {
      start: (before) => ({ summaries: summaries.start(before), description: description.start(before) }),
      step: (collected, step) => ({
        summaries: summaries.step(collected.summaries, step),
        description: description.step(collected.description, step),
      }),
    }),
    ({ collected }) => [
      { kind: summaries.kind, replace: true, rows: summaries.rows(collected.summaries) },
      { kind: description.kind, replace: true, rows: description.rows(collected.description) },
    ],
  )
