/** Stores that are wrong: the one in memory, with a fault around it. */
import { EventLog, InMemoryEventLog } from "@memfold/core"
import { Chunk, Effect, Layer, Stream } from "effect"
import { eventLogProperties, type EventLogPropertiesOptions } from "../../src/index.js"
import type { Mutant } from "./Mutant.js"

type Log = EventLog.Service
type Projections = EventLog.Projections

const around = (fault: (log: Log) => Partial<Log>) =>
  Effect.map(InMemoryEventLog.make, (log): Log => ({ ...log, ...fault(log) }))

const store = (name: string, law: string, fault: (log: Log) => Partial<Log>): Mutant => ({
  name,
  law,
  laws: () => eventLogProperties({ layer: Layer.effect(EventLog.EventLog, around(fault)) }),
})

/** A store with a fault around its projections. */
const projecting = (name: string, law: string, fault: (log: Log) => Partial<Projections>): Mutant =>
  store(name, law, (log) => ({ projections: { ...log.projections, ...fault(log) } }))

const withOptions = (name: string, law: string, options: Partial<EventLogPropertiesOptions>): Mutant => ({
  name,
  law,
  laws: () => eventLogProperties({ layer: InMemoryEventLog.layer, ...options }),
})

const start: EventLog.LogPosition = { version: 0, batchId: "" }

/** The last record of a session. */
const headOf = (log: Log, session: string) => Effect.map(log.head(session), (head) => head ?? start)

/** Appends at the current version and ignores the expected one. */
const regardless =
  (log: Log): Log["append"] =>
  (session, records, { batchId }) =>
    Effect.flatMap(headOf(log, session), ({ version: expectedVersion }) =>
      log.append(session, records, { expectedVersion, batchId }),
    )

/** Changes options of every append and rewrite. */
const writing = (log: Log, change: (options: EventLog.AppendOptions) => EventLog.AppendOptions) =>
  ({
    append: (session, records, options) => log.append(session, records, change(options)),
    rewrite: (session, rewritten, records, options) =>
      log.rewrite(session, rewritten, records, change(options)),
  }) satisfies Partial<Log>

/** The rows that a session had before a call are there after it, too. */
const keepingRows = <A, E>(log: Log, session: string, kind: string, call: Effect.Effect<A, E>) =>
  Effect.gen(function* () {
    const rows = yield* log.projections.get(session, kind)
    const answer = yield* call
    yield* log.projections.put(session, yield* headOf(log, session), [{ kind, rows }]).pipe(Effect.ignore)
    return answer
  })

const batchMutants: ReadonlyArray<Mutant> = [
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
]

const readMutants: ReadonlyArray<Mutant> = [
  store("hands events out of order", "L10", (log) => ({
    read: (session, page) =>
      Effect.map(log.read(session, page), (records) =>
        records.toSorted((one, other) => (one.data < other.data ? -1 : 1)),
      ),
  })),
  store("leaves out the end of a range", "L10", (log) => ({
    read: (session, page) =>
      log.read(
        session,
        page.toVersion === Number.MAX_SAFE_INTEGER ? page : { ...page, toVersion: page.toVersion - 1 },
      ),
  })),
  store("gives out a thousand events at the most", "L10", (log) => ({
    read: (session, page) => log.read(session, { ...page, limit: Math.min(page.limit, 1_000) }),
  })),
  store("ends a page at its limit alone", "L19: a page is bounded by its text", (log) => ({
    read: (session, page) =>
      Effect.map(
        Stream.runCollect(Stream.take(EventLog.records(log, session, page), page.limit)),
        Chunk.toReadonlyArray,
      ),
  })),
  store("takes the page first and turns it round then", "L10: a range includes both ends", (log) => ({
    read: (session, page) =>
      Effect.map(log.read(session, { ...page, reverse: false }), (records) =>
        page.reverse ? records.toReversed() : records,
      ),
  })),
  store("stores data as it likes", "L10", (log) => ({
    append: (session, [first, ...rest], options) => {
      const tidy = (record: EventLog.NewRecord) => ({ ...record, data: record.data.trim().normalize("NFC") })
      return log.append(session, [tidy(first), ...rest.map(tidy)], options)
    },
  })),
]

