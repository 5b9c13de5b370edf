/** Every listener of the project under malformed requests: none of them ends a listener, or the process around it. */
import { CompactServer } from "@memfold/harness/CompactServer"
import { CompactionServer } from "@memfold/harness/CompactionServer"
import { often } from "@memfold/harness/depth"
import { attack } from "@memfold/harness/malformedRequests"
import { mcpHandler, serveHttp } from "@memfold/mcp"
import { serve } from "@memfold/server"
import { providerServer } from "@memfold/strict-providers"
import * as fc from "fast-check"
import { createMemory } from "memfold"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterEach, beforeEach, describe, expect, it } from "vitest"

interface Listener {
  /** The file that listens. */
  readonly file: string
  /** How it is set, where it listens more than once. */
  readonly set?: string
  readonly paths: ReadonlyArray<string>
  readonly headers?: Readonly<Record<string, string>>
  /** A body that is answered with status 200 on the first path; or with another status, where one is named. */
  readonly body: unknown
  readonly answered?: number
  /** Whether no request makes it answer that something failed. */
  readonly neverFails?: boolean
  /** How many requests are sent; {@link requests} by default. */
  readonly count?: number
  readonly start: () => Promise<{ readonly url: string; readonly close: () => Promise<void> }>
}

/** Malformed requests to each listener. */
const requests = often(600, 10_000)

const said = { role: "user", content: "Hello" }

const listeners: ReadonlyArray<Listener> = [
  {
    file: "programs/mcp/src/http.ts",
    neverFails: true,
    paths: ["/mcp"],
    headers: { accept: "application/json, text/event-stream" },
    body: {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "append_messages", arguments: { session: "s", messages: [said] } },
    },
    start: async () => {
      const memory = createMemory({ store: "memory:" })
      const { url, close } = await serveHttp(memory)
      return { url, close: () => close().then(memory.close) }
    },
  },
  {
    file: "tests/strict-providers/src/server.ts",
    paths: ["/v1/messages", "/v1/chat/completions", "/v1/responses", "/v1/responses/compact"],
    body: { model: "claude-sonnet-5-5", max_tokens: 100, stream: true, messages: [said] },
    start: async () => {
      const server = await providerServer()
      return { url: server.anthropicURL, close: server.close }
    },
  },
  // A request has no fields but its own, so each operation is attacked by itself. An append is what reaches most of the service.
  ...[
    { path: "messages", body: { messages: [said], owner: "ann", settings: {} }, answered: 201 },
    { path: "edit", body: { messages: [said], from: 0 }, answered: 200 },
    { path: "recall", body: { query: "Hello", tokens: 100 }, answered: 200 },
  ].map(({ path, body, answered }): Listener => ({
    file: "programs/server/src/serve.ts",
    set: ` with ${path}`,
    paths: [...Array.from({ length: 5 }, () => `/v1/sessions/s/${path}`), "/v1/sessions/s%2F%zz"],
    body,
    answered,
    neverFails: true,
    count: often(360, 6_000),
    start: async () => {
      const service = await serve({ store: "memory:", port: 0, log: "none", timeout: "5 seconds" })
      await fetch(`${service.url}/v1/sessions/s/messages`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ messages: [said] }),
      })
      return service
    },
  })),
  {
    file: "programs/server/src/serve.ts",
    set: " with an upstream",
    paths: [
      // A session that is named is what reaches most of it.
      "/v1/chat/completions",
      "/v1/chat/completions",
      "/v1/messages",
      "/v1/messages/count_tokens",
      "/v1/responses",
      "/v1/models",
    ],
    body: { model: "claude-sonnet-5-5", max_tokens: 100, messages: [said], metadata: { session_id: "s" } },
    neverFails: true,
    count: often(400, 10_000),
    start: async () => {
      const provider = await providerServer()
      const { url, close } = await serve({
        store: "memory:",
        port: 0,
        log: "none",
        upstream: provider.anthropicURL,
      })
      return { url, close: () => close().then(provider.close) }
    },
  },
  {
    file: "programs/server/src/serve.ts",
    set: " with the tools of MCP",
    neverFails: true,
    paths: ["/mcp"],
    headers: { accept: "application/json, text/event-stream" },
    body: {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "append_messages", arguments: { session: "s", messages: [said] } },
    },
    count: often(400, 10_000),
    start: () => serve({ store: "memory:", port: 0, log: "none", mcp: mcpHandler }),
  },
  {
    file: "tests/harness/src/CompactServer.ts",
    paths: ["/v1/responses/compact"],
    body: { model: "gpt", input: [{ ...said, type: "message" }] },
    start: async () => {
      const server = new CompactServer()
      return { url: await server.listen(), close: () => server.close() }
    },
  },
  {
    file: "tests/harness/src/CompactionServer.ts",
    paths: ["/v1/messages"],
    body: {
      model: "claude",
      messages: [said],
      tools: [{ name: "look" }],
      system: [{ type: "text", text: "Be brief." }],
    },
    start: async () => {
      const server = new CompactionServer()
      return { url: await server.listen(), close: () => server.close() }
    },
  },
]

