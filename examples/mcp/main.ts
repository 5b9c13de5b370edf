/**
 * `npm run example -- mcp`: 100 turns of an agent with tools whose memory is the MCP server. In the middle the process of the server
 * is killed while a tool runs, and another one goes on. Offline, against a local server that is as strict as OpenAI's API;
 * with `OPENAI_API_KEY` set, against the API itself.
 */
import { providerServer, seeded } from "@memfold/strict-providers"
import { Client } from "@modelcontextprotocol/client"
import { getDefaultEnvironment, StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { mkdtempSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { OpenAI } from "openai"
import { show } from "../shared/restart.js"
import { answer, type Call, type Use } from "./agent.js"

const turns = 100
const session = "chat"

/** The file that `npx @memfold/mcp` runs. */
const { resolve } = createRequire(join(process.cwd(), "examples/"))
const program = join(dirname(resolve("@memfold/mcp/package.json")), "bin/memfold-mcp.js")

/** A process of the server, and the client of this one. */
const start = async (store: string) => {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program, store, "--strategy", "rounds"],
    env: { ...getDefaultEnvironment(), MEMFOLD_FULL_CONTEXT_TURNS: "4", MEMFOLD_CACHED_CONTEXT_TURNS: "4" },
  })
  const client = new Client({ name: "example", version: "1" })
  await client.connect(transport)
  return { client, pid: transport.pid }
}

const main = async (): Promise<boolean> => {
  const folder = mkdtempSync(join(tmpdir(), "memfold-example-"))
  const store = `sqlite:${join(folder, "chats.db")}`
  const provider =
    process.env["OPENAI_API_KEY"] === undefined ? await providerServer({ answer: seeded(16) }) : null
  const model = new OpenAI(provider === null ? {} : { baseURL: provider.openaiURL, apiKey: "local" })
  let server = await start(store)
  try {
    const memory: Call = async (name, args) => {
      const result = await server.client.callTool({ name, arguments: { ...args } })
      if (result.isError === true) throw new Error(JSON.stringify(result.content))
      return result.structuredContent as Record<string, unknown>
    }
    const ask = async (messages: Array<OpenAI.ChatCompletionMessageParam>) => {
      const parameters = {
        type: "object",
        properties: { request: { type: "string" }, depth: { type: "number" } },
        required: ["request", "depth"],
      }
      const { choices } = await model.chat.completions.create({
        model: process.env["MODEL"] ?? "gpt-6.2-sol",
        messages,
        tools: [{ type: "function", function: { name: "look_up", parameters } }],
      })
      return choices[0]!.message
    }
    let turn = 1
    let killed = 0
    let same = false
    const restart = async () => {
      // The context of a version never changes, whatever is compacted later.
      const { sessions } = await memory("list_sessions", {})
      const [{ version }] = sessions as [{ version: number }]
      const before = await memory("get_context", { session, at_version: version })
      process.kill(server.pid!, "SIGKILL")
      await server.client.close()
      server = await start(store)
      const after = await memory("get_context", { session, at_version: version })
      same = JSON.stringify(before) === JSON.stringify(after)
      killed = turn
    }
    const use: Use = async ({ tool_calls: calls }) => {
      if (turn >= turns / 2 && killed === 0) await restart()
      return (calls ?? []).map(({ id }) => ({
        role: "tool",
        tool_call_id: id,
        content: `The order KX-${4_000 + turn} is on its way. `.repeat(4),
      }))
    }
    let largest = 0
    for (; turn <= turns; turn++) {
      await answer(memory, ask, use, session, `Question ${turn}: what became of my order KX-${4_000 + turn}?`)
      const { tokens } = await memory("get_context", { session })
      largest = Math.max(largest, Number(tokens))
    }
    const { summaries } = await memory("list_summaries", { session })
    const { total } = await memory("read_messages", { session, limit: 1 })
    const { messages } = await memory("search_memory", { session, query: "What became of KX-4003?" })
    const found = (messages as ReadonlyArray<{ text: string }>).some(({ text }) => text.includes("KX-4003"))
    const compactions = (summaries as ReadonlyArray<object>).length

    show("turns answered", turn - 1)
    show("server killed in a tool of turn", killed)
    show("the same context after the restart", same ? "yes" : "no")
    show("messages in the log", total)
    show("compactions", compactions)
    show("largest context in tokens", largest)
    show("the third turn found by a search", found ? "yes" : "no")
    if (provider !== null) {
      show("requests to the provider", provider.received.length)
      show("requests that it refused", provider.refused.length)
    }
    return same && found && compactions > 3 && (provider?.refused.length ?? 0) === 0
  } finally {
    await server.client.close()
    await provider?.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

process.exitCode = (await main()) ? 0 : 1
