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
  await ask("My order is KX-4471.")
  const answers = [await ask("What is my order?"), await ask("What is my order?")]
  for (const answer of answers) assert.match(answer, /: My order is KX-4471\.$/)
  assert.notEqual(answers[0], answers[1])
  await memory.close()
})
