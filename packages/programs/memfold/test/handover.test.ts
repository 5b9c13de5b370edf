/** A conversation that one provider compacted itself, handed to another one and back: nothing is stranded with a vendor. */
import Anthropic from "@anthropic-ai/sdk"
import { compactionBeta, nativeCompaction as byAnthropic } from "@memfold/anthropic"
import { nativeCompaction as byOpenAI } from "@memfold/openai"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import OpenAI from "openai"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { CompactionServer } from "@memfold/harness/CompactionServer"
import { CompactServer } from "@memfold/harness/CompactServer"
import { createMemory, type Formats, type GivenSummarizer, SlidingWindow } from "../src/index.js"

const claude = "claude-sonnet-5-5"
const gpt = "gpt-6.2-sol"
const text = "[Conversation Summary]\nClaude's summary of 12 turns."

let anthropicServer: CompactionServer
let openaiServer: CompactServer
let anthropic: Anthropic
let openai: OpenAI
let folder: string
let store: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "memfold-handover-"))
  store = `sqlite:${join(folder, "chats.db")}`
  anthropicServer = new CompactionServer()
  openaiServer = new CompactServer()
  anthropic = new Anthropic({ apiKey: "k", baseURL: await anthropicServer.listen(), maxRetries: 0 })
  openai = new OpenAI({ apiKey: "k", baseURL: await openaiServer.listen(), maxRetries: 0 })
})
afterEach(async () => {
  await anthropicServer.close()
  await openaiServer.close()
  await rm(folder, { recursive: true })
})

/** A memory over the file of the test: each one is another program. */
const memoryOf = <Format extends keyof Formats>(
  format: Format,
  summarizer: GivenSummarizer | ReadonlyArray<GivenSummarizer> = "extractive",
) =>
  createMemory({
    store,
    format,
    summarizer,
    compaction: { mode: "manual" },
    strategy: SlidingWindow({ tailKeepSize: 2 }),
  })

describe("a conversation that Anthropic compacted", () => {
  it("is a text for OpenAI, and the block again for Anthropic", async () => {
    const first = memoryOf("anthropic", byAnthropic({ client: anthropic, model: claude }))
    const ask = async (say: string) => {
      await first.append("s", { role: "user", content: say })
      const { messages, prefix } = await first.context("s", { model: claude })
      const response = await anthropic.beta.messages.create({
        ...messages,
        model: claude,
        max_tokens: 1_000,
        betas: [compactionBeta],
      })
      await first.append("s", response, { prefix })
    }
    for (let turn = 0; turn < 7; turn++)
      await ask(`question ${turn} about the order KX-4471 and its delivery`)
    expect(await first.compact("s")).toMatchObject({ _tag: "Committed" })
    await ask("and the invoice?")

    const block = {
      type: "compaction",
      content: "Claude's summary of 12 turns.",
      signature: expect.any(String),
    }
    const native = await first.context("s", { model: claude })
    expect(native.messages.messages[0]).toMatchObject({ role: "assistant", content: [block] })
    expect(native.messages.system).toBeUndefined()
    // The thinking of the turn that stayed is behind the block, as the server checked.
    expect(JSON.stringify(native.messages.messages)).toContain('"thinking"')

    for (const options of [{ model: "claude-haiku-5-5" }, { summaries: "text" as const }]) {
      const readable = await first.context("s", options)
      expect(readable.messages.system).toBe(text)
      expect(JSON.stringify(readable.messages)).not.toMatch(/"compaction"|"thinking"/u)
      expect(readable.prefix.head).toBe("summary as text")
    }

    const chat = memoryOf("openai")
    const { messages } = await chat.context("s")
    expect(messages[0]).toEqual({ role: "system", content: text })
    expect(JSON.stringify(messages)).not.toMatch(/compaction|thinking/u)
    await chat.append("s", { role: "user", content: "What did it cost?" })
    await chat.append("s", { role: "assistant", content: "12 euros." })
    const items = await memoryOf("openai-responses").context("s")
    expect(items.messages[0]).toEqual({ role: "system", content: text })

    await ask("And when does it come?")
    const back = await first.context("s", { model: claude })
    expect(back.messages.messages[0]).toEqual(native.messages.messages[0])
    expect(JSON.stringify(back.messages.messages)).toContain("12 euros.")
    await first.redact("s", 0)
    expect(JSON.stringify(await first.context("s"))).not.toContain("compaction")
    for (const memory of [first, chat]) await memory.close()
  })
})

describe("a conversation that OpenAI compacted", () => {
  it("is a text for Anthropic, and the window again for OpenAI", async () => {
    const first = memoryOf("openai-responses", byOpenAI({ client: openai, model: gpt }))
    for (let turn = 0; turn < 7; turn++) {
      await first.append("s", [
        { role: "user", content: `Question ${turn}: where is my order KX-447${turn}? It has been a week.` },
        { role: "assistant", content: `The order KX-447${turn} is in the depot in Graz and comes tomorrow.` },
      ])
    }
    expect(await first.compact("s")).toMatchObject({ _tag: "Committed" })
    const native = await first.context("s", { model: gpt })
    expect(native.messages).toHaveLength(6 + 1 + 2)
    expect(native.messages[6]).toEqual({ type: "compaction", id: "cmp_1", encrypted_content: "encrypted 1" })
    expect((await first.context("s", { model: "gpt-5" })).messages).toHaveLength(3)

    const apart = createMemory({
      store,
      format: "openai-responses",
      systemMessages: "apart",
      strategy: "sliding-window",
    })
    expect((await apart.context("s", { model: gpt })).messages).toEqual({ input: native.messages })

    const second = memoryOf("anthropic", byAnthropic({ client: anthropic, model: claude }))
    const { messages } = await second.context("s")
    expect(messages.system).toContain("KX-447")
    expect(messages.messages).toHaveLength(2)
    for (let turn = 7; turn < 12; turn++) {
      await second.append("s", [
        { role: "user", content: `Question ${turn}: and the order KX-447${turn}, is that one lost as well?` },
        {
          role: "assistant",
          content: `No, the order KX-447${turn} arrives together with the others on Friday.`,
        },
      ])
    }
    // Anthropic merges the text of OpenAI's summary: it cannot read the window.
    expect(await second.compact("s")).toMatchObject({ _tag: "Committed" })
    expect(anthropicServer.requests.at(-1)?.body.system).toBe(messages.system)
    expect((await second.context("s", { model: claude })).messages.messages[0]?.role).toBe("assistant")
    const words = (await first.context("s", { model: gpt })).messages[0]
    expect(words).toEqual({ role: "system", content: expect.stringContaining("Claude's summary") })
    for (const memory of [first, second, apart]) await memory.close()
  })

  it("can have a fallback: a list of summarizers", async () => {
    openaiServer.answer = () => [500, {}]
    const memory = memoryOf("openai", [byOpenAI({ client: openai, model: gpt }), "extractive"])
    await memory.append(
      "s",
      Array.from({ length: 14 }, (_, at) => ({
        role: "user" as const,
        content: `Message ${at} says a great deal about the order KX-447${at} and the parcel.`,
      })),
    )
    expect(await memory.compact("s")).toMatchObject({
      _tag: "Committed",
      committed: { summarizer: "extractive" },
    })
    await memory.close()
  })
})
