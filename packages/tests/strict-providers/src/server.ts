/** One local HTTP server for all providers: as strict as they are, with a model that answers by script. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import type { AnthropicOptions } from "./anthropic.js"
import type { ChatOptions } from "./chat.js"
import { type Answer, type Answering, type Api, scripted } from "./answers.js"
import { signer } from "./binding.js"
import {
  type Accepted,
  compact,
  completions,
  errorOf,
  messages,
  type Refusal,
  responses,
  type Setting,
} from "./endpoints.js"
import { type Fields, isFields } from "./json.js"
import type { StreamEvent } from "./messagesWire.js"
import type { Violation } from "./violation.js"

/**
 * Options of {@link providerServer}.
 *
 * - `answer`: what the model answers; by default "ok" each time. See {@link scripted} and {@link seeded}
 * - `anthropic`: what the models behind `/v1/messages` can do
 * - `chat`: whose Chat Completions are behind `/v1/chat/completions`; OpenAI's by default
 * - `binding`: whether reasoning is bound to what stands before it (`"checked"`, the default), as on accounts made since
 *   2026-08-31, or not (`"off"`)
 * - `secret`: of the signatures; reasoning of a server with another secret is refused
 * - `summarize`: the summary in a compaction by the provider
 * - `unpublished`: names of fields that no page documents and that the API takes all the same, such as `client_metadata`, which
 *   OpenAI's own agent sends
 */
export interface ServerOptions {
  readonly answer?: Answering
  readonly anthropic?: Omit<AnthropicOptions, "betas">
  readonly chat?: ChatOptions
  readonly binding?: "checked" | "off"
  readonly secret?: string
  readonly summarize?: (body: Readonly<Record<string, unknown>>) => string
  readonly unpublished?: ReadonlyArray<string>
}

/** A request that came, and what became of it. */
export interface Received {
  readonly api: Api
  readonly path: string
  readonly body: Readonly<Record<string, unknown>>
  readonly status: number
  /** Why it was refused, all reasons; empty if it was not. */
  readonly violations: ReadonlyArray<Violation>
}

/** A running server. */
export interface ProviderServer {
  /** The `baseURL` for the client of Anthropic. */
  readonly anthropicURL: string
  /** The `baseURL` for the client of OpenAI. */
  readonly openaiURL: string
  /** All requests, in the order they came. */
  readonly received: ReadonlyArray<Received>
  /** The refused requests. */
  readonly refused: ReadonlyArray<Received>
  readonly close: () => Promise<void>
}

const endpoints: Readonly<
  Record<string, readonly [Api, (body: Fields, setting: Setting) => Refusal | Accepted]>
> = {
  "/v1/messages": ["anthropic", messages],
  "/v1/chat/completions": ["openai", completions],
  "/v1/responses": ["openai-responses", responses],
  "/v1/responses/compact": ["openai-responses", compact],
}

const readBody = async (request: IncomingMessage): Promise<unknown> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8"))
  } catch {
    return undefined
  }
}

const send = (response: ServerResponse, status: number, body: Fields): void => {
  // A client that gets this header does not try again by itself: what is refused once is refused each time.
  const retry = status >= 400 ? { "x-should-retry": "false" } : {}
  response.writeHead(status, { "content-type": "application/json", "request-id": "req_local", ...retry })
  response.end(JSON.stringify(body))
}

const stream = async (
  response: ServerResponse,
  events: ReadonlyArray<StreamEvent>,
  { cut, hold }: Pick<Answer, "cut" | "hold">,
): Promise<void> => {
  response.writeHead(200, { "content-type": "text/event-stream", "request-id": "req_local" })
  for (const [index, { event, data }] of events.slice(0, cut).entries()) {
    if (index === hold?.after) await hold.wait()
    if (event !== undefined) response.write(`event: ${event}\n`)
    response.write(`data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`)
  }
  // What was written has to leave before the connection breaks.
  if (cut === undefined) response.end()
  else response.write(": cut\n\n", () => response.destroy())
}

