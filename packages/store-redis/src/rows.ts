/** Projection rows: their form in Redis, reading them, and changing them. */
import { EventLog } from "@memfold/log"
import { Effect, Stream } from "effect"
import type { Connection } from "./Connection.js"
import * as Description from "./description.js"
import { kindOf, type KeysOf, type SessionKeys } from "./keys.js"
import type { Scripts } from "./scripts.js"
import { listSessions } from "./sessions.js"
import { fromStored, toStored } from "./stored.js"

/** A change of rows as a script is given it; the data of the rows are arguments of their own. */
interface GivenChange {
  readonly kind: string
  readonly replace?: true
  readonly drop: ReadonlyArray<string>
  readonly rows: ReadonlyArray<{ readonly key: string; readonly mark?: string }>
}

/** Changes as a script is given them. */
export interface GivenChanges {
  /** What the first argument of the script has. */
  readonly named: {
    readonly changes?: ReadonlyArray<GivenChange>
    readonly description?: Description.DescriptionArgument
  }
  /** The data of all rows, in the order of the changes. */
  readonly data: ReadonlyArray<string>
  /** The keys that are changed, as far as they follow from the changes. */
  readonly keys: ReadonlyArray<string>
}

/** Changes of rows as the arguments of a script. The description of a session is no hash of rows, but fields of `meta`. */
export const givenChanges = (
  { rows: rowsOf, owned }: SessionKeys,
  all: ReadonlyArray<EventLog.ProjectionChange>,
): GivenChanges => {
  const keys: Array<string> = []
  const data: Array<string> = []
  const changes: Array<GivenChange> = []
  let description: Description.DescriptionArgument | undefined
  for (const change of all) {
    if (change.kind === "description") {
      description = Description.given(change) ?? description
      continue
    }
    const rows = [...new Map(change.rows.map((row) => [row.key, row])).values()]
    changes.push({
      kind: kindOf(change.kind),
      ...(change.replace === true ? { replace: true } : {}),
      drop: (change.drop ?? []).map(toStored),
      rows: rows.map(({ key, mark }) => ({
        key: toStored(key),
        ...(mark === undefined ? {} : { mark: toStored(mark) }),
      })),
    })
    for (const row of rows) data.push(toStored(row.data))
    keys.push(rowsOf(change.kind))
  }
  if (description?.owner !== undefined) keys.push(owned + description.owner)
  return {
    named: {
      ...(changes.length === 0 ? {} : { changes }),
      ...(description === undefined ? {} : { description }),
    },
    data,
    keys,
  }
}

/** The error of a change that would leave two rows of a kind with one mark. */
export const twoMarks = (operation: string, session: string, kind: unknown) =>
  new EventLog.LogError({
    operation,
    session,
    reason: `the change would leave two rows of the kind "${String(kind)}" with one mark; nothing was written`,
  })

/** Fields of a hash of rows, as far as it has them. */
type Fields = ReadonlyArray<readonly [name: string, value: string | null]>

/** The mark of each marked row, by the key of the row; `null` if the field cannot be read. */
const marksIn = (field: string | null | undefined): ReadonlyMap<string, string> | null => {
  if (field == null) return new Map<string, string>()
  try {
    const marks: unknown = JSON.parse(field)
    if (typeof marks !== "object" || marks === null || Array.isArray(marks)) return null
    const entries = Object.entries(marks)
    return entries.every((entry): entry is [mark: string, key: string] => typeof entry[1] === "string")
      ? new Map(entries.map(([mark, key]) => [key, mark]))
      : null
  } catch {
    return null
  }
}

