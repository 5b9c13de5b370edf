/** Several engines on one Redis, as several processes have them. */
import { EventLog, Memory, Message, Summarizer, Verify } from "@memfold/core"
import { Deferred, Effect, Fiber, Stream } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { random } from "@memfold/harness/random"
import { pairs } from "@memfold/harness/engine"
import { make, type Options } from "../src/index.js"
import { type Cluster, type Server, servers } from "@memfold/harness/redisServers"
import { all, tenant } from "./support.js"

const { server, cluster } = servers()
let one: Server
let three: Cluster
beforeAll(async () => {
  ;[one, three] = await Promise.all([server(), cluster()])
})

const stores: ReadonlyArray<readonly [name: string, options: () => Options]> = [
  ["a server", () => ({ url: one.url })],
  ["a cluster", () => ({ cluster: three.addresses })],
]

describe.each(stores)("several engines on %s", (_name, where) => {
  /** An engine with a connection of its own, that counts what it was asked to summarize. */
  const engine = (prefix: string, asked: Array<string>) =>
    Effect.gen(function* () {
      const log = yield* make({ ...where(), prefix })
      const summarizer: Summarizer.Service = {
        name: "counting",
        summarize: ({ session, from, to }) => {
          asked.push(`${session} [${from},${to})`)
          return Effect.succeed({ text: `[${from},${to})` })
        },
      }
      const memory = yield* Memory.make({ strategy: pairs, compaction: { shutdown: "10 seconds" } }).pipe(
        Effect.provideService(EventLog.EventLog, log),
        Effect.provideService(Summarizer.Summarizer, summarizer),
      )
      return { log, memory }
    })

  it("serve any session from anywhere, and each compaction runs once", async () => {
    const prefix = tenant()
    const asked: Array<string> = []
    const draw = random(7)
    const names = Array.from({ length: 8 }, (_, index) => `chat-${index}`)
    const appends = 160

    await Effect.runPromise(
      Effect.gen(function* () {
        const engines = yield* Effect.all([1, 2, 3].map(() => engine(prefix, asked)))
        yield* Effect.forEach(
          Array.from({ length: appends }, (_, index) => index),
          (index) => {
            const { memory } = engines[Math.floor(draw() * engines.length)]!
            return memory.append(names[index % names.length]!, Message.user(`message ${index}`))
          },
          { concurrency: 12, discard: true },
        )
      }).pipe(Effect.scoped),
    )

    await Effect.runPromise(
      Effect.gen(function* () {
        const { log } = yield* engine(prefix, [])
        expect((yield* all(EventLog.sessions(log))).map(({ session }) => session)).toEqual(names)
        let messages = 0
        let committed = 0
        for (const session of names) {
          expect(yield* Verify.session(log, session)).toEqual([])
          const records = yield* all(EventLog.records(log, session))
          messages += records.filter(({ type }) => type === "MessageAppended").length
          committed += records.filter(({ type }) => type === "SummaryCommitted").length
        }
        expect(messages).toBe(appends)
        expect(committed).toBeGreaterThan(names.length)
        expect(asked).toHaveLength(committed)
        expect(new Set(asked).size).toBe(committed)
      }).pipe(Effect.scoped),
    )
  })

  it("tell each other's subscribers at once", async () => {
    const prefix = tenant()
    const heard = await Effect.runPromise(
      Effect.gen(function* () {
        const reader = yield* engine(prefix, [])
        const writer = yield* engine(prefix, [])
        yield* writer.memory.append("s", Message.user("before"))
        const caughtUp = yield* Deferred.make<void>()
        const listening = yield* reader.memory.subscribe("s", { pollInterval: "1 hour" }).pipe(
          Stream.tap(() => Deferred.succeed(caughtUp, undefined)),
          Stream.take(3),
          Stream.runCollect,
          Effect.fork,
        )
        yield* Deferred.await(caughtUp)
        yield* writer.memory.append("s", Message.user("now"))
        yield* writer.memory.append("s", Message.user("and now"))
        return [...(yield* Fiber.join(listening))]
      }).pipe(Effect.scoped),
    )
    expect(heard.map(({ version }) => version)).toEqual([1, 2, 3])
  })
})
