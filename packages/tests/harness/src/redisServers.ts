/** Real servers for tests: on ports and in folders of their own, gone when the tests of a file are done. */
import { Redis } from "ioredis"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { ConnectionOptions } from "node:tls"
import { afterAll } from "vitest"
import { eventually } from "./eventually.js"
import { freePort } from "./ports.js"

export { eventually }

/** The server under test; `scripts/redis.mjs` says where it is, or how to get it. */
const program = process.env["MEMFOLD_REDIS_SERVER"] ?? "redis-server"

const running = new Set<ChildProcess>()
// Should the test run itself be ended, the servers end with it.
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL")
})

export interface Server {
  readonly port: number
  readonly url: string
  /** Its folder: everything it writes lies here. */
  readonly folder: string
  /** Starts it again, on the same port and folder. */
  readonly start: () => Promise<void>
  /** `kill -9`, and waits until it is gone. */
  readonly kill: () => Promise<void>
  /** Stops and continues the process. */
  readonly signal: (signal: "SIGSTOP" | "SIGCONT") => void
  /** A client of the test's own. */
  readonly client: Redis
}

export interface ServerOptions {
  /** Lines of `redis.conf`. */
  readonly config?: ReadonlyArray<string>
  readonly client?: { readonly password?: string; readonly tls?: ConnectionOptions }
  readonly sentinel?: boolean
  /** Its port speaks TLS alone. */
  readonly tls?: boolean
  /** A node of a cluster, with a port for the cluster's bus. */
  readonly clustered?: boolean
}

/** How many ports are tried for one server. */
const mostPorts = 10

/** There is no server to be run. */
class NoServer extends Error {}

/** The configuration of a server. */
const configOf = (
  own: string,
  port: number,
  { config = [], sentinel = false, tls = false }: ServerOptions,
  busPort: number | undefined,
): string =>
  [
    ...(tls ? [`tls-port ${port}`, "port 0"] : [`port ${port}`]),
    "bind 127.0.0.1",
    `dir ${own}`,
    `logfile ${join(own, "log")}`,
    ...(sentinel ? [] : ['save ""', "repl-diskless-sync-delay 0"]),
    // Not the usual bus port, 10,000 higher: that may be in use, or beyond all ports.
    ...(busPort === undefined ? [] : ["cluster-enabled yes", `cluster-port ${busPort}`]),
    ...config,
    "",
  ].join("\n")

/** A server on its port and folder, which is started and killed as often as a test wants it. */
class RedisProcess implements Server {
  readonly url: string
  readonly client: Redis
  private child: ChildProcess | undefined

  constructor(
    readonly port: number,
    readonly folder: string,
    private readonly options: ServerOptions,
  ) {
    this.url = `redis://127.0.0.1:${port}`
    this.client = new Redis({
      port,
      host: options.tls === true ? "localhost" : "127.0.0.1",
      lazyConnect: true,
      protocol: 2,
      retryStrategy: () => 50,
      ...options.client,
    })
    this.client.on("error", () => {})
  }

  readonly kill = async (): Promise<void> => {
    const killed = this.child
    if (killed === undefined || killed.exitCode !== null || killed.signalCode !== null) return
    const ended = once(killed, "exit")
    killed.kill("SIGKILL")
    await ended
    running.delete(killed)
  }

  readonly start = async (): Promise<void> => {
    const file = join(this.folder, "redis.conf")
    const started = spawn(program, [file, ...(this.options.sentinel === true ? ["--sentinel"] : [])], {
      stdio: "ignore",
    })
    this.child = started
    running.add(started)
    let failed: Error | undefined
    const failing = new Promise<Error>((resolve) => {
      started.once("error", (cause) => {
        failed = new NoServer(`${program} cannot be run; install Redis, or name it in MEMFOLD_REDIS_SERVER`, {
          cause,
        })
        resolve(failed)
      })
      started.once("exit", (code, signal) => {
        running.delete(started)
        failed ??= new Error(`${program} ended with ${code ?? signal}; see ${this.folder}/log`)
        resolve(failed)
      })
    })
    const answering = eventually(`a server at ${this.port}`, async () => {
      if (failed !== undefined) return failed
      // Another program's server may be there, until ours finds out and ends.
      const [, pid] = /^process_id:(\d+)/m.exec(await this.client.info("server")) ?? []
      return Number(pid) === started.pid && (await this.client.ping()) === "PONG"
    })
    const outcome = await Promise.race([answering, failing])
    if (outcome instanceof Error) throw outcome
  }

  readonly signal = (signal: "SIGSTOP" | "SIGCONT"): void => void this.child?.kill(signal)
}

/** The servers of a cluster. */
export interface Cluster {
  readonly nodes: ReadonlyArray<Server>
  /** Waits until the cluster serves all slots, and all replicas follow. */
  readonly settled: () => Promise<void>
  readonly addresses: ReadonlyArray<{ readonly host: string; readonly port: number }>
}

