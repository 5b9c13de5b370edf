/** The server: a memory as the tools of an MCP server. */
import { McpServer } from "@modelcontextprotocol/server"
import { appendMessages, getContext, listSessions, readMessages, searchMemory } from "./conversation.js"
import { knownFacts } from "./facts.js"
import { compact, explainSummary, listSummaries, revert } from "./summaries.js"
import type { ServedMemory, Tool, ToolMemory } from "./tool.js"

const tools: ReadonlyArray<Tool> = [
  appendMessages,
  getContext,
  searchMemory,
  readMessages,
  listSessions,
  knownFacts,
  listSummaries,
  explainSummary,
  compact,
  revert,
]

const instructions =
  "Memory of conversations that outlives them. A session is one conversation; every message of it is kept, and contexts show the oldest ones as a summary. Get the context of a session before you go on with it, append what is said, and search it before you say that something is unknown."

/** Options of {@link memoryServer}. */
export interface MemoryServerOptions {
  /** `true` offers the tools that only read; `false` (default) all of them. */
  readonly readOnly?: boolean
  /** The name of the server, as clients show it; `memfold` by default. */
  readonly name?: string
  /** Its version, as clients show it; `0` by default. */
  readonly version?: string
}

/**
 * An MCP server with the tools of a memory. The server does not close the memory.
 *
 * One server serves one connection: over HTTP, make one for each request, as `createMcpHandler` does.
 *
 * @param memory a memory of `createMemory` in the default format, `"openai"`
 * @param options which tools there are, and how clients see the server
 *
 * @example
 * ```ts
 * import { memoryServer } from "@memfold/mcp"
 * import { serveStdio } from "@modelcontextprotocol/server/stdio"
 * import { createMemory } from "memfold"
 *
 * const memory = createMemory({ store: "sqlite:memory.db", strategy: "rounds" })
 * serveStdio(() => memoryServer(memory))
 * ```
 */
export const memoryServer = (memory: ServedMemory, options: MemoryServerOptions = {}): McpServer =>
  toolServer(memory, options)

/** The server of a part of a memory. */
export const toolServer = (
  memory: ToolMemory,
  { readOnly = false, name = "memfold", version = "0" }: MemoryServerOptions,
): McpServer => {
  const server = new McpServer({ name, version, title: "Conversation memory" }, { instructions })
  for (const tool of tools) {
    if (!readOnly || tool.changes === "nothing") tool.register(server, memory)
  }
  return server
}
