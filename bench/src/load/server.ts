/** The server of a load run: started here, killed and started again in between. */
import { execFileSync, spawn, type ChildProcess } from "node:child_process"
import { once } from "node:events"
import { chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { Redis } from "ioredis"
import { Client } from "pg"
import { freePort } from "../freePort.js"
import { processorOfAll } from "./processor.js"

/** `shards` are three servers of PostgreSQL; the first one has the directory and the queue. */
export type Kind = "redis" | "postgres" | "shards"

/** A server that keeps what it acknowledges: it writes to the disk before it answers. */
export interface Server {
  readonly url: string
  /** The shards by their names, if it is several servers. */
  readonly shards?: Readonly<Record<string, Server>>
  /** Its processor time since it was started last, in milliseconds. */
  readonly processor: () => number
  /** Kills it, and starts it again. */
  readonly restart: () => Promise<void>
  readonly end: () => Promise<void>
  /** Bare inserts of texts for a time, with four connections at once: how many a second. */
  readonly bareInserts: (texts: ReadonlyArray<string>, millis: number) => Promise<number>
}

/** PostgreSQL does not run as root. */
const account = (): { readonly uid: number; readonly gid: number } | null => {
  if (process.getuid?.() !== 0) return null
  const idOf = (flag: string) => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }))
  return { uid: idOf("-u"), gid: idOf("-g") }
}

const connections = 4

/** Runs an insert again and again on several connections for a time: how many a second. */
const measured = async (
  inserts: ReadonlyArray<(at: number) => Promise<unknown>>,
  millis: number,
): Promise<number> => {
  const began = performance.now()
  let count = 0
  await Promise.all(
    inserts.map(async (insert) => {
      while (performance.now() - began < millis) await insert(count++)
    }),
  )
  return (count / (performance.now() - began)) * 1_000
}

/** Starts a process until it answers, and again after it was killed. */
const keeping = async (start: () => ChildProcess, answers: () => Promise<unknown>) => {
  let child: ChildProcess
  const begin = async () => {
    for (let tries = 0; ; tries++) {
      child = start()
      const ended = once(child, "exit")
      for (let looks = 0; looks < 100 && child.exitCode === null && child.signalCode === null; looks++) {
        if (
          await answers().then(
            () => true,
            () => false,
          )
        )
          return
        await Promise.race([setTimeout(100), ended])
      }
      child.kill("SIGKILL")
      if (tries === 10) throw new Error("the server does not start")
      await setTimeout(300)
    }
  }
  const end = async (signal: "SIGKILL" | "SIGINT") => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, "exit")
    child.kill(signal)
    await ended
  }
  await begin()
  return {
    restart: async () => {
      await end("SIGKILL")
      await begin()
    },
    end: () => end("SIGKILL"),
    processor: () => processorOfAll(child.pid ?? 0),
  }
}

const redis = async (folder: string): Promise<Server> => {
  const port = await freePort()
  const dir = mkdtempSync(join(folder, "redis-"))
  const program = process.env["MEMFOLD_REDIS_SERVER"] ?? "redis-server"
  const settings = ["--bind", "127.0.0.1", "--port", String(port), "--dir", dir, "--save", ""]
  // BullMQ wants a server that forgets nothing for want of memory.
  const durable = ["--appendonly", "yes", "--appendfsync", "always", "--maxmemory-policy", "noeviction"]
  const client = () => {
    const made = new Redis({ port, host: "127.0.0.1", maxRetriesPerRequest: 1, retryStrategy: () => null })
    made.on("error", () => undefined)
    return made
  }
  const kept = await keeping(
    () => spawn(program, [...settings, ...durable], { stdio: "ignore" }),
    async () => {
      const one = client()
      try {
        if ((await one.ping()) !== "PONG" || /loading:1/.test(await one.info("persistence")))
          throw new Error("loading")
      } finally {
        one.disconnect()
      }
    },
  )
  return {
    url: `redis://127.0.0.1:${port}`,
    ...kept,
    bareInserts: async (texts, millis) => {
      const all = Array.from({ length: connections }, client)
      const inserts = all.map(
        (one, at) => (count: number) => one.xadd(`bare-${at}`, "*", "d", texts[count % texts.length] ?? ""),
      )
      const rate = await measured(inserts, millis)
      for (const one of all) one.disconnect()
      return rate
    },
  }
}

const postgres = async (folder: string): Promise<Server> => {
  const bin = process.env["MEMFOLD_POSTGRES_BIN"]
  if (bin === undefined) throw new Error("MEMFOLD_POSTGRES_BIN names no folder with initdb")
  const port = await freePort()
  const own = mkdtempSync(join(folder, "postgres-"))
  const user = account()
  if (user !== null) {
    chownSync(folder, user.uid, user.gid)
    chownSync(own, user.uid, user.gid)
  }
  const as = { ...user, cwd: own }
  const data = join(own, "data")
  execFileSync(
    join(bin, "initdb"),
    ["-D", data, "-U", "memfold", "-A", "trust", "-E", "UTF8", "--locale=C"],
    {
      ...as,
      stdio: "ignore",
    },
  )
  const url = `postgres://memfold@127.0.0.1:${port}/postgres`
  const options = ["-D", data, "-p", String(port), "-h", "127.0.0.1", "-k", own, "-c", "max_connections=200"]
  const kept = await keeping(
    () => spawn(join(bin, "postgres"), options, { ...as, stdio: "ignore" }),
    async () => {
      const client = new Client({ connectionString: url })
      client.on("error", () => undefined)
      await client.connect()
      await client.end()
    },
  )
  return {
    url,
    ...kept,
    bareInserts: async (texts, millis) => {
      const all = await Promise.all(
        Array.from({ length: connections }, async () => {
          const client = new Client({ connectionString: url })
          await client.connect()
          return client
        }),
      )
      await all[0]?.query(
        "CREATE TABLE bare (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, data TEXT NOT NULL)",
      )
      const inserts = all.map(
        (client) => (count: number) =>
          client.query({
            name: "bare",
            text: "INSERT INTO bare (data) VALUES ($1)",
            values: [texts[count % texts.length]],
          }),
      )
      const rate = await measured(inserts, millis)
      await all[0]?.query("DROP TABLE bare")
      await Promise.all(all.map((client) => client.end()))
      return rate
    },
  }
}

/** Three servers, which share this machine and its disk. */
const sharding = async (folder: string): Promise<Server> => {
  const [a, b, c] = await Promise.all([postgres(folder), postgres(folder), postgres(folder)])
  const all = [a, b, c]
  return {
    ...a,
    shards: { a, b, c },
    end: async () => void (await Promise.all(all.map(({ end }) => end()))),
    processor: () => all.reduce((sum, { processor }) => sum + processor(), 0),
    bareInserts: async (texts, millis) =>
      (await Promise.all(all.map(({ bareInserts }) => bareInserts(texts, millis)))).reduce(
        (sum, one) => sum + one,
      ),
  }
}

const starts = { redis, postgres, shards: sharding }

/** Starts the server of a run in a folder. */
export const startServer = (kind: Kind, folder: string): Promise<Server> => {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, "kind"), kind)
  return starts[kind](folder)
}

/** Works with a server of its own, in a folder of its own: PostgreSQL does not run as root, and its account has to reach the folder. */
export const withServer = async <A>(kind: Kind, work: (url: string) => Promise<A>): Promise<A> => {
  const folder = mkdtempSync(join(tmpdir(), "memfold-bench-"))
  try {
    const server = await startServer(kind, folder)
    try {
      return await work(server.url)
    } finally {
      await server.end()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
