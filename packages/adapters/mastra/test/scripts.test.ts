/** Whatever happens to the calls of an agent, one after the other: each message is stored once, and each prompt is whole. */
import { Agent, type MastraDBMessage } from "@mastra/core/agent"
import { Mastra } from "@mastra/core"
import { InMemoryStore } from "@mastra/core/storage"
import { createTool } from "@mastra/core/tools"
import { Message } from "@memfold/core"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { often } from "@memfold/harness/depth"
import { createMemory } from "memfold"
import { type Prompted, versions } from "@memfold/harness/aiSdkVersions"
import { memfold, messagesOf } from "../src/index.js"
import { loose } from "./loose.js"
import { quiet } from "./quiet.js"

quiet()

const [, , seven] = versions
const inputSchema = z.object({ query: z.string() })

/** The tool of a step: it answers at once, its page answers, or a person approves of it. */
type Kind = "runs" | "page" | "approved" | "declined"

/** A turn: the kinds of its steps, and what goes wrong in it. */
interface Turn {
  readonly steps: ReadonlyArray<Kind>
  /** The request of the turn that fails, if it comes to it; then the application sends the message again. */
  readonly fails: number
  /** The request in which the application aborts; then the next message follows. */
  readonly aborts: number
  /** Whether the application answers calls of its page. */
  readonly answers: boolean
}

const turn: fc.Arbitrary<Turn> = fc.record({
  steps: fc.array(fc.constantFrom<Kind>("runs", "runs", "page", "approved", "declined"), { maxLength: 3 }),
  fails: fc.integer({ min: 0, max: 12 }),
  aborts: fc.integer({ min: 0, max: 12 }),
  answers: fc.boolean(),
})

interface Part {
  readonly type: string
  readonly toolCallId?: string
}

const partsOf = ({ content }: Prompted): ReadonlyArray<Part> =>
  typeof content === "string" ? [] : (content as ReadonlyArray<Part>)
const idsOf = (message: Prompted | undefined, type: string) =>
  (message === undefined ? [] : partsOf(message))
    .filter((part) => part.type === type)
    .map((part) => part.toolCallId)

/** Each call of a prompt has its result directly behind it, and no result is alone. */
const isWhole = (prompt: ReadonlyArray<Prompted>): void => {
  for (const [at, message] of prompt.entries()) {
    expect(idsOf(prompt[at + 1], "tool-result").toSorted()).toEqual(
      message.role === "assistant" ? idsOf(message, "tool-call").toSorted() : [],
    )
  }
}

const duplicates = (all: ReadonlyArray<string>) => all.filter((one, at) => all.indexOf(one) !== at)

const tool = (id: Kind, approval = false) =>
  createTool({
    id,
    description: "Searches.",
    inputSchema,
    requireApproval: approval,
    ...(id === "page"
      ? {}
      : { execute: async ({ query }: { readonly query: string }) => ({ found: query }) }),
  })
const tools = {
  runs: tool("runs"),
  page: tool("page"),
  approved: tool("approved", true),
  declined: tool("declined", true),
}

class Talk {
  private requests = 0
  private readonly memory = createMemory({
    store: "memory:",
    strategy: "rounds",
    settings: { fullContextTurns: 1, cachedContextTurns: 1 },
    compaction: { mode: "inline" },
    summarizer: async () => "What was said.",
  })
  private readonly storage = new InMemoryStore()
  private turn: { readonly index: number; readonly turn: Turn; calls: number } | undefined
  private controller = new AbortController()
  private readonly model = seven!.model(() => {
    const { index, turn, calls } = this.turn!
    this.requests++
    if (this.requests === turn.fails) throw new Error("overloaded")
    if (this.requests === turn.aborts) this.controller.abort()
    const kind = turn.steps[calls]
    if (kind === undefined) return { text: `Answer ${index}.` }
    this.turn!.calls++
    return {
      text: `Step ${index}.${calls}.`,
      calls: [{ id: `${index}.${calls}`, input: { query: "?" }, name: kind }],
    }
  })

  private agent() {
    const agent = new Agent({
      id: "support",
      name: "Support",
      instructions: "Be brief.",
      model: loose(this.model.model as never),
      maxRetries: 0,
      tools,
      ...memfold({ memory: this.memory }),
    })
    return new Mastra({ agents: { agent }, storage: this.storage, logger: false }).getAgent("agent")
  }

  async say(index: number, turn: Turn): Promise<void> {
    this.turn = { index, turn, calls: 0 }
    this.requests = 0
    const thread = { memory: { thread: "chat", resource: "ann" } }
    const question = { id: `q${index}`, role: "user" as const, content: `Question ${index}?` }
    let given: Parameters<Agent["stream"]>[0] = [question]
    for (let tries = 0; tries < 12; tries++) {
      this.controller = new AbortController()
      const stream = await this.agent().stream(given, { ...thread, abortSignal: this.controller.signal })
      await stream.consumeStream()
      let end = stream
      for (;;) {
        if ((await end.finishReason) !== "suspended") break
        const toolCallId = `${index}.${this.turn.calls - 1}`
        const way = turn.steps[this.turn.calls - 1] === "approved" ? "approveToolCall" : "declineToolCall"
        end = await this.agent()[way]({ ...thread, runId: stream.runId, toolCallId })
        await end.consumeStream()
      }
      if (this.controller.signal.aborted) return
      if (end.error !== undefined) {
        given = [question]
        continue
      }
      const last = turn.steps[this.turn.calls - 1]
      if ((await end.finishReason) !== "tool-calls" || last !== "page" || !turn.answers) return
      const toolCallId = `${index}.${this.turn.calls - 1}`
      const output = { type: "json" as const, value: { found: "?" } }
      given = [{ role: "tool", content: [{ type: "tool-result", toolCallId, toolName: "page", output }] }]
    }
    expect.unreachable("a turn ends")
  }

  async check(turns: number): Promise<void> {
    for (const prompt of this.model.prompts) isWhole(prompt)
    const { messages } = await this.memory.neutral.messages("chat", { limit: 1_000 })
    expect(duplicates(messages.flatMap(Message.calls).map(({ id }) => id))).toEqual([])
    expect(duplicates(messages.flatMap(Message.results).map(({ id }) => id))).toEqual([])
    const said = messages.filter(({ role }) => role !== "tool").map(Message.text)
    expect(duplicates(said.filter((text) => text !== ""))).toEqual([])
    const questions = messages.filter(({ role }) => role === "user").map(Message.text)
    expect(questions).toEqual(Array.from({ length: turns }, (_, index) => `Question ${index}?`))
    const all: ReadonlyArray<MastraDBMessage> = await messagesOf(this.memory, "chat")
    expect(duplicates(all.map(({ id }) => id))).toEqual([])
    await this.memory.close()
  }
}

describe("any turns of an agent", () => {
  it("leave each message once, and no prompt has a call without its result", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 5 }), async (turns) => {
        const talk = new Talk()
        for (const [index, one] of turns.entries()) await talk.say(index, one)
        await talk.check(turns.length)
      }),
      { numRuns: often(6, 250) },
    )
  })
})
