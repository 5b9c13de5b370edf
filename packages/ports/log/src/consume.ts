/**
 * Consumers of the feed in groups: one consumer of a group reads at a time, from where the group has come to, and another one takes over
 * when it is killed.
 *
 * A group has a log of its own in the store. A consumer appends to it when it takes its turn, and what it keeps from then on is a row that is
 * written at its own record: a consumer that was frozen, and whose turn another one has taken, can keep nothing any more.
 */
import { Chunk, Clock, Data, Duration, Effect, Random, Schedule, Stream } from "effect"
import { atMost } from "./atMost.js"
import { entriesOf, type GivenUp, reasonOf, redelivered } from "./givenUp.js"
import { fed, type FeedRange, storedLog } from "./pages.js"
import {
  type FedRecord,
  groupLog,
  isNotes,
  LogError,
  type LogPosition,
  type NewRecord,
  type Service,
} from "./port.js"

/** How a group consumes the feed. */
export interface ConsumeOptions extends Pick<FeedRange, "follow" | "pollInterval"> {
  /** Where a new group begins: with the first event of the store (`start`, the default), or with what comes from now on. */
  readonly from?: "start" | "end"
  /** The most events in one call, 1 or more; 64 by default. */
  readonly batch?: number
  /** After how long another consumer takes over when this one was killed; 30 seconds by default. */
  readonly lease?: Duration.DurationInput
  /**
   * How often a call that fails is tried, with growing pauses, before its events are given up and the group goes on behind them. By
   * default, a call that fails ends the consumption with its error.
   */
  readonly attempts?: number
}

/**
 * How far a consumer has come with the events of a call: with nothing, all of them are done; with a position, those up to there; with `null`,
 * none yet. What is not done comes again to whoever consumes next.
 */
export type Done = string | null | void

/** Another consumer of the group has taken over: this one can keep nothing any more, and what it has not kept comes to the other one. */
export class TurnLost extends Data.TaggedError("TurnLost") {}

/** The turn of a consumer. */
export interface Turn {
  /** What is kept in this turn is kept at this record of the group's log. */
  readonly at: LogPosition
  /** How far the group has come; `null` at the start. */
  readonly position: string | null
}

/** How far a group has come, and until when its consumer has its turn, in milliseconds since the epoch. */
interface Cursor {
  readonly position: string | null
  readonly until: number
}

/** The kind of the row that says how far a group has come. */
const cursorKind = "cursor"

/** The kinds of the rows that a group keeps beside its log: they follow from nothing, and go where the log goes. */
export const groupRows: ReadonlyArray<string> = [cursorKind, redelivered]

const rowOf = (cursor: Cursor) => ({ kind: cursorKind, rows: [{ key: "", data: JSON.stringify(cursor) }] })

/** How often a consumer asks whether its turn has come. */
const askAgain = "1 second"

/** Pauses from a second up to the longest, each twice as long as the one before. */
const pausesUpTo = (longest: Duration.DurationInput) =>
  Schedule.jittered(Schedule.union(Schedule.exponential("1 second"), Schedule.spaced(longest)))

/** The pauses before events are handed over again. */
const pauses = pausesUpTo("1 minute")

/** The pauses before a store that has failed is asked again: events wait for whoever asks too seldom. */
const storePauses = pausesUpTo("5 seconds")

/** The log of a group in the store, below what seals it: it has no text of a conversation. */
const groupIn = (log: Service, group: string) => {
  const own = storedLog(log)
  const session = groupLog(group)
  const lost = Effect.mapError((error: { readonly _tag: string }) =>
    error instanceof LogError ? error : new TurnLost(),
  )
  return {
    /** The last record of the log, and how far the group has come. */
    find: Effect.gen(function* () {
      const head = yield* own.head(session)
      const [row] = head === null ? [] : yield* own.projections.get(session, cursorKind)
      return { head, cursor: row === undefined ? null : (JSON.parse(row.data) as Cursor) }
    }),
    /** Appends behind a record, in which case the turn is that of the new one. */
    add: (
      head: LogPosition | null,
      entries: ReadonlyArray<Pick<NewRecord, "type" | "data">>,
      cursor: Cursor,
    ): Effect.Effect<LogPosition, LogError | TurnLost> =>
      Effect.gen(function* () {
        const time = yield* Clock.currentTimeMillis
        const batchId = `${time}-${yield* Random.nextIntBetween(0, 2 ** 31)}`
        const [first, ...rest] = entries.map((entry) => ({ time, schemaVersion: 1, ...entry }))
        const { version } = yield* own.append(session, [first!, ...rest], {
          expectedVersion: head?.version ?? 0,
          lastBatchId: head?.batchId,
          batchId,
          retried: "in-place",
          projections: [rowOf(cursor)],
        })
        return { version, batchId }
      }).pipe(lost),
    keep: (at: LogPosition, cursor: Cursor): Effect.Effect<void, LogError | TurnLost> =>
      own.projections.put(session, at, [rowOf(cursor)]).pipe(lost),
  }
}

