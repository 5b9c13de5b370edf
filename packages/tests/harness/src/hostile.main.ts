/**
 * Hostile clients and a hostile upstream as a program: `hostile.main.js COUNT` prints the address of the upstream, reads that of a service,
 * sends so many requests, and prints how many were answered.
 */
import * as fc from "fast-check"
import { Agent } from "node:http"
import { createInterface } from "node:readline"
import { brokenAnswers, brokenUpstream, questions, statusOf } from "./brokenUpstreams.js"
import { attack } from "./malformedRequests.js"

const half = Number(process.argv[2] ?? 1_000) / 2
const upstream = await brokenUpstream()
console.log(upstream.url)
for await (const url of createInterface({ input: process.stdin })) {
  const paths = [
    "/v1/sessions/s/messages",
    "/v1/sessions/s/recall",
    "/v1/chat/completions",
    "/v1/responses",
    "/v1/conversations",
  ]
  const body = { model: "m", messages: [{ role: "user", content: "Hi" }], input: "Hi", query: "Hi" }
  const survived = await attack({ port: Number(new URL(url).port), count: half, seed: 1, paths, body })
  let answered = [...survived.answered.values()].reduce((sum, count) => sum + count, 0)
  const agent = new Agent({ keepAlive: true, maxSockets: 32 })
  const tried = fc.sample(fc.tuple(brokenAnswers, fc.constantFrom(...questions())), {
    numRuns: half,
    seed: 1,
  })
  for (let at = 0; at < tried.length; at += 32)
    await Promise.all(
      tried.slice(at, at + 32).map(async ([broken, question]) => {
        upstream.answers(broken)
        if ((await statusOf(url, agent, question)) !== null) answered++
      }),
    )
  agent.destroy()
  console.log(String(answered))
  break
}
upstream.close()
process.exit(0)
