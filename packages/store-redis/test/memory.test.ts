/** What a message costs in the server's memory; the figures in the README come from the same measure. */
import { EventCodec, Message } from "@memfold/core"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { expect, it } from "vitest"
import { keysOf } from "../src/index.js"
import { servers } from "@memfold/harness/redisServers"
import { tenant, withLog } from "./support.js"

const { server } = servers()

it("a message takes at most twice its own JSON, its commit id and all included", async () => {
  const { url, client } = await server()
  const prefix = tenant()
  const count = 2_000
  const message = Message.user("It is a sentence, as people write them to each other. ".repeat(4))
  let json = 0
  await withLog({ url, prefix }, (log) =>
    Effect.forEach(Array.from({ length: count }), (_, index) => {
      const event = EventCodec.encode({ _tag: "MessageAppended", index, message, tokens: 50 })
      json += event.data.length
      const time = 1_700_000_000_000 + index * 10_000
      return log.append("s", [{ time, ...event }], { expectedVersion: index, batchId: randomUUID() })
    }),
  )
  const sizes = await Promise.all(
    Object.values(keysOf(prefix, "s")).map((key) => client.memory("USAGE", key, "SAMPLES", 0)),
  )
  const total = sizes.reduce<number>((sum, size) => sum + Number(size ?? 0), 0)
  console.log(`${Math.round(total / count)} bytes for a message of ${Math.round(json / count)} bytes of JSON`)
  expect(total / json).toBeLessThan(2)
})
