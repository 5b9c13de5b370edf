/** A proxy over a memory, in front of a server that plays the providers. */
import { type GivenSummarizer } from "@memfold/catalog"
import { EventLog, type Guard, InMemoryEventLog, Memory, type Strategy, Summarizer } from "@memfold/core"
import { providerServer, type ServerOptions } from "@memfold/strict-providers"
import { BreakEven } from "@memfold/strategy-break-even"
import { Effect, Exit, Layer, Scope } from "effect"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Calls } from "../src/Calls.js"
import { Proxy } from "../src/Proxy.js"
import type { ProxyRecord } from "../src/ProxyRecord.js"
import { Savings } from "../src/Savings.js"
import { upstreamSummarizer } from "../src/summarizer.js"

export interface ProxiedOptions extends ServerOptions {
  readonly strategy?: Strategy.Strategy
  readonly compaction?: Memory.CompactionOptions
  readonly otherwise?: GivenSummarizer
  readonly beforeAppend?: Guard.BeforeAppend
  readonly model?: string
  readonly maxBody?: number
  /** A log in place of an empty one. */
  readonly log?: EventLog.Service
  /** An upstream in place of the strict server. */
  readonly upstream?: string
  /** Where tokens are counted, which the strict server does not do. */
  readonly counter?: string
}

/** Starts both; `close` ends them. */
export const proxied = async (options: ProxiedOptions = {}) => {
  const {
    strategy = BreakEven(),
    compaction = { mode: "inline" },
    otherwise,
    beforeAppend,
    model,
    maxBody = 2 ** 24,
    log,
    upstream,
    counter,
    ...played
  } = options
  const provider = await providerServer(played)
  const scope = await Effect.runPromise(Scope.make())
  const calls = new Calls()
  const savings = new Savings()
  const summarizer = upstreamSummarizer(calls, {
    model,
    otherwise,
    onUsage: (session, model, usage) => savings.summary(session, model, usage),
  })
  const stored = log === undefined ? InMemoryEventLog.layer : Layer.succeed(EventLog.EventLog, log)
  const parts = Layer.merge(stored, Layer.succeed(Summarizer.Summarizer, summarizer))
  const memory = await Effect.runPromise(
    Memory.make({ strategy, compaction, ...(beforeAppend && { beforeAppend }) }).pipe(
      Effect.provide(parts),
      Scope.extend(scope),
    ),
  )
  const records: Array<ProxyRecord> = []
  const to = new URL(upstream ?? provider.anthropicURL)
  const proxyTo = (to: URL) =>
    new Proxy({
      memory,
      calls,
      savings,
      upstreams: { openai: to, anthropic: to },
      maxBody,
      onRequest: (record) => void records.push(record),
    })
  const proxy = proxyTo(to)
  const counting = counter === undefined ? null : proxyTo(new URL(counter))
  const server = createServer((request, response) => {
    if (counter !== undefined && request.url?.includes("count_tokens") === true)
      void counting!.handle(request, response)
    else if (proxy.takes(request)) void proxy.handle(request, response)
    else response.writeHead(404).end()
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    provider,
    memory,
    savings,
    records,
    /** How many connections clients have. */
    connections: () =>
      new Promise<number>((resolve, reject) =>
        server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
      ),
    said: async (session: string) => {
      const { messages } = await Memory.asPromise(memory.messages(session))
      return messages
    },
    close: async () => {
      server.close()
      server.closeAllConnections()
      await Effect.runPromise(Scope.close(scope, Exit.void))
      await provider.close()
    },
  }
}