/** The seed of the run. */
const { seed = 1 } = fc.readConfigureGlobal()

const packages = fileURLToPath(new URL("../../..", import.meta.url))

/** The source files below a folder, without tests and installed packages, named from the folder. */
const sources = (folder: string, within = ""): ReadonlyArray<string> =>
  readdirSync(join(folder, within), { withFileTypes: true }).flatMap((entry) => {
    const name = within === "" ? entry.name : `${within}/${entry.name}`
    if (entry.isDirectory()) {
      return /^(node_modules|dist|test)$|^\./.test(entry.name) ? [] : sources(folder, name)
    }
    return entry.name.endsWith(".ts") && !entry.name.endsWith(".test.ts") ? [name] : []
  })

describe("malformed requests", () => {
  const escaped: Array<unknown> = []
  const note = (error: unknown): void => void escaped.push(error)
  beforeEach(() => {
    escaped.length = 0
    process.on("uncaughtException", note).on("unhandledRejection", note)
  })
  afterEach(() => {
    process.off("uncaughtException", note).off("unhandledRejection", note)
  })

  it.each(listeners.map((listener) => ({ ...listener, name: `${listener.file}${listener.set ?? ""}` })))(
    "leave $name as it was",
    async ({ paths, body, answered = 200, count = requests, neverFails = false, headers = {}, start }) => {
      const { url, close } = await start()
      const good = async (): Promise<number> => {
        const answer = await fetch(new URL(paths[0]!, url), {
          method: "POST",
          headers: { "content-type": "application/json", ...headers },
          body: JSON.stringify(body),
        })
        await answer.text()
        return answer.status
      }
      expect(await good()).toBe(answered)
      const survived = await attack({
        port: Number(new URL(url).port),
        count,
        seed,
        paths,
        body,
      })
      expect([...new Set(escaped.map(String))]).toEqual([])
      expect(await good()).toBe(answered)
      if (neverFails) expect(survived.answered.get(500) ?? 0).toBe(0)
      // The requests reached what is behind the parser of node:http, and most were refused.
      expect(survived.answered.get(answered) ?? 0).toBeGreaterThan(0.01 * count)
      expect(survived.answered.get(400) ?? 0).toBeGreaterThan(0.05 * count)
      await close()
    },
  )

  it("reach every listener", () => {
    const listening = sources(packages).filter((file) =>
      /\bcreateServer\(/.test(readFileSync(join(packages, file), "utf8")),
    )
    // The file ports.ts listens to learn whether a port is free, and reads nothing. The file relay.ts passes on the bytes of tests, and
    // brokenUpstreams.ts and oddAnswers.ts answer whatever they are sent.
    // The template is an application of its user, for one machine.
    const others = [
      "programs/create-memfold/templates/web-chat/server.ts",
      "tests/harness/src/brokenUpstreams.ts",
      "tests/harness/src/oddAnswers.ts",
      "tests/harness/src/ports.ts",
      "tests/harness/src/relay.ts",
    ]
    const attacked = new Set(listeners.map(({ file }) => file))
    expect(listening.toSorted()).toEqual([...attacked, ...others].toSorted())
  })
})
