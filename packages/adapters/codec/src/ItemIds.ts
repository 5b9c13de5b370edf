/** Ids of items of OpenAI beside parts, as the AI SDK and Effect AI have them. */
import { type Fields, isFields } from "./fields.js"
import { withoutItemIds } from "./providerOptions.js"

/** An id, or one that is like it if it is used. */
export const unusedId = (id: string, used: ReadonlySet<unknown>): string => {
  let unused = id
  for (let count = 2; used.has(unused); count++) unused = `${id}_${count}`
  return unused
}

const types = new Set<unknown>(["text", "reasoning", "tool-call"])

/**
 * Makes the ids of items (`itemId` in the options of a provider) unique in a request, as OpenAI wants them. Parts of a message with the
 * same id are one item, but calls are one each. Some servers count the items of each answer anew: of a later item with an id that was
 * sent, reasoning gets another one, and everything else is sent without, because the API can do without. What the provider ran itself
 * is known by its id, which stays.
 *
 * @example
 * ```ts
 * import { ItemIds } from "@memfold/codec"
 *
 * const ids = new ItemIds("providerOptions")
 * const said = { type: "text", text: "4", providerOptions: { openai: { itemId: "msg_0" } } }
 * console.log([0, 1].map((message) => ids.sent(said, message)["providerOptions"])) // [{ openai: { itemId: "msg_0" } }, { openai: {} }]
 * ```
 */
export class ItemIds {
  /** What is sent for the ids of a message. */
  private readonly items = new Map<string, string | undefined>()
  private readonly used = new Set<string>()

  /** @param options - the field of a part in which its options are */
  constructor(private readonly options: "providerOptions" | "options") {}

  private idOf(id: string, type: unknown, message: number): string | undefined {
    const item = `${message} ${String(type)} ${id}`
    if (type !== "tool-call" && this.items.has(item)) return this.items.get(item)
    const sent = type === "reasoning" ? unusedId(id, this.used) : this.used.has(id) ? undefined : id
    if (sent !== undefined) this.used.add(sent)
    this.items.set(item, sent)
    return sent
  }

  private own(own: unknown, type: unknown, message: number): unknown {
    const { itemId: id, ...rest } = isFields(own) ? (own as { readonly itemId?: unknown }) : {}
    if (typeof id !== "string") return own
    const sent = this.idOf(id, type, message)
    return sent === undefined ? rest : { ...rest, itemId: sent }
  }

  /**
   * A part as it is sent.
   *
   * @param message - the position of the message that the part is in
   * @param isLeft - whether it is sent without the ids of its items: OpenAI refuses an item whose reasoning is missing
   */
  sent(part: Fields, message: number, isLeft = false): Fields {
    const { type, providerExecuted, [this.options]: options } = part as Record<string, unknown>
    if (!isFields(options)) return part
    if (isLeft) return { ...part, [this.options]: withoutItemIds(options) }
    if (!types.has(type) || providerExecuted === true) return part
    const entries = Object.entries(options)
    const sent = Object.fromEntries(entries.map(([name, own]) => [name, this.own(own, type, message)]))
    return { ...part, [this.options]: sent }
  }
}
