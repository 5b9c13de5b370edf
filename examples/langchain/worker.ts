/** The process that talks to the model. */
import { ChatAnthropic } from "@langchain/anthropic"
import { langchain } from "@memfold/langchain"
import { tool } from "langchain"
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
  const local = address === "" ? {} : { anthropicApiUrl: address, apiKey: "local" }
  const model = new ChatAnthropic({
    ...local,
    model: process.env["MODEL"] ?? "claude-sonnet-5-5",
    maxTokens: 4_000,
  })
  const chat = langchain(memory).session("chat", { provider: "anthropic" })
  let turn = from

  const digest = async () => {
    const { system, messages } = await chat.context()
    const said = messages.map((one) => one.toDict())
    return createHash("sha256").update(JSON.stringify({ system, said })).digest("hex")
  }
  const lookUp = tool(
    async ({ request, depth }) => {
      report({ tool: turn, context: await digest() })
      if (turn >= killIn) await kill()
      return JSON.stringify({
        request,
        found: `${depth} entries about ${request}`,
        order: `KX-${4_000 + turn}`,
      })
    },
    {
      name: "lookUp",
      description: "Looks up what is known about a request.",
      schema: z.object({ request: z.string(), depth: z.number() }),
    },
  )

  if (from > 1) report({ context: await digest() })
  for (; turn <= turns; turn++) {
    const asked =
      from > 1 && turn === from ? undefined : `Question ${turn}: what became of my order KX-${4_000 + turn}?`
    const text = await answer(memory, { model, tools: [lookUp] }, "chat", asked)
    const { tokens } = await chat.context()
    const [{ length: compactions }, { total }] = await Promise.all([
      memory.summaries("chat"),
      memory.state("chat"),
    ])
    report({ turn, text: text.slice(0, 40), tokens, compactions, messages: total })
  }
}
