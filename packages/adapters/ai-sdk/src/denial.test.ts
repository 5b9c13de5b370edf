/** Calls that a person denied, in sessions that went on without the tool, or approved. */
import { createOpenAI } from "@ai-sdk/openai"
import { modelMessageViolations, providerServer } from "@memfold/strict-providers"
import { generateText, type ModelMessage, tool } from "ai"
import { Either } from "effect"
import { createMemory } from "memfold"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { aiSdk, decodeMessages, encodeContext } from "./index.js"

const call = { type: "tool-call", toolCallId: "c", toolName: "pay", input: { euros: 400 } }
const request = { type: "tool-approval-request", approvalId: "a", toolCallId: "c" }
const response = (approved: boolean, reason?: string) => ({
  role: "tool",
  content: [{ type: "tool-approval-response", approvalId: "a", approved, reason }],
})

const results = async (...given: ReadonlyArray<unknown>) => {
  await using memory = createMemory({ store: "memory:" })
  const messages = Either.getOrThrow(decodeMessages(given))
  for (const message of messages) await memory.neutral.append("s", [message])
  const { messages: sent } = encodeContext((await memory.neutral.context("s")).messages)
  expect(modelMessageViolations({ messages: sent })).toEqual([])
  return JSON.stringify(sent.filter(({ role }) => role === "tool"))
}

describe("a call without a result", () => {
  const asked = [
    { role: "user", content: "Pay." },
    { role: "assistant", content: [call, request] },
  ]
  const next = { role: "user", content: "What now?" }

  it("was denied, for a reason", async () => {
    const told = await results(...asked, response(false, "Too much."), next)
    expect(told).toContain("(No result: the user denied the call. Reason: Too much.)")
    expect(told).not.toContain("interrupted")
  })

  it("was denied, for no reason", async () => {
    expect(await results(...asked, response(false), next)).toContain("(No result: the user denied the call.)")
  })

  it("was denied on a page", async () => {
    const part = {
      type: "tool-pay",
      toolCallId: "c",
      state: "approval-responded",
      input: { euros: 400 },
      approval: { id: "a", approved: false, reason: "Too much." },
    }
    const page = { id: "m", role: "assistant", parts: [{ type: "step-start" }, part] }
    expect(await results(asked[0], page, next)).toContain("denied the call. Reason: Too much.")
  })

  it("was interrupted, after an approval or without one", async () => {
    expect(await results(...asked, response(true), next)).toContain("(No result: the call was interrupted.)")
    expect(await results(...asked, next)).toContain("(No result: the call was interrupted.)")
  })

  it("is told apart from another call with its id", async () => {
    const told = await results(...asked, response(false, "Too much."), next, ...asked.slice(1), next)
    expect(told).toContain("Reason: Too much.")
    expect(told).toContain("interrupted")
  })
})

describe("calls that were approved", () => {
  const asked = (id: string) => ({
    role: "assistant",
    content: [
      { ...call, toolCallId: id },
      { ...request, toolCallId: id, approvalId: `of ${id}` },
    ],
  })
  const approved = (id: string) => ({
    role: "tool",
    content: [{ type: "tool-approval-response", approvalId: `of ${id}`, approved: true }],
  })
  const output = { type: "text", value: "seen" }

  it.each([
    [
      "another call and its result",
      [{ role: "assistant", content: [{ ...call, toolCallId: "d", toolName: "look" }] }],
      [{ role: "tool", content: [{ type: "tool-result", toolCallId: "d", toolName: "look", output }] }],
      "seen",
    ],
    ["another such call", [asked("d")], [approved("d")], "paid"],
    ["a text", [{ role: "assistant", content: "One moment." }], [], "One moment."],
  ])("are run where %s stands between them and their approval", async (_, between, behind, said) => {
    await using memory = createMemory({ store: "memory:" })
    const server = await providerServer({ answer: () => ({ text: "Paid." }) })
    const model = createOpenAI({ baseURL: server.openaiURL, apiKey: "local" }).chat("gpt-6.2-sol")
    const chat = aiSdk(memory).session("chat")
    for (const one of [{ role: "user", content: "Pay." }, asked("c"), ...between, ...behind, approved("c")])
      await chat.append(one as ModelMessage)
    const pay = tool({ inputSchema: z.object({ euros: z.number() }), execute: () => "paid" })
    const result = await generateText({ model, tools: { pay }, ...(await chat.messages()) })
    await chat.onEnd(result)
    const sent = JSON.stringify(server.received.at(-1)?.body)
    await server.close()
    expect(sent).toContain('"paid"')
    expect(sent).toContain(said)
    expect(server.refused).toEqual([])
  })
})