const listMutants: ReadonlyArray<Mutant> = [
  store("leaks between sessions whose ids differ in case", "L12", (log) => ({
    append: (session, records, options) => log.append(session.toLowerCase(), records, options),
    read: (session, page) =>
      Effect.map(log.read(session.toLowerCase(), page), (records) =>
        records.map((record) => ({ ...record, session })),
      ),
    head: (session) => log.head(session.toLowerCase()),
  })),
  store("lists sessions as they came", "L12", (log) => ({
    list: (options) =>
      Effect.map(log.list(options), (all) => (options.owner === undefined ? all.toReversed() : all)),
  })),
  store("forgets where a page of its list starts", "L12: sessions are listed by id", (log) => ({
    list: ({ after, ...options }) => log.list(options.owner === undefined ? options : { ...options, after }),
  })),
  store("forgets where a page of an owner's list starts", "L12: the sessions of an owner", (log) => ({
    list: ({ after, ...options }) => log.list(options.owner === undefined ? { ...options, after } : options),
  })),
  store(
    "looks for the session that a page starts behind",
    "L12: the sessions of an owner are listed by their newest activity",
    (log) => ({
      list: (options) =>
        Effect.gen(function* () {
          const { owner, after, limit } = options
          if (owner === undefined || after === undefined) return yield* log.list(options)
          const all = yield* log.list({ owner, limit: 10_000 })
          const at = all.findIndex(({ session }) => session === after.session)
          return all.slice(at + 1, at + 1 + limit)
        }),
    }),
  ),
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
  withOptions("loses the last event when it is opened again", "L14", {
    reopen: () => {
      const kept = Effect.runSync(InMemoryEventLog.make)
      let opened = 0
      const layer = Effect.sync((): Log => {
        opened++
        return {
          ...kept,
          read: (session, page) =>
            opened === 1
              ? kept.read(session, page)
              : Effect.flatMap(headOf(kept, session), ({ version }) =>
                  kept.read(session, { ...page, toVersion: Math.min(page.toVersion, version - 1) }),
                ),
        }
      })
      return Layer.effect(EventLog.EventLog, layer)
    },
  }),
]

/** Gives every row a mark of its own in the log around which it is, and its own mark back when it is read. */
const uncheckedMarks = (log: Log): Partial<Log> => {
  const hidden = (changes: ReadonlyArray<EventLog.ProjectionChange>) =>
    changes.map((change) => ({
      ...change,
      rows: change.rows.map(({ mark, ...row }) => ({
        ...row,
        mark: mark === undefined ? mark : JSON.stringify([mark, row.key]),
      })),
    }))
  const shown = ({ mark, ...row }: EventLog.ProjectionRow): EventLog.ProjectionRow =>
    mark === undefined ? row : { ...row, mark: (JSON.parse(mark) as [string, string])[0] }
  return {
    ...writing(log, ({ projections, ...options }) => ({
      ...options,
      projections: projections && hidden(projections),
    })),
    projections: {
      get: (session, kind, filter) =>
        Effect.map(
          log.projections.get(session, kind, filter && "keys" in filter ? filter : undefined),
          (rows) => rows.map(shown).filter(({ mark }) => !filter || "keys" in filter || mark === filter.mark),
        ),
      put: (session, at, changes) => log.projections.put(session, at, hidden(changes)),
      drop: log.projections.drop,
    },
  }
}

/** Stores every row under its kind, a colon and its key: a row of kind `a:b` is a row of kind `a`, too. */
const joinedNames = (log: Log): Partial<Log> => {
  const [kindOf, rest] = [
    (kind: string) => kind.split(":")[0] ?? "",
    (kind: string) => `${kind}:`.slice(`${kind.split(":")[0]}:`.length),
  ]
  const joined = (changes: ReadonlyArray<EventLog.ProjectionChange>) =>
    changes.map(({ kind, drop, rows, ...change }) => ({
      ...change,
      kind: kindOf(kind),
      drop: drop?.map((key) => rest(kind) + key),
      rows: rows.map((row) => ({ ...row, key: rest(kind) + row.key })),
    }))
  return {
    ...writing(log, ({ projections, ...options }) => ({
      ...options,
      projections: projections && joined(projections),
    })),
    projections: {
      get: (session, kind, filter) =>
        Effect.map(log.projections.get(session, kindOf(kind)), (rows) =>
          rows
            .filter(({ key }) => key.startsWith(rest(kind)))
            .map((row) => ({ ...row, key: row.key.slice(rest(kind).length) }))
            .filter(({ key, mark }) => {
              if (filter === undefined) return true
              return "keys" in filter ? filter.keys.includes(key) : filter.mark === mark
            }),
        ),
      put: (session, at, changes) => log.projections.put(session, at, joined(changes)),
      drop: (kind, session) => log.projections.drop(kindOf(kind), session),
    },
  }
}

