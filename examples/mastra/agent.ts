/** An agent with memory: all that an application writes. */
import { Agent, type AgentConfig } from "@mastra/core/agent"
import type { Memory } from "@memfold/core"
import { mastra } from "@memfold/mastra"

/** Answers what the user says; without a text, it goes on where the session stands. */
export const answer = async (
  memory: Memory.AnyMemory,
  { model, tools }: Required<Pick<AgentConfig, "model" | "tools">>,
  id: string,
  text?: string,
): Promise<string> => {
  const instructions = "Be brief."
  const agent = new Agent({
    id: "support",
    name: "Support",
    instructions,
    model,
    tools,
    ...mastra(memory).processors(),
  })
  const stream = await agent.stream(text ?? [], { memory: { thread: id, resource: "user-1" }, maxSteps: 12 })
  return await stream.text
}
