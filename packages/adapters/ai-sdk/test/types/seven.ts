/** What only `ai` 7 has; compiled, and never run. */
import { generateText, type LanguageModel, streamText, ToolLoopAgent } from "ai"
import { createMemory } from "memfold"
import { aiSdk } from "../../src/index.js"

declare const model: LanguageModel

export const uses = async () => {
  const chat = aiSdk(createMemory({ store: "memory:" })).session("chat")
  const { system, messages } = await chat.messages("Hello")
  const instructions = system === undefined ? {} : { instructions: system }
  const { prepareStep, onEnd, onAbort } = chat
  streamText({ model, ...instructions, messages, prepareStep, onEnd, onAbort }).toUIMessageStreamResponse({
    onEnd,
  })
  await generateText({ model, messages, prepareStep, onEnd })
  const agent = new ToolLoopAgent({ model, instructions: "You are a clerk.", prepareStep, onEnd })
  await chat.onEnd(await agent.generate({ messages }))
}
