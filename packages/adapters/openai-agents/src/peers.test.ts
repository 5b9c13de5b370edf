/**
 * Known failures of sessions that compact, each by one script: with the library's own session, as it fails, and with this one.
 * The numbers are issues of `openai-agents-python`, whose sessions work in the same way.
 */
import { EventLog, InMemoryEventLog } from "@memfold/core"
import {
  assistant,
  type AgentInputItem,
  MemorySession,
  OpenAIResponsesCompactionSession,
  run,
  type Session,
  user,
} from "@openai/agents"
import { providerServer } from "@memfold/strict-providers"
import { Effect, Layer } from "effect"
import { describe, expect, it } from "vitest"
import { createMemory } from "memfold"
import { callsThenSays, clerk, clientOf, readAll, serving, textOf } from "../test/agents.js"
import { MemfoldSession } from "./index.js"

const turns = (count: number): ReadonlyArray<AgentInputItem> =>
  Array.from({ length: count }, (_, n) => [
    user(`Question ${n} ${"word ".repeat(20)}`),
    assistant(`Answer ${n} ${"word ".repeat(20)}`),
  ]).flat()

describe("items that are added while a compaction runs (#4679)", () => {
  /** Adds an item while a compaction of the session is under way, and returns the texts that are there after it. */
  const script = async (
    other: Session,
    compact: (meanwhile: () => Promise<void>) => Promise<unknown>,
    all: () => Promise<ReadonlyArray<AgentInputItem>>,
  ) => {
    await other.addItems([...turns(8)])
    await compact(() => other.addItems([user("meanwhile")]))
    return (await all()).map(textOf)
  }

  it("are deleted by the library's own session", async () => {
    let meanwhile = () => Promise.resolve()
    await using server = Object.assign(
      await providerServer({
        summarize: () => {
          void meanwhile()
          return "A summary."
        },
      }),
      { [Symbol.asyncDispose]: () => server.close() },
    )
    // Another process works on the same store.
    const store = new MemorySession({ sessionId: "chat" })
    const own = new OpenAIResponsesCompactionSession({
      client: clientOf(server) as never,
      underlyingSession: store,
      model: "gpt-5.2",
    })
    const texts = await script(
      store,
      (add) => {
        meanwhile = add
        return own.runCompaction({ force: true, compactionMode: "input" })
      },
      () => store.getItems(),
    )
    expect(texts).not.toContain("meanwhile")
  })

  it("are kept here, in contexts too", async () => {
    const added: Array<Promise<void>> = []
    let meanwhile = () => Promise.resolve()
    await using memory = createMemory({
      store: "memory:",
      strategy: "sliding-window",
      settings: { tailKeepSize: 4 },
      compaction: { mode: "manual" },
      summarizer: async () => {
        await meanwhile()
        return "A summary."
      },
    })
    const other = new MemfoldSession(memory, "chat")
    const texts = await script(
      other,
      (add) => {
        meanwhile = () => {
          const done = add()
          added.push(done)
          return done
        }
        return memory.compact("chat")
      },
      () => new MemfoldSession(memory, "chat").getItems(),
    )
    expect(added).toHaveLength(1)
    expect((await memory.summaries("chat")).length).toBe(1)
    expect(texts.at(-1)).toBe("meanwhile")
    expect(texts.length).toBeLessThan(10)
  })
})

describe("a store that fails between the clear and the add of a replacement (#3116)", () => {
  it("has lost the conversation with the library's own session", async () => {
    await using server = await serving(callsThenSays())
    /** A store that stops taking items while it is being replaced. */
    class Failing extends MemorySession {
      private down = false
      override async clearSession() {
        await super.clearSession()
        this.down = true
      }
      override async addItems(items: Array<AgentInputItem>) {
        if (this.down) throw new Error("the store is down")
        await super.addItems(items)
      }
    }
    const store = new Failing({ sessionId: "chat" })
    await store.addItems([...turns(8)])
    const own = new OpenAIResponsesCompactionSession({
      client: clientOf(server) as never,
      underlyingSession: store,
      model: "gpt-5.2",
    })
    const compacting = own.runCompaction({ force: true, compactionMode: "input" })
    await expect(compacting).rejects.toThrow("the store is down")
    expect(await store.getItems()).toEqual([])
  })

  it("has all of it here: a replacement is one batch", async () => {
    let down = false
    const failing = Layer.effect(
      EventLog.EventLog,
      Effect.map(EventLog.EventLog, (log) => ({
        ...log,
        append: (...args: Parameters<typeof log.append>) =>
          down
            ? Effect.fail(new EventLog.LogError({ operation: "append", reason: "the store is down" }))
            : log.append(...args),
      })),
    ).pipe(Layer.provide(InMemoryEventLog.layer))
    await using memory = createMemory({
      store: failing,
      strategy: "sliding-window",
      settings: { tailKeepSize: 4 },
      compaction: { mode: "manual" },
    })
    const session = new MemfoldSession(memory, "chat")
    await session.addItems([...turns(8)])
    down = true
    const change = {
      operationId: "1",
      transaction: {
        type: "replace_suffix" as const,
        expectedSuffix: [...turns(8)],
        replacement: [user("new")],
      },
    }
    await expect(session.applyHistoryTransaction(change)).rejects.toMatchObject({ _tag: "LogError" })
    expect(await memory.compact("chat").catch((error: { _tag: string }) => error._tag)).toBe("LogError")
    down = false
    expect(await session.history()).toEqual(turns(8))
    await session.applyHistoryTransaction(change)
    expect(await session.history()).toEqual([user("new")])
  })
})

// The library's own session of 0.20 does not fail here: nothing of a turn is in it before the turn is over.
describe("a compaction between a call and its output (#2317)", () => {
  for (const stream of [false, true]) {
    it(`separates them in no context (${stream ? "streaming" : "not streaming"})`, async () => {
      await using server = await serving(callsThenSays())
      await using memory = createMemory({
        store: "memory:",
        strategy: "sliding-window",
        settings: { tailKeepSize: 2, compressionWindowSize: 1 },
        compaction: { mode: "manual" },
      })
      const session = () => new MemfoldSession(memory, "chat")
      const outcomes: Array<string> = []
      const agent = clerk(server, {
        execute: async (request) => {
          // Another process compacts all that can be compacted, while the tool runs.
          outcomes.push((await memory.compact("chat"))._tag)
          return request
        },
      })
      for (let n = 0; n < 6; n++) {
        if (stream) await readAll(await run(agent, `Question ${n}`, { session: session(), stream: true }))
        else await run(agent, `Question ${n}`, { session: session() })
      }
      expect(outcomes).toContain("Committed")
      expect(server.refused).toEqual([])
      const items = await session().getItems()
      const ids = (type: string) =>
        items.flatMap((item) => (item.type === type && "callId" in item ? [item.callId] : []))
      expect(ids("function_call")).toEqual(ids("function_call_result"))
    })
  }
})

describe("a server that counts the ids of its items anew in each turn", () => {
  it("refuses what the library makes of its own session in the second turn", async () => {
    await using server = await serving((asked) => ({
      ...callsThenSays()(asked),
      ...(asked.afterResult ? { idsOf: 1 } : { idsOf: 0, text: "Let me see." }),
    }))
    const session = new MemorySession({ sessionId: "chat" })
    await run(clerk(server), "one", { session })
    const second = run(clerk(server), "two", { session })
    await expect(second).rejects.toThrow(/Duplicate item found with id msg_0/)
    // Generated loops of tools have no such ids where a library makes its requests itself: see `played` of the harness.
    expect((await session.getItems()).map(textOf)).not.toContain("two")
  })
})
