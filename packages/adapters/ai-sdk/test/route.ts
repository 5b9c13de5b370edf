/** The route of the README, for a model and with options of a test. */
import { type LanguageModel, type StopCondition, streamText, type ToolSet } from "ai"
import type { Memory } from "@memfold/core"
import { aiSdk, type PageRequest } from "../src/index.js"

/** What a test sets besides the model. */
export interface RouteOptions {
  readonly tools: ToolSet
  readonly stopWhen: StopCondition<ToolSet>
}

/** The routes of an application. */
export const routeOf = (memory: Memory.AnyMemory, model: LanguageModel, options: RouteOptions) => {
  const POST = async (request: Request) => {
    const { id, messages, trigger, messageId } = (await request.json()) as PageRequest
    const chat = aiSdk(memory).session(id)
    const context = await chat.messages(messages, { trigger, messageId })
    const result = streamText({ model, ...options, ...context, ...chat.callbacks })
    void result.consumeStream()
    const { generateMessageId } = chat
    return result.toUIMessageStreamResponse({ originalMessages: messages, generateMessageId })
  }
  const GET = async (id: string) => Response.json(await aiSdk(memory).session(id).uiMessages())
  return { POST, GET }
}
