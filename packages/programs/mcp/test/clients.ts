/** Real clients of the server: over stdio to a process of its own, or over HTTP. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll } from "vitest"

/** The file that `npx @memfold/mcp` runs. */
export const program = fileURLToPath(new URL("../bin/memfold-mcp.js", import.meta.url))

/** A folder for the stores of a test file, removed after its tests. */
export const folderFor = (name: string): string => {
  const folder = mkdtempSync(join(tmpdir(), `memfold-mcp-${name}-`))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** The answer of a tool: its structured content, or the text of its error. */
export interface Answer {
  readonly error?: string
  readonly [name: string]: unknown
}

/** A connected client. */
export interface Connected {
  readonly client: Client
  readonly call: (name: string, args: Record<string, unknown>) => Promise<Answer>
  /** The process of the server; none over HTTP. */
  readonly pid: number | null
  /** What the process printed to standard error. */
  readonly log: () => string
  readonly close: () => Promise<void>
}

const connected = (client: Client, pid: number | null, log: () => string): Connected => ({
  client,
  pid,
  log,
  call: async (name, args) => {
    const { content, structuredContent, isError } = await client.callTool({ name, arguments: args })
    const [first] = content
    if (isError === true) return { error: first?.type === "text" ? first.text : "" }
    return structuredContent as Answer
  },
  close: () => client.close(),
})

/** A client of a process of its own. */
export const overStdio = async (...args: ReadonlyArray<string>): Promise<Connected> => {
  const client = new Client({ name: "test", version: "1" })
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program, ...args],
    stderr: "pipe",
  })
  let log = ""
  transport.stderr?.on("data", (chunk: Buffer) => (log += chunk.toString()))
  await client.connect(transport)
  return connected(client, transport.pid, () => log)
}

/** A client over HTTP, with a token if it needs one. */
export const overHttp = async (url: string, token?: string): Promise<Connected> => {
  const client = new Client({ name: "test", version: "1" })
  const requestInit = token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }))
  return connected(client, null, () => "")
}

/** A turn of a conversation, in messages of Chat Completions. */
export const turn = (n: number) => [
  { role: "user", content: `Question ${n}: what became of order KX-${4_000 + n}? `.repeat(3) },
  {
    role: "assistant",
    content: null,
    tool_calls: [
      {
        id: `call-${n}`,
        type: "function",
        function: { name: "look_up", arguments: `{"order":${4_000 + n}}` },
      },
    ],
  },
  { role: "tool", tool_call_id: `call-${n}`, content: `Order KX-${4_000 + n} is on its way. `.repeat(8) },
  { role: "assistant", content: `Order KX-${4_000 + n} left the warehouse on day ${n}. `.repeat(4) },
]
