/** The server over HTTP, for this machine only unless asked otherwise. */
import {
  hostHeaderValidation,
  type NodeIncomingMessageLike,
  originValidation,
  toNodeHandler,
} from "@modelcontextprotocol/node"
import { createMcpHandler } from "@modelcontextprotocol/server"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { type MemoryServerOptions, toolServer } from "./server.js"
import type { ServedMemory, ToolMemory } from "./tool.js"

/** Options of {@link serveHttp}. */
export interface HttpOptions extends MemoryServerOptions {
  /** The port; 0 (default) takes a free port. */
  readonly port?: number
  /** The address to listen on; `127.0.0.1` by default. Any other than this machine's own needs `allowedHosts`. */
  readonly host?: string
  /**
   * Names, besides `localhost`, `127.0.0.1` and `[::1]`, that requests may have as their host and origin. Requests under
   * other names are refused, so that no web page reaches the server through a browser.
   */
  readonly allowedHosts?: ReadonlyArray<string>
  /**
   * Gets errors that no client is told about. Their texts may quote a request; log their names only. What it throws is
   * ignored.
   */
  readonly onError?: (error: Error) => void
}

/** Answers requests of the protocol, as web servers and workers have them. */
export interface McpHandler {
  readonly fetch: (request: Request) => Promise<Response>
  readonly close: () => Promise<void>
}

/**
 * Answers requests of the protocol. It asks nobody who they are: `serve` of `@memfold/server` puts its tokens before it.
 *
 * @param memory - a memory of `createMemory` in the default format, `"openai"`, or what the tools use of one
 * @param options - which tools there are, how clients see the server, and who gets errors that no client is told about
 *
 * @example
 * ```ts
 * import { mcpHandler } from "@memfold/mcp"
 * import { serve } from "@memfold/server"
 *
 * const { url, close } = await serve({ store: "sqlite:chats.db", mcp: mcpHandler })
 * console.log(`${url}/mcp`)
 * await close()
 * ```
 */
export const mcpHandler = (
  memory: ToolMemory,
  { onError, ...options }: MemoryServerOptions & Pick<HttpOptions, "onError"> = {},
): McpHandler => {
  const handler = createMcpHandler(
    () => toolServer(memory, options),
    onError === undefined ? {} : { onerror: onError },
  )
  return {
    fetch: async (request) => {
      const response = await handler.fetch(request)
      // Whether a connection is kept, its server decides: the SDK keeps it also for a client that asks to close it, and waits for that.
      response.headers.delete("connection")
      return response
    },
    close: () => handler.close(),
  }
}

/** A server that is listening. */
export interface HttpServing {
  /** The address for clients, such as `http://127.0.0.1:8811/mcp`. */
  readonly url: string
  /** Ends the connections and stops listening. The memory stays open. */
  readonly close: () => Promise<void>
}

const localNames = ["localhost", "127.0.0.1", "[::1]"]

/** The addresses to listen on that only this machine reaches. */
const localAddresses: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "::1"])

const path = "/mcp"

/** How many connections there are at a time: the SDK reads bodies of up to 4 MiB, and all of them together have 256 MiB. */
const mostConnections = 64

/** How long a client may take to send a request, in milliseconds. */
const patience = { headersTimeout: 30_000, requestTimeout: 60_000, connectionsCheckingInterval: 5_000 }

/** The methods of the protocol. Of other ones, such as TRACE, the SDK can make no request. */
const methods: ReadonlyArray<string | undefined> = ["GET", "POST", "DELETE"]

/**
 * Serves a memory over HTTP, at `/mcp`. There is no log-in: whoever reaches the port and names an allowed host can read
 * and write every session. Put a server that checks who asks in front of it before you open it to a network.
 *
 * @param memory a memory of `createMemory` in the default format, `"openai"`
 * @param options where to listen, and which names requests may have
 * @returns the address, and how to stop
 * @throws RangeError: `host` is not an address of this machine alone, and `allowedHosts` is empty
 * @throws the error of `node:http` if the port cannot be listened on
 *
 * @example
 * ```ts
 * import { serveHttp } from "@memfold/mcp"
 * import { createMemory } from "memfold"
 *
 * const memory = createMemory({ store: "sqlite:memory.db" })
 * const { url, close } = await serveHttp(memory, { port: 8811 })
 * console.log(url)
 * await close()
 * await memory.close()
 * ```
 */
export const serveHttp = async (
  memory: ServedMemory,
  { port = 0, host = "127.0.0.1", allowedHosts = [], onError = () => {}, ...options }: HttpOptions = {},
): Promise<HttpServing> => {
  if (!localAddresses.has(host) && allowedHosts.length === 0) {
    throw new RangeError(
      `${host} can be reached from other machines: say in allowedHosts (--allow-host) which host names requests may have`,
    )
  }
  const report = (error: Error): void => {
    try {
      onError(error)
    } catch {
      // There is nobody left to tell.
    }
  }
  const names = [...localNames, ...allowedHosts]
  const validHost = hostHeaderValidation(names)
  const validOrigin = originValidation(names)
  const handler = mcpHandler(memory, { ...options, onError: report })
  const serve = toNodeHandler(handler, { onerror: report })
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (!validHost(request, response) || !validOrigin(request, response)) return
    // A target need not be the path of a URL: "//" is none.
    if (request.url?.split("?", 1)[0] !== path) {
      response.writeHead(404, { "content-type": "text/plain" }).end(`The MCP server is at ${path}\n`)
    } else if (!methods.includes(request.method)) {
      response.writeHead(405, { allow: methods.join(", ") }).end()
    } else {
      // The SDK's type has no place for a field that is undefined.
      await serve(request as NodeIncomingMessageLike, response)
    }
  }
  const server = createServer(patience, (request, response) => {
    // What is thrown here would end the process, for any request of anyone.
    answer(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy()
      else response.writeHead(500).end()
      report(error instanceof Error ? error : new Error(String(error)))
    })
  })
  server.maxConnections = mostConnections
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject)
    server.listen(port, host, resolve)
  })
  const { address, port: taken } = server.address() as AddressInfo
  return {
    url: `http://${address.includes(":") ? `[${address}]` : address}:${taken}${path}`,
    close: async () => {
      await handler.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
