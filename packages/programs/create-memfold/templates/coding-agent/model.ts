/** The model: OpenAI's if a key is set, otherwise a stand-in that needs no network and knows one task. */
import { openai } from "@ai-sdk/openai"
import { generateText, type LanguageModel, simulateReadableStream } from "ai"
import { MockLanguageModelV3 } from "ai/test"

const { OPENAI_API_KEY, OPENAI_MODEL = "gpt-6.2-codex" } = process.env
const hasKey = OPENAI_API_KEY !== undefined

export const modelName = hasKey
  ? OPENAI_MODEL
  : "A stand-in works on one task; set OPENAI_API_KEY for a model."

/** What the stand-in does, step by step. */
const steps: ReadonlyArray<{ readonly tool: string; readonly input: object }> = [
  { tool: "list", input: {} },
  { tool: "read", input: { path: "sum.js" } },
  { tool: "read", input: { path: "sum.test.js" } },
  {
    tool: "write",
    input: { path: "product.js", text: "export const product = (one, other) => one * other\n" },
  },
  {
    tool: "write",
    input: {
      path: "product.test.js",
      text: 'import assert from "node:assert"\nimport { test } from "node:test"\nimport { product } from "./product.js"\n\ntest("multiplies", () => assert.equal(product(2, 3), 6))\n',
    },
  },
  { tool: "test", input: {} },
]

const usage = {
  inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 0, text: 0, reasoning: 0 },
}

const standIn = new MockLanguageModelV3({
  doStream: async ({ prompt }) => {
    const tasks = prompt.flatMap(({ role, content }) =>
      role === "user" ? content.flatMap((part) => (part.type === "text" ? [part.text] : [])) : [],
    )
    const done = prompt.length - 1 - prompt.findLastIndex(({ role }) => role === "user")
    const step = tasks.length > 1 ? undefined : steps[done / 2]
    const says =
      tasks.length > 1
        ? `You asked me before: “${tasks.at(-2)}” That is done: product.js is there, with a test. I know no other task; set OPENAI_API_KEY for a model.`
        : "I added product.js with a test, and the tests pass."
    const chunks =
      step === undefined
        ? [
            { type: "text-start" as const, id: "1" },
            {
              type: "text-delta" as const,
              id: "1",
              delta: says,
            },
            { type: "text-end" as const, id: "1" },
          ]
        : [
            {
              type: "tool-call" as const,
              toolCallId: crypto.randomUUID(),
              toolName: step.tool,
              input: JSON.stringify(step.input),
            },
          ]
    const unified = step === undefined ? ("stop" as const) : ("tool-calls" as const)
    return {
      stream: simulateReadableStream({
        chunks: [...chunks, { type: "finish" as const, finishReason: { unified, raw: unified }, usage }],
      }),
    }
  },
})

export const model: LanguageModel = hasKey ? openai(OPENAI_MODEL) : standIn

/** Writes summaries of old messages: with the model, or without one. */
export const complete = hasKey
  ? async ({ system, user }: { system: string; user: string }): Promise<string> =>
      (await generateText({ model, system, prompt: user })).text
  : ("extractive" as const)
