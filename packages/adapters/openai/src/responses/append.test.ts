/** Responses that continue earlier ones, by the official client, against a server that is as strict as the API. */
import { providerServer, type ProviderServer } from "@memfold/strict-providers"
import { createMemory } from "memfold"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import OpenAI from "openai"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { Responses } from "../index.js"

const model = "gpt-6.2-sol"

let server: ProviderServer
let folder: string
let client: OpenAI

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "memfold-responses-"))
  server = await providerServer({
    answer: ({ turn, tools, afterResult }) =>
      tools.length > 0 && !afterResult
        ? { thinking: "Hm.", calls: [{ name: tools[0]!, arguments: { turn } }] }
        : { thinking: "Hm.", text: `Answer ${turn + 1}.` },
  })
  client = new OpenAI({ apiKey: "local", baseURL: server.openaiURL, maxRetries: 0 })
})
afterEach(async () => {
  await server.close()
  rmSync(folder, { recursive: true, force: true })
})

const open = () =>
  createMemory({
    store: `sqlite:${join(folder, "chats.db")}`,
    format: "openai-responses",
    compaction: { mode: "off" },
  })
type Opened = ReturnType<typeof open>

const tools: Array<OpenAI.Responses.Tool> = [
  {
    type: "function",
    name: "look_up",
    strict: true,
    parameters: {
      type: "object",
      properties: { turn: { type: "number" } },
      required: ["turn"],
      additionalProperties: false,
    },
  },
]

/** What an application does for a request with `input` and `previous_response_id`. */
const respond = async (
  memory: Opened,
  input: string | OpenAI.Responses.ResponseInput,
  { previousResponseId, withTools = false }: { previousResponseId?: string; withTools?: boolean } = {},
) => {
  await Responses.append(memory, "chat", input, { previousResponseId })
  const { messages, prefix } = await memory.context("chat", { model })
  const response = await client.responses.create({
    model,
    input: messages,
    store: false,
    include: ["reasoning.encrypted_content"],
    ...(withTools ? { tools } : {}),
  })
  await memory.append("chat", response, { prefix })
  return response
}

/** What the model got the last time: questions and answers, and the types of other items but reasoning. */
const sent = () =>
  (server.received.at(-1)!.body["input"] as ReadonlyArray<{ type?: string; content?: unknown }>).flatMap(
    ({ type = "message", content }) => {
      if (type === "reasoning") return []
      if (type !== "message") return [type]
      return Array.isArray(content) ? content.map(({ text }: { text: string }) => text) : [content]
    },
  )

describe("a response that continues an earlier one", () => {
  it("goes on from there, on another branch, and back, live and after a reload", async () => {
    const ids: Array<string> = []
    {
      await using memory = open()
      for (const question of ["q1", "q2", "q3"]) {
        const { id } = await respond(memory, question, { previousResponseId: ids.at(-1)! })
        ids.push(id)
      }
      expect(sent()).toEqual(["q1", "Answer 1.", "q2", "Answer 2.", "q3"])
      expect(await memory.branches("chat")).toHaveLength(1)
      const { id } = await respond(memory, "another q2", { previousResponseId: ids[0]! })
      ids.push(id)
      expect(sent()).toEqual(["q1", "Answer 1.", "another q2"])
    }
    {
      await using memory = open()
      await respond(memory, "q4", { previousResponseId: ids[3]! })
      expect(sent()).toEqual(["q1", "Answer 1.", "another q2", "Answer 4.", "q4"])
    }
    await using memory = open()
    // On the branch that was left: at its end, and before it.
    await respond(memory, "q4", { previousResponseId: ids[2]! })
    expect(sent()).toEqual(["q1", "Answer 1.", "q2", "Answer 2.", "q3", "Answer 3.", "q4"])
    await respond(memory, "yet another q3", { previousResponseId: ids[1]! })
    expect(sent()).toEqual(["q1", "Answer 1.", "q2", "Answer 2.", "yet another q3"])
    await respond(memory, "q3", { previousResponseId: ids[3]! })
    expect(sent()).toEqual(["q1", "Answer 1.", "another q2", "Answer 4.", "q3"])
    await respond(memory, "and more")
    expect(sent()).toEqual(["q1", "Answer 1.", "another q2", "Answer 4.", "q3", "Answer 8.", "and more"])
    expect(server.refused).toEqual([])
    // Reasoning is sent back: nothing before it has changed.
    expect(JSON.stringify(server.received.at(-1)?.body).split("encrypted_content").length).toBeGreaterThan(2)
  })

  it("may be one with calls", async () => {
    await using memory = open()
    const first = await respond(memory, "q1", { withTools: true })
    const outputs = (output: string) =>
      first.output.flatMap((item) =>
        item.type === "function_call"
          ? [{ type: "function_call_output" as const, call_id: item.call_id, output }]
          : [],
      )
    const options = { previousResponseId: first.id, withTools: true }
    await respond(memory, outputs("one"), options)
    await respond(memory, outputs("two"), options)
    expect(sent()).toEqual(["q1", "function_call", "function_call_output"])
    expect(JSON.stringify(server.received.at(-1)?.body["input"])).toContain('"output":"two"')
    expect(server.refused).toEqual([])
  })

  it("is applied once with a key, and is an error for a response that the session has not", async () => {
    await using memory = open()
    const first = await respond(memory, "q1")
    await respond(memory, "q2", { previousResponseId: first.id })
    const options = { previousResponseId: first.id, idempotencyKey: "request-3" }
    const done = await Responses.append(memory, "chat", "another q2", options)
    expect(done).toMatchObject({ from: 2, to: 3, left: 0, duplicate: false })
    expect(await Responses.append(memory, "chat", "another q2", options)).toMatchObject({ duplicate: true })
    expect(await memory.branches("chat")).toHaveLength(2)
    const unknown = Responses.append(memory, "chat", "q", { previousResponseId: "resp_none" })
    await expect(unknown).rejects.toMatchObject({ _tag: "UnknownResponse", response: "resp_none" })
    await expect(Responses.append(memory, "chat", [{ type: 1 }])).rejects.toMatchObject({
      _tag: "OpenAIDecodeError",
    })
    expect((await memory.state("chat")).total).toBe(3)
  })
})
