/** L15 on a server: what is redacted is in no key and no file any more. */
import {
  EventLog,
  SummaryMode,
  Keep,
  Memory,
  Message,
  Strategy,
  Trigger,
  Verify,
  Summarizer,
} from "@memfold/core"
import { Effect, Layer } from "effect"
import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { layer, type Options } from "../src/index.js"
import { eventually, type Server, servers } from "@memfold/harness/redisServers"
import { tenant } from "./support.js"

const { server, cluster } = servers()
const secret = "the number is 555-0199-SECRET"

/** Everything that a server has written down. */
const files = ({ folder }: Server): string =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((file) => statSync(file, { throwIfNoEntry: false })?.isFile() === true)
    .map((file) => readFileSync(file, "latin1"))
    .join("\n")

/** Everything that a server has in memory, as far as commands show it. */
const keys = async ({ client }: Server): Promise<string> => {
  // A replica in a cluster answers for itself.
  await client.readonly().catch(() => {})
  const found: Array<unknown> = []
  for (const key of await client.keys("*")) {
    const type = await client.type(key)
    if (type === "stream") found.push(await client.xrange(key, "-", "+"))
    if (type === "hash") found.push(await client.hgetall(key))
    found.push(key)
  }
  return JSON.stringify(found)
}

const strategy = Strategy.make({
  name: "s",
  when: Trigger.backlog({ messages: 4 }),
  keep: Keep.lastMessages(2),
  summaryMode: SummaryMode.rolling,
})

/** Writes down all it has read. */
const parrot = {
  name: "parrot",
  summarize: ({
    messages,
    previous,
  }: {
    messages: ReadonlyArray<Message.Message>
    previous?: string | undefined
  }) => Effect.succeed({ text: [previous ?? "", ...messages.map(Message.text)].join("|").slice(0, 200) }),
}

const said = (count: number) =>
  Array.from({ length: count }, (_, index) =>
    Message.user(`message ${index} of ordinary length, and a little more`),
  )

const redacted = (options: Options, holders: ReadonlyArray<Server>) =>
  Effect.gen(function* () {
    const memory = yield* Memory.Memory
    yield* memory.append("one", [Message.user(secret), ...said(5)])
    yield* memory.compact("one", { which: "due" })
    yield* memory.append("one", said(150))
    yield* memory.compact("one", { which: "due" })
    const text = (one: Server) => Effect.promise(async () => files(one) + (await keys(one)))
    expect((yield* Effect.forEach(holders, text)).join("\n")).toContain("555-0199")
    expect((yield* memory.redact("one", 0)).invalidated).toBeGreaterThan(0)
    for (const one of holders) {
      expect(yield* Effect.promise(() => keys(one))).not.toContain("555-0199")
      // The server takes old files away a moment after the new ones are in their place.
      yield* Effect.promise(() =>
        eventually("the words are gone", async () => !files(one).includes("555-0199")),
      )
    }
    yield* memory.compact("one", { which: "due" })
    for (const one of holders) expect(yield* text(one)).not.toContain("555-0199")
    expect(yield* Verify.session(yield* EventLog.EventLog, "one")).toEqual([])
    const { messages } = yield* memory.context("one")
    expect(messages.length).toBeGreaterThan(2)
  }).pipe(
    Effect.provide(Memory.layer({ strategy, compaction: { mode: "manual" } })),
    Effect.provide(layer({ ...options, prefix: tenant() })),
    Effect.provide(Layer.succeed(Summarizer.Summarizer, parrot)),
    Effect.runPromise,
  )

it("L15: a redacted message is in no key and no file of a server", async () => {
  const one = await server({ config: ["appendonly yes", "appendfsync everysec", "save 3600 1"] })
  await redacted({ url: one.url }, [one])
})

it("L15: a redacted message is in no file of a master and its replica in a cluster", async () => {
  const three = await cluster([
    "appendonly yes",
    "appendfsync everysec",
    "repl-diskless-sync yes",
    "repl-diskless-load on-empty-db",
  ])
  await redacted({ cluster: three.addresses }, three.nodes)
})
