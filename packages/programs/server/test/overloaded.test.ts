/** Too many appends at once: the service says when to come again, and the client does. */
import { expect, it, onTestFinished, vi } from "vitest"
import { createClient } from "@memfold/client"
import { EventLog, InMemoryEventLog } from "@memfold/core"
import { Effect, Layer } from "effect"
import { ask, started, turn } from "./services.js"

it("is a 503 with Retry-After, and a client comes again then", async () => {
  const away = Effect.unsafeMakeSemaphore(1)
  const waiting = vi.fn<() => void>()
  const store = Layer.effect(
    EventLog.EventLog,
    Effect.map(InMemoryEventLog.make, (log) => ({
      ...log,
      append: (...given: Parameters<EventLog.Service["append"]>) => {
        waiting()
        return away.withPermits(1)(log.append(...given))
      },
    })),
  )
  const { url } = await started({ store, load: { appends: 2 } })
  const append = (session: string) =>
    ask(`${url}/v1/sessions/${session}/messages`, { body: { messages: turn(1) } })
  await Effect.runPromise(away.take(1))
  onTestFinished(() => void Effect.runPromise(away.release(1)))
  const stored = [append("a"), append("b")]
  await vi.waitFor(() => expect(waiting).toHaveBeenCalledTimes(2), { timeout: 60_000 })

  const refused = await append("c")
  expect(refused).toMatchObject({
    status: 503,
    body: { type: "urn:memfold:Overloaded", session: "c", retryAfter: expect.any(Number) },
  })
  expect(refused.headers.get("retry-after")).toBe(String((refused.body as { retryAfter: number }).retryAfter))
  const search = await ask(`${url}/v1/sessions/a/recall`, { body: { query: "order" } })
  expect([search.status, search.headers.get("retry-after")]).toEqual([503, expect.stringMatching(/^\d+$/)])

  const began = performance.now()
  const client = createClient({
    url,
    fetch: async (...given) => {
      const response = await fetch(...given)
      // The store is back once the client has been refused.
      if (response.status === 503) await Effect.runPromise(away.release(1))
      return response
    },
  })
  expect(await client.append("c", turn(2))).toMatchObject({ from: 0, to: 2 })
  // It says how long the appends before have waited, in whole seconds: at least one.
  expect(performance.now() - began).toBeGreaterThan(990)
  expect((await Promise.all(stored)).map(({ status }) => status)).toEqual([201, 201])
})
