/** An agent with memory: all that an application writes. */
import type { Memory } from "@memfold/core"
import { openaiAgents } from "@memfold/openai-agents"
import { type Agent, run } from "@openai/agents"

/** Answers what the user says. */
export const answer = async (memory: Memory.AnyMemory, agent: Agent, id: string, text: string) => {
  const session = openaiAgents(memory).session(id)
  const { finalOutput } = await run(agent, text, { session })
  return String(finalOutput)
}