/** The lease of a turn that says none. */
const defaultLease = "30 seconds"

/**
 * Takes the turn of a group, for a consumer that reads the feed itself and keeps how far it is with {@link keepTurn}.
 *
 * @param log - the store
 * @param group - the name of the group
 * @param options - where a new group begins, and how long the turn lasts if nothing is kept
 * @param mine - the batch id of a turn that this consumer had before: it does not wait for itself
 * @returns the turn; `null` while another consumer has it
 *
 * @example
 * ```ts
 * import { EventLog } from "@memfold/log"
 * import { Effect } from "effect"
 *
 * export const isMine = (log: EventLog.Service) =>
 *   Effect.map(EventLog.takeTurn(log, "crm", { lease: "1 minute" }), (turn) => turn !== null)
 * ```
 */
export const takeTurn = (
  log: Service,
  group: string,
  { from = "start", lease = defaultLease }: Pick<ConsumeOptions, "from" | "lease"> = {},
  mine?: string,
): Effect.Effect<Turn | null, LogError> => {
  const own = groupIn(log, group)
  return Effect.gen(function* () {
    const { head, cursor } = yield* own.find
    const now = yield* Clock.currentTimeMillis
    if (cursor !== null && cursor.until > now && head?.batchId !== mine) return null
    const position = cursor !== null ? cursor.position : from === "end" ? yield* endOf(log) : null
    const until = now + Duration.toMillis(lease)
    const at = yield* own.add(head, [{ type: "FeedTaken", data: "{}" }], { position, until })
    return { at, position }
  }).pipe(Effect.catchTag("TurnLost", () => Effect.succeed(null)))
}

/** What a consumer keeps in its turn. */
export interface Kept {
  /** The position of the last event that is done; where the group is by default. */
  readonly done?: string
  /** The events up to there that are given up: they are listed from then on. */
  readonly givenUp?: ReadonlyArray<GivenUp>
  /** For how long from now the turn lasts: with 0, it ends. */
  readonly lease?: Duration.DurationInput
}

/**
 * Keeps how far a group has come, and its turn for another lease.
 *
 * @param log - the store
 * @param group - the name of the group
 * @param at - the record of the turn
 * @param kept - what is done, what is given up, and how long the turn lasts
 * @returns the turn, which is at another record if something was given up. Fails with `TurnLost` if another consumer has taken over, and for
 *   a position that is none of the store
 *
 * @example
 * ```ts
 * import { EventLog } from "@memfold/log"
 *
 * export const ended = (log: EventLog.Service, turn: EventLog.Turn, position: string) =>
 *   EventLog.keepTurn(log, "crm", turn.at, { done: position, lease: 0 })
 * ```
 */
export const keepTurn = (
  log: Service,
  group: string,
  at: LogPosition,
  { done, givenUp = [], lease = defaultLease }: Kept = {},
): Effect.Effect<Turn, LogError | TurnLost> => {
  const own = groupIn(log, group)
  return Effect.gen(function* () {
    // A position that cannot be read on from would end the group for good.
    if (done !== undefined) yield* Stream.runHead(fed(log, { after: done, follow: false }, 1))
    const position = done ?? (yield* own.find).cursor?.position ?? null
    const now = yield* Clock.currentTimeMillis
    const cursor = { position, until: now + Duration.toMillis(lease) }
    if (givenUp.length > 0) return { at: yield* own.add(at, entriesOf(givenUp), cursor), position }
    yield* own.keep(at, cursor)
    return { at, position }
  })
}

/**
 * Deletes a group of the feed: how far it has come, and what it has given up. Who has its turn loses it, and a group of this name begins anew.
 *
 * @param log - the store
 * @param group - the name of the group
 * @returns whether there was such a group
 *
 * @example
 * ```ts
 * import { EventLog } from "@memfold/log"
 *
 * export const anew = (log: EventLog.Service) => EventLog.deleteGroup(log, "crm")
 * ```
 */
export const deleteGroup = (log: Service, group: string): Effect.Effect<boolean, LogError> =>
  storedLog(log).delete(groupLog(group))

