/** A poisoned agent behind the proxy: what a tool told it to do goes upstream as the result of a tool, or as material, and as nothing else. */
import Anthropic from "@anthropic-ai/sdk"
import { Message, Wording } from "@memfold/core"
import { ordersIn, poisonedTurn, poisonIn } from "@memfold/harness/poison"
import { Prices } from "@memfold/prices"
import { type Answering } from "@memfold/strict-providers"
import { BreakEven } from "@memfold/strategy-break-even"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { proxied } from "./proxied.js"

const eager = BreakEven({
  prices: { ...Prices.presets["claude-sonnet-5.5"], input: 0, output: 0, cacheWrite: 0, cached: 1 },
  blockTokens: 800,
  keepTokens: 200,
  keepMessages: 4,
})

const filler = /(?:a line of the file\. |It matters to us\. )+/g

/** What a prompt has between its marks: the summary so far, and the messages. */
const given = (messages: unknown): string => {
  const [{ content }] = messages as [{ readonly content: string }]
  const found = content.matchAll(
    /<(?<name>summary|conversation)-(?<mark>\w+)>\n(?<text>[^]*)\n<\/\k<name>-\k<mark>>/g,
  )
  return [...found].map(({ groups }) => groups!["text"]).join("\n")
}

/** A model that calls a tool when it is asked, and that repeats everything as a summary. */
const obedient: Answering = ({ body, afterResult }) =>
  JSON.stringify(body["system"] ?? "").includes("You write the memory of a conversation")
    ? { text: given(body["messages"]).replaceAll(filler, "") }
    : afterResult
      ? { text: "The invoice is right." }
      : { calls: [{ name: "list_files", arguments: { folder: "invoices" } }] }

interface Block {
  readonly type: string
  readonly text?: string
}

it("no order of a tool goes upstream as the words of the system, the user or the assistant", async () => {
  const strategy = { ...eager, context: { ...eager.context, trust: "separate" as const } }
  const { url, provider, memory, close } = await proxied({ strategy, answer: obedient })
  try {
    const client = new Anthropic({
      baseURL: url,
      apiKey: "key-of-the-client",
      maxRetries: 0,
      defaultHeaders: { "x-session-id": "agent-1" },
    })
    const history: Array<Anthropic.MessageParam> = []
    const ask = async () => {
      const { content } = await client.messages.create({
        model: "claude-sonnet-5-5",
        max_tokens: 1_000,
        system: "You check invoices.",
        tools: [
          {
            name: "list_files",
            description: "Lists files",
            input_schema: { type: "object", properties: {} },
          },
        ],
        messages: history,
      })
      history.push({ role: "assistant", content: content as unknown as Array<Anthropic.ContentBlockParam> })
      return content
    }
    for (let turn = 0; turn < 14; turn++) {
      const [question, , result] = poisonedTurn(turn)
      history.push({ role: "user", content: Message.text(question!) })
      const calls = (await ask()).filter((block) => block.type === "tool_use")
      history.push({
        role: "user",
        content: calls.map(({ id }) => ({
          type: "tool_result" as const,
          tool_use_id: id,
          content: Message.text(result!),
        })),
      })
      await ask()
    }
    expect(provider.refused.map(({ violations }) => violations)).toEqual([])
    const summaries = await Effect.runPromise(memory.summaries("agent-1"))
    expect(summaries.length).toBeGreaterThan(3)
    expect(
      summaries
        .flatMap(({ segments }) => segments)
        .some(({ kind, text }) => kind === "material" && poisonIn(text).length > 0),
    ).toBe(true)

    const asked = provider.received.filter(
      ({ body }) => !JSON.stringify(body["system"] ?? "").includes("You write the memory of a conversation"),
    )
    let quoted = 0
    for (const { body } of asked) {
      expect(poisonIn(JSON.stringify(body["system"]))).toEqual([])
      for (const { role, content } of body["messages"] as ReadonlyArray<{
        role: string
        content: string | ReadonlyArray<Block>
      }>) {
        const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content
        for (const { type, text = "" } of blocks) {
          if (type !== "text" || poisonIn(text).length + ordersIn(text).length === 0) continue
          expect(role).toBe("user")
          expect(text.startsWith(Wording.material.heading)).toBe(true)
          // Nothing inside can close the marks, and nothing but the footer is behind them.
          const [, mark] = /^<(material-\w+)>$/m.exec(text) ?? []
          expect(text.split(`</${mark}>`).slice(1)).toEqual([Wording.material.footer])
          quoted++
        }
      }
    }
    expect(quoted).toBeGreaterThan(0)
  } finally {
    await close()
  }
})
