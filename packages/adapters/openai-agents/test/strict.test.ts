/** Agents with the real models of the library, against a server that is as strict as OpenAI's APIs (law L17). */
import { expectNothingRefused } from "@memfold/harness/toolLoops"
import { run } from "@openai/agents"
import { describe, it } from "vitest"
import { MemfoldSession } from "../src/index.js"
import { apis, clerk } from "./agents.js"

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