const settingsOfNodes = [
  "cluster-node-timeout 1000",
  // A replica is listed once it has heard from its master.
  "repl-ping-replica-period 1",
  "cluster-replica-validity-factor 0",
  "cluster-require-full-coverage no",
]

/** Waits until a node knows `count` nodes, itself included. */
const knowsAll = ({ client }: Server, count: number) =>
  eventually("the cluster's nodes know each other", async () => {
    const list = String(await client.call("CLUSTER", "NODES"))
      .trim()
      .split("\n")
    return list.length === count && list.every((line) => !/handshake|fail|noaddr/.test(line))
  })

/** Waits until a node sees a cluster that serves, and its own master or replica follows. */
const serves = ({ client }: Server) =>
  eventually("the cluster serves", async () => {
    const info = String(await client.call("CLUSTER", "INFO"))
    const replication = await client.info("replication")
    const linked = /role:master/.test(replication)
      ? /connected_slaves:1/.test(replication) && /slave0:.*state=online/.test(replication)
      : /master_link_status:up/.test(replication)
    // Each knows whose replica every other is.
    const slots = (await client.call("CLUSTER", "SLOTS")) as ReadonlyArray<ReadonlyArray<unknown>>
    const known = slots.length >= 3 && slots.every(({ length }) => length === 4)
    return info.includes("cluster_state:ok") && info.includes("cluster_slots_ok:16384") && linked && known
  })

/** Makes a cluster of six servers: three masters with a replica each. */
const formCluster = async (nodes: ReadonlyArray<Server>): Promise<Cluster> => {
  const ids = await Promise.all(nodes.map(({ client }) => client.cluster("MYID") as Promise<string>))
  const busPorts = await Promise.all(
    nodes.map(async ({ client }) => ((await client.config("GET", "cluster-port")) as Array<string>)[1] ?? ""),
  )
  const third = Math.ceil(16_384 / 3)
  await Promise.all(
    nodes
      .slice(0, 3)
      .map(({ client }, at) =>
        client.call(
          "CLUSTER",
          "ADDSLOTSRANGE",
          String(at * third),
          String(Math.min((at + 1) * third, 16_384) - 1),
        ),
      ),
  )
  await Promise.all(nodes.map(({ client }, at) => client.call("CLUSTER", "SET-CONFIG-EPOCH", String(at + 1))))
  for (const [at, { port }] of nodes.entries()) {
    if (at > 0) await nodes[0]!.client.call("CLUSTER", "MEET", "127.0.0.1", String(port), busPorts[at]!)
  }
  await Promise.all(nodes.map((node) => knowsAll(node, nodes.length)))
  await Promise.all(
    nodes
      .slice(3)
      .map(({ client }, at) =>
        eventually(
          "a replica follows",
          async () => (await client.call("CLUSTER", "REPLICATE", ids[at]!)) === "OK",
        ),
      ),
  )
  const settled = async () => void (await Promise.all(nodes.map(serves)))
  await settled()
  return { nodes, settled, addresses: nodes.map(({ port }) => ({ host: "127.0.0.1", port })) }
}

/**
 * Starts servers for the tests of a file, each on the first chosen port that it gets. To be called once, at its top.
 *
 * Any program can take a port after it was chosen. A server whose port (or bus port) is taken ends by itself, and another
 * port is tried; a server counts as started once the one that answers at the port says that it is the process started.
 */
export const servers = (choosePort: () => Promise<number> = freePort) => {
  const folder = mkdtempSync(join(tmpdir(), "memfold-redis-"))
  const processes = new Set<RedisProcess>()
  afterAll(async () => {
    for (const { client } of processes) client.disconnect()
    await Promise.all([...processes].map(({ kill }) => kill()))
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  })

  const tryServer = async (options: ServerOptions): Promise<Server> => {
    const port = await choosePort()
    const own = mkdtempSync(join(folder, `${port}-`))
    const busPort = options.clustered === true ? await choosePort() : undefined
    writeFileSync(join(own, "redis.conf"), configOf(own, port, options, busPort))
    const redis = new RedisProcess(port, own, options)
    processes.add(redis)
    await redis.start().catch(async (error: unknown) => {
      redis.client.disconnect()
      await redis.kill()
      processes.delete(redis)
      throw error
    })
    return redis
  }

  const server = async (options: ServerOptions = {}): Promise<Server> => {
    for (let left = mostPorts; ; left--) {
      try {
        return await tryServer(options)
      } catch (error) {
        if (left === 1 || error instanceof NoServer) throw error
      }
    }
  }

  /** Three masters with a replica each. */
  const cluster = async (config: ReadonlyArray<string> = []): Promise<Cluster> => {
    const nodes = Array.from({ length: 6 }, async () =>
      server({ clustered: true, config: [...settingsOfNodes, ...config] }),
    )
    return formCluster(await Promise.all(nodes))
  }

  return { server, cluster, folder }
}

