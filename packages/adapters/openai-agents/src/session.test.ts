/** Sessions in runs of the real library, against a server as strict as OpenAI's API. */
import {
  EventLog,
  InMemoryEventLog,
  Keep,
  Memory,
  Message,
  Strategy,
  SummaryMode,
  Trigger,
  Verify,
} from "@memfold/core"
import { withMemory } from "@memfold/harness/engine"
import * as Fakes from "@memfold/testing/fakes"
import { seeded } from "@memfold/strict-providers"
import {
  type AgentInputItem,
  type OpenAIResponsesCompactionAwareSession,
  OutputGuardrailTripwireTriggered,
  run,
  type Session,
  type SessionHistoryRewriteAwareSession,
  type SessionHistoryTransactionAwareSession,
  system,
  user,
  assistant,
} from "@openai/agents"
import { Effect, Layer } from "effect"
import * as fc from "fast-check"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, expectTypeOf, it } from "vitest"
import { breaking, breaks, faults } from "@memfold/harness/brokenStreams"
import { often } from "@memfold/harness/depth"
import { createMemory } from "memfold"
import * as SqliteEventLog from "@memfold/store-sqlite"
import { apis, callsThenSays, clerk, readAll, serving, textOf } from "../test/agents.js"
import { HistoryChanged, MemfoldSession } from "./index.js"

const small = () =>
  createMemory({
    store: "memory:",
    strategy: "rounds",
    settings: { fullContextTurns: 2, cachedContextTurns: 2 },
    compaction: { mode: "inline" },
  })

const plain = () => createMemory({ store: "memory:", compaction: { mode: "off" } })

const call = (id: string): AgentInputItem => ({
  type: "function_call",
  callId: id,
  name: "look_up",
  arguments: "{}",
  status: "completed",
})

const result = (id: string): AgentInputItem => ({
  type: "function_call_result",
  callId: id,
  name: "look_up",
  status: "completed",
  output: { type: "text", text: `found ${id}` },
})

const talk: ReadonlyArray<AgentInputItem> = [
  user("one"),
  call("a"),
  call("b"),
  result("a"),
  result("b"),
  assistant("first"),
  user("two"),
  call("c"),
  result("c"),
  assistant("second"),
]

