/** The system message of a call: what the agent says, and what the session says. */
import { SystemMessage } from "@langchain/core/messages"
import type { LangChainContext } from "./encode.js"

type Content = SystemMessage["content"]

/** The system prompt of the agent, and behind it the system messages of the session. */
export const instructed = (
  own: SystemMessage,
  { system }: LangChainContext,
): { readonly systemMessage?: SystemMessage } => {
  if (system === undefined) return {}
  if (own.text === "") return { systemMessage: new SystemMessage({ content: system as Content }) }
  if (typeof own.content === "string" && typeof system === "string") {
    return { systemMessage: new SystemMessage({ content: `${own.content}\n\n${system}` }) }
  }
  const blocks = (content: unknown): ReadonlyArray<unknown> =>
    typeof content === "string" ? [{ type: "text", text: content }] : (content as ReadonlyArray<unknown>)
  return {
    systemMessage: new SystemMessage({ content: [...blocks(own.content), ...blocks(system)] as Content }),
  }
}
