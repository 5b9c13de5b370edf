/**
 * Pages that send, edit, ask again, delete at any place, answer tools late and show earlier states again, in an order drawn from a seed,
 * with the client of the AI SDK: the model gets what the page shows, so does a reload, and the strict server refuses nothing.
 */
import { createAnthropic } from "@ai-sdk/anthropic"
import { often } from "@memfold/harness/depth"
import { random } from "@memfold/harness/random"
import { type Answer, providerServer } from "@memfold/strict-providers"
import {
  createUIMessageStream,
  createUIMessageStreamResponse,
  lastAssistantMessageIsCompleteWithToolCalls as isComplete,
  stepCountIs,
  streamText,
  tool,
  type ToolSet,
  type UIMessage,
} from "ai"
import { createMemory, Keep, Strategy, SummaryMode, Trigger } from "memfold"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { aiSdk, type PageRequest } from "../src/index.js"
import { Page } from "./Page.js"

const always = Strategy.make({
  name: "always",
  when: Trigger.backlog({ messages: 1 }),
  keep: Keep.lastMessages(1),
  summaryMode: SummaryMode.rolling,
})

const inputSchema = z.object({ request: z.string() })

/** How a route stores answers: the callbacks of the model, those of the page, or those of a stream with data of the application. */
type Way = "callbacks" | "page" | "data"

/** What is said: questions, answers, calls, results and data have a mark each. */
const marksIn = (value: unknown): ReadonlyArray<string> =>
  JSON.stringify(value ?? "").match(/[QACRD]\d+~/gu) ?? []

interface SeenPart {
  readonly type: string
  readonly state?: string
  readonly toolCallId?: string
  readonly approval?: { readonly id: string }
}

const partsOf = (messages: ReadonlyArray<UIMessage>): ReadonlyArray<SeenPart> =>
  messages.flatMap(({ parts }) => parts as ReadonlyArray<SeenPart>)

/** A memory behind a route, a model that says and calls what the seed draws, and a page. */
class Play {
  private readonly next: () => number
  private marks = 0
  page!: Page
  /** What the page has shown: the ids of its messages, and each message as it was last. */
  readonly earlier: Array<ReadonlyArray<string>> = []
  readonly newest = new Map<string, UIMessage>()

  private constructor(
    seed: number,
    readonly way: Way,
    readonly isCompacted: boolean,
    readonly memory = createMemory(
      isCompacted
        ? { store: "memory:", strategy: always, summarizer: "echo", compaction: { mode: "inline" } }
        : { store: "memory:", compaction: { mode: "off" } },
    ),
  ) {
    this.next = random(seed)
  }

  server!: Awaited<ReturnType<typeof providerServer>>

  static async begin(seed: number, way: Way, isCompacted: boolean): Promise<Play> {
    const play = new Play(seed, way, isCompacted)
    play.server = await providerServer({ answer: ({ afterResult }) => play.answer(afterResult) })
    play.page = await play.open()
    return play
  }

  mark(kind: string): string {
    return `${kind}${this.marks++}~`
  }

  pick<A>(list: ReadonlyArray<A>): A {
    return list[Math.floor(this.next() * list.length)]!
  }

  chance(of: number): boolean {
    return this.next() < of
  }

  private answer(afterResult: boolean): Answer {
    const thinking = this.chance(0.3) ? { thinking: "Hm." } : {}
    if (!this.chance(afterResult ? 0.35 : 0.55)) return { ...thinking, text: this.mark("A") }
    const calls = Array.from({ length: this.pick([1, 2, 3]) }, () => ({
      name: this.pick(["lookUp", "lookUp", "ask", "pay", "files.open"]),
      arguments: { request: this.mark("C") },
    }))
    return { ...thinking, ...(this.chance(0.5) ? { text: this.mark("A") } : {}), calls }
  }

  private readonly tools = {
    lookUp: tool({ inputSchema, execute: async () => ({ found: this.mark("R") }) }),
    ask: tool({ inputSchema }),
    pay: tool({ inputSchema, needsApproval: true, execute: async () => this.mark("R") }),
  } as unknown as ToolSet

  private readonly route = async (request: Request): Promise<Response> => {
    const { id, messages, trigger, messageId } = (await request.json()) as PageRequest
    const chat = aiSdk(this.memory).session(id)
    const model = createAnthropic({ baseURL: `${this.server.anthropicURL}/v1`, apiKey: "local" })
    const context = await chat.messages(messages, { trigger, messageId })
    const { generateMessageId, onEnd, prepareStep } = chat
    const call = {
      model: model("claude-sonnet-5-5"),
      tools: this.tools,
      stopWhen: stepCountIs(5),
      maxRetries: 0,
    }
    if (this.way === "callbacks") {
      const result = streamText({ ...call, ...context, ...chat.callbacks })
      return result.toUIMessageStreamResponse({ originalMessages: messages, generateMessageId })
    }
    const result = streamText({ ...call, ...context, prepareStep })
    if (this.way === "page")
      return result.toUIMessageStreamResponse({ originalMessages: messages, generateMessageId, onEnd })
    const stream = createUIMessageStream({
      originalMessages: messages,
      generateId: generateMessageId,
      execute: ({ writer }) => {
        if (this.chance(0.5)) writer.write({ type: "data-progress", data: this.mark("D") })
        writer.merge(result.toUIMessageStream())
      },
      onEnd,
    })
    return createUIMessageStreamResponse({ stream })
  }

  stored(): Promise<Array<UIMessage>> {
    return aiSdk(this.memory).session("chat").uiMessages()
  }

  async open(): Promise<Page> {
    return new Page("chat", this.route, JSON.parse(JSON.stringify(await this.stored())) as Array<UIMessage>)
  }