/** The projection rows of a log. */
export const projections = (
  connection: Connection,
  keysOf: KeysOf,
  prefix: string,
  scripts: Scripts,
): EventLog.Projections => {
  const change = (
    operation: string,
    session: string,
    at: EventLog.LogPosition | undefined,
    changes: ReadonlyArray<EventLog.ProjectionChange>,
  ): Effect.Effect<void, EventLog.VersionConflict | EventLog.LogError> => {
    const keys = keysOf(session)
    const given = givenChanges(keys, changes)
    const position =
      at === undefined ? {} : { at: { version: String(at.version), batch: toStored(at.batchId) } }
    return connection
      .run(
        { operation, session },
        scripts.projections,
        [keys.log, keys.meta, ...given.keys],
        [JSON.stringify({ name: toStored(session), ...position, ...given.named }), ...given.data],
      )
      .pipe(
        Effect.flatMap((answer): Effect.Effect<void, EventLog.VersionConflict | EventLog.LogError> => {
          if (answer === "done") return Effect.void
          const [outcome, detail] = answer as ReadonlyArray<string>
          return outcome === "conflict"
            ? new EventLog.VersionConflict({
                session,
                expectedVersion: at?.version ?? 0,
                actualVersion: Number(detail),
              })
            : twoMarks(operation, session, detail)
        }),
      )
  }

  const get: EventLog.Projections["get"] = (session, kind, filter) => {
    const about = { operation: "projections.get", session }
    if (kind === "description") return Description.read(connection, keysOf(session), session, filter)
    const key = keysOf(session).rows(kind)
    const whole = connection.ask(about, async (client) => Object.entries(await client.hgetall(key)))
    /** The marks, and the rows with these stored keys. */
    const named = (keys: ReadonlyArray<string>) =>
      connection.ask(about, async (client): Promise<Fields> => {
        const names = ["@", ...keys.map((name) => `=${name}`)]
        const values = await client.hmget(key, ...names)
        return names.map((name, place) => [name, values[place] ?? null])
      })
    /** The row that has a mark by the known marks. If they have changed before it is read, another row may have the mark. */
    const marked = (mark: string, known: string | null): Effect.Effect<Fields, EventLog.LogError> => {
      const keys = [...(marksIn(known) ?? [])].flatMap(([key, own]) => (own === mark ? [key] : []))
      return Effect.flatMap(named(keys), (fields) => {
        const now = fields[0]?.[1] ?? null
        return now === known ? Effect.succeed(fields) : marked(mark, now)
      })
    }
    const asked: Effect.Effect<Fields, EventLog.LogError> =
      filter === undefined
        ? whole
        : "keys" in filter
          ? named(filter.keys.map(toStored))
          : marked(toStored(filter.mark), null)
    return Effect.flatMap(asked, (fields) => {
      const marks = marksIn(fields.find(([name]) => name === "@")?.[1])
      if (marks === null)
        return new EventLog.LogError({
          ...about,
          reason: `another program has changed the marks of the rows of the kind "${kind}"; run memfold repair, or restore them from a backup`,
        })
      const rows = fields.flatMap(([name, data]): ReadonlyArray<EventLog.ProjectionRow> => {
        if (name === "@" || data === null) return []
        const mark = marks.get(name.slice(1))
        return [
          {
            key: fromStored(name.slice(1)),
            data: fromStored(data),
            ...(mark === undefined ? {} : { mark: fromStored(mark) }),
          },
        ]
      })
      return Effect.succeed(
        filter !== undefined && "mark" in filter ? rows.filter(({ mark }) => mark === filter.mark) : rows,
      )
    })
  }

  return {
    get,
    put: (session, at, changes) => change("projections.put", session, at, changes),
    drop: (kind, session) => {
      const operation = "projections.drop"
      const dropOf = (name: string) =>
        Effect.catchTag(
          change(operation, name, undefined, [{ kind, replace: true, rows: [] }]),
          "VersionConflict",
          Effect.die,
        )
      if (session !== undefined) return dropOf(session)
      const names = EventLog.logs({ list: listSessions(connection, prefix) })
      return Stream.runForEach(names, (info) => dropOf(info.session))
    },
  }
}
