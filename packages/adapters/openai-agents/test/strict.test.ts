/** Agents with the real models of the library, against a server that is as strict as OpenAI's APIs (law L17). */
import { Message } from "@memfold/core"
import { often } from "@memfold/harness/depth"
import { expectNothingRefused } from "@memfold/harness/toolLoops"
import * as Arbitrary from "@memfold/testing/arbitrary"
import { type AgentInputItem, run } from "@openai/agents"
import * as fc from "fast-check"
import { createMemory } from "memfold"
import { describe, expect, it } from "vitest"
import { MemfoldSession } from "../src/index.js"
import { apis, clerk, serving } from "./agents.js"

describe("generated loops of tools, compacted at every step", () => {
  for (const api of apis) {
    it(`are never refused, whatever the model says and calls: ${api}`, () =>
      expectNothingRefused(
        async ({ server, memory, text, output }) => {
          const agent = clerk(server, { api, name: "lookUp", execute: output })
          const session = new MemfoldSession(memory, "chat")
          // The library ends a run whose model makes a tool up, and one whose request it has made wrong: to Chat Completions, it sends a
          // text beside calls as something else. The conversation goes on.
          await run(agent, text, { session, maxTurns: 12 }).catch(() => undefined)
        },
        { checked: "first", takesItems: api === "responses", drops: api === "chat" ? "some" : "wrong calls" },
      ))
  }
})

describe("calls that wait for results when the user goes on", () => {
  const called = (...ids: ReadonlyArray<string>) =>
    Message.call(ids.map((id) => ({ id, name: `tool-${id}`, arguments: "{}" })))
  // What stands between a call and its result is anything that others have said in the session.
  const waiting = fc
    .tuple(fc.array(Arbitrary.conversation, { maxLength: 3 }), fc.nat({ max: 5 }))
    .map(([conversations, at]) => {
      const between: ReadonlyArray<Message.Message> = conversations
        .flat()
        .filter(({ role }) => role !== "user")
        .map((message) => ({ ...message, parts: message.parts.filter(({ type }) => type !== "opaque") }))
      const found = Message.result({ id: "found", output: "It is on its way." })
      return [
        Message.user("Where is it?"),
        called("waits", "found"),
        ...between.toSpliced(Math.min(at, between.length), 0, found),
      ]
    })

  // The SDK sends a text behind a call to Chat Completions as a message of its own, if the call came behind a text.
  const saidBehindCall: ReadonlyArray<Message.Message> = [
    Message.user("Where is it?"),
    called("waits", "found"),
    Message.result({ id: "found", output: "It is on its way." }),
    Message.assistant("One moment."),
    { role: "assistant", parts: [...called("late").parts, { type: "text", text: "I ask again." }] },
    Message.result({ id: "late", output: "Tomorrow." }),
  ]

  for (const api of apis) {
    it(`are no reason to refuse a request, wherever results of others stand: ${api}`, async () => {
      await using server = await serving(() => ({ text: "Done." }))
      await fc.assert(
        fc.asyncProperty(waiting, async (messages) => {
          await using memory = createMemory({ store: "memory:", compaction: { mode: "off" } })
          for (const message of messages) await memory.neutral.append("chat", message)
          await run(clerk(server, { api }), "And?", { session: new MemfoldSession(memory, "chat") })
          expect(JSON.stringify(server.received.at(-1)?.body)).toContain("It is on its way.")
        }),
        { numRuns: often(20, 300), examples: [[saidBehindCall]] },
      )
      expect(server.refused).toEqual([])
    })
  }
})

describe("items that wait for an answer when the user goes on", () => {
  type Given = Readonly<Record<string, unknown>>
  const caller = { type: "program", callerId: "p" }
  const program = { type: "program", id: "prg_1", callId: "p", code: "f()", fingerprint: "1" }
  const made = { type: "program_output", id: "po_1", callId: "p", output: "made", status: "completed" }
  const call = (callId: string): Given => ({
    type: "function_call",
    callId,
    name: "look_up",
    arguments: "{}",
    status: "completed",
    caller,
  })
  const found = (callId: string): Given => ({
    type: "function_call_result",
    callId,
    name: "look_up",
    status: "completed",
    output: { type: "text", text: "found" },
    caller,
  })
  const hosted = (id: string, type: string, data: Given): Given => ({
    type: "hosted_tool_call",
    id,
    name: type,
    providerData: { id, type, ...data },
  })
  const asked = hosted("mcpr_1", "mcp_approval_request", { server_label: "s", name: "n", arguments: "{}" })
  const search = { type: "tool_search_call", id: "ts_1", callId: "s", call_id: "s", execution: "client" }
  const custom = { type: "custom_tool_call", id: "ctc_1", call_id: "c", name: "x", input: "y" }
  const says = (text: string): Given => ({
    type: "message",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text }],
  })
  const thought = { type: "reasoning", id: "rs_1", content: [], providerData: { encrypted_content: "x" } }

  const waiting: Readonly<Record<string, ReadonlyArray<Given>>> = {
    "a program whose calls are answered": [program, call("a"), found("a")],
    "a program with calls, of which one waits": [program, call("a"), call("b"), found("a")],
    "a program whose calls wait": [program, call("a"), call("b")],
    "a second program": [program, call("a"), found("a"), made, { ...program, id: "prg_2", callId: "q" }],
    "an approval": [asked],
    "an approval beside words": [says("May I?"), asked],
    "a search for tools": [{ ...search, status: "completed", arguments: {} }],
    "a call of a custom tool": [{ type: "unknown", id: "ctc_1", providerData: custom }],
  }
  const begun = async (items: ReadonlyArray<Given>) => {
    const memory = createMemory({ store: "memory:", compaction: { mode: "inline" } })
    const given = [{ type: "message", role: "user", content: "Where is it?" }, ...items]
    await new MemfoldSession(memory, "chat").addItems(given as unknown as Array<AgentInputItem>)
    return memory
  }

  for (const [name, items] of Object.entries(waiting)) {
    it(`are no reason to refuse a request, then and later: ${name}`, async () => {
      for (const before of [[], [thought]]) {
        await using server = await serving(() => ({ text: "Done." }))
        await using memory = await begun([...before, ...items])
        for (const text of ["And?", "And now?"])
          await run(clerk(server), text, { session: new MemfoldSession(memory, "chat") })
        expect(server.refused).toEqual([])
      }
    })
  }

  it("of a program that has ended, the model gets everything", async () => {
    await using server = await serving(() => ({ text: "Done." }))
    await using memory = await begun([program, call("a"), found("a"), made, says("It is made.")])
    await run(clerk(server), "And?", { session: new MemfoldSession(memory, "chat") })
    const { input } = server.received.at(-1)!.body as { readonly input: ReadonlyArray<Given> }
    expect(input.map(({ type, role }) => type ?? role)).toEqual([
      "user",
      "program",
      "function_call",
      "function_call_output",
      "program_output",
      "message",
      "user",
    ])
  })
})
