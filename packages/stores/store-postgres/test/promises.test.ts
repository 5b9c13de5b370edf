/** `createMemory` over a PostgreSQL that is named by its URL, as applications use it. */
import { createMemory } from "memfold"
import { expect, it } from "vitest"
import { postgresServers } from "@memfold/harness/postgresServers"

const { server } = postgresServers()
it("two applications share the sessions of a database, and a third one finds them again", async () => {
  const { url } = await server({ config: ["fsync = off"] })
  const store = `${url.replace("postgres:", "postgresql:")}?schema=support`
  const [one, other] = [createMemory({ store }), createMemory({ store })]
  await one.append("chat-1", [{ role: "user", content: "Hello" }])
  await other.append("chat-1", [{ role: "assistant", content: "Hello to you" }])
  expect((await one.context("chat-1")).messages).toMatchObject([
    { content: "Hello" },
    { content: "Hello to you" },
  ])
  await Promise.all([one.close(), other.close()])
  const third = createMemory({ store })
  expect((await third.context("chat-1")).messages).toHaveLength(2)
  await third.close()
})
