/** Agents with the real models of the library, against a server that is as strict as OpenAI's APIs (law L17). */
import { Message } from "@memfold/core"
import { often } from "@memfold/harness/depth"
import { expectNothingRefused } from "@memfold/harness/toolLoops"
import * as Arbitrary from "@memfold/testing/arbitrary"
import { run } from "@openai/agents"
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
