/** A program for a browser: the memory with its own store, and with the log in memory. */
import { InMemoryEventLog } from "@memfold/core"
import { createMemory } from "memfold"

const run = async () => {
  const contexts = []
  for (const store of ["memory:", InMemoryEventLog.layer]) {
    const memory = createMemory({ store })
    await memory.append("s", [
      { role: "user", content: "Hello" },
      { role: "assistant", content: "Hi" },
    ])
    contexts.push((await memory.context("s")).messages)
    await memory.close()
  }
  let refused
  try {
    createMemory({ store: "sqlite:a.db" })
  } catch (error) {
    refused = error.allowed
  }
  return { contexts, refused }
}

export default run()