describe("a run", () => {
  for (const api of apis) {
    it(`is sent small contexts that the API accepts, and keeps every item (${api})`, async () => {
      await using server = await serving(api === "responses" ? seeded(16) : callsThenSays())
      await using memory = small()
      const agent = clerk(server, { api })
      const added: Array<AgentInputItem> = []
      for (let n = 0; n < 16; n++) {
        const session = new MemfoldSession(memory, "chat")
        const before = (await session.history()).length
        const options = { session }
        if (n % 2 === 0) await run(agent, `Question ${n}`, options)
        else {
          await readAll(await run(agent, `Question ${n}`, { ...options, stream: true }))
        }
        added.push(...(await session.history()).slice(before))
      }
      expect(server.refused).toEqual([])
      const summaries = await memory.summaries("chat")
      expect(summaries.length).toBeGreaterThan(4)

      const session = new MemfoldSession(memory, "chat")
      const history = await session.history()
      expect(history).toEqual(added)
      const asked = history.filter((item) => "role" in item && item.role === "user").map(textOf)
      expect(asked).toEqual(Array.from({ length: 16 }, (_, n) => `Question ${n}`))
      const context = await session.getItems()
      expect(context[0]).toMatchObject({ role: "system", content: expect.stringContaining("Question") })
      expect(context.length).toBeLessThan(history.length / 3)
    })
  }

  it("gets its reasoning back until a compaction has changed what is before it", async () => {
    await using server = await serving(callsThenSays())
    await using memory = plain()
    const agent = clerk(server)
    await run(agent, "one", { session: new MemfoldSession(memory, "chat") })
    await run(agent, "two", { session: new MemfoldSession(memory, "chat") })
    const sent = () =>
      JSON.stringify(server.received.at(-1)?.body["input"]).split("encrypted_content").length - 1
    expect(sent()).toBe(2)
    expect(server.refused).toEqual([])
  })

  it("goes on after a failed run, and after an aborted run", async () => {
    let fail = true
    await using server = await serving((asked) => {
      if (fail && asked.afterResult) return { text: "lost", cut: 1 }
      return callsThenSays()(asked)
    })
    await using memory = small()
    const session = () => new MemfoldSession(memory, "chat")
    await expect(run(clerk(server), "one", { session: session() })).rejects.toThrow("Connection error")
    const streamed = await run(clerk(server), "two", { session: session(), stream: true })
    await expect(readAll(streamed)).rejects.toThrow("terminated")
    const stop = new AbortController()
    const slow = clerk(server, {
      execute: (request) => {
        stop.abort()
        return request
      },
    })
    await run(slow, "three", { session: session(), signal: stop.signal }).catch(() => undefined)

    fail = false
    const done = await run(clerk(server), "four", { session: session() })
    expect(done.finalOutput).toContain("Answer")
    expect(server.refused).toEqual([])
    const history = await session().history()
    expect(history.map(textOf).filter((text) => text === "four")).toHaveLength(1)
    const texts = history.map(textOf)
    expect(new Set(texts.filter((text) => /^(call|result)/.test(text))).size).toBe(
      texts.filter((text) => /^(call|result)/.test(text)).length,
    )
  })

  for (const api of apis) {
    it(`goes on after a stream that broke or was aborted at any event (${api})`, async () => {
      const places = [...breaks, ...Array.from({ length: 20 }, (_, events) => ({ events }))]
      let failed = 0
      for (const at of places) {
        await using server = await serving(breaking("of" in at ? at : null, "look_up"))
        await using memory = plain()
        const session = () => new MemfoldSession(memory, "chat")
        const stop = new AbortController()
        const attempt = async () => {
          const options = { session: session(), stream: true, signal: stop.signal } as const
          const streamed = await run(clerk(server, { api }), "How many?", options)
          let events = 0
          for await (const _ of streamed) if ("events" in at && ++events > at.events) stop.abort()
          await streamed.completed
        }
        await attempt().catch(() => failed++)
        await run(clerk(server, { api }), "And now?", { session: session() })
        const { messages } = await memory.neutral.messages("chat")
        // A run that fails early has not stored what it was given.
        const both = messages.filter(({ role }) => role === "user").length === 2
        const said = both ? ["How many?", "And now?"] : ["And now?"]
        const refused = server.refused.map(({ violations }) => violations)
        expect([at, refused, faults(messages, said)]).toEqual([at, [], []])
      }
      expect(failed).toBeGreaterThan(often(3, 10))
    })
  }

  it("waits for an approval, and goes on with it, whatever is compacted meanwhile", async () => {
    await using server = await serving(callsThenSays())
    await using memory = small()
    for (let n = 0; n < 5; n++) {
      await run(clerk(server), `Question ${n}`, { session: new MemfoldSession(memory, "chat") })
    }
    const agent = clerk(server, { needsApproval: true })
    const session = new MemfoldSession(memory, "chat")
    const first = await run(agent, "May I?", { session })
    expect(first.interruptions).toHaveLength(1)
    await memory.compact("chat")
    first.state.approve(first.interruptions[0]!)
    const second = await run(agent, first.state, { session: new MemfoldSession(memory, "chat") })
    expect(second.finalOutput).toContain("Answer")
    await run(clerk(server), "And now?", { session: new MemfoldSession(memory, "chat") })
    expect(server.refused).toEqual([])
    const texts = (await session.history()).map(textOf)
    expect(texts.filter((text) => text === "May I?")).toHaveLength(1)
    const [id] = texts.slice(texts.indexOf("May I?")).flatMap((text) => /^call (.*)/.exec(text)?.[1] ?? [])
    expect(texts.filter((text) => text === `call ${id}` || text === `result ${id}`)).toHaveLength(2)
  })

  it("that waits for an approval is approved after the user has gone on: the model reads what the tool found", async () => {
    await using server = await serving(callsThenSays())
    await using memory = createMemory({ store: "memory:", compaction: { mode: "off" } })
    const session = () => new MemfoldSession(memory, "chat")
    const asking = clerk(server, { needsApproval: true, execute: () => "found late" })
    const first = await run(asking, "May I?", { session: session() })
    await run(clerk(server), "And this?", { session: session() })
    first.state.approve(first.interruptions[0]!)
    await run(asking, first.state, { session: session() })
    await run(clerk(server), "And now?", { session: session() })
    expect(server.refused).toEqual([])
    const sent = JSON.stringify(server.received.at(-1)?.body)
    expect(sent).toContain("found late")
    expect(sent).not.toContain("interrupted")
    const { messages } = await memory.neutral.messages("chat")
    const waited = messages.find((message) => Message.calls(message).length > 0)
    const after = messages[messages.indexOf(waited!) + 1]!
    expect(Message.results(after).map(({ output }) => output)).toEqual(["found late"])
  })

  it("whose answer a guardrail blocks leaves a session that goes on", async () => {
    await using server = await serving(callsThenSays())
    await using memory = small()
    const agent = clerk(server)
    agent.outputGuardrails = [
      {
        name: "no answers",
        execute: async () => ({ tripwireTriggered: true, outputInfo: {} }),
      },
    ]
    const session = () => new MemfoldSession(memory, "chat")
    await expect(run(agent, "one", { session: session() })).rejects.toThrow(OutputGuardrailTripwireTriggered)
    await run(clerk(server), "two", { session: session() })
    expect(server.refused).toEqual([])
    const texts = (await session().history()).map(textOf)
    expect(texts.filter((text) => text === "one" || text === "two")).toEqual(["one", "two"])
    expect(texts.filter((text) => text.startsWith("Answer"))).toHaveLength(1)
  })

  it("beside another one at the same session loses nothing", async () => {
    await using server = await serving(callsThenSays())
    await using memory = small()
    await Promise.all(
      Array.from({ length: 6 }, (_, n) =>
        run(clerk(server), `Question ${n}`, { session: new MemfoldSession(memory, "chat") }),
      ),
    )
    await run(clerk(server), "At last", { session: new MemfoldSession(memory, "chat") })
    expect(server.refused).toEqual([])
    const texts = (await new MemfoldSession(memory, "chat").history()).map(textOf)
    expect(texts.filter((text) => text.startsWith("Question")).toSorted()).toEqual(
      Array.from({ length: 6 }, (_, n) => `Question ${n}`),
    )
    expect(texts.filter((text) => text.startsWith("Answer"))).toHaveLength(7)
  })

  it("takes a memory of a program with Effect as well", async () => {
    await using server = await serving(callsThenSays())
    const strategy = Strategy.make({
      name: "short",
      when: Trigger.backlog({ messages: 100 }),
      keep: Keep.lastMessages(3),
      summaryMode: SummaryMode.rolling,
    })
    const live = withMemory({ strategy })
    const program = Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* Effect.promise(() => run(clerk(server), "one", { session: new MemfoldSession(memory, "chat") }))
      return yield* memory.state("chat")
    })
    expect((await Effect.runPromise(program.pipe(Effect.provide(live)))).total).toBe(4)
  })
})

