/** The model: OpenAI's if a key is set, otherwise a stand-in that needs no network. */
import OpenAI from "openai"
import type { ChatCompletionMessageParam } from "openai/resources/chat/completions"

const { OPENAI_API_KEY, OPENAI_MODEL = "gpt-6.2-luna" } = process.env

export const reply = async (messages: Array<ChatCompletionMessageParam>): Promise<string> => {
  if (OPENAI_API_KEY === undefined) return `The stand-in was given a context of ${messages.length}.`
  const { choices } = await new OpenAI().chat.completions.create({ model: OPENAI_MODEL, messages })
  return choices[0]?.message.content ?? ""
}
