/** An agent with memory: all that an application writes. */
import { aiSdk } from "@memfold/ai-sdk"
import { type LanguageModel, stepCountIs, streamText, type ToolSet } from "ai"
import type { Memory } from "@memfold/core"

/** Answers what the user says; without a text, it goes on where the session stands. */
export const answer = async (
  memory: Memory.AnyMemory,
  { model, tools }: { readonly model: LanguageModel; readonly tools: ToolSet },
  id: string,
  text?: string,
): Promise<string> => {
  const chat = aiSdk(memory).session(id)
  const context = await chat.messages(text)
  const stopWhen = stepCountIs(12)
  return await streamText({ model, tools, ...context, ...chat.callbacks, stopWhen }).text
}