describe("getItems", () => {
  it("with a limit gives the newest items, and separates no call from its result", async () => {
    await using memory = plain()
    const session = new MemfoldSession(memory, "chat")
    await session.addItems(talk)
    for (let limit = 0; limit <= talk.length + 1; limit++) {
      const items = await session.getItems(limit)
      expect(items.length).toBeLessThanOrEqual(limit)
      expect(items).toEqual(talk.slice(talk.length - items.length))
      const ids = (type: string) =>
        items.flatMap((item) => (item.type === type && "callId" in item ? [item.callId] : [])).toSorted()
      expect(ids("function_call_result")).toEqual(ids("function_call"))
    }
    expect((await session.getItems(4)).length).toBe(4)
    expect((await session.getItems(8)).length).toBe(5)
  })

  it("stays as it is in a run, and is the new context after it", async () => {
    await using memory = createMemory({ store: "memory:", compaction: { mode: "manual" } })
    const session = new MemfoldSession(memory, "chat")
    const long = Array.from({ length: 60 }, (_, n) => user(`${n} ${"word ".repeat(30)}`))
    await session.addItems(long)
    const first = await session.getItems()
    expect(await memory.compact("chat")).toMatchObject({ _tag: "Committed" })
    await session.addItems([assistant("yes")])
    expect(await session.getItems()).toEqual([...first, assistant("yes")])
    await session.runCompaction()
    const after = await session.getItems()
    expect(after.length).toBeLessThan(first.length)
    expect(after.at(-1)).toEqual(assistant("yes"))
    expect(await session.history()).toEqual([...long, assistant("yes")])
  })
})

