/** The options of a log: where its servers are, and what is required of them. */
import { EventLog } from "@memfold/log"
import { type Duration, Effect } from "effect"
import type { ClusterOptions, NatMap } from "ioredis"
import type { ConnectionOptions } from "node:tls"

/** The address of a server. */
export interface Address {
  readonly host: string
  /** 6379 by default, 26379 for a sentinel. */
  readonly port?: number
}

/** A master that sentinels watch. */
export interface Sentinel {
  /** The name the sentinels know the master by. */
  readonly name: string
  readonly nodes: ReadonlyArray<Address>
  /** The user and password for the sentinels themselves, if they want one. */
  readonly username?: string
  readonly password?: string
  /** Whether the sentinels use TLS. */
  readonly tls?: boolean
}

/**
 * What an acknowledged append survives:
 *
 * - `fsync`: a power cut. The server waits for its disk at every append (`appendfsync always`).
 * - `everysec`: a killed server. A power cut can take the last second or two (`appendfsync everysec`).
 * - `memory`: nothing. It is in the server's memory.
 */
export type Level = "fsync" | "everysec" | "memory"

/** How many replicas must have an append before it is acknowledged. */
export interface WaitReplicas {
  readonly count: number
  /** How long to wait for them; then the append fails, although the master has it. */
  readonly timeout: Duration.DurationInput
}

/** The options of a log. One of `url`, `cluster` and `sentinel` says where it is. */
export interface Options {
  /**
   * `redis://user:password@host:6379/0`, or `rediss://` for TLS. Optional with `cluster` or `sentinel`, which take only
   * its user, password, TLS and database.
   *
   * It may have the settings `?prefix=tenant`, `?require=fsync`, and `?cluster=true` for one server of a cluster.
   */
  readonly url?: string
  /** Some servers of a cluster, as addresses or URLs; the others are found through them. */
  readonly cluster?: ReadonlyArray<Address | string>
  /** `natMap`: for servers with other addresses than the cluster knows; `dnsLookup`: to keep host names for TLS. */
  readonly clusterOptions?: Pick<ClusterOptions, "natMap" | "dnsLookup" | "slotsRefreshInterval">
  readonly sentinel?: Sentinel & { readonly natMap?: NatMap }
  /** Replaces the user of the URL; `password` likewise. */
  readonly username?: string
  readonly password?: string
  /** Replaces the database of the URL; 0 by default. A cluster has only database 0. */
  readonly db?: number
  /** TLS with these settings, for example your own certificate authority or a client certificate. */
  readonly tls?: ConnectionOptions
  /** The start of every key; `memfold` by default. Use one for each tenant: no session id can reach another's keys. */
  readonly prefix?: string
  /** Opening fails unless the server's settings guarantee this much; by default nothing is required. */
  readonly require?: Level
  /** Opens the log to read it: every write fails, and keys of a newer memfold are read, too. `false` by default. */
  readonly readonly?: boolean
  /** Waits for replicas at each append; by default it does not. */
  readonly waitReplicas?: WaitReplicas
  /** The longest time for one answer of a server; 5 seconds by default. */
  readonly timeout?: Duration.DurationInput
  /** How long a request is tried again while servers are away, fail over or load; 15 seconds by default. */
  readonly retryFor?: Duration.DurationInput
}

/** Checked options. They contain secrets: never print them. */
export interface Target {
  readonly mode: "single" | "sentinel" | "cluster"
  readonly nodes: ReadonlyArray<Required<Address>>
  readonly username: string | undefined
  readonly password: string | undefined
  readonly db: number
  readonly tls: ConnectionOptions | undefined
  readonly prefix: string
  readonly require: Level | undefined
  /** The servers' name for errors, without secrets. */
  readonly name: string
}

const refused = (problem: string): EventLog.LogError =>
  new EventLog.LogError({ operation: "open", reason: problem })

interface Parsed extends Required<Address> {
  readonly username: string | undefined
  readonly password: string | undefined
  readonly db: number | undefined
  readonly tls: boolean
  readonly settings: URLSearchParams
}

const anonymous = {
  port: 6379,
  username: undefined,
  password: undefined,
  db: undefined,
  tls: false,
  settings: new URLSearchParams(),
}

const known = new Set(["prefix", "require", "cluster"])

