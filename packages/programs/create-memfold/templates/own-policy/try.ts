/** The policy at work on a conversation of 200 messages: `npm start`. */
import { createMemory } from "memfold"
import { policy } from "./policy.js"

const memory = createMemory({
  store: "memory:",
  strategy: policy,
  // Compactions run within the append that makes them due.
  compaction: { mode: "inline" },
})

for (let turn = 1; turn <= 100; turn++) {
  const order = `KX-${1_000 + turn}`
  await memory.append("chat", [
    { role: "user", content: `Where is my order ${order}? ${"It should have been here by now. ".repeat(8)}` },
    {
      role: "assistant",
      content: `Order ${order} left the depot in Graz. ${"It is on its way to you. ".repeat(8)}`,
    },
  ])
}

for (const { coveredTo, tokens } of (await memory.summaries("chat")).slice(-5))
  console.log(`messages 0 to ${coveredTo - 1} became a summary of ${tokens} tokens`)
const { messages, tokens } = await memory.context("chat")
console.log(`200 messages were said; the model gets ${messages.length}, ${tokens} tokens.`)
await memory.close()