/** The slot of a key. */
export const slotOf = async ({ nodes }: Cluster, key: string): Promise<number> =>
  Number(await nodes[0]!.client.call("CLUSTER", "KEYSLOT", key))

type Shard = readonly [first: number, last: number, master: readonly [host: string, port: number]]

/** The master of a slot, as one of the servers knows it; none if it knows of none. */
const masterBy = async (
  { nodes }: Cluster,
  { client }: Server,
  slot: number,
): Promise<Server | undefined> => {
  const shards = (await client.call("CLUSTER", "SLOTS")) as ReadonlyArray<Shard>
  const [, , master] = shards.find(([first, last]) => first <= slot && slot <= last) ?? []
  return nodes.find(({ port }) => port === master?.[1])
}

/** The masters of a cluster, the one of a slot first. */
export const mastersFor = async (
  three: Cluster,
  slot: number,
): Promise<readonly [owner: Server, ...others: ReadonlyArray<Server>]> => {
  const roles = await Promise.all(three.nodes.map(({ client }) => client.info("replication")))
  const masters = three.nodes.filter((_, at) => roles[at]?.includes("role:master"))
  const owner = await masterBy(three, masters[0]!, slot)
  if (owner === undefined) throw new Error(`nobody has slot ${slot}`)
  return [owner, ...masters.filter((node) => node !== owner)]
}

/**
 * Moves a slot to another master, as `redis-cli --cluster reshard` does it: from the first step on both are told, the
 * keys go one by one, and at last everybody is told whose it is. After each key `moved` is waited for: in the meantime
 * the keys are split over both servers. With `released` the old owner is told first, whenever that wants it, and that is
 * waited for before the others are. Ends when all servers know, and then fails as `moved` did.
 */
export const moveSlot = async (
  three: Cluster,
  slot: number,
  to: Server,
  {
    moved = async () => undefined,
    released,
  }: {
    readonly moved?: (key: string) => Promise<unknown>
    readonly released?: (tell: () => Promise<unknown>) => Promise<unknown>
  } = {},
): Promise<void> => {
  const [from, ...others] = await mastersFor(three, slot)
  const idOf = ({ client }: Server) => client.cluster("MYID") as Promise<string>
  const [source, target] = await Promise.all([idOf(from), idOf(to)])
  const assign = (node: Server, ...how: ReadonlyArray<string>) =>
    node.client.call("CLUSTER", "SETSLOT", String(slot), ...how)
  await assign(to, "IMPORTING", source)
  await assign(from, "MIGRATING", target)
  let failure: { readonly error: unknown } | undefined
  for (;;) {
    const [key] = (await from.client.call("CLUSTER", "GETKEYSINSLOT", String(slot), "1")) as Array<string>
    if (key === undefined) break
    await from.client.call("MIGRATE", "127.0.0.1", String(to.port), "", "0", "5000", "KEYS", key)
    // A slot left halfway would be in the way of all other tests.
    if (failure === undefined) await moved(key).catch((error: unknown) => (failure = { error }))
  }
  await released?.(() => assign(from, "NODE", target))
  // The new owner first: until it knows, it redirects clients back to the old owner.
  for (const node of [to, from, ...others.filter((other) => other !== to)]) await assign(node, "NODE", target)
  await eventually("all know whose the slot is", async () => {
    const known = await Promise.all(three.nodes.map((node) => masterBy(three, node, slot)))
    return known.every((one) => one === to)
  })
  if (failure !== undefined) throw failure.error
}

/** How often a server has answered with an error of a name. */
export const answered = async ({ client }: Pick<Server, "client">, error: string): Promise<number> =>
  Number(new RegExp(`^errorstat_${error}:count=(\\d+)`, "m").exec(await client.info("errorstats"))?.[1] ?? 0)

/** How often a server was given a command, or has refused it without beginning with it (`rejected_calls`). */
export const counted = async (
  { client }: Pick<Server, "client">,
  command: string,
  what: "calls" | "rejected_calls" = "calls",
): Promise<number> => {
  const lines = (await client.info("commandstats")).split("\r\n")
  const line = lines.find((one) => one.startsWith(`cmdstat_${command}:`)) ?? ""
  return Number(new RegExp(`[:,]${what}=(\\d+)`).exec(line)?.[1] ?? 0)
}

/**
 * Keeps a server busy with a script, and goes on when it says so (after its `lua-time-limit`). Ended by calling the
 * answer, which tells how the script ended.
 */
export const keepBusy = async ({ client }: Pick<Server, "client">): Promise<() => Promise<string>> => {
  const somebody = client.duplicate()
  const endless = somebody.eval("while true do end", 0).then(String, String)
  await eventually("it is busy", () =>
    client.ping().then(
      () => false,
      (error: unknown) => String(error).includes("BUSY"),
    ),
  )
  return async () => {
    await client.script("KILL")
    const ended = await endless
    somebody.disconnect()
    return ended
  }
}
