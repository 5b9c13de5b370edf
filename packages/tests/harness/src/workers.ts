/** `memfold worker` processes, and what the tests of all queues do with them. */
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { spawn } from "node:child_process"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Dispatcher } from "@memfold/core"
import { Effect, type Scope } from "effect"
import { createMemory } from "memfold"
import { afterAll, expect, it } from "vitest"
import { type Child, child } from "./children.js"
import { eventually } from "./eventually.js"
import { environment, lines, program, programAt } from "./program.js"

/** Where workers work, and how. */
export interface Place {
  readonly store: string
  readonly queue: string
}

/** How long tests wait for a worker, in seconds: its process starts, and the lease of a killed one ends. */
const patience = 60

const strategy = {
  strategy: "rolling-buffer",
  settings: { bufferSize: 4 },
} as const

/** A memory of a web process: it appends, and compacts nothing. */
export const web = ({ store, queue }: Place) =>
  createMemory({
    store,
    queue,
    ...strategy,
    compaction: { mode: "dispatch" },
    logger: () => {},
  })

/** Messages of a conversation, as many as one compaction takes. */
export const talk = (count: number, from = 0) =>
  Array.from({ length: count }, (_, at) => ({
    role: (at + from) % 2 === 0 ? ("user" as const) : ("assistant" as const),
    content: `message ${at + from} says something of an ordinary length about order ${at + from}`,
  }))

/** A folder for the tests of a file with a summarizer that can be held up, and the workers in it. */
export const workers = () => {
  const folder = mkdtempSync(join(tmpdir(), "memfold-workers-"))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const [began, gate, summarizer] = [
    join(folder, "began"),
    join(folder, "gate"),
    join(folder, "summarizer.mjs"),
  ]
  writeFileSync(began, "")
  writeFileSync(
    summarizer,
    `import { appendFileSync, existsSync } from "node:fs"
export default async () => {
  appendFileSync(${JSON.stringify(began)}, "b")
  while (existsSync(${JSON.stringify(gate)})) await new Promise((go) => setTimeout(go, 20))
  return "they talked about orders"
}
`,
  )
  const worker = ({ store, queue }: Place, ...more: ReadonlyArray<string>): Child => {
    const settings = Object.entries(strategy.settings).flatMap(([name, value]) => [
      "--set",
      `${name}=${value}`,
    ])
    const args = ["worker", "--store", store, "--queue", queue, "--strategy", strategy.strategy, ...settings]
    return child(
      spawn(
        process.execPath,
        [program, ...args, "--summarizer", summarizer, "--json", "--lease", "1", ...more],
        {
          stdio: ["pipe", "pipe", "inherit"],
          env: environment(),
        },
      ),
    )
  }
  return {
    folder,
    worker,
    /** Summaries wait from now on until they are let go. */
    hold: () => appendFileSync(gate, ""),
    letGo: () => rmSync(gate, { force: true }),
    isHeld: () => existsSync(gate),
    /** How often a summary was begun. */
    begun: () => readFileSync(began, "utf8").length,
  }
}

/**
 * Kills workers in the middle of a summary, one after the other. In the end the summary is there once, and every message is.
 */
export const killWorkers = async (
  { worker, hold, letGo, begun }: ReturnType<typeof workers>,
  place: Place,
  kills: number,
): Promise<void> => {
  const memory = web(place)
  const session = "killed"
  hold()
  await memory.append(session, talk(16))
  for (let kill = 0; kill < kills; kill++) {
    const before = begun()
    const one = worker(place)
    await eventually("a worker writes the summary", async () => begun() > before, patience)
    await memory.append(session, talk(1, 16 + kill))
    one.kill()
  }
  letGo()
  worker(place)
  await eventually(
    "the summary is there",
    async () => (await memory.state(session)).summary !== null,
    patience,
  )
  await memory.close()
  const reader = createMemory({ store: place.store, compaction: { mode: "off" } })
  const commits: Array<number> = []
  let messages = 0
  for await (const { event } of reader.events(session)) {
    if (event._tag === "SummaryCommitted") commits.push(event.coveredTo)
    if (event._tag === "MessageAppended") messages++
  }
  await reader.close()
  expect(messages).toBe(16 + kills)
  // Coverage moves forward with each commit: none is there twice.
  expect(commits.length).toBeGreaterThan(0)
  expect(commits).toEqual([...new Set(commits)].toSorted((one, other) => one - other))
  console.log(`${kills} workers killed in the middle of a summary: lost 0, written twice 0`)
}

/** A session whose look was lost is compacted: a process that is killed between its write and the look leaves this behind. */
const sweepUp = async (
  { worker }: Pick<ReturnType<typeof workers>, "worker">,
  place: Place,
): Promise<void> => {
  const killed = createMemory({ store: place.store, ...strategy, compaction: { mode: "manual" } })
  await killed.append("lost", talk(16))
  await killed.close()
  const line = await worker(place, "--sweep", "1").line()
  expect(JSON.parse(line ?? "{}")).toMatchObject({ session: "lost", outcome: "Committed" })
}

