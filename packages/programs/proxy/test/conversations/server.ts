/** The routes of conversations on a listener of their own, over a memory and an upstream of the test. */
import type { EventLog, Memory } from "@memfold/core"
import { InMemoryEventLog } from "@memfold/core"
import { memoryOver, pairs } from "@memfold/harness/engine"
import { conversationRoutes, type ConversationUpstream } from "@memfold/proxy"
import { type ProviderServer, providerServer, type ServerOptions } from "@memfold/strict-providers"
import { Effect, Exit, Scope } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import OpenAI from "openai"

/** A server of conversations, and what a test looks at. */
export interface ConversationServer {
  readonly client: OpenAI
  readonly url: string
  readonly memory: Memory.Service
  readonly log: EventLog.Service
  readonly upstream: ProviderServer
  readonly settled: () => Promise<void>
  readonly stop: () => Promise<void>
  readonly close: () => Promise<void>
}

/** Options of {@link conversationServer}. */
export interface Setting {
  readonly api?: ConversationUpstream["api"]
  readonly answer?: ServerOptions["answer"]
  readonly chat?: ServerOptions["chat"]
  readonly log?: EventLog.Service
  readonly memory?: Partial<Memory.Options>
}

/** Starts a strict upstream, and the routes in front of it. */
export const conversationServer = async ({
  api = "responses",
  answer,
  memory: options = {},
  chat,
  ...given
}: Setting = {}): Promise<ConversationServer> => {
  const upstream = await providerServer({
    ...(answer === undefined ? {} : { answer }),
    ...(chat === undefined ? {} : { chat }),
  })
  const scope = await Effect.runPromise(Scope.make())
  const log = given.log ?? (await Effect.runPromise(InMemoryEventLog.make))
  const memory = await Effect.runPromise(
    Scope.extend(memoryOver(log, { strategy: pairs, compaction: { mode: "manual" }, ...options }), scope),
  )
  const routes = conversationRoutes({ memory, upstream: { url: new URL(upstream.openaiURL), api } })
  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const text = Buffer.concat(chunks).toString("utf8")
      const body: unknown = text === "" ? undefined : JSON.parse(text)
      void routes.answer({ request, response, body })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    client: new OpenAI({ baseURL: `${url}/v1`, apiKey: "none", maxRetries: 0 }),
    url,
    memory,
    log,
    upstream,
    settled: routes.settled,
    stop: routes.stop,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await routes.settled()
      await upstream.close()
      await Effect.runPromise(Scope.close(scope, Exit.void))
    },
  }
}
