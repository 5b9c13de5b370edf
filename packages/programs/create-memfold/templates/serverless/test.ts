/** A request that the platform sends twice is answered once: `npm test` */
import assert from "node:assert"
import { test } from "node:test"
import { createMemory } from "memfold"
import handler from "./function.js"
import { store } from "./store.js"

const session = crypto.randomUUID()
const send = async (text: string, id: string) => {
  const headers = { "content-type": "application/json", "x-request-id": id }
  const request = new Request(`http://local/${session}`, {
    method: "POST",
    headers,
    body: JSON.stringify({ text }),
  })
  return (await handler.fetch(request)).json()
}

test("the same request again is stored once, and gets the same answer", async () => {
  const first = await send("My order is KX-4471.", "request-1")
  assert.deepEqual((await send("My order is KX-4471.", "request-1")).answer, first.answer)
  assert.match((await send("What is my order?", "request-2")).answer, /: My order is KX-4471\.$/)
  const memory = createMemory({ store })
  assert.equal((await memory.messages(session)).total, 4)
  await memory.close()
  process.exit()
})
