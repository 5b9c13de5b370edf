/** Summaries asked for in the context of a session: what a provider's prompt cache has of the questions. */
import { createAnthropic } from "@ai-sdk/anthropic"
import { type Answering, providerServer } from "@memfold/strict-providers"
import { generateText, stepCountIs, streamText, tool } from "ai"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { conversing, missesOf, ownPrompts } from "@memfold/harness/inContext"
import { createMemory } from "memfold"
import { aiSdk, type AskInContext, summarizer } from "../src/index.js"

const lookUp = (run: () => void = () => {}) =>
  tool({
    inputSchema: z.object({ request: z.string(), depth: z.number() }),
    execute: async ({ request }) => {
      run()
      return request
    },
  })

const instructions = "Be brief."

const talk = async (askInContext: AskInContext, answer: Answering = conversing(7)) => {
  const { streams = true } = askInContext
  const server = await providerServer({ answer })
  const anthropic = createAnthropic({ baseURL: `${server.anthropicURL}/v1`, apiKey: "local" })
  const model = anthropic("claude-sonnet-5-5")
  await using memory = createMemory({
    store: "memory:",
    strategy: "rounds",
    settings: { fullContextTurns: 2, cachedContextTurns: 2 },
    compaction: { mode: "inline", summarizerRetries: 0 },
    summarizer: summarizer({ model, askInContext }),
  })
  for (let turn = 1; turn <= 20; turn++) {
    const chat = aiSdk(memory).session("chat", { instructions })
    const { prepareStep, onEnd } = chat
    const context = await chat.messages(`Question ${turn}?`)
    const call = { model, tools: { lookUp: lookUp() }, ...context, prepareStep, stopWhen: stepCountIs(8) }
    if (streams) await streamText({ ...call, onEnd }).text
    else await onEnd(await generateText(call))
  }
  await server.close()
  return { server, state: await memory.state("chat"), summaries: await memory.summaries("chat") }
}

describe("a summarizer that asks in context", () => {
  it.each([true, false])("begins with all that the call before it sent; streams: %s", async (streams) => {
    const { server, summaries } = await talk({ instructions, tools: { lookUp: lookUp() }, streams })
    expect(server.refused.map(({ violations }) => violations)).toEqual([])
    const misses = missesOf(server)
    expect(misses.length).toBeGreaterThan(3)
    expect(misses.filter((miss) => miss !== null)).toEqual([])
    expect(summaries.length).toBe(misses.length)
    expect(ownPrompts(server)).toEqual([])
  })

  it("misses the cache with other tools or instructions", async () => {
    const others = await talk({ instructions })
    expect(new Set(missesOf(others.server))).toEqual(new Set(["tools differs"]))
    const silent = await talk({ tools: { lookUp: lookUp() } })
    expect(new Set(missesOf(silent.server))).toEqual(new Set(["system differs"]))
  })

  it("runs no tool, and a call in place of a summary is a failure", async () => {
    let runs = 0
    const calling: Answering = (asked) =>
      JSON.stringify(asked.body).includes("This message comes from the application")
        ? { calls: [{ name: "lookUp", arguments: { request: "all", depth: 1 } }] }
        : { text: `Answer ${asked.turn}.` }
    const { state } = await talk({ instructions, tools: { lookUp: lookUp(() => runs++) } }, calling)
    expect(runs).toBe(0)
    expect(state).toMatchObject({ coveredTo: 0, failures: { reason: "refused" } })
  })
})