const defaults: Required<Pick<ServerOptions, "answer" | "secret" | "summarize">> = {
  answer: scripted([{ text: "ok" }]),
  secret: "an account",
  summarize: () => "A summary of what was said so far.",
}

/**
 * Starts a server on 127.0.0.1 that speaks the wire formats of Anthropic (Messages) and OpenAI (Chat Completions, Responses)
 * to their official clients, streams included, and refuses with HTTP 400 whatever the validators of this package find. Its
 * thinking blocks are bound to what stands before them (see {@link signer}): Anthropic's API refuses them behind anything
 * else, unless the request asks for `drop_block`; OpenAI's drops them. `responses.compact` and `compaction` are answered.
 *
 * @param options what the model answers, and how strict the server is
 * @returns the server; `close` it at the end
 *
 * @example
 * ```ts
 * import { providerServer, scripted } from "@memfold/strict-providers"
 *
 * const server = await providerServer({ answer: scripted([{ thinking: "Easy.", text: "42" }]) })
 * const answered = await fetch(`${server.anthropicURL}/v1/messages`, {
 *   method: "POST",
 *   body: JSON.stringify({
 *     model: "claude-sonnet-5-5",
 *     max_tokens: 100,
 *     messages: [{ role: "user", content: "6 × 7?" }],
 *   }),
 * })
 * console.log(answered.status, server.refused.length) // 200 0
 * await server.close()
 * ```
 */
export const providerServer = async (options: ServerOptions = {}): Promise<ProviderServer> => {
  const { answer, secret, summarize } = { ...defaults, ...options }
  const received: Array<Received> = []
  const signers =
    options.binding === "off"
      ? null
      : { messages: signer(secret, "messages"), responses: signer(secret, "responses") }
  const unpublished = new Set(options.unpublished)
  let count = 0

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = (request.url ?? "").split("?")[0] ?? ""
    if (request.headers.upgrade !== undefined) {
      send(response, 426, errorOf("openai", "This server has no WebSockets: send requests over HTTP."))
      return
    }
    const body = await readBody(request)
    const endpoint = request.method === "POST" ? endpoints[path] : undefined
    if (endpoint === undefined) {
      send(response, 404, errorOf("openai", `Not found: ${request.method} ${path}`, null, "not_found_error"))
      return
    }
    const [api, decide] = endpoint
    if (!isFields(body)) {
      const refusal = errorOf(api, "The request body is not valid JSON")
      received.push({ api, path, body: {}, status: 400, violations: [] })
      send(response, 400, refusal)
      return
    }
    const betas = String(request.headers["anthropic-beta"] ?? "")
      .split(",")
      .map((beta) => beta.trim())
      .filter((beta) => beta !== "")
    const decided = decide(body, {
      betas,
      anthropic: options.anthropic ?? {},
      chat: options.chat ?? {},
      signers,
      summarize,
      unpublished,
    })
    if ("status" in decided) {
      received.push({ api, path, body, status: decided.status, violations: decided.violations })
      send(response, decided.status, decided.body)
      return
    }
    received.push({ api, path, body, status: 200, violations: [] })
    const turn = count++
    const given = decided.asked === null ? {} : await answer({ ...decided.asked, turn })
    const reply = decided.reply(given, given.idsOf ?? turn)
    if (body["stream"] === true) await stream(response, reply.stream, given)
    else if (given.cut !== undefined) response.destroy()
    else send(response, 200, reply.body)
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy()
      else send(response, 500, errorOf("openai", String(error), null, "api_error"))
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject)
    server.listen(0, "127.0.0.1", resolve)
  })
  const { port } = server.address() as AddressInfo
  const anthropicURL = `http://127.0.0.1:${port}`
  return {
    anthropicURL,
    openaiURL: `${anthropicURL}/v1`,
    received,
    get refused() {
      return received.filter(({ status }) => status >= 400)
    },
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error === undefined ? resolve() : reject(error)))
        server.closeAllConnections()
      }),
  }
}