describe("a session", () => {
  it("gives back what was added, whatever it was taken apart into", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: 3 }), { maxLength: 6 }), async (sizes) => {
        await using memory = plain()
        const session = new MemfoldSession(memory, "chat")
        let at = 0
        for (const size of [...sizes, talk.length]) {
          await session.addItems(talk.slice(at, at + size))
          at += size
        }
        expect(await session.history()).toEqual(talk)
      }),
      { numRuns: often(5, 40) },
    )
  })

  it("takes items back one by one", async () => {
    await using memory = plain()
    const session = new MemfoldSession(memory, "chat")
    await session.addItems(talk)
    for (const item of talk.toReversed()) {
      expect(await session.popItem()).toEqual(item)
    }
    expect(await session.popItem()).toBeUndefined()
    expect(await session.getItems()).toEqual([])
    // The log has what was said.
    const events = []
    for await (const { event } of memory.events("chat")) events.push(event._tag)
    expect(events.filter((tag) => tag === "MessageAppended").length).toBeGreaterThan(7)
  })

  it("takes one item back if the answer of the store is lost", async () => {
    // The third append is the rewrite: it is stored, and fails.
    const faults = [{ on: "append" }, { on: "append" }, { on: "append", lost: "answer" }] as const
    const store = Fakes.faultyLogLayer(faults).pipe(Layer.provide(InMemoryEventLog.layer))
    await using memory = createMemory({ store, compaction: { mode: "off" } })
    const session = new MemfoldSession(memory, "chat")
    await session.addItems(talk.slice(0, 6))
    await session.addItems(talk.slice(6))
    expect(await session.popItem()).toEqual(talk.at(-1))
    expect(await session.history()).toEqual(talk.slice(0, -1))
  })

  it("starts over when it is cleared", async () => {
    await using memory = small()
    const session = new MemfoldSession(memory, "chat")
    await session.addItems([system("Be brief."), ...talk])
    await session.getItems()
    await session.clearSession()
    expect(await session.getItems()).toEqual([])
    await session.addItems([user("again")])
    expect(await session.getItems()).toEqual([user("again")])
  })

  it("replaces a stored call", async () => {
    await using memory = plain()
    const session = new MemfoldSession(memory, "chat")
    await session.addItems(talk)
    const replacement = { ...call("b"), arguments: '{"depth":2}' } as Extract<
      AgentInputItem,
      { type: "function_call" }
    >
    await session.applyHistoryMutations({
      mutations: [{ type: "replace_function_call", callId: "b", replacement }],
    })
    expect(await session.history()).toEqual(talk.map((item) => (item === talk[2] ? replacement : item)))
  })

  it("makes no change that a newer SDK may ask for, and says so", async () => {
    await using memory = plain()
    const session = new MemfoldSession(memory, "chat")
    await session.addItems(talk)
    const replacement = { ...call("b"), arguments: "{}" }
    const mutations = [
      { type: "replace_function_call", callId: "b", replacement },
      { type: "replace_function_call_result", callId: "b" },
    ] as never
    await expect(session.applyHistoryMutations({ mutations })).rejects.toThrow(
      "the input is a change of the history that is not known; allowed: replace_function_call",
    )
    const transaction = { type: "insert_items", items: [user("again")] } as never
    await expect(session.applyHistoryTransaction({ operationId: "1", transaction })).rejects.toThrow(
      "the input is a change of the history that is not known; allowed: append_items, replace_suffix",
    )
    expect(await session.history()).toEqual(talk)
  })
})

