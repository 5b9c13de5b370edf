/** A proxied session with a guard: what it leaves out is not asked for again, in summaries neither. */
import { Keep, Message, Strategy, SummaryMode, Trigger } from "@memfold/core"
import { guard } from "@memfold/guard"
import { planted } from "@memfold/harness/planted"
import OpenAI from "openai"
import { Effect } from "effect"
import { expect, it, onTestFinished } from "vitest"
import { proxied } from "./proxied.js"

const strategy = Strategy.make({
  name: "short",
  when: Trigger.backlog({ messages: 4 }),
  keep: Keep.lastMessages(2),
  summaryMode: SummaryMode.rolling,
})

const isSummary = (body: unknown): boolean => JSON.stringify(body).includes("cannot see the originals")

it.each(["new", "full"])(
  "asks for no summary behind what was left out: a client that sends what is %s",
  async (history) => {
    const secrets = planted(1).filter(({ kind }) => kind !== "privatekey")
    const text = secrets.map((one) => one.text).join("\n")
    const { url, provider, memory, said, close } = await proxied({
      strategy,
      beforeAppend: guard(),
      answer: ({ turn, body }) => ({
        text: isSummary(body) ? "A summary." : turn === 0 ? `You said: ${text}` : "Yes. ".repeat(40),
      }),
    })
    onTestFinished(close)
    const client = new OpenAI({
      baseURL: `${url}/v1`,
      apiKey: "key-of-the-client",
      maxRetries: 0,
      defaultHeaders: { "x-session-id": "s", "x-memfold-history": history },
    })
    const messages: Array<OpenAI.ChatCompletionMessageParam> = []
    for (let n = 0; n < 6; n++) {
      const question = { role: "user" as const, content: n === 0 ? text : `Question ${n}? `.repeat(20) }
      messages.push(question)
      const { choices } = await client.chat.completions.create({
        model: "gpt-6.2-sol",
        messages: history === "full" ? messages : [question],
      })
      // The client gets what the model said.
      if (n === 0) expect(choices[0]!.message.content).toContain(text)
      messages.push({ role: "assistant", content: choices[0]!.message.content })
    }
    expect((await Effect.runPromise(memory.branches("s"))).length).toBe(1)
    const stored = await said("s")
    expect(stored).toHaveLength(12)
    expect(
      stored
        .slice(0, 2)
        .map(Message.text)
        .join("\n")
        .match(/\[redacted: card\]/g),
    ).toHaveLength(6)
    const bodies = provider.received.map(({ body }) => JSON.stringify(body))
    const asked = bodies.filter((body) => isSummary(body))
    expect(asked.length).toBeGreaterThan(0)
    for (const body of history === "new" ? bodies.slice(1) : asked)
      expect(secrets.filter(({ secret }) => body.includes(secret)).map(({ name }) => name)).toEqual([])
  },
)
