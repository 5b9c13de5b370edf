/** What was told is there for the next question, and another answer has other words: `npm test` */
import assert from "node:assert"
import { test } from "node:test"
import { aiSdk } from "@memfold/ai-sdk"
import { streamText } from "ai"
import { createMemory } from "memfold"
import { model } from "./model.js"

test("a question is answered from what was told, and again in other words", async () => {
  const memory = createMemory({ store: "memory:" })
  const ask = async (text?: string) => {
    const chat = aiSdk(memory).session("chat")
    if (text === undefined) await memory.regenerate("chat")
    const result = streamText({ model, ...(await chat.messages(text)), ...chat.callbacks })
    return result.text
  }
  await ask("My order is KX-4471.")
  const first = await ask("What is my order?")
  const again = await ask()
  for (const answer of [first, again]) assert.match(answer, /My order is KX-4471\./)
  assert.notEqual(again, first)
  assert.equal((await memory.messages("chat")).total, 4)
  await memory.close()
})