/** A worker is killed in the middle of a look while the server of its queue is restarted: the look is not lost. */
const dieWithServer = async (
  { worker, hold, letGo, begun }: ReturnType<typeof workers>,
  place: Place,
  server: QueueServer,
): Promise<void> => {
  const memory = web(place)
  hold()
  await memory.append("taken", talk(16))
  await memory.close()
  const before = begun()
  const one = worker(place, "--sweep", "0")
  await eventually("a worker writes the summary", async () => begun() > before, patience)
  await server.kill()
  one.kill()
  await server.start()
  letGo()
  const line = await worker(place, "--sweep", "0").line()
  expect(JSON.parse(line ?? "{}")).toMatchObject({ session: "taken", outcome: "Committed" })
}

/** A worker gives a session up; `memfold dead-letters` lists it with the reason, and puts it into the queue again. */
export const giveUp = async (
  { folder }: Pick<ReturnType<typeof workers>, "folder">,
  url: string,
  open: Effect.Effect<Dispatcher.Queue, Dispatcher.DispatchError, Scope.Scope>,
): Promise<void> => {
  const letters = async (...more: ReadonlyArray<string>) => {
    const { code, out, err } = await programAt(program, folder)(
      "dead-letters",
      "--queue",
      url,
      "--json",
      ...more,
    )
    expect(err).toBe("")
    expect(code).toBe(0)
    return lines(out)
  }
  expect(await letters()).toEqual([])
  const refuse = ({ session }: Dispatcher.Look) =>
    new Dispatcher.LookFailed({ session, reason: "the log is damaged", final: true })
  await Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const queue = yield* open
        yield* queue.work(refuse, { concurrency: 1, shutdown: 1_000 })
        yield* queue.dispatch({ session: "poor", time: 0, fill: 0.5 })
        const given = async () => (await Effect.runPromise(queue.deadLetters)).length === 1
        yield* Effect.promise(() => eventually("a dead letter", given))
      }),
    ),
  )
  expect(await letters()).toMatchObject([
    { type: "dead-letter", session: "poor", attempts: 1, reason: "the log is damaged" },
  ])
  expect(await letters("--retry", "poor")).toEqual([{ type: "revived", sessions: ["poor"] }])
  expect(await letters()).toEqual([])
}

/** A server of a queue, which can be gone for a while. */
interface QueueServer {
  readonly url: string
  readonly kill: () => Promise<unknown>
  readonly start: () => Promise<unknown>
}

/** Where a queue is, for its tests. */
export interface QueueUnderTest {
  /** Makes an empty place for a store and a queue. */
  readonly place: () => Promise<Place>
  /** Starts a server for a queue that keeps what it has when it is killed; left out for a file. */
  readonly server?: () => Promise<QueueServer>
  /** Opens the queue that a URL names, as `memfold worker` does. */
  readonly open: (url: string) => Effect.Effect<Dispatcher.Queue, Dispatcher.DispatchError, Scope.Scope>
}

/** The tests of a queue with `memfold worker` processes, of which `kills` are killed in the middle of a summary. */
export const checkWorkers = ({ place, server, open }: QueueUnderTest, kills: number): void => {
  const atWork = workers()

  it("a web process appends, `memfold worker` compacts, and the web process's next context has the summary", async () => {
    const here = await place()
    const memory = web(here)
    await memory.append("chat", talk(16))
    expect((await memory.context("chat")).messages).toHaveLength(16)
    const worker = atWork.worker(here)
    const line = JSON.parse((await worker.line()) ?? "{}") as object
    expect(line).toMatchObject({ type: "compaction", session: "chat", outcome: "Committed" })
    const { messages } = await memory.context("chat")
    expect(messages[0]).toMatchObject({
      role: "system",
      content: expect.stringContaining("they talked about orders"),
    })
    expect(messages.length).toBeLessThan(16)
    await memory.close()
  })

  it(`${kills} workers killed in the middle of a summary lose nothing and write nothing twice`, async () => {
    await killWorkers(atWork, await place(), kills)
  })

  it.skipIf(server === undefined)(
    "while the queue is gone, appends go on; when it is back, so does the work",
    async () => {
      const queue = await server?.()
      if (queue === undefined) return
      const here = { store: `sqlite:${join(atWork.folder, "gone.db")}`, queue: queue.url }
      const memory = web(here)
      await memory.append("chat", talk(2))
      await queue.kill()
      await memory.append("chat", talk(14, 2))
      expect((await memory.state("chat")).total).toBe(16)
      await queue.start()
      atWork.worker(here)
      await eventually(
        "the work goes on",
        async () => (await memory.state("chat")).summary !== null,
        patience,
      )
      await memory.close()
    },
  )

  it.skipIf(server === undefined)(
    "a worker that is killed while the queue's server restarts loses no look",
    async () => {
      const queue = await server?.()
      if (queue === undefined) return
      const store = `sqlite:${join(atWork.folder, "taken.db")}`
      await dieWithServer(atWork, { store, queue: queue.url }, queue)
    },
  )

  it("a sweep finds a session whose look was lost", async () => {
    await sweepUp(atWork, await place())
  })

  it("`memfold dead-letters` lists what a worker has given up, and puts it into the queue again", async () => {
    const { queue } = await place()
    await giveUp(atWork, queue, open(queue))
  })
}