/** One turn of a consumer: reads until it is ended, fails, or loses its turn. */
const turn = <E, R>(
  log: Service,
  group: string,
  handle: (page: ReadonlyArray<FedRecord>) => Effect.Effect<Done, E, R>,
  { batch, lease, attempts, ...range }: ConsumeOptions,
  taken: Turn,
): Effect.Effect<void, LogError | TurnLost | E, R> =>
  Effect.gen(function* () {
    const own = groupIn(log, group)
    const term = Duration.toMillis(lease ?? defaultLease)
    const one = atMost(1)
    let [at, kept] = [taken.at, taken.position]
    /** Something that has come is not done: what is kept does not go past it. */
    let isPending = false
    /** The cursor is written by one fiber at a time, and not in parts. */
    const alone = <A, F>(write: (until: number) => Effect.Effect<A, F>) =>
      Effect.uninterruptible(one(Effect.flatMap(Clock.currentTimeMillis, (now) => write(now + term))))
    const keep = alone((until) => own.keep(at, { position: kept, until }))
    /** Notes what is given up, and that the group has come to a position. */
    const giveUp = (page: ReadonlyArray<FedRecord>, reached: string, tried: number, error?: unknown) =>
      Effect.gen(function* () {
        const notes = page.map(({ record: { session, version }, position, unreadable }): GivenUp => ({
          session,
          version,
          position,
          attempts: tried,
          reason: unreadable ?? reasonOf(error),
        }))
        yield* alone((until) =>
          Effect.map(own.add(at, entriesOf(notes), { position: reached, until }), (added) => {
            at = added
            kept = reached
          }),
        )
        yield* Effect.annotateLogs(
          Effect.logWarning("events of the feed were given up; the group goes on behind them"),
          { group, events: notes.length, session: notes[0]?.session },
        )
      })
    const handled = (page: ReadonlyArray<FedRecord>): Effect.Effect<Done, LogError | TurnLost | E, R> =>
      attempts === undefined
        ? handle(page)
        : Effect.suspend(() => handle(page)).pipe(
            Effect.retry({ times: attempts - 1, schedule: pauses }),
            Effect.catchAll((error) => giveUp(page, page.at(-1)!.position, attempts, error)),
          )
    const reading = fed(log, { ...range, ...(kept === null ? {} : { after: kept }) }, batch).pipe(
      Stream.runForEachChunk((chunk) =>
        Effect.gen(function* () {
          // What groups write is no news to any of them, but they go on behind it: they would never come to the end.
          const all = Chunk.toReadonlyArray(chunk)
          const page = all.filter(({ record }) => !isNotes(record.session))
          const end = all.at(-1)?.position ?? kept
          if (page.length === 0) {
            if (!isPending) kept = end
            return
          }
          const known = page.filter(({ unreadable }) => unreadable === undefined)
          const done = known.length === 0 ? undefined : yield* handled(known)
          isPending = done !== undefined && done !== known.at(-1)?.position
          if (done === null) return
          kept = isPending && done !== undefined ? done : end
          const count = isPending ? page.findIndex(({ position }) => position === done) + 1 : page.length
          const lost = page.slice(0, count).filter(({ unreadable }) => unreadable !== undefined)
          yield* lost.length === 0 ? keep : giveUp(lost, kept!, 0)
        }),
      ),
    )
    yield* Effect.raceFirst(reading, Effect.forever(Effect.delay(keep, term / 3))).pipe(
      Effect.ensuring(Effect.ignore(alone(() => own.keep(at, { position: kept, until: 0 })))),
    )
  })

/**
 * Consumes the feed as one of a group, from where the group has come to: at least once each event, and one consumer at a time. Others wait
 * for their turn. While it follows the feed, it goes on after failures of the store for as long as it takes, and waits for events that are in
 * an archive which this process has not opened.
 *
 * @param log - the store
 * @param group - the name of the group
 * @param handle - what is done with events; it fails with its own error, unless there are `attempts`
 * @param options - where a new group begins, and how
 *
 * @example
 * ```ts
 * import { EventLog } from "@memfold/log"
 * import { Console, Effect } from "effect"
 *
 * export const counted = (log: EventLog.Service) =>
 *   EventLog.consume(log, "count", (page) => Console.log(page.length), { follow: false })
 * ```
 */
export const consume = <E = never, R = never>(
  log: Service,
  group: string,
  handle: (page: ReadonlyArray<FedRecord>) => Effect.Effect<Done, E, R>,
  options: ConsumeOptions = {},
): Effect.Effect<void, LogError | E, R> => {
  const { follow = true } = options
  /** The record of this consumer's last turn: it does not wait for itself. */
  let mine = ""
  const turns = Effect.suspend(() => takeTurn(log, group, options, mine)).pipe(
    Effect.flatMap((taken): Effect.Effect<void, LogError | TurnLost | E, R> => {
      if (taken === null) return new TurnLost()
      mine = taken.at.batchId
      return turn(log, group, handle, options, taken)
    }),
    Effect.retry({ while: (error) => error instanceof TurnLost, schedule: Schedule.spaced(askAgain) }),
  ) as Effect.Effect<void, LogError | E, R>
  /** Whether the store may answer later: also a session that is coming back from an archive is there then. */
  const isPassing = (error: unknown) =>
    follow &&
    log.feed !== undefined &&
    error instanceof LogError &&
    (error.refused === undefined || error.refused === "archived")
  return turns.pipe(
    Effect.tapError((error) =>
      isPassing(error)
        ? Effect.annotateLogs(Effect.logWarning("the store of the feed fails; the group tries again"), {
            group,
            why: String(error),
          })
        : Effect.void,
    ),
    Effect.retry({ while: isPassing, schedule: storePauses }),
  )
}

/** The end of the feed now. */
const endOf = ({ feedEnd }: Service): Effect.Effect<string | null, LogError> =>
  feedEnd ??
  new LogError({
    operation: "feed",
    reason: "the store does not say where its feed ends; begin at the start",
  })
