/** Upstreams that answer with anything: each request gets an answer or a closed connection, and the service lives. */
import {
  brokenAnswers,
  brokenUpstream,
  type End,
  questions,
  statusOf,
} from "@memfold/harness/brokenUpstreams"
import { often } from "@memfold/harness/depth"
import * as fc from "fast-check"
import { Agent } from "node:http"
import { describe, expect, it, onTestFinished } from "vitest"
import { ask, started } from "./services.js"

const upstreamOf = async () => {
  const upstream = await brokenUpstream()
  onTestFinished(upstream.close)
  return upstream
}

describe("an upstream that answers with anything", () => {
  it("L19: ends no process and leaves no client waiting", async () => {
    const upstream = await upstreamOf()
    const { url } = await started({ upstream: upstream.url, upstreamTimeout: "100 millis" })
    const agent = new Agent({ keepAlive: true })
    onTestFinished(() => agent.destroy())
    const statuses = new Map<number | null, number>()
    const tried = fc.tuple(brokenAnswers, fc.constantFrom(...questions()))
    await fc.assert(
      fc.asyncProperty(tried, async ([broken, question]) => {
        upstream.answers(broken)
        const status = await statusOf(url, agent, question)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }),
      { numRuns: often(400, 10_000) },
    )
    expect((await ask(`${url}/health`)).status).toBe(200)
    // Good answers go on, and what is no answer is told.
    expect(statuses.get(200)).toBeGreaterThan(20)
    expect(statuses.get(502)).toBeGreaterThan(20)
  })

  it("L19: says what came in place of an answer", async () => {
    const upstream = await upstreamOf()
    const { url } = await started({ upstream: upstream.url, upstreamTimeout: "100 millis" })
    const codes = async (bytes: string, end: End = "end") => {
      upstream.answers({ bytes, cut: 0, end })
      const { status, body } = await ask(`${url}/v1/models`)
      return [status, (body as { readonly error?: { readonly reason?: string } }).error?.reason]
    }
    const whole = "Content-Length: 2\r\n\r\nok"
    expect(await codes(`HTTP/1.1 200 O\u0001K\r\n${whole}`)).toEqual([502, "HPE_INVALID_STATUS"])
    expect(await codes(`HTTP/1.1 099 Low\r\n${whole}`)).toEqual([502, "HPE_INVALID_STATUS"])
    const switching = "HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"
    expect(await codes(switching, "silent")).toEqual([502, "ECONNRESET"])
    expect(await codes(`HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nx`)).toEqual([
      502,
      "HPE_INVALID_TRANSFER_ENCODING",
    ])
    expect(await codes("HTTP/1.1 200 OK\r\n", "silent")).toEqual([502, "ETIMEDOUT"])
    expect(await codes("")).toEqual([502, "ECONNRESET"])
    // A client would wait for ever: each of these says that the upstream lives.
    const early = (count: number) =>
      `${"HTTP/1.1 102 Processing\r\n\r\n".repeat(count)}HTTP/1.1 200 OK\r\n${whole}`
    expect(await codes(early(100))).toEqual([200, undefined])
    expect(await codes(early(101))).toEqual([502, "HPE_TOO_MANY_INTERIM"])
  })
})
