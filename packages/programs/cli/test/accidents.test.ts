/** Services that have accidents while they work for clients: what was acknowledged, as the clients wrote it down, is in the store once. */
import { createClient } from "@memfold/client"
import { often } from "@memfold/harness/depth"
import { give, postgresServers } from "@memfold/harness/postgresServers"
import { environment, inFolder, program } from "@memfold/harness/program"
import { servers } from "@memfold/harness/redisServers"
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { createMemory, type StoreUrl } from "memfold"
import { beforeAll, describe, expect, it, onTestFinished } from "vitest"

const { folder, memfold, file } = inFolder("accidents")
const { server: redis } = servers()
const { server: postgres } = postgresServers()
let files = 0
const newFile = (): string => join(folder, `store-${++files}.db`)

const strategy = ["--strategy", "rolling-buffer", "--settings", file("buffer.json", { bufferSize: 6 })]

/** Starts a service over a store. */
const started = async (
  store: string,
  options: ReadonlyArray<string> = strategy,
  env: NodeJS.ProcessEnv = {},
  user: { readonly uid?: number; readonly gid?: number } = {},
) => {
  const child = spawn(
    process.execPath,
    [program, "serve", "--store", store, "--port", "0", "--quiet", ...options],
    {
      ...user,
      env: { ...environment(), ...env },
      stdio: ["ignore", "pipe", "ignore"],
    },
  )
  const ended = once(child, "close")
  onTestFinished(async () => {
    child.kill("SIGKILL")
    await ended
  })
  let out = ""
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on("data", (chunk: Buffer) => {
      out += chunk.toString()
      const [, found] = / (http:\/\/[^\s/]+)\n/.exec(out) ?? []
      if (found !== undefined) resolve(found)
    })
    child.once("close", () => reject(new Error("the service ended before it listened")))
  })
  const kill = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal)
    await ended
  }
  return { url, pid: child.pid!, kill }
}

/** What clients wrote down: the words that were acknowledged, by their session. */
type Acknowledged = Map<string, Array<string>>

let words = 0

/** Clients that do the same again and again, each in its session, until they fail or are told to stop. */
const clients = (
  acknowledged: Acknowledged,
  turn: (session: string, word: string) => Promise<ReadonlyArray<string>>,
) => {
  let count = 0
  const over = new AbortController()
  const one = async (session: string): Promise<void> => {
    while (!over.signal.aborted) {
      const said = await turn(session, `word ${++words}.`).catch(() => null)
      if (said === null) return
      acknowledged.set(session, [...(acknowledged.get(session) ?? []), ...said])
      count++
    }
  }
  const ended = Promise.all(Array.from({ length: 8 }, (_, at) => one(`s-${at}`)))
  return {
    ended,
    count: () => count,
    reached: (wanted: number) => expect.poll(() => count, { interval: 2 }).toBeGreaterThanOrEqual(wanted),
    stop: () => {
      over.abort()
      return ended
    },
  }
}

const appends =
  (url: string) =>
  async (session: string, word: string): Promise<ReadonlyArray<string>> => {
    await createClient({ url, retries: 0 }).append(session, { role: "user", content: word })
    return [word]
  }

/** Compares what was acknowledged with the store; answers with how much it was. */
const look = async (store: string, acknowledged: Acknowledged): Promise<number> => {
  await using memory = createMemory({ store: store as StoreUrl, compaction: { mode: "off" } })
  let count = 0
  for (const [session, said] of acknowledged) {
    const { messages } = await memory.messages(session, { limit: 100_000 })
    const times = new Map<string, number>()
    for (const { content } of messages) times.set(String(content), (times.get(String(content)) ?? 0) + 1)
    expect(said.filter((word) => times.get(word) !== 1)).toEqual([])
    count += said.length
  }
  const { code, out } = await memfold("verify", "--store", store)
  expect([code, out]).toEqual([0, out])
  return count
}

const told = (what: string, count: number): void =>
  console.log(`${what}: ${count} acknowledged, none lost or doubled`)

/** How many services are killed over each store: `MEMFOLD_KILLS` asks for another count. */
const kills = Number(process.env["MEMFOLD_KILLS"] ?? often(4, 32))
/** How many of them have the store at the same time, and are killed together. */
const atOnce = 4

