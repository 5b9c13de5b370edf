/** A poisoned agent whose host reads its memory by tools: what a page told it comes back as the result of a tool or as material, and says so. */
import { Message, Wording } from "@memfold/core"
import { ordersIn, poisonedTurn, poisonIn } from "@memfold/harness/poison"
import { serve } from "@memfold/server"
import { expect, it, onTestFinished } from "vitest"
import { mcpHandler } from "../src/index.js"
import { overHttp } from "./clients.js"

const filler = /(?:a line of the file\. |It matters to us\. )+/g

it("no tool gives back the orders of a page as words of the conversation", async () => {
  const { url, close } = await serve({
    store: "memory:",
    port: 0,
    log: "none",
    mcp: mcpHandler,
    trust: "separate",
    strategy: "rolling-buffer",
    settings: { bufferSize: 2 },
    compaction: { mode: "manual" },
    // A model that repeats everything that it reads.
    summarizer: async ({ user }) => user.replaceAll(filler, ""),
  })
  onTestFinished(close)
  const { call } = await overHttp(`${url}/mcp`)
  let material = 0
  for (let turn = 0; turn < 22; turn++) {
    const [question, , result] = poisonedTurn(turn)
    const id = `c${turn}`
    const messages = [
      { role: "user", content: Message.text(question!) },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id, type: "function", function: { name: "list_files", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: id, content: Message.text(result!) },
      { role: "assistant", content: `The invoice ${turn} is right.` },
    ]
    expect(await call("append_messages", { session: "s", messages })).not.toHaveProperty("error")
    expect(await call("compact", { session: "s" })).not.toHaveProperty("error")
    const context = (await call("get_context", { session: "s" })) as unknown as {
      readonly messages: ReadonlyArray<{ readonly role: string; readonly content: unknown }>
    }
    for (const { role, content } of context.messages) {
      const text = typeof content === "string" ? content : JSON.stringify(content)
      if (role === "tool" || poisonIn(text).length + ordersIn(text).length === 0) continue
      expect({ turn, role, heading: text.startsWith(Wording.material.heading) }).toEqual({
        turn,
        role: "user",
        heading: true,
      })
      // Nothing inside can close the marks, and nothing but the footer is behind them.
      const [, mark] = /^<(material-\w+)>$/m.exec(text) ?? []
      expect(text.split(`</${mark}>`).slice(1)).toEqual([Wording.material.footer])
      material++
    }
  }
  expect(material).toBeGreaterThan(10)
  const found = (await call("search_memory", { session: "s", query: "invoice password" })) as unknown as {
    readonly messages: ReadonlyArray<{ readonly origin?: string; readonly text: string }>
  }
  const poisoned = found.messages.filter(({ text }) => poisonIn(text).length > 0)
  expect(poisoned.length).toBeGreaterThan(0)
  for (const { origin } of poisoned) expect(origin).toBe("tool")
})
