/** The meaning of an acknowledgement, read from the servers' own settings. */
import { EventLog } from "@memfold/log"
import { Duration, Effect } from "effect"
import type { Redis } from "ioredis"
import { late, refreshSlots } from "./client.js"
import type { Connection } from "./Connection.js"
import { ifAllowed } from "./failures.js"
import type { Level, Target, WaitReplicas } from "./Options.js"

/** What an acknowledged append survives, as far as the servers' settings tell. */
export interface Durability {
  /** The least that any server guarantees; `unknown` if its settings may not be read. */
  readonly level: Level | "unknown"
  /** How many replicas have the append, too, when it is acknowledged. */
  readonly replicas: number
  /** The level and the replicas in a sentence, for logs. */
  readonly says: string
}

interface Guarantee {
  readonly level: Level | "unknown"
  /** The settings that it follows from. */
  readonly because: string
  /** Whether the server throws data away when its memory is full. */
  readonly evicts: boolean
}

const names = [
  "appendonly",
  "appendfsync",
  "no-appendfsync-on-rewrite",
  "save",
  "maxmemory",
  "maxmemory-policy",
] as const

const levelOf = (settings: ReadonlyMap<string, string>): Guarantee => {
  const value = (name: (typeof names)[number]) => settings.get(name) ?? ""
  const appendfsync = value("appendfsync")
  const evicts = value("maxmemory-policy").startsWith("allkeys-") && value("maxmemory") !== "0"
  if (value("appendonly") !== "yes") {
    const saves =
      value("save") === "" ? "and nothing is saved" : `and it is saved now and then (save ${value("save")})`
    return { level: "memory", because: `appendonly no, ${saves}`, evicts }
  }
  const because = `appendonly yes, appendfsync ${appendfsync}`
  if (appendfsync === "always" && value("no-appendfsync-on-rewrite") === "yes") {
    return { level: "everysec", because: `${because}, but no-appendfsync-on-rewrite yes`, evicts }
  }
  if (appendfsync === "always") return { level: "fsync", because, evicts }
  return { level: appendfsync === "everysec" ? "everysec" : "memory", because, evicts }
}

const unknown = (because: string): Guarantee => ({ level: "unknown", because, evicts: false })

const keptBy = async (server: Redis): Promise<Guarantee> => {
  const reply = (await ifAllowed(server.config("GET", ...names))) as ReadonlyArray<string> | null
  if (reply !== null) {
    const isName = (_: string, at: number) => at % 2 === 0
    return levelOf(new Map(reply.filter(isName).map((name, at) => [name, reply[2 * at + 1] ?? ""])))
  }
  // The server's report only says whether there is an append-only file.
  const info = await ifAllowed(server.info("persistence"))
  if (info === null) return unknown("neither CONFIG GET nor INFO is allowed")
  return /^aof_enabled:0/m.test(info)
    ? { level: "memory", because: "aof_enabled:0", evicts: false }
    : unknown("its settings may not be read (CONFIG GET)")
}

const order: ReadonlyArray<Durability["level"]> = ["unknown", "memory", "everysec", "fsync"]

const meanings: Readonly<Record<Durability["level"], string>> = {
  fsync: "an acknowledged append is on the server's disk",
  everysec: "an acknowledged append survives a killed server; a power cut can take the last second or two",
  memory: "an acknowledged append is in the server's memory, and may be gone when it stops",
  unknown: "what an acknowledged append survives cannot be known here",
}

const wanted: Readonly<Record<Level, string>> = {
  fsync: "set appendonly yes and appendfsync always",
  everysec: "set appendonly yes and appendfsync everysec",
  memory: "set maxmemory-policy noeviction",
}

/**
 * Reads the settings of every server; fails if one guarantees less than required. Replicas count, because they can take
 * over; servers that do not answer are left out.
 */
export const look = (
  connection: Connection,
  target: Target,
  waitReplicas: WaitReplicas | undefined,
): Effect.Effect<Durability, EventLog.LogError> =>
  Effect.gen(function* () {
    const servers = yield* connection.ask({ operation: "open" }, async (client) => {
      const asked = connection.servers().map(async ({ server, name, replica }) => {
        const kept = keptBy(server)
        const required = target.require !== undefined && !replica
        // Without a requirement, a server that does not answer is not waited for.
        const known = await (required ? kept : Promise.race([kept.catch(() => null), late(2_000)]))
        return known === null && replica ? null : { ...(known ?? unknown("it did not answer")), name }
      })
      try {
        return await Promise.all(asked)
      } catch (error) {
        // A master that is gone does not come back by itself; another may have taken over.
        await refreshSlots(client)
        throw error
      }
    })
    const all = servers.filter((one) => one !== null)
    const least = all.reduce((least, one) =>
      order.indexOf(one.level) < order.indexOf(least.level) ? one : least,
    )
    const evicting = all.find(({ evicts }) => evicts)
    const { require } = target
    const refused = (reason: string) => new EventLog.LogError({ operation: "open", reason })
    if (require !== undefined && evicting !== undefined) {
      return yield* refused(
        `${evicting.name} throws away sessions when its memory is full (maxmemory-policy allkeys-…); ${wanted.memory}`,
      )
    }
    if (
      require !== undefined &&
      require !== "memory" &&
      order.indexOf(least.level) < order.indexOf(require)
    ) {
      return yield* refused(
        least.level === "unknown"
          ? `"${require}" is required, and whether ${least.name} gives it cannot be known: ${least.because}; grant CONFIG GET, or require nothing`
          : `"${require}" is required, and ${least.name} guarantees "${least.level}" (${least.because}); ${wanted[require]}, or require less`,
      )
    }
    const replicas = waitReplicas?.count ?? 0
    const also =
      waitReplicas === undefined
        ? ""
        : `; ${replicas} of its replicas ${replicas === 1 ? "has" : "have"} it, or it fails after ${Duration.toMillis(waitReplicas.timeout)} ms`
    const loses =
      evicting === undefined ? "" : `; ${evicting.name} throws sessions away when its memory is full`
    return {
      level: least.level,
      replicas,
      says: `${meanings[least.level]} (${least.because})${also}${loses}`,
    }
  })
