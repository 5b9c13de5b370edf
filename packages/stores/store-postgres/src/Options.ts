/** The options of a log: where its server is, and how it is used. */
import type { SqlClient } from "@effect/sql/SqlClient"
import { EventLog } from "@memfold/log"
import { type Duration, Effect } from "effect"
import type { ConnectionOptions } from "node:tls"
import type { Pool } from "pg"

/** Where a log is, and how it is used: by its `url`, or by the application's own `pool` or `client`. */
export interface Options {
  /**
   * `postgres://user:password@host:5432/database`. The variables of the environment that PostgreSQL's own programs read
   * (`PGPASSWORD`, for example) fill in what is missing.
   *
   * It may have the settings of `pg-connection-string`, for example `?sslmode=verify-full`, and `?schema=support`.
   */
  readonly url?: string
  /**
   * A pool of `pg` that the application has, in place of a URL. It stays open. `tls`, `connections` and `timeout` are settings of
   * that pool, and there are no notifications: subscribers look ten times a second.
   */
  readonly pool?: Pool
  /** A client of `@effect/sql-pg` that the application has, in place of a URL; as for `pool`. */
  readonly client?: SqlClient
  /**
   * A standby of the server, from which what sessions have is read wherever it has what this process has seen; the server answers
   * otherwise. `HOST` or `HOST:PORT`, with everything else as the URL has it; replaces `?replica=` of the URL. Of a `pool` or a `client`,
   * a pool, which stays open.
   */
  readonly replica?: string | Pool
  /**
   * The schema of the tables; replaces the one of the URL. `memfold` by default. A name has 1 to 63 bytes, and no question mark.
   */
  readonly schema?: string
  /** Whether to create the schema and its tables, or to bring them to the present version; `true` by default. */
  readonly create?: boolean
  /**
   * Opens the schema to read it: every write fails, and tables of a newer memfold are read, too. `false` by default.
   */
  readonly readonly?: boolean
  /** TLS with these settings, for example your own certificate authority or a client certificate. */
  readonly tls?: ConnectionOptions
  /** The most connections of this process at a time, beside one that listens; 10 by default. */
  readonly connections?: number
  /**
   * Whether to send and to hear notifications, so that subscribers hear at once what other processes write; `true` by
   * default. Without them, and behind a pooler, subscribers look ten times a second.
   */
  readonly notifications?: boolean
  /** The longest time for a connection to be made or to become free, and for an answer; 30 seconds by default. */
  readonly timeout?: Duration.DurationInput
  /** How long a request is tried again while the server is away, fails over or starts; 15 seconds by default. */
  readonly retryFor?: Duration.DurationInput
}

/** What the options say: the schema, and the URLs as the driver takes them, if there are. They contain a secret: never print them. */
interface Parsed {
  readonly url: string | null
  /** The standby; `null` without one. */
  readonly replica: string | Pool | null
  readonly schema: string
}

const form = "postgres://USER:PASSWORD@HOST:PORT/DATABASE"

const refused = (problem: string): EventLog.LogError =>
  new EventLog.LogError({ operation: "open", reason: `the URL of the store ${problem}` })

/** The server cuts longer names off. A question mark is a parameter in the statements of the log. */
const isName = (schema: string): boolean => /^[^\0?]+$/.test(schema) && Buffer.byteLength(schema) <= 63

export const checkedSchema = (schema: string): Effect.Effect<string, EventLog.LogError> =>
  isName(schema)
    ? Effect.succeed(schema)
    : new EventLog.LogError({
        operation: "open",
        reason: "the schema of the store is none; its name has 1 to 63 bytes, and no question mark",
      })

/** The URL of a standby: a host in place of that of the server. */
const replicaUrl = (url: URL, host: string): Effect.Effect<string, EventLog.LogError> => {
  const replica = new URL(url)
  for (const name of ["host", "port"]) replica.searchParams.delete(name)
  if (!/^[^\s/@?#]+$/.test(host) || !URL.canParse(`postgres://${host}`))
    return refused("has no replica that is a host; it has the form HOST:PORT")
  replica.host = host
  return Effect.succeed(replica.href)
}

/** Checks options. Errors show nothing of a URL: a secret may be anywhere in a wrong one. */
export const parse = ({
  url: text,
  pool,
  client,
  schema: named,
  replica: standby,
}: Options): Effect.Effect<Parsed, EventLog.LogError> =>
  Effect.gen(function* () {
    if ([text, pool, client].filter((one) => one !== undefined).length !== 1) {
      const reason = "the store takes one of url, pool and client"
      return yield* new EventLog.LogError({ operation: "open", reason })
    }
    if ((text === undefined) === (typeof standby === "string") && standby !== undefined) {
      const reason = "the replica of a URL is a host, and of a pool or a client a pool"
      return yield* new EventLog.LogError({ operation: "open", reason })
    }
    if (text === undefined)
      return { url: null, replica: standby ?? null, schema: yield* checkedSchema(named ?? "memfold") }
    // Without the slashes, a password would be taken for a part of the name of the database.
    if (!/^postgres(?:ql)?:\/\//i.test(text))
      return yield* refused(`does not begin with postgres:// or postgresql://; it has the form ${form}`)
    if (!URL.canParse(text)) return yield* refused(`is none; it has the form ${form}`)
    const url = new URL(text)
    const setting = (name: string) => {
      const values = url.searchParams.getAll(name)
      url.searchParams.delete(name)
      return values.length > 1
        ? refused(`has the setting "${name}" more than once`)
        : Effect.succeed(values[0])
    }
    const schema = yield* setting("schema")
    const replica = yield* setting("replica")
    const host = standby ?? replica
    return {
      url: url.href,
      replica: typeof host === "string" ? yield* replicaUrl(url, host) : null,
      schema: yield* checkedSchema(named ?? schema ?? "memfold"),
    }
  })
