/** How a log is reached, and what is asked of it. */
import { EventLog } from "@memfold/core"
import { type Duration, Effect } from "effect"
import type { ClusterOptions, NatMap } from "ioredis"
import type { ConnectionOptions } from "node:tls"

/** A server by its address. */
export interface Address {
  readonly host: string
  /** 6379 by default, 26379 for a sentinel. */
  readonly port?: number
}

/** A master that sentinels watch over. */
export interface Sentinel {
  /** The name the sentinels know the master by. */
  readonly name: string
  readonly nodes: ReadonlyArray<Address>
  /** Who to be to the sentinels themselves, where they ask. */
  readonly username?: string
  readonly password?: string
  /** Whether the sentinels are reached by TLS. */
  readonly tls?: boolean
}

/**
 * What an acknowledged append has to have survived:
 *
 * - `fsync`: a power cut. The server waits for its disk at every append (`appendfsync always`).
 * - `everysec`: a killed server. A power cut can take the last second or two (`appendfsync everysec`).
 * - `memory`: nothing. It is in the server's memory.
 */
export type Level = "fsync" | "everysec" | "memory"

/** Replicas that have to have an append before it is acknowledged. */
export interface WaitReplicas {
  readonly count: number
  /** How long they are waited for; then the append fails, although the master has it. */
  readonly timeout: Duration.DurationInput
}

/** How a log is reached. One of `url`, `cluster` and `sentinel` says where. */
export interface Options {
  /**
   * `redis://user:password@host:6379/0`, or `rediss://` for TLS. With `cluster` or `sentinel` it is not needed, and
   * nothing but its user, password, TLS and database count.
   *
   * Settings may stand in it: `?prefix=tenant`, `?require=fsync`, and `?cluster=true` for a server that is one of a
   * cluster.
   */
  readonly url?: string
  /** Some servers of a cluster, as addresses or URLs; the others are found through them. */
  readonly cluster?: ReadonlyArray<Address | string>
  /** For clusters behind other addresses than they know themselves (`natMap`), and names that must stay names. */
  readonly clusterOptions?: Pick<ClusterOptions, "natMap" | "dnsLookup" | "slotsRefreshInterval">
  readonly sentinel?: Sentinel & { readonly natMap?: NatMap }
  /** In place of the ones in the URL. */
  readonly username?: string
  readonly password?: string
  /** In place of 0, or the one in the URL. A cluster has no other than 0. */
  readonly db?: number
  /** TLS with these settings (a certificate authority of one's own, a client certificate). */
  readonly tls?: ConnectionOptions
  /** Before every key; `memfold` by default. One for each tenant: no session id reaches beyond it. */
  readonly prefix?: string
  /** Opening fails unless the server's settings guarantee this much; by default nothing is required. */
  readonly require?: Level
  /** Wait for replicas at each append; by default they are not waited for. */
  readonly waitReplicas?: WaitReplicas
  /** How long a server may take for one answer; 5 seconds by default. */
  readonly timeout?: Duration.DurationInput
  /** How long something is tried again while servers are away, fail over or load; 15 seconds by default. */
  readonly retryFor?: Duration.DurationInput
}

/** Options that have been looked at. Holds secrets: never to be printed. */
export interface Target {
  readonly mode: "single" | "sentinel" | "cluster"
  readonly nodes: ReadonlyArray<Required<Address>>
  readonly username: string | undefined
  readonly password: string | undefined
  readonly db: number
  readonly tls: ConnectionOptions | undefined
  readonly prefix: string
  readonly require: Level | undefined
  /** Where this is, without secrets; stands in errors. */
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

/** Nothing of a URL that is wrong may be shown: a secret could stand anywhere in it. */
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

/** Looks at options; fails if they do not say where a log is, or say it twice. */
export const targetOf = (options: Options): Effect.Effect<Target, EventLog.LogError> =>
  Effect.gen(function* () {
    const given = options.url === undefined ? undefined : yield* parse(options.url)
    const listed = yield* Effect.forEach(options.cluster ?? [], (node) =>
      typeof node === "string" ? parse(node) : Effect.succeed<Parsed>({ ...anonymous, ...node }),
    )
    const inCluster = options.cluster !== undefined || given?.settings.get("cluster") === "true"
    if (inCluster && options.sentinel !== undefined) {
      return yield* refused(
        "the store is said to be a cluster and to be watched by sentinels; name one of them",
      )
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