/** Errors show nothing of a URL: a secret may be anywhere in a wrong one. */
const parse = (text: string): Effect.Effect<Parsed, EventLog.LogError> =>
  Effect.suspend(() => {
    const form = "redis://USER:PASSWORD@HOST:PORT/DATABASE, or rediss:// for TLS"
    if (!URL.canParse(text)) return refused(`the URL of the store is none; it has the form ${form}`)
    const url = new URL(text)
    if (url.protocol !== "redis:" && url.protocol !== "rediss:") {
      return refused(
        `the URL of the store does not begin with redis:// or rediss://; it has the form ${form}`,
      )
    }
    const db = url.pathname.replace(/^\//, "")
    if (!/^\d*$/.test(db))
      return refused(`the URL of the store names a database that is no number; it has the form ${form}`)
    for (const name of url.searchParams.keys()) {
      if (!known.has(name)) {
        return refused(
          `the URL of the store has a setting that is not known; these are: ${[...known].join(", ")}`,
        )
      }
      if (url.searchParams.getAll(name).length > 1)
        return refused(`the URL of the store has the setting "${name}" more than once`)
    }
    const decoded = (part: string) => (part === "" ? undefined : decodeURIComponent(part))
    return Effect.try({
      try: (): Parsed => ({
        host: url.hostname.replace(/^\[(.*)\]$/, "$1") || "localhost",
        port: url.port === "" ? 6379 : Number(url.port),
        username: decoded(url.username),
        password: decoded(url.password),
        db: db === "" ? undefined : Number(db),
        tls: url.protocol === "rediss:",
        settings: url.searchParams,
      }),
      catch: () =>
        refused("the user or password in the URL of the store is not percent-encoded as URLs want it"),
    })
  })

const levels: ReadonlyArray<string> = ["fsync", "everysec", "memory"] satisfies ReadonlyArray<Level>

const text = ({ host, port }: Required<Address>) => `${host.includes(":") ? `[${host}]` : host}:${port}`

/** Checks options; fails if they do not say where the servers are, or say it twice. */
export const targetOf = (options: Options): Effect.Effect<Target, EventLog.LogError> =>
  Effect.gen(function* () {
    const given = options.url === undefined ? undefined : yield* parse(options.url)
    const listed = yield* Effect.forEach(options.cluster ?? [], (node) =>
      typeof node === "string" ? parse(node) : Effect.succeed<Parsed>({ ...anonymous, ...node }),
    )
    const inCluster = options.cluster !== undefined || given?.settings.get("cluster") === "true"
    if (inCluster && options.sentinel !== undefined) {
      return yield* refused("the options name both a cluster and sentinels; give one of them")
    }
    const nodes = (
      options.sentinel === undefined
        ? listed.length === 0 && given !== undefined
          ? [given]
          : listed
        : options.sentinel.nodes.map((node) => ({ port: 26_379, ...node }))
    ).map(({ host, port }) => ({ host, port }))
    if (nodes.length === 0)
      return yield* refused("no server is named; give a url, the nodes of a cluster, or sentinels")
    const from = [given, ...listed].filter((one) => one !== undefined)
    const db = options.db ?? given?.db ?? 0
    if (inCluster && db !== 0) return yield* refused("a cluster has no other database than 0; name none")
    const level = options.require ?? given?.settings.get("require") ?? undefined
    if (level !== undefined && !levels.includes(level)) {
      return yield* refused(`what is required of the store is none of ${levels.join(", ")}`)
    }
    const tls = options.tls ?? (from.some((one) => one.tls) ? {} : undefined)
    const mode = inCluster ? "cluster" : options.sentinel === undefined ? "single" : "sentinel"
    const list = nodes.map(text).join(", ")
    return {
      mode,
      nodes,
      username: options.username ?? from.find(({ username }) => username !== undefined)?.username,
      password: options.password ?? from.find(({ password }) => password !== undefined)?.password,
      db,
      tls,
      prefix: options.prefix ?? given?.settings.get("prefix") ?? "memfold",
      require: level as Level | undefined,
      name: {
        single: `${tls === undefined ? "redis" : "rediss"}://${list}/${db}`,
        cluster: `the Redis Cluster at ${list}`,
        sentinel: `the master "${options.sentinel?.name ?? ""}" of the sentinels at ${list}`,
      }[mode],
    }
  })
