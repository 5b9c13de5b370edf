/** Web processes that append, and `memfold worker` processes that compact, over a real PostgreSQL. */
import { often } from "@memfold/harness/depth"
import { eventually } from "@memfold/harness/eventually"
import { postgresServers } from "@memfold/harness/postgresServers"
import { dieWithServer, giveUp, killWorkers, sweepUp, talk, web, workers } from "@memfold/harness/workers"
import { join } from "node:path"
import { expect, it, vi } from "vitest"
import { make } from "../src/index.js"

const { server } = postgresServers()
const atWork = workers()
vi.setConfig({ testTimeout: 300_000 })

it("a web process appends, `memfold worker` compacts, and the web process's next context has the summary", async () => {
  const { url } = await server()
  const place = { store: url, queue: url }
  const memory = web(place)
  await memory.append("chat", talk(16))
  expect((await memory.context("chat")).messages).toHaveLength(16)
  const worker = atWork.worker(place)
  const line = JSON.parse((await worker.line()) ?? "{}") as object
  expect(line).toMatchObject({ type: "compaction", session: "chat", outcome: "Committed" })
  const { messages } = await memory.context("chat")
  expect(messages[0]).toMatchObject({ content: expect.stringContaining("they talked about orders") })
  expect(messages.length).toBeLessThan(16)
  await memory.close()
})

it(`${often(3, 20)} workers killed in the middle of a summary lose nothing and write nothing twice`, async () => {
  const { url } = await server()
  await killWorkers(atWork, { store: url, queue: url }, often(3, 20))
})

it("while the queue is gone, appends go on; when it is back, so does the work", async () => {
  const queue = await server()
  const place = { store: `sqlite:${join(atWork.folder, "gone.db")}`, queue: queue.url }
  const memory = web(place)
  await memory.append("chat", talk(2))
  await queue.kill()
  await memory.append("chat", talk(14, 2))
  expect((await memory.state("chat")).total).toBe(16)
  await queue.start()
  atWork.worker(place)
  await eventually("the work goes on", async () => (await memory.state("chat")).summary !== null)
  await memory.close()
})

it("a worker that is killed while the queue's server restarts loses no look", async () => {
  const queue = await server()
  const store = `sqlite:${join(atWork.folder, "taken.db")}`
  await dieWithServer(atWork, { store, queue: queue.url }, queue)
})

it("a sweep finds a session whose look was lost", async () => {
  const { url } = await server()
  await sweepUp(atWork, { store: url, queue: url })
})

it("`memfold dead-letters` lists what a worker has given up, and puts it into the queue again", async () => {
  const { url } = await server()
  await giveUp(atWork, url, make({ url }))
})
