/** What an acknowledgement means: read from the servers' own settings. */
import { EventLog } from "@memfold/core"
import { Duration, Effect } from "effect"
import type { Redis } from "ioredis"
import { late, refreshSlots } from "./client.js"
import type { Connection } from "./Connection.js"
import { describe } from "./failures.js"
import type { Level, Target, WaitReplicas } from "./Options.js"

/** What an acknowledged append has survived, as far as the servers' settings say. */
export interface Durability {
  /** The least that any server guarantees; `unknown` where settings may not be read. */
  readonly level: Level | "unknown"
  /** How many replicas have it by then, too. */
  readonly replicas: number
  /** The same in a sentence, for logs. */
  readonly says: string
}

/** What one server says of itself. */
interface Kept {
  readonly level: Level | "unknown"
  /** The settings that say so. */
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

const setting = async (server: Redis, name: string): Promise<string> => {
  const reply = (await server.config("GET", name)) as ReadonlyArray<string>
  return reply[1] ?? ""
}

const levelOf = (settings: Readonly<Record<(typeof names)[number], string>>): Kept => {
  const { appendonly, appendfsync } = settings
  const evicts = settings["maxmemory-policy"].startsWith("allkeys-") && settings.maxmemory !== "0"
  if (appendonly !== "yes") {
    const saves =
      settings.save === "" ? "and nothing is saved" : `and it is saved now and then (save ${settings.save})`
    return { level: "memory", because: `appendonly no, ${saves}`, evicts }
  }
  const because = `appendonly yes, appendfsync ${appendfsync}`
  if (appendfsync === "always" && settings["no-appendfsync-on-rewrite"] === "yes") {
    return { level: "everysec", because: `${because}, but no-appendfsync-on-rewrite yes`, evicts }
  }
  if (appendfsync === "always") return { level: "fsync", because, evicts }
  return { level: appendfsync === "everysec" ? "everysec" : "memory", because, evicts }
}

/** Where settings may not be read, the server's own report tells no more than whether there is a file at all. */
const reported = async (server: Redis): Promise<Kept> => {
  const info = await server.info("persistence")
  const on = /^aof_enabled:(\d)/m.exec(info)?.[1]
  if (on === "0") return { level: "memory", because: "aof_enabled:0", evicts: false }
  return { level: "unknown", because: "its settings may not be read (CONFIG GET)", evicts: false }
}

const hidden: Kept = { level: "unknown", because: "neither CONFIG GET nor INFO is allowed", evicts: false }

const silent: Kept = { level: "unknown", because: "it did not answer", evicts: false }

const keptBy = async (server: Redis): Promise<Kept> => {
  const forbidden = (error: unknown) => {
    const { code } = describe(error, "")
    // Where a service has taken the command away, it is not known.
    if (code !== "NOPERM" && code !== "ERR") throw error
  }
  try {
    const values = await Promise.all(names.map((name) => setting(server, name)))
    return levelOf(
      Object.fromEntries(names.map((name, at) => [name, values[at] ?? ""])) as Record<
        (typeof names)[number],
        string
      >,
    )
  } catch (error) {
    forbidden(error)
  }
  try {
    return await reported(server)
  } catch (error) {
    forbidden(error)
  }
  return hidden
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
 * Looks at the settings of every server; fails if one guarantees less than required. A replica counts, since it can
 * take over; one that does not answer does not.
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
        // What nobody requires is not waited for.
        const known = await (required ? kept : Promise.race([kept.catch(() => null), late(2_000)]))
        return known === null && replica ? null : { ...(known ?? silent), name }
      })
      try {
        return await Promise.all(asked)
      } catch (error) {
        // A master that has gone does not come back by itself; another may have taken over.
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
