/** Items of the Responses API, as messages of LangChain name them. */
import { isFields, unusedId } from "@memfold/codec"
import type { formOf } from "./form.js"

/** Fields that name items of the Responses API, which refuses them without the reasoning they belong to. */
export const itemFields = ["reasoning", "__openai_function_call_ids__", "__openai_custom_tool_call_ids__"]

/** The ids of items that a message names outside of its content. */
const idsIn = ({ id, fields = {} }: ReturnType<typeof formOf>): ReadonlyArray<unknown> => {
  const { additional_kwargs: kwargs, response_metadata: metadata } = fields as Record<string, unknown>
  const beside = itemFields.flatMap((name) => {
    const field = isFields(kwargs) ? kwargs[name] : undefined
    return isFields(field) ? (name === "reasoning" ? [field["id"]] : Object.values(field)) : []
  })
  const output = isFields(metadata) && Array.isArray(metadata["output"]) ? metadata["output"] : []
  const items = output.map((item: unknown) => (isFields(item) ? item["id"] : undefined))
  return [id, ...beside, ...items].filter((one) => typeof one === "string")
}

/** The items of a conversation: their ids are unique in a request. Some servers use the ids of an answer again in the next one. */
export class Items {
  private readonly used = new Set<unknown>()
  private before: ReadonlySet<unknown> = new Set()

  /** Begins a message. Whether it is sent without the ids of its items: as is said, or because they come again. */
  begin(form: ReturnType<typeof formOf>, isLeft: boolean): boolean {
    this.before = new Set(this.used)
    const named = isLeft ? [] : idsIn(form)
    const comesAgain = named.some((id) => this.used.has(id))
    if (!comesAgain) for (const id of named) this.used.add(id)
    return isLeft || comesAgain
  }

  /** Reasoning of the message, with an id that no message before has; anything else as it is. */
  own<A>(item: A): A {
    const { type, id } = isFields(item) ? (item as Record<string, unknown>) : {}
    if (type !== "reasoning" || typeof id !== "string") return item
    const sent = unusedId(id, this.before)
    this.used.add(sent)
    return sent === id ? item : { ...item, id: sent }
  }
}
