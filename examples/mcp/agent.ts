/** An agent whose memory is an MCP server: all that an application writes. */
import type { OpenAI } from "openai"

type Message = OpenAI.ChatCompletionMessageParam

/** A tool of the MCP server. */
export type Call = (tool: string, args: object) => Promise<Record<string, unknown>>
/** The tools of the application: answers the calls of a message. */
export type Use = (answer: OpenAI.ChatCompletionMessage) => Promise<ReadonlyArray<Message>>

/** Answers what the user says: the model and its tools take turns until it calls none. */
export const answer = async (
  memory: Call,
  ask: (messages: Array<Message>) => Promise<OpenAI.ChatCompletionMessage>,
  use: Use,
  session: string,
  text: string,
): Promise<string> => {
  let said: ReadonlyArray<Message> = [{ role: "user", content: text }]
  for (;;) {
    await memory("append_messages", { session, messages: said })
    const { messages } = await memory("get_context", { session })
    const message = await ask(messages as Array<Message>)
    await memory("append_messages", { session, messages: [message] })
    if (!message.tool_calls?.length) return message.content ?? ""
    said = await use(message)
  }
}