describe("services that are killed in the middle of appends and of streams through their proxies", () => {
  let upstream = ""
  beforeAll(async () => {
    const listening = createServer(async (request, response) => {
      let text = ""
      for await (const chunk of request) text += String(chunk)
      const { messages } = JSON.parse(text) as {
        readonly messages: ReadonlyArray<{ readonly content: string }>
      }
      response.writeHead(200, { "content-type": "text/event-stream" })
      const pieces = `Answer to ${messages.at(-1)?.content}`.split(/(?= )/)
      for (const [at, content] of pieces.entries()) {
        const delta = at === 0 ? { role: "assistant", content } : { content }
        response.write(
          `data: ${JSON.stringify({ id: "1", choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`,
        )
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
      response.write(
        `data: ${JSON.stringify({ id: "1", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })}\n\n`,
      )
      response.end("data: [DONE]\n\n")
    })
    listening.listen(0, "127.0.0.1").unref()
    await once(listening, "listening")
    upstream = `http://127.0.0.1:${(listening.address() as AddressInfo).port}`
    return () => void listening.close().closeAllConnections()
  })

  const stores: ReadonlyArray<readonly [string, () => Promise<string>]> = [
    ["SQLite", async () => `sqlite:${newFile()}`],
    ["Redis", async () => (await redis({ config: ["appendonly yes", "appendfsync always"] })).url],
    ["PostgreSQL", async () => (await postgres()).url],
  ]
  it.each(stores)("loses nothing that its clients have whole: %s", async (name, place) => {
    const store = await place()
    const acknowledged: Acknowledged = new Map()
    let turns = 0
    for (let killed = 0; killed < kills; killed += atOnce) {
      const options = [...strategy, "--upstream", `openai=${upstream}`]
      const running = await Promise.all(Array.from({ length: atOnce }, () => started(store, options)))
      const working = clients(acknowledged, async (session, word) => {
        const { url } = running[++turns % atOnce]!
        if (turns % 3 === 0) return await appends(url)(session, word)
        const response = await fetch(`${url}/v1/chat/completions`, {
          method: "POST",
          headers: {
            "content-type": "application/json",
            "x-memfold-session": session,
            "x-memfold-history": "new",
          },
          body: JSON.stringify({ model: "m", stream: true, messages: [{ role: "user", content: word }] }),
        })
        const text = await response.text()
        if (!text.endsWith("data: [DONE]\n\n")) throw new Error("cut off")
        return [word, `Answer to ${word}`]
      })
      await working.reached(40)
      await Promise.all(running.map(({ kill }) => kill("SIGKILL")))
      await working.ended
    }
    told(`${name}, killed ${kills} times`, await look(store, acknowledged))
  })
})

/** Whoever may do everything has a file system that is full, and files that take no more writes from those who have opened them. */
const unwritable: Readonly<
  Record<string, (place: string, file: string) => { readonly begin: () => void; readonly end: () => void }>
> = {
  "a full file system": (place) => {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=6m", "memfold", place])
    onTestFinished(() => void execFileSync("umount", ["--lazy", place]))
    const ballast = join(place, "ballast")
    return {
      begin: () => {
        const { bavail, bsize } = statfsSync(place)
        writeFileSync(ballast, Buffer.alloc(Math.max(0, bavail * bsize - 100_000)))
      },
      end: () => rmSync(ballast),
    }
  },
  "a file that takes no more writes": (_, file) => {
    const change = (how: string): void =>
      void execFileSync("chattr", [how, ...[file, `${file}-wal`].filter((one) => existsSync(one))])
    onTestFinished(() => change("-i"))
    return { begin: () => change("+i"), end: () => change("-i") }
  },
}

describe("a service on SQLite", () => {
  it("acknowledges nothing that a full disk did not take, and goes on when there is room", async () => {
    const file = newFile()
    const store = `sqlite:${file}`
    const acknowledged: Acknowledged = new Map()
    const { url, pid, kill } = await started(store)
    for (let time = 0; time < often(2, 20); time++) {
      const largest = Math.max(...["", "-wal"].map((end) => statSync(`${file}${end}`).size))
      execFileSync("prlimit", ["--pid", String(pid), `--fsize=${largest + 50_000}:unlimited`])
      const stopped = clients(acknowledged, appends(url))
      await stopped.ended
      execFileSync("prlimit", ["--pid", String(pid), "--fsize=unlimited:unlimited"])
      const going = clients(acknowledged, appends(url))
      await going.reached(20)
      await going.stop()
    }
    await kill("SIGKILL")
    told("disk full", await look(store, acknowledged))
  })

  it.runIf(process.getuid?.() === 0 && process.platform === "linux").each(Object.entries(unwritable))(
    "acknowledges nothing that %s did not take, reads on, and writes again when it does",
    async (name, make) => {
      const place = join(folder, `unwritable-${++files}`)
      mkdirSync(place)
      const file = join(place, "store.db")
      const { begin, end } = make(place, file)
      const store = `sqlite:${file}`
      const acknowledged: Acknowledged = new Map()
      const { url, kill } = await started(store)
      const refusals = new Set<string>()
      /** Clients work until none can; then each of them is told why, and has its words read to it. */
      const untilRefused = async () => {
        await clients(acknowledged, appends(url)).ended
        for (const session of acknowledged.keys()) {
          const failed = await appends(url)(session, "too much").catch((error: unknown) => error)
          refusals.add(String((failed as { readonly error?: unknown }).error))
          const { messages } = await createClient({ url, retries: 0 }).messages(session, { limit: 1 })
          expect(messages).toHaveLength(1)
        }
      }
      const goesOn = async () => {
        const going = clients(acknowledged, appends(url))
        await going.reached(20)
        await going.stop()
      }
      await goesOn()
      for (let time = 0; time < often(2, 20); time++) {
        begin()
        await untilRefused()
        end()
        await goesOn()
      }
      expect([...refusals]).toEqual(["LogError"])
      await kill("SIGKILL")
      told(name, await look(store, acknowledged))
    },
  )

  it("refuses writes once an older backup is in the place of its file", async () => {
    for (let time = 0; time < often(1, 10); time++) {
      const file = newFile()
      const store = `sqlite:${file}`
      const { url, kill } = await started(store)
      const before: Acknowledged = new Map()
      const first = clients(before, appends(url))
      await first.reached(20)
      await first.stop()
      expect((await memfold("store", "backup", "--to", `${file}.backup`, "--store", store)).code).toBe(0)
      const second = clients(new Map(), appends(url))
      await second.reached(20)
      renameSync(`${file}.backup`, file)
      // Each of them is refused.
      await second.ended
      await expect(appends(url)("s-0", "late")).rejects.toThrow(/The store failed/)
      await kill("SIGTERM")
      expect(statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0).toBe(0)
      const again = await started(store)
      await appends(again.url)("s-0", "afterwards")
      await again.kill("SIGTERM")
      before.get("s-0")!.push("afterwards")
      told("older backup", await look(store, before))
    }
  })

  it("acknowledges nothing while its file can only be read, and goes on when it can be written", async () => {
    // Whoever may do everything may write to such a file, too.
    const place = join(folder, `only-read-${++files}`)
    mkdirSync(place)
    chmodSync(folder, 0o755)
    const { uid, gid } = statSync(give(place))
    const user = process.getuid?.() === 0 ? { uid, gid } : {}
    const file = join(place, "store.db")
    const store = `sqlite:${file}`
    const acknowledged: Acknowledged = new Map()
    for (let time = 0; time < often(1, 10); time++) {
      const first = await started(store, strategy, {}, user)
      const writing = clients(acknowledged, appends(first.url))
      await writing.reached(20)
      await writing.stop()
      await first.kill("SIGTERM")
      chmodSync(file, 0o444)
      chmodSync(place, 0o555)
      const reading = await started(store, strategy, {}, user).catch(() => null)
      if (reading !== null) {
        const refused = clients(acknowledged, appends(reading.url))
        await refused.ended
        expect(refused.count()).toBe(0)
        await reading.kill("SIGKILL")
      }
      chmodSync(place, 0o755)
      chmodSync(file, 0o644)
    }
    const last = await started(store, strategy, {}, user)
    const going = clients(acknowledged, appends(last.url))
    await going.reached(20)
    await last.kill("SIGKILL")
    await going.ended
    told("read-only file", await look(store, acknowledged))
  })

  it("keeps what processes wrote whose clocks differ by an hour, or go back", async () => {
    const store = `sqlite:${newFile()}`
    const acknowledged: Acknowledged = new Map()
    const shifted = (hours: number): NodeJS.ProcessEnv => ({
      NODE_OPTIONS: `--import "data:text/javascript,const now=Date.now;Date.now=()=>now()%2B${hours * 3_600_000}"`,
    })
    for (let time = 0; time < often(1, 5); time++)
      for (const hours of [1, -1, 0]) {
        const [one, other] = await Promise.all([started(store, strategy, shifted(hours)), started(store)])
        const writing = [one, other].map(({ url }) => clients(acknowledged, appends(url)))
        for (const each of writing) await each.reached(40)
        await Promise.all([one.kill("SIGKILL"), other.kill("SIGTERM")])
        for (const each of writing) await each.ended
      }
    // A process that is killed while it compacts keeps the lock for longer than an hour, by its clock.
    expect((await memfold("repair", "--store", store)).code).toBe(0)
    told("clocks", await look(store, acknowledged))
  })

  it("keeps what processes wrote whose settings differ", async () => {
    const store = `sqlite:${newFile()}`
    const acknowledged: Acknowledged = new Map()
    const settings = [strategy, ["--strategy", "rounds"], ["--strategy", "sliding-window"]]
    for (let time = 0; time < often(1, 10); time++) {
      const running = await Promise.all(settings.map((options) => started(store, options)))
      const writing = running.map(({ url }) => clients(acknowledged, appends(url)))
      for (const each of writing) await each.reached(20)
      await Promise.all(running.map(({ kill }) => kill("SIGKILL")))
      for (const each of writing) await each.ended
    }
    told("settings", await look(store, acknowledged))
  })
})
