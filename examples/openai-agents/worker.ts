/** The process that talks to the model. */
import { openaiAgents } from "@memfold/openai-agents"
import { Agent, OpenAIResponsesModel, setTracingDisabled, tool } from "@openai/agents"
import { createMemory } from "memfold"
import { createHash } from "node:crypto"
import { OpenAI } from "openai"
import { z } from "zod"
import { kill, type Work } from "../shared/restart.js"
import { answer } from "./agent.js"

export const turns = 100

const report = (what: object) => void process.stdout.write(`${JSON.stringify(what)}\n`)

/** Talks from a turn on. The SDK stores a turn when it is over, so a killed turn is asked again. */
export const work = async ({ address, file, from, killIn }: Work): Promise<void> => {
  await using memory = createMemory({
    store: `sqlite:${file}`,
    strategy: "rounds",
    settings: { fullContextTurns: 4, cachedContextTurns: 4 },
    compaction: { mode: "inline" },
  })
  setTracingDisabled(true)
  const client = new OpenAI(address === "" ? {} : { baseURL: address, apiKey: "local" })
  let turn = from

  const digest = async () => {
    const items = await openaiAgents(memory).session("chat").getItems()
    return createHash("sha256").update(JSON.stringify(items)).digest("hex")
  }
  const lookUp = tool({
    name: "look_up",
    description: "Looks up what is known about a request.",
    parameters: z.object({ request: z.string(), depth: z.number() }),
    execute: async ({ request, depth }) => {
      report({ tool: turn, context: await digest() })
      if (turn >= killIn) await kill()
      return { request, found: `${depth} entries about ${request}`, order: `KX-${4_000 + turn}` }
    },
  })
  const agent = new Agent({
    name: "clerk",
    instructions: "You are a clerk.",
    // The SDK may have another copy of the client, and so another type of it.
    model: new OpenAIResponsesModel(client as never, process.env["MODEL"] ?? "gpt-6.2-sol"),
    modelSettings: { store: false, providerData: { include: ["reasoning.encrypted_content"] } },
    tools: [lookUp],
  })

  if (from > 1) report({ context: await digest() })
  for (; turn <= turns; turn++) {
    const text = await answer(
      memory,
      agent,
      "chat",
      `Question ${turn}: what became of my order KX-${4_000 + turn}?`,
    )
    const { tokens } = await memory.context("chat")
    const [{ length: compactions }, { total }] = await Promise.all([
      memory.summaries("chat"),
      memory.state("chat"),
    ])
    report({ turn, text: text.slice(0, 40), tokens, compactions, messages: total })
  }
}
