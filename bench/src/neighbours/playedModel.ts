/** A model of the AI SDK that a function plays: for the AI SDK itself, and for Mastra. */
import type { Model } from "./Neighbour.js"

interface Prompted {
  readonly content: string | ReadonlyArray<{ readonly text?: string }>
}

const textOf = ({ content }: Prompted) =>
  typeof content === "string" ? content : content.map(({ text = "" }) => text).join("")

const usage = {
  inputTokens: { total: 40, noCache: 40, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 7, text: 7, reasoning: 0 },
}
const end = { finishReason: { unified: "stop", raw: undefined }, usage }

/** A model that a function plays. */
export const played = (model: Model) => {
  const said = ({ prompt }: { readonly prompt: ReadonlyArray<Prompted> }) => model(prompt.map(textOf))
  return {
    specificationVersion: "v4",
    provider: "bench",
    modelId: "played",
    supportedUrls: {},
    doGenerate: async (call: { readonly prompt: ReadonlyArray<Prompted> }) => ({
      content: [{ type: "text", text: await said(call) }],
      warnings: [],
      ...end,
    }),
    doStream: async (call: { readonly prompt: ReadonlyArray<Prompted> }) => {
      const text = await said(call)
      const parts = [
        { type: "stream-start", warnings: [] },
        { type: "text-start", id: "0" },
        { type: "text-delta", id: "0", delta: text },
        { type: "text-end", id: "0" },
        { type: "finish", ...end },
      ]
      const stream = new ReadableStream({
        start: (controller) => {
          for (const part of parts) controller.enqueue(part)
          controller.close()
        },
      })
      return { stream }
    },
  }
}
