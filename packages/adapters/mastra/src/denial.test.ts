/** Calls that a person denied, in threads that went on without the tool. */
import { Either } from "effect"
import { createMemory } from "memfold"
import { expect, it } from "vitest"
import { decodeMessages } from "./index.js"

const message = (role: string, ...parts: ReadonlyArray<unknown>) => ({
  id: role,
  role,
  createdAt: new Date(0),
  threadId: "s",
  resourceId: "ann",
  content: { format: 2, parts },
})

it.each([
  [
    { id: "a", approved: false, reason: "Too much." },
    "(No result: the user denied the call. Reason: Too much.)",
  ],
  [{ id: "a", approved: false }, "(No result: the user denied the call.)"],
  [{ id: "a" }, "(No result: the call was interrupted.)"],
])("a call with the approval %j is told as what it is", async (approval, words) => {
  await using memory = createMemory({ store: "memory:" })
  const invocation = { state: "call", toolCallId: "c", toolName: "pay", args: { euros: 400 }, approval }
  const given = [
    message("user", { type: "text", text: "Pay." }),
    message("assistant", { type: "tool-invocation", toolInvocation: invocation }),
    message("user", { type: "text", text: "What now?" }),
  ]
  for (const one of Either.getOrThrow(decodeMessages(given))) await memory.neutral.append("s", [one])
  const { messages } = await memory.neutral.context("s")
  expect(JSON.stringify(messages)).toContain(words)
})
