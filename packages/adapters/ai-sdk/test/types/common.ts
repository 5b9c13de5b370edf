/**
 * The public functions with the types of `ai`, without a cast. This file is compiled against each major version, with the
 * sources of the package: nothing here runs.
 */
import {
  convertToModelMessages,
  generateText,
  type LanguageModel,
  type ModelMessage,
  streamText,
  tool,
  type UIMessage,
  wrapLanguageModel,
} from "ai"
import { createMemory } from "memfold"
import { z } from "zod"
import {
  type AiSdkContext,
  aiSdk,
  encodeContext,
  encodeMessages,
  encodeUIMessages,
  summarizer,
} from "../../src/index.js"

declare const model: LanguageModel
declare const plain: Parameters<typeof wrapLanguageModel>[0]["model"]
declare const said: UIMessage
declare const page: Array<UIMessage<{ readonly cost: number }, { readonly weather: string }>>
declare const written: ModelMessage

const search = tool({
  inputSchema: z.object({ query: z.string() }),
  execute: async ({ query }) => ({ found: query }),
})

export const uses = async () => {
  await using memory = createMemory({ store: "memory:", summarizer: summarizer({ model }) })
  await using anthropic = createMemory({ store: "memory:", format: "anthropic" })
  aiSdk(anthropic).session("chat")
  const chat = aiSdk(memory).session("chat", { instructions: "Be brief." })

  const context: AiSdkContext = await chat.messages(said)
  await chat.messages(page)
  await chat.messages(written)
  await chat.messages([written, written], { idempotencyKey: "request-1" })
  await chat.messages("text")
  await chat.messages()

  const streamed = streamText({
    model,
    tools: { search },
    ...context,
    prepareStep: chat.prepareStep,
    onFinish: chat.onFinish,
    onAbort: chat.onAbort,
  })
  streamText({ model, tools: { search }, ...context, ...chat.callbacks })
  streamed.toUIMessageStreamResponse({
    originalMessages: page,
    generateMessageId: chat.generateMessageId,
    onFinish: chat.onFinish,
  })
  await chat.onFinish(
    await generateText({ model, tools: { search }, ...context, prepareStep: chat.prepareStep }),
  )
  await chat.onFinish(await generateText({ model, ...context }))

  const middleware = chat.middleware({ idempotencyKey: "request-2" })
  await generateText({ model: wrapLanguageModel({ model: plain, middleware }), prompt: "text" })

  const messages: Array<ModelMessage> = encodeMessages([])
  const { system, messages: sent } = encodeContext([])
  await generateText({ model, messages: sent, ...(system === undefined ? {} : { system }) })
  const shown: Array<UIMessage> = await chat.uiMessages({ limit: 20 })
  convertToModelMessages(encodeUIMessages([]))
  return { messages, shown, layout: (await chat.context()).layout }
}
