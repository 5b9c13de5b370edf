/** Small agents on the official clients: each plays one turn of a session, with all the tool calls it takes. */
import Anthropic from "@anthropic-ai/sdk"
import type { ProviderServer } from "@memfold/strict-providers"
import OpenAI from "openai"
import type { PromiseMemory } from "../../src/index.js"

/** What runs between the requests of an agent, for tests that wait for something there. */
export type Between = () => Promise<void> | void

const schema = {
  type: "object" as const,
  properties: { request: { type: "string" }, depth: { type: "number" } },
}
const names = ["search", "read_file"]

/** What a tool finds: sometimes nothing, sometimes much, sometimes an error. */
const found = (name: string, input: unknown): { readonly text: string; readonly failed: boolean } => {
  const { request = "", depth = 0 } = input as { readonly request?: string; readonly depth?: number }
  return { text: `${name} ${request}: ${"line of text. ".repeat(depth * 3)}`, failed: depth === 7 }
}

/** A turn with Claude. The context goes to the client as it is, and the response to the memory. */
export const claude =
  (
    memory: PromiseMemory<"anthropic">,
    { anthropicURL }: ProviderServer,
    options: { readonly prefix: boolean },
  ) =>
  async (session: string, question: string, between: Between = () => {}): Promise<void> => {
    const client = new Anthropic({ apiKey: "none", baseURL: anthropicURL, maxRetries: 0 })
    await memory.append(session, { role: "user", content: question })
    for (;;) {
      const context = await memory.context(session)
      const response = await client.messages.create({
        model: "claude-sonnet-5-5",
        max_tokens: 1_000,
        thinking: { type: "adaptive" },
        tools: names.map((name) => ({ name, input_schema: schema })),
        ...context.messages,
      })
      await between()
      // The response goes into the memory as it is.
      await memory.append(session, response, options.prefix ? { prefix: context.prefix } : {})
      const calls = response.content.filter((block) => block.type === "tool_use")
      if (calls.length === 0) return
      await memory.append(session, {
        role: "user",
        content: calls.map(({ id, name, input }) => {
          const { text, failed } = found(name, input)
          return {
            type: "tool_result",
            tool_use_id: id,
            content: text,
            ...(failed ? { is_error: true } : {}),
          }
        }),
      })
    }
  }

/** A turn with GPT, through Chat Completions. */
export const gpt =
  (memory: PromiseMemory<"openai">, { openaiURL }: ProviderServer) =>
  async (session: string, question: string): Promise<void> => {
    const client = new OpenAI({ apiKey: "none", baseURL: openaiURL, maxRetries: 0 })
    await memory.append(session, { role: "user", content: question })
    for (;;) {
      const { messages } = await memory.context(session)
      const completion = await client.chat.completions.create({
        model: "gpt-6.2-sol",
        tools: names.map((name) => ({ type: "function" as const, function: { name, parameters: schema } })),
        messages,
      })
      await memory.append(session, completion)
      const { message } = completion.choices[0]!
      const calls = (message.tool_calls ?? []).filter((call) => call.type === "function")
      if (calls.length === 0) return
      for (const call of calls) {
        const { text } = found(call.function.name, JSON.parse(call.function.arguments))
        await memory.append(session, { role: "tool", tool_call_id: call.id, content: text })
      }
    }
  }

/** A turn with GPT, through Responses; nothing is stored by the provider. */
export const gptResponses =
  (memory: PromiseMemory<"openai-responses">, { openaiURL }: ProviderServer) =>
  async (session: string, question: string): Promise<void> => {
    const client = new OpenAI({ apiKey: "none", baseURL: openaiURL, maxRetries: 0 })
    await memory.append(session, { role: "user", content: question })
    for (;;) {
      const { messages, prefix } = await memory.context(session)
      const response = await client.responses.create({
        model: "gpt-6.2-sol",
        store: false,
        tools: names.map((name) => ({ type: "function" as const, name, parameters: schema, strict: false })),
        input: messages,
      })
      await memory.append(session, response, { prefix })
      // Newer models drop reasoning behind another prefix without an error; none of it is to be lost like that.
      if (response.input_transformations !== undefined) throw new Error("reasoning was dropped")
      const calls = response.output.filter((item) => item.type === "function_call")
      if (calls.length === 0) return
      for (const call of calls) {
        const { text } = found(call.name, JSON.parse(call.arguments))
        await memory.append(session, { type: "function_call_output", call_id: call.call_id, output: text })
      }
    }
  }
