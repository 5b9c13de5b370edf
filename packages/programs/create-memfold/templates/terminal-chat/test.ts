/** What was said in one session is there for the next question: `npm test` */
import assert from "node:assert"
import { test } from "node:test"
import { createMemory } from "memfold"
import { answerOf } from "./model.js"

test("a question is answered from what was told, however often it is asked", async () => {
  const memory = createMemory({ store: "memory:" })
  const ask = async (text: string) => {
    await memory.append("me", { role: "user", content: text })
    const { messages } = await memory.context("me")
    const answer = answerOf(messages)
    await memory.append("me", { role: "assistant", content: answer })
    return answer
  }
  assert.match(await ask("What is my order?"), /not told me/)
  assert.equal(await ask("My order is KX-4471."), "I will remember that.")
  for (let time = 0; time < 2; time++)
    assert.equal(await ask("What is my order?"), "You told me: My order is KX-4471.")
  await memory.close()
})
