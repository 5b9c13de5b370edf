/** The options of a log: where its server is, and how it is used. */
import { EventLog } from "@memfold/core"
import { type Duration, Effect } from "effect"
import type { ConnectionOptions } from "node:tls"

/** The options of a log. */
export interface Options {
  /**
   * `postgres://user:password@host:5432/database`. The variables of the environment that PostgreSQL's own programs read
   * (`PGPASSWORD`, for example) fill in what is missing.
   *
   * It may have the settings of `pg-connection-string`, for example `?sslmode=verify-full`, and `?schema=support`.
   */
  readonly url: string
  /**
   * The schema of the tables; replaces the one of the URL. `memfold` by default. A name has 1 to 63 bytes, and no question mark.
   */
  readonly schema?: string
  /** Whether to create the schema and its tables, or to bring them to the present version; `true` by default. */
  readonly create?: boolean
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

/** What the options say: the schema, and the URL as the driver takes it. It contains a secret: never print it. */
interface Parsed {
  readonly url: string
  readonly schema: string
}

const form = "postgres://USER:PASSWORD@HOST:PORT/DATABASE"

const refused = (problem: string): EventLog.LogError =>
  new EventLog.LogError({ operation: "open", reason: `the URL of the store ${problem}` })

/** The server cuts longer names off. A question mark is a parameter in the statements of the log. */
const isName = (schema: string): boolean => /^[^\0?]+$/.test(schema) && Buffer.byteLength(schema) <= 63

/** Checks options. Errors show nothing of a URL: a secret may be anywhere in a wrong one. */
export const parse = ({ url: text, schema: named }: Options): Effect.Effect<Parsed, EventLog.LogError> =>
  Effect.suspend(() => {
    // Without the slashes, a password would be taken for a part of the name of the database.
    if (!/^postgres(?:ql)?:\/\//i.test(text))
      return refused(`does not begin with postgres:// or postgresql://; it has the form ${form}`)
    if (!URL.canParse(text)) return refused(`is none; it has the form ${form}`)
    const url = new URL(text)
    const schemas = url.searchParams.getAll("schema")
    if (schemas.length > 1) return refused('has the setting "schema" more than once')
    url.searchParams.delete("schema")
    const schema = named ?? schemas[0] ?? "memfold"
    return isName(schema)
      ? Effect.succeed({ url: url.href, schema })
      : new EventLog.LogError({
          operation: "open",
          reason: "the schema of the store is none; its name has 1 to 63 bytes, and no question mark",
        })
  })
