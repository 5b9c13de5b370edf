/** Stores that are wrong: the one in memory, with a fault around it. */
import { EventLog, InMemoryEventLog } from "@memfold/core"
import { Effect, Layer, Option, Stream } from "effect"
import { eventLogProperties, type EventLogPropertiesOptions } from "../../src/index.js"
import type { Mutant } from "./Mutant.js"

type Log = EventLog.Service

const around = (fault: (log: Log) => Partial<Log>) =>
  Effect.map(InMemoryEventLog.make, (log): Log => ({ ...log, ...fault(log) }))

const store = (name: string, law: string, fault: (log: Log) => Partial<Log>): Mutant => ({
  name,
  law,
  laws: () => eventLogProperties({ layer: Layer.effect(EventLog.EventLog, around(fault)) }),
})

const withOptions = (name: string, law: string, options: Partial<EventLogPropertiesOptions>): Mutant => ({
  name,
  law,
  laws: () => eventLogProperties({ layer: InMemoryEventLog.layer, ...options }),
})

/** Appends at the current version and ignores the expected one. */
const regardless =
  (log: Log): Log["append"] =>
  (session, records, { batchId }) =>
    Effect.flatMap(log.version(session), (expectedVersion) =>
      log.append(session, records, { expectedVersion, batchId }),
    )

export const storeMutants: ReadonlyArray<Mutant> = [
  store("ignores the expected version", "L12", (log) => ({ append: regardless(log) })),
  store("ignores that the log was begun anew", "L12", (log) => ({
    append: (session, records, { lastBatchId: _after, ...options }) => log.append(session, records, options),
  })),
  store("applies a commit id twice", "L12: a batch id is applied once", (log) => {
    let tries = 0
    return {
      append: (session, records, options) =>
        log.append(session, records, { ...options, batchId: `${options.batchId}#${tries++}` }),
    }
  }),
  store(
    "knows a batch only by its version",
    "L12: a batch that is retried in its place is applied once",
    (log) => ({
      append: (session, records, options) =>
        Effect.catchTag(log.append(session, records, options), "VersionConflict", (conflict) =>
          options.retried === "in-place"
            ? Effect.succeed({
                fromVersion: options.expectedVersion + 1,
                version: options.expectedVersion + records.length,
                duplicate: true,
              })
            : conflict,
        ),
    }),
  ),
  store("answers a repeated commit with another place", "L12", (log) => ({
    append: (session, records, options) =>
      Effect.map(log.append(session, records, options), (appended) =>
        appended.duplicate ? { ...appended, fromVersion: appended.fromVersion + 1 } : appended,
      ),
  })),
  store("tears batches", "L12: a reader never sees part of a batch", (log) => ({
    append: (session, [first, ...rest], options) =>
      Effect.gen(function* () {
        const appended = yield* log.append(session, [first], options)
        const [second, ...others] = rest
        if (appended.duplicate || second === undefined) return appended
        yield* Effect.yieldNow()
        const { version } = yield* log.append(session, [second, ...others], {
          expectedVersion: appended.version,
          batchId: `${options.batchId}, the rest`,
        })
        return { ...appended, version }
      }),
  })),
  store("hands events out of order", "L10", (log) => ({
    read: (session, options) =>
      Stream.unwrap(
        Effect.map(Stream.runCollect(log.read(session, options)), (records) =>
          Stream.fromIterable([...records].toSorted((one, other) => (one.data < other.data ? -1 : 1))),
        ),
      ),
  })),
  store("leaves out the end of a range", "L10", (log) => ({
    read: (session, { toVersion, ...options } = {}) =>
      log.read(session, toVersion === undefined ? options : { ...options, toVersion: toVersion - 1 }),
  })),
  store("gives out a thousand events at the most", "L10", (log) => ({
    read: (session, options) => Stream.take(log.read(session, options), 1_000),
  })),
  store("stores data as it likes", "L10", (log) => ({
    append: (session, [first, ...rest], options) => {
      const tidy = (record: EventLog.NewRecord) => ({ ...record, data: record.data.trim().normalize("NFC") })
      return log.append(session, [tidy(first), ...rest.map(tidy)], options)
    },
  })),
  store("leaks between sessions whose ids differ in case", "L12", (log) => ({
    append: (session, records, options) => log.append(session.toLowerCase(), records, options),
    read: (session, options) =>
      Stream.map(log.read(session.toLowerCase(), options), (record) => ({ ...record, session })),
    version: (session) => log.version(session.toLowerCase()),
  })),
  store("lists sessions as they came", "L12", (log) => ({
    sessions: Stream.unwrap(
      Effect.map(Stream.runCollect(log.sessions), (all) => Stream.fromIterable([...all].toReversed())),
    ),
  })),
  store("keeps a deleted session's commit ids", "L15", (log) => {
    const before = new Set<string>()
    return {
      append: (session, records, options) => {
        const known = before.has(`${session} ${options.batchId}`)
        if (known) return Effect.succeed({ fromVersion: 1, version: records.length, duplicate: true })
        return Effect.tap(log.append(session, records, options), () =>
          Effect.sync(() => before.add(`${session} ${options.batchId}`)),
        )
      },
    }
  }),
  store("serves stale snapshots", "L6", () => {
    const saved = new Map<string, EventLog.Snapshot>()
    return {
      saveSnapshot: (session, snapshot) => Effect.sync(() => void saved.set(session, snapshot)),
      loadSnapshot: (session) => Effect.sync(() => Option.fromNullable(saved.get(session))),
    }
  }),
  store("forgets snapshots", "L6", () => ({ saveSnapshot: () => Effect.void })),
  store("leaves a trace of what was rewritten", "L15: a rewrite leaves no trace", (log) => {
    const saved = new Map<string, EventLog.Snapshot>()
    return {
      saveSnapshot: (session, snapshot) => {
        saved.set(session, snapshot)
        return log.saveSnapshot(session, snapshot)
      },
      loadSnapshot: (session) =>
        Effect.map(log.loadSnapshot(session), (kept) =>
          Option.orElse(kept, () => Option.fromNullable(saved.get(session))),
        ),
    }
  }),
  withOptions("loses the last event when it is opened again", "L14", {
    reopen: () => {
      const kept = Effect.runSync(InMemoryEventLog.make)
      let opened = 0
      const layer = Effect.sync((): Log => {
        opened++
        return {
          ...kept,
          read: (session, options) =>
            opened === 1
              ? kept.read(session, options)
              : Stream.unwrap(
                  Effect.map(kept.version(session), (version) =>
                    Stream.filter(kept.read(session, options), ({ version: seq }) => seq < version),
                  ),
                ),
        }
      })
      return Layer.effect(EventLog.EventLog, layer)
    },
  }),
  store("keeps a superseded summary active", "L1", (log) => ({
    append: (session, records, { summaries, ...options }) =>
      log.append(session, records, {
        ...options,
        summaries: summaries && {
          ...summaries,
          rows: summaries.rows.filter(({ status }) => status === "active"),
        },
      }),
  })),
]
