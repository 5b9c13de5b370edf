/** What groups of the feed have given up: noted in the log of the group, listed, and handed over again. */
import { Effect, Stream } from "effect"
import { records, storedLog } from "./pages.js"
import { type FedRecord, groupLog, type LogError, oneRecord, type Service } from "./port.js"

/** An event that a group has given up. */
export interface GivenUp {
  readonly session: string
  readonly version: number
  /** Where it is in the feed. */
  readonly position: string
  /** How often it was tried. */
  readonly attempts: number
  /** Why the last attempt failed: the `reason` of its error, or the name. */
  readonly reason: string
}

const givenUpType = "FeedGivenUp"

/** How much of a reason is kept, in UTF-16 code units: who lists what was given up has room for it. */
const mostReason = 500

/** What is given up, as the log of the group has it. */
export const entriesOf = (given: ReadonlyArray<GivenUp>) =>
  given.map((letter) => ({
    type: givenUpType,
    data: JSON.stringify({ ...letter, reason: letter.reason.slice(0, mostReason) }),
  }))

/**
 * Why a call failed, as the log of a group tells it: the `reason` of an error, or its name. Its message may quote what was said, which no
 * erasure would find there.
 */
export const reasonOf = (error: unknown): string => {
  const { reason, name } = Object(error) as { readonly reason?: unknown; readonly name?: unknown }
  return typeof reason === "string" ? reason : typeof name === "string" ? name : "a failure without a name"
}

/** The kind of the rows of what was given up and is done since; each has the version of its record in the log of the group as its key. */
export const redelivered = "redelivered"

/** An event in the list of what a group has given up. */
export interface Listed extends GivenUp {
  /** Its place in the list. */
  readonly id: number
  /** When it was given up, in milliseconds since the epoch. */
  readonly time: number
}

/**
 * The events that a group has given up and that {@link redeliver} has not handed over since, the oldest first.
 *
 * @param log - the store
 * @param group - the name of the group
 * @param after - the `id` of the last one that is known
 *
 * @example
 * ```ts
 * import { EventLog } from "@memfold/log"
 * import { Console, Stream } from "effect"
 *
 * export const shown = (log: EventLog.Service) =>
 *   Stream.runForEach(EventLog.givenUp(log, "crm"), ({ session, reason }) => Console.log(session, reason))
 * ```
 */
export const givenUp = (log: Service, group: string, after = 0): Stream.Stream<Listed, LogError> =>
  Stream.unwrap(
    Effect.map(storedLog(log).projections.get(groupLog(group), redelivered), (rows) => {
      const done = new Set(rows.map(({ key }) => key))
      return records(storedLog(log), groupLog(group), { fromVersion: after + 1 }).pipe(
        Stream.filter(({ type, version }) => type === givenUpType && !done.has(String(version))),
        Stream.map(({ version: id, data, time }) => ({ ...(JSON.parse(data) as GivenUp), id, time })),
      )
    }),
  )

/**
 * Takes an event from the list of what a group has given up: it was delivered. It is noted beside the records of the group, whose consumer
 * keeps its turn.
 *
 * @param log - the store
 * @param group - the name of the group
 * @param id - its place in the list
 * @returns whether it was given up by this group
 *
 * @example
 * ```ts
 * import { EventLog } from "@memfold/log"
 *
 * export const done = (log: EventLog.Service, { id }: EventLog.Listed) => EventLog.deleteGivenUp(log, "crm", id)
 * ```
 */
export const deleteGivenUp = (log: Service, group: string, id: number): Effect.Effect<boolean, LogError> => {
  const own = storedLog(log)
  const notes = groupLog(group)
  return Effect.gen(function* () {
    const head = yield* own.head(notes)
    const [letter] = head === null ? [] : yield* own.read(notes, oneRecord(id))
    if (head === null || letter?.type !== givenUpType) return false
    yield* own.projections.put(notes, head, [{ kind: redelivered, rows: [{ key: String(id), data: "" }] }])
    return true
  }).pipe(Effect.catchTag("VersionConflict", () => deleteGivenUp(log, group, id)))
}

/** What came of an event that a group had given up: it was taken, is gone from the store, or has failed again and stays given up. */
export interface Redelivered extends Pick<GivenUp, "session" | "version"> {
  readonly outcome: "delivered" | "gone" | "failed"
  /** Why it failed: the `reason` of its error, or the name. */
  readonly reason?: string
}

/**
 * Hands over what a group has given up, each event once, the oldest first, also while the group goes on. What was taken is no longer given
 * up, so that a run behind this one, or behind one that was killed, has the rest.
 *
 * @param log - the store
 * @param group - the name of the group
 * @param handle - what is done with an event
 *
 * @example
 * ```ts
 * import { EventLog } from "@memfold/log"
 * import { Console } from "effect"
 *
 * export const again = (log: EventLog.Service) =>
 *   EventLog.redeliver(log, "crm", ([fed]) => Console.log(fed?.record.session))
 * ```
 */
export const redeliver = <E = never, R = never>(
  log: Service,
  group: string,
  handle: (page: ReadonlyArray<FedRecord>) => Effect.Effect<unknown, E, R>,
): Stream.Stream<Redelivered, LogError, R> =>
  Stream.mapEffect(givenUp(log, group), ({ id, session, version, position }) =>
    Effect.gen(function* () {
      const [record] = yield* Effect.catchIf(
        log.read(session, oneRecord(version)),
        ({ refused }) => refused === "erased",
        () => Effect.succeed([]),
      )
      if (record !== undefined) yield* handle([{ record, position }])
      return { outcome: record === undefined ? ("gone" as const) : ("delivered" as const) }
    }).pipe(
      Effect.catchAll((error) => Effect.succeed({ outcome: "failed" as const, reason: reasonOf(error) })),
      Effect.tap(({ outcome }) => (outcome === "failed" ? Effect.void : deleteGivenUp(log, group, id))),
      Effect.map((done): Redelivered => ({ session, version, ...done })),
    ),
  )
