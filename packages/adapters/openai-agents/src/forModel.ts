/** Items of a history as every model of the SDK takes them. */
import { isFields } from "@memfold/codec"
import type { AgentInputItem } from "@openai/agents"
import { without } from "./names.js"

/** What an answer says besides its text, and no request takes. */
const ofAnswers = ["role", "refusal", "logprobs"]

const isEmpty = (value: unknown): boolean => Array.isArray(value) && value.length === 0

/**
 * A message of the assistant without what only an answer has: the id of a whole completion, and the fields of it that the SDK
 * keeps beside the text. Citations stay.
 */
export const forModel = (item: AgentInputItem): AgentInputItem => {
  if (item.type !== "message" || item.role !== "assistant") return item
  const content = item.content.map((part) => {
    const { providerData, ...rest } = part
    if (part.type !== "output_text" || !isFields(providerData)) return part
    const kept = without(
      providerData,
      ...ofAnswers,
      ...(isEmpty(providerData["annotations"]) ? ["annotations"] : []),
    )
    return Object.keys(kept).length === 0 ? rest : { ...rest, providerData: kept }
  })
  const { id, ...rest } = item
  return { ...(id === undefined || id.startsWith("chatcmpl-") ? rest : item), content } as AgentInputItem
}
