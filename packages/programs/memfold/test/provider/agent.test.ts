/**
 * An agent with thinking and tools through the official client of Anthropic, against a local server that checks every
 * request and every signature as the provider's documentation describes it (laws L5, L17).
 */
import { providerServer, type ProviderServer, seeded } from "@memfold/strict-providers"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, describe, expect, it } from "vitest"
import { often } from "@memfold/harness/depth"
import { createMemory } from "../../src/index.js"
import { claude, gpt, gptResponses } from "./agents.js"

const opened: Array<() => Promise<void> | void> = []
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close()
})

const start = async (seed: number): Promise<ProviderServer> => {
  const server = await providerServer({ answer: seeded(seed) })
  opened.push(server.close)
  return server
}

const storeFile = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "memfold-agent-"))
  opened.push(() => rmSync(folder, { recursive: true, force: true }))
  return `sqlite:${join(folder, "chats.db")}`
}

/** Settings that compact every few turns. */
const compacting = {
  strategy: "sliding-window",
  settings: { tailKeepSize: 6, contextSize: 24, compressionWindowSize: 5 },
} as const

/** The thinking blocks that came back in accepted requests. */
const thinkingSentBack = (server: ProviderServer): number =>
  server.received.reduce(
    (sum, { body }) => sum + JSON.stringify(body["messages"] ?? "").split('"type":"thinking"').length - 1,
    0,
  )

const refusals = (server: ProviderServer) =>
  server.refused.map(
    ({ path, violations }) => `${path}: ${violations.map((one) => `${one.path} ${one.message}`).join("; ")}`,
  )

/** A summarizer whose summaries come when they are let: until then, the compaction runs in the background. */
const heldBack = () => {
  const waiting: Array<() => void> = []
  let ended = () => {}
  return {
    waiting,
    summarizer: async () => {
      await new Promise<void>((resolve) => waiting.push(resolve))
      return "What was said before, in short."
    },
    hooks: { afterCompaction: () => ended() },
    /** Lets the running compaction go on, and waits until it has ended. */
    finish: async () => {
      const end = new Promise<void>((resolve) => {
        ended = resolve
      })
      waiting.shift()?.()
      await end
    },
  }
}

const turns = often(30, 100)

/** The turn after `percent` percent of all turns. */
const at = (percent: number) => Math.floor((turns * percent) / 100)

describe.each([{ prefix: true }, { prefix: false }])(
  "an agent of Anthropic's (prefix named: $prefix)",
  (options) => {
    it(`plays ${turns} turns with background compactions, reverts and a redaction, and nothing is refused`, async () => {
      const server = await start(options.prefix ? 11 : 12)
      const { summarizer, hooks, waiting, finish } = heldBack()
      const memory = createMemory({
        store: storeFile(),
        format: "anthropic",
        ...compacting,
        summarizer,
        compaction: { hooks, mode: "background", summarizerTimeout: "10 minutes" },
      })
      opened.push(() => memory.close())
      const turn = claude(memory, server, options)
      await memory.append("s", { role: "system", content: "You are a careful engineer." })
      let asked = 0
      let reverted = 0
      for (let number = 0; number < turns; number++) {
        await turn("s", `Question ${number}?`, async () => {
          // A summary is held back over some requests, whose answers then stand behind another prefix than they were made for.
          if (waiting.length > 0 && ++asked % 4 === 0) await finish()
        })
        if (number === at(33) || number === at(71)) reverted += await memory.revert("s", { pauseFor: 5 })
        if (number === at(52)) await memory.redact("s", (await memory.state("s")).total - 7)
      }
      while (waiting.length > 0) await finish()
      expect(refusals(server)).toEqual([])
      const committed = (await memory.summaries("s")).length
      console.log(
        `${server.received.length} requests, ${committed} compactions, ${reverted} taken back, ${thinkingSentBack(server)} thinking blocks sent back, ${server.refused.length} refusals`,
      )
      expect(committed).toBeGreaterThan(5)
      expect(reverted).toBeGreaterThan(0)
      expect(thinkingSentBack(server)).toBeGreaterThan(20)
    })
  },
)

describe("a session handed from Anthropic to OpenAI and back", () => {
  it("goes on with each, and nothing is refused", async () => {
    const server = await start(13)
    const store = storeFile()
    const anthropic = createMemory({
      store,
      format: "anthropic",
      ...compacting,
      compaction: { mode: "inline" },
    })
    const openai = createMemory({ store, format: "openai", ...compacting, compaction: { mode: "inline" } })
    const responses = createMemory({
      store,
      format: "openai-responses",
      ...compacting,
      compaction: { mode: "inline" },
    })
    opened.push(
      () => anthropic.close(),
      () => openai.close(),
      () => responses.close(),
    )
    const players = [
      claude(anthropic, server, { prefix: true }),
      gpt(openai, server),
      claude(anthropic, server, { prefix: true }),
      gptResponses(responses, server),
    ]
    for (let number = 0; number < 48; number++) {
      await players[Math.floor(number / 6) % players.length]!("s", `Question ${number}?`)
    }
    expect(refusals(server)).toEqual([])
    const apis = new Map<string, number>()
    for (const { api } of server.received) apis.set(api, (apis.get(api) ?? 0) + 1)
    console.log([...apis].map(([api, count]) => `${count} requests to ${api}`).join(", "), "0 refusals")
    expect(thinkingSentBack(server)).toBeGreaterThan(0)
    expect((await anthropic.summaries("s")).length).toBeGreaterThan(3)
  })
})
