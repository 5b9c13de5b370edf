/** The process that talks to the model. */
import { createTool } from "@mastra/core/tools"
import { mastra } from "@memfold/mastra"
import { createMemory } from "memfold"
import { createHash } from "node:crypto"
import { z } from "zod"
import { kill, type Work } from "../shared/restart.js"
import { answer } from "./agent.js"

export const turns = 100

const report = (what: object) => void process.stdout.write(`${JSON.stringify(what)}\n`)

/** Talks from a turn on; the first one has been asked already if it is not turn 1. */
export const work = async ({ address, file, from, killIn }: Work): Promise<void> => {
  await using memory = createMemory({
    store: `sqlite:${file}`,
    strategy: "rounds",
    settings: { fullContextTurns: 4, cachedContextTurns: 4 },
    compaction: { mode: "inline" },
  })
  const name = process.env["MODEL"] ?? "gpt-6.2-sol"
  const model =
    address === "" ? `openai/${name}` : ({ id: `local/${name}`, url: address, apiKey: "local" } as const)
  let turn = from

  const digest = async () => {
    const { prompt } = await mastra(memory).session("chat").context()
    return createHash("sha256").update(JSON.stringify(prompt)).digest("hex")
  }
  const lookUp = createTool({
    id: "lookUp",
    description: "Looks up what is known about a request.",
    inputSchema: z.object({ request: z.string(), depth: z.number() }),
    execute: async ({ request, depth }) => {
      report({ tool: turn, context: await digest() })
      if (turn >= killIn) await kill()
      return { request, found: `${depth} entries about ${request}`, order: `KX-${4_000 + turn}` }
    },
  })

  if (from > 1) report({ context: await digest() })
  for (; turn <= turns; turn++) {
    const asked =
      from > 1 && turn === from ? undefined : `Question ${turn}: what became of my order KX-${4_000 + turn}?`
    const text = await answer(memory, { model, tools: { lookUp } }, "chat", asked)
    const { tokens } = await mastra(memory).session("chat").context()
    const [{ length: compactions }, { total }] = await Promise.all([
      memory.summaries("chat"),
      memory.state("chat"),
    ])
    report({ turn, text: text.slice(0, 40), tokens, compactions, messages: total })
  }
}