it("on a store with summaries leaves a log that is sound after items were taken back", async () => {
  const folder = mkdtempSync(join(tmpdir(), "memfold-agents-"))
  try {
    const filename = join(folder, "chats.db")
    await using server = await serving(callsThenSays())
    const open = () =>
      createMemory({
        store: `sqlite:${filename}`,
        strategy: "rounds",
        settings: { fullContextTurns: 2, cachedContextTurns: 2 },
        compaction: { mode: "inline" },
      })
    const before = open()
    for (let n = 0; n < 8; n++) {
      await run(clerk(server), `Question ${n}`, { session: new MemfoldSession(before, "chat") })
    }
    expect((await before.summaries("chat")).length).toBeGreaterThan(1)
    await new MemfoldSession(before, "chat").popItem()
    await before.close()

    const findings = await Effect.runPromise(
      Effect.flatMap(EventLog.EventLog, (log) => Verify.session(log, "chat")).pipe(
        Effect.provide(SqliteEventLog.layer({ filename })),
      ),
    )
    expect(findings).toEqual([])
    await using memory = open()
    await run(clerk(server), "Again?", { session: new MemfoldSession(memory, "chat") })
    expect(server.refused).toEqual([])
    const texts = (await new MemfoldSession(memory, "chat").history()).map(textOf)
    expect(texts.filter((text) => text.startsWith("Answer"))).toHaveLength(8)
    expect((await memory.summaries("chat")).filter(({ status }) => status === "active")).toHaveLength(1)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

describe("what was taken back", () => {
  const append = (n: number) => [user(`Question ${n}`), assistant(`Answer ${n}`)]

  it("is a branch, to which the session returns, live and after a reload", async () => {
    const folder = mkdtempSync(join(tmpdir(), "memfold-agents-"))
    try {
      const open = () =>
        createMemory({ store: `sqlite:${join(folder, "chats.db")}`, compaction: { mode: "off" } })
      await using server = await serving(callsThenSays())
      {
        await using memory = open()
        const session = new MemfoldSession(memory, "chat")
        await run(clerk(server), "First?", { session })
        await run(clerk(server), "Second?", { session })
        // The user changes the question: the SDK's way is to take its turn back.
        while (textOf((await session.popItem())!) !== "Second?");
        await run(clerk(server), "Second, please?", { session })
      }
      await using memory = open()
      const session = new MemfoldSession(memory, "chat")
      const asked = async () => (await session.history()).map(textOf).filter((text) => text.endsWith("?"))
      expect(await asked()).toEqual(["First?", "Second, please?"])
      await run(clerk(server), "Third?", { session })
      const sent = () => JSON.stringify(server.received.at(-1)?.body["input"])
      expect(sent()).toContain("Second, please?")
      expect(sent()).not.toContain("Second?")

      const branches = await memory.branches("chat")
      const whole = branches.find(({ total }) => total === 8)
      await memory.checkout("chat", whole!.id)
      expect(await asked()).toEqual(["First?", "Second?"])
      await run(clerk(server), "Fourth?", { session })
      expect(sent()).not.toContain("please")
      expect(await asked()).toEqual(["First?", "Second?", "Fourth?"])
      await session.clearSession()
      expect(await session.getItems()).toEqual([])
      expect((await memory.undo("chat")).undone).toBe("clear")
      expect(await asked()).toEqual(["First?", "Second?", "Fourth?"])
      expect(server.refused).toEqual([])
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it("is back in the same session object, where another one has returned to it or edits it", async () => {
    await using memory = plain()
    const session = new MemfoldSession(memory, "chat")
    await session.addItems([...append(1), ...append(2)])
    await session.popItem()
    expect((await session.getItems()).map(textOf)).toEqual(["Question 1", "Answer 1", "Question 2"])
    await session.addItems([assistant("Another answer")])
    const [, left] = await memory.branches("chat")
    await memory.checkout("chat", left!.id)
    expect((await session.getItems()).map(textOf).at(-1)).toBe("Answer 2")
    await memory.edit("chat", 2, { role: "user", content: "Edited" })
    expect((await session.getItems()).map(textOf)).toEqual(["Question 1", "Answer 1", "Edited"])
  })

  it("costs as much as it is, however long the conversation", async () => {
    const costs = async (count: number) => {
      let read = 0
      const counting = Layer.effect(
        EventLog.EventLog,
        Effect.map(InMemoryEventLog.make, (log) => ({
          ...log,
          read: (session: string, page: EventLog.PageOptions) =>
            Effect.tap(log.read(session, page), (records) => Effect.sync(() => (read += records.length))),
        })),
      )
      await using memory = createMemory({ store: counting, compaction: { mode: "off" } })
      const session = new MemfoldSession(memory, "chat")
      await session.addItems(Array.from({ length: count }, (_, n) => append(n)).flat())
      const cost = async (work: () => Promise<unknown>) => {
        read = 0
        await work()
        return read
      }
      const replace = (operationId: string, from: number, to: number) =>
        session.applyHistoryTransaction({
          operationId,
          transaction: { type: "replace_suffix", expectedSuffix: append(from), replacement: append(to) },
        })
      return [
        await cost(() => session.popItem()),
        await cost(() => session.addItems([assistant(`Answer ${count - 1}`)])),
        await cost(() => replace("1", count - 1, count)),
        await cost(() => session.addItems([call("a")])),
        await cost(() =>
          session.applyHistoryMutations({
            mutations: [
              {
                type: "replace_function_call",
                callId: "a",
                replacement: { ...call("a"), arguments: "{}" } as Extract<
                  AgentInputItem,
                  { type: "function_call" }
                >,
              },
            ],
          }),
        ),
        await cost(() => session.clearSession()),
      ]
    }
    // A store is read in pages of 512 events.
    const [short, long] = [await costs(1_000), await costs(4_000)]
    expect(long).toEqual(short)
    expect(Math.max(...short)).toBeLessThan(600)
  })
})

describe("a history transaction", () => {
  const append = (operationId: string, ...items: Array<AgentInputItem>) => ({
    operationId,
    transaction: { type: "append_items" as const, items },
  })
  const replace = (
    operationId: string,
    expectedSuffix: Array<AgentInputItem>,
    replacement: Array<AgentInputItem>,
  ) => ({
    operationId,
    transaction: { type: "replace_suffix" as const, expectedSuffix, replacement },
  })

  it("is applied once, however often it is sent", async () => {
    await using memory = plain()
    const session = new MemfoldSession(memory, "chat")
    await session.addItems(talk)
    await session.applyHistoryTransaction(append("1", user("three")))
    await session.applyHistoryTransaction(append("1", user("three")))
    const other = replace("2", [user("three")], [user("3"), call("d")])
    await session.applyHistoryTransaction(other)
    await session.addItems([result("d")])
    // A retry, also of another process, and after more has come.
    await new MemfoldSession(memory, "chat").applyHistoryTransaction(other)
    expect(await session.history()).toEqual([...talk, user("3"), call("d"), result("d")])
  })

  it("may replace a part of what one answer said", async () => {
    await using memory = plain()
    const session = new MemfoldSession(memory, "chat")
    await session.addItems(talk)
    await session.applyHistoryTransaction(replace("1", talk.slice(2), [assistant("stopped")]))
    expect(await session.history()).toEqual([...talk.slice(0, 2), assistant("stopped")])
  })

  it("is an error where the session ends with something else, or the name was used for another change", async () => {
    await using memory = plain()
    const session = new MemfoldSession(memory, "chat")
    await session.addItems(talk)
    await session.applyHistoryTransaction(append("1", user("three")))
    await expect(session.applyHistoryTransaction(append("1", user("four")))).rejects.toMatchObject({
      _tag: "IdempotencyKeyReused",
    })
    await expect(session.applyHistoryTransaction(replace("2", [user("four")], []))).rejects.toBeInstanceOf(
      HistoryChanged,
    )
    await expect(session.applyHistoryTransaction(replace("1", [user("three")], []))).rejects.toMatchObject({
      _tag: "IdempotencyKeyReused",
    })
    await expect(
      session.applyHistoryTransaction(append("3", { type: "function_call" } as AgentInputItem)),
    ).rejects.toMatchObject({ _tag: "AgentsDecodeError" })
    expect(await session.history()).toEqual([...talk, user("three")])
  })

  it("of two at once, one is applied and the other one fails", async () => {
    await using memory = plain()
    const sessions = [new MemfoldSession(memory, "chat"), new MemfoldSession(memory, "chat")]
    await sessions[0]!.addItems([...talk, user("three")])
    const ended = await Promise.allSettled(
      sessions.map((session, who) =>
        session.applyHistoryTransaction(replace(`${who}`, [user("three")], [user(`${who}`)])),
      ),
    )
    expect(ended.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"])
    const won = ended.findIndex(({ status }) => status === "fulfilled")
    expect(await sessions[0]!.history()).toEqual([...talk, user(`${won}`)])
  })
})

it("has the types of the library", () => {
  expectTypeOf<MemfoldSession>().toExtend<Session>()
  expectTypeOf<MemfoldSession>().toExtend<SessionHistoryTransactionAwareSession>()
  expectTypeOf<MemfoldSession>().toExtend<SessionHistoryRewriteAwareSession>()
  expectTypeOf<MemfoldSession>().toExtend<OpenAIResponsesCompactionAwareSession>()
  expectTypeOf(MemfoldSession).constructorParameters.toEqualTypeOf<[Memory.AnyMemory, string]>()
  expectTypeOf<MemfoldSession["getItems"]>().returns.resolves.toEqualTypeOf<Array<AgentInputItem>>()
})