const rowMutants: ReadonlyArray<Mutant> = [
  projecting("puts rows without looking at the head", "L6: rows that were computed at another", (log) => ({
    put: (session, _at, changes) =>
      Effect.flatMap(headOf(log, session), (head) => log.projections.put(session, head, changes)),
  })),
  projecting("looks at the version of the head alone", "L6: rows that were computed at another", (log) => ({
    put: (session, { version }, changes) =>
      Effect.flatMap(headOf(log, session), (head) =>
        log.projections.put(session, { ...head, version }, changes),
      ),
  })),
  projecting("ignores rows that come late", "L6: rows that were computed at another", (log) => ({
    put: (session, at, changes) =>
      Effect.catchTag(log.projections.put(session, at, changes), "VersionConflict", () => Effect.void),
  })),
  projecting("forgets rows that are put", "L6: projection rows are returned", () => ({
    put: () => Effect.void,
  })),
  projecting("puts only the first change", "L6: projection rows are returned", (log) => ({
    put: (session, at, changes) => log.projections.put(session, at, changes.slice(0, 1)),
  })),
  projecting("gives all rows for a mark", "L6: projection rows are returned", (log) => ({
    get: (session, kind, filter) =>
      log.projections.get(session, kind, filter && "keys" in filter ? filter : undefined),
  })),
  projecting("gives all rows for no keys", "L6: projection rows are returned", (log) => ({
    get: (session, kind, filter) =>
      log.projections.get(
        session,
        kind,
        filter && "keys" in filter && filter.keys.length === 0 ? undefined : filter,
      ),
  })),
  store("stores a kind and a key as one text", "L6: projection rows are returned", joinedNames),
  store("does not check marks", "L1: no two rows of a kind in a session have one mark", uncheckedMarks),
  store(
    "appends without the rows it refuses",
    "L1: no two rows of a kind in a session have one mark",
    (log) => ({
      append: (session, records, options) =>
        Effect.catchTag(log.append(session, records, options), "LogError", () =>
          log.append(session, records, { ...options, projections: [] }),
        ),
    }),
  ),
  store("does not replace the rows of a kind", "L6: projection rows are returned", (log) =>
    writing(log, ({ projections = [], ...options }) => ({
      ...options,
      projections: projections.map(({ replace: _replace, ...change }) => change),
    })),
  ),
  store("does not drop rows by their keys", "L6: projection rows are returned", (log) =>
    writing(log, ({ projections = [], ...options }) => ({
      ...options,
      projections: projections.map(({ drop: _drop, ...change }) => change),
    })),
  ),
  store("changes rows when an append is retried", "L12: projection changes are made with", (log) => ({
    append: (session, records, options) =>
      Effect.tap(log.append(session, records, options), ({ duplicate }) =>
        duplicate
          ? Effect.flatMap(headOf(log, session), (head) =>
              log.projections.put(session, head, options.projections ?? []),
            ).pipe(Effect.ignore)
          : Effect.void,
      ),
  })),
  store("changes rows before it looks at the version", "L12: projection changes are made with", (log) => ({
    append: (session, records, options) =>
      Effect.flatMap(headOf(log, session), (head) =>
        log.projections.put(session, head, options.projections ?? []),
      ).pipe(Effect.ignore, Effect.zipRight(log.append(session, records, options))),
  })),
  store("leaves rows with what was rewritten", "L15: a rewrite leaves no trace", (log) => ({
    rewrite: (session, rewritten, records, options) =>
      keepingRows(log, session, "notes", log.rewrite(session, rewritten, records, options)),
  })),
  store("replaces data behind another head", "L12: data are replaced in place", (log) => ({
    replace: (session, replaced) =>
      Effect.flatMap(headOf(log, session), (head) => log.replace!(session, replaced, head)),
  })),
  store("keeps the checksum of what is replaced", "L12: data are replaced in place", (log) => ({
    replace: (session, replaced, at) =>
      log.replace!(
        session,
        replaced.map((one) => ({ checksum: 7, ...one })),
        at,
      ),
  })),
  store("drops rows with what is replaced", "L12: data are replaced in place", (log) => ({
    replace: (session, replaced, at) =>
      Effect.zipRight(log.replace!(session, replaced, at), log.projections.drop("snapshot", session)),
  })),
  store("leaves summaries after a rewrite", "L15: a rewrite, a deletion and a drop", (log) => ({
    rewrite: (session, rewritten, records, options) =>
      keepingRows(log, session, "summary", log.rewrite(session, rewritten, records, options)),
  })),
  store("forgets the description at a rewrite", "L12: the sessions of an owner", (log) => ({
    rewrite: (session, rewritten, records, { projections = [], ...options }) =>
      log.rewrite(session, rewritten, records, {
        ...options,
        projections: [{ kind: "description", replace: true, rows: [] }, ...projections],
      }),
  })),
  store("leaves rows after a session is deleted", "L15", (log) => {
    const left = new Map<string, ReadonlyArray<EventLog.ProjectionRow>>()
    return {
      delete: (session) =>
        Effect.flatMap(log.projections.get(session, "snapshot"), (rows) => {
          if (rows.length > 0) left.set(session, rows)
          return log.delete(session)
        }),
      append: (session, records, { projections = [], ...options }) => {
        const rows = options.expectedVersion === 0 ? (left.get(session) ?? []) : []
        return log.append(session, records, {
          ...options,
          projections: [{ kind: "snapshot", rows }, ...projections],
        })
      },
    }
  }),
  projecting("drops the rows of all sessions", "L15: a rewrite, a deletion and a drop", (log) => ({
    drop: (kind) => log.projections.drop(kind),
  })),
  store("keeps a superseded summary active", "L1", (log) => ({
    append: (session, records, { projections = [], ...options }) =>
      log.append(session, records, {
        ...options,
        projections: projections.map((change) =>
          change.kind === "summary"
            ? { ...change, rows: change.rows.filter(({ mark }) => mark === "active") }
            : change,
        ),
      }),
  })),
]

export const storeMutants: ReadonlyArray<Mutant> = [
  ...batchMutants,
  ...readMutants,
  ...listMutants,
  ...rowMutants,
]
