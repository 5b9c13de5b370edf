/** Ids of items that belong together: an approval and its request, a tool that the provider runs and its result. */
import { Item } from "@memfold/message"
import type { CallIds } from "./CallIds.js"
import type { Fields } from "./fields.js"

const isId = (value: unknown): value is string => typeof value === "string" && value !== ""

/**
 * An item of a provider with the id under which its call is sent: its own, or that of the call that it answers. Any other item is given
 * back as it is. Give it the items of a conversation in order.
 *
 * @example
 * ```ts
 * import { CallIds, withPairId } from "@memfold/codec"
 *
 * const ids = new CallIds({ pattern: /^[\w-]+$/, reuse: false })
 * const call = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} }
 * console.log([call, call].map((one) => withPairId("anthropic", one, ids)["id"])) // ["srvtoolu_1", "srvtoolu_1_2"]
 * ```
 */
export const withPairId = (api: Item.ItemApi, data: Fields, ids: CallIds): Fields => {
  const type = typeof data["type"] === "string" ? data["type"] : ""
  const { call, answer } = Object.hasOwn(Item.items[api], type) ? Item.items[api][type]! : {}
  const name = (call ?? answer)?.ids.find((field) => isId(data[field]))
  if (name === undefined) return data
  const id = String(data[name])
  const sent = call === undefined ? ids.result(id, answer?.calls[0]) : ids.call(id, type)
  return sent === id ? data : { ...data, [name]: sent }
}