  waiting(state: string): ReadonlyArray<SeenPart> {
    return partsOf(this.page.messages).filter((part) => part.state === state)
  }

  /** What is wrong with what the model got and with what is stored, by what the page shows. */
  async problems(): Promise<ReadonlyArray<unknown>> {
    const shown = this.page.messages
    const asked = shown.at(-1)?.role === "assistant" ? shown.slice(0, -1) : shown
    const [stored, body] = [await this.stored(), this.server.received.at(-1)?.body]
    const sent = marksIn(body?.["messages"])
    const seen = new Set(marksIn(shown))
    const due = marksIn(asked).filter((mark) => !mark.startsWith("D"))
    const ofTexts = (marks: ReadonlyArray<string>) =>
      marks.filter((mark) => /[QA]/u.test(mark) && due.includes(mark))
    const partly = (messages: ReadonlyArray<UIMessage>) =>
      messages.map(({ id, parts }) => [
        id,
        ...partsOf([{ parts } as UIMessage]).map(
          (one) => `${one.type} ${one.toolCallId === undefined ? "" : one.state}`,
        ),
      ])
    const differs = (one: unknown, other: unknown) =>
      JSON.stringify(one) === JSON.stringify(other) ? [] : [{ page: one, other }]
    return [
      ...(this.page.error === undefined ? [] : [String(this.page.error)]),
      ...this.server.refused.map(({ violations }) => violations),
      ...differs(marksIn(shown), marksIn(stored)),
      ...differs(partly(shown), partly(stored)),
      ...marksIn(body)
        .filter((mark) => !seen.has(mark))
        .map((mark) => `the model got ${mark}, which was taken back`),
      ...(this.isCompacted
        ? []
        : due.filter((mark) => !sent.includes(mark)).map((mark) => `the model lacks ${mark}`)),
      ...(this.isCompacted ? [] : differs(ofTexts(due), ofTexts(sent))),
    ]
  }
}

type Messages = ReadonlyArray<UIMessage>

/** What a page takes out of its list. */
const taken: Readonly<Record<string, (shown: Messages, play: Play) => Messages>> = {
  first: (shown) => shown.slice(1),
  "first pair": (shown) => shown.slice(2),
  "in the middle": (shown) => shown.toSpliced(1, 2),
  "one of them": (shown, play) => {
    const one = play.pick(shown)
    return shown.filter((other) => other !== one)
  },
  last: (shown) => shown.slice(0, -1),
  "last pair": (shown) => shown.slice(0, -2),
  all: () => [],
}

/** What a page does now; `true` comes back if it has asked the model. */
const actions: Readonly<Record<string, (play: Play) => Promise<boolean>>> = {
  send: async (play) => {
    await play.page.sendMessage({ text: play.mark("Q") })
    return true
  },
  blank: async ({ page }) => {
    await page.sendMessage({ parts: [{ type: "text", text: " " }] })
    return true
  },
  data: async ({ page }) => {
    await page.sendMessage({ parts: [{ type: "data-order", data: { id: 1 } }] })
    return true
  },
  edit: async (play) => {
    const asked = play.page.messages.filter(({ role }) => role === "user")
    if (asked.length === 0) return false
    await play.page.sendMessage({ text: play.mark("Q"), messageId: play.pick(asked).id })
    return true
  },
  "ask again": async (play) => {
    const { messages } = play.page
    const answers = messages.filter(
      ({ role }, at) => role === "assistant" && messages[at - 1]?.role === "user",
    )
    if (answers.length === 0) return false
    await play.page.regenerate({ messageId: play.pick(answers).id })
    return true
  },
  delete: async (play) => {
    play.page.messages = [...play.pick(Object.values(taken))(play.page.messages, play)]
    return actions["send"]!(play)
  },
  "show an earlier state": async (play) => {
    if (play.earlier.length === 0) return false
    play.page.messages = play.pick(play.earlier).map((id) => play.newest.get(id)!)
    return actions["send"]!(play)
  },
  reload: async (play) => {
    play.page = await play.open()
    return false
  },
  answer: async (play) => {
    const calls = play.waiting("input-available")
    if (calls.length === 0) return false
    const { toolCallId } = play.pick(calls)
    const result = play.chance(0.3)
      ? { state: "output-error", errorText: play.mark("R") }
      : { output: play.mark("R") }
    await play.page.addToolOutput({ tool: "ask", toolCallId, ...result } as never)
    if (play.chance(0.5)) return actions["send"]!(play)
    if (!isComplete({ messages: play.page.messages })) return false
    await play.page.sendMessage()
    return true
  },
  approve: async (play) => {
    const calls = play.waiting("approval-requested")
    if (calls.length === 0) return false
    await play.page.addToolApprovalResponse({ id: play.pick(calls).approval!.id, approved: play.chance(0.6) })
    return actions["send"]!(play)
  },
}

describe("a page that does whatever a page can", () => {
  for (const way of ["callbacks", "page", "data"] as const)
    for (const isCompacted of [false, true])
      it(`shows what the model gets, answers stored by ${way}, ${isCompacted ? "compacted at every step" : "not compacted"}`, async () => {
        for (let seed = 1; seed <= often(6, 60); seed++) {
          const play = await Play.begin(seed, way, isCompacted)
          const done: Array<string> = []
          for (let step = 0; step < 8; step++) {
            const name = step === 0 ? "send" : play.pick(["send", ...Object.keys(actions)])
            done.push(name)
            const hasAsked = await actions[name]!(play)
            for (const one of play.page.messages) play.newest.set(one.id, one)
            if (!hasAsked) continue
            expect([seed, done, await play.problems()]).toEqual([seed, done, []])
            play.earlier.push(play.page.messages.map(({ id }) => id))
          }
          await play.server.close()
          await play.memory.close()
        }
      })
})
