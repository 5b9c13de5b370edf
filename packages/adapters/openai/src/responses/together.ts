/** Items that the API takes in one request. */
import * as Codec from "@memfold/codec"
import { itemTable } from "./form.js"

/** An item of a request, and the message that it is from. */
export interface SentItem {
  readonly fields: Codec.Fields
  readonly message: number
  /** Whether its response said that the API keeps it. */
  readonly isKept: boolean
}

export const withoutIds = (fields: Codec.Fields): Codec.Fields => {
  const { id: _id, status: _status, ...rest } = fields
  return rest
}

/** Whether reasoning came whole: the API reads it from its encrypted text, or has kept it and knows it by its id. */
const isWhole = ({ fields, isKept }: SentItem): boolean => {
  const { id, encrypted_content: encrypted, status } = fields
  const isThere = typeof encrypted === "string" ? encrypted !== "" : isKept && typeof id === "string"
  return isThere && status !== "incomplete" && status !== "in_progress"
}

/** Reasoning without what follows from it is refused: it ends a message, or what followed was left out. */
export const withoutLooseReasoning = (
  items: ReadonlyArray<SentItem>,
  omitted: Array<Codec.Omitted>,
): ReadonlyArray<SentItem> => {
  /** What follows from each item, behind its reasoning. */
  const nexts: Array<Codec.Fields | undefined> = []
  for (let at = items.length - 1; at >= 0; at--) {
    const behind = items[at + 1]?.fields
    nexts[at] = behind?.["type"] === "reasoning" ? nexts[at + 1] : behind
  }
  return items.filter((item, at) => {
    const { fields, message } = item
    if (fields["type"] !== "reasoning") return true
    const next = nexts[at]
    const follows =
      next !== undefined &&
      (next["role"] === undefined || next["role"] === "assistant") &&
      itemTable[String(next["type"])]?.answer === undefined &&
      isWhole(item)
    if (!follows) omitted.push({ message, part: "opaque" })
    return follows
  })
}

/**
 * Ids of items are unique in a request. An item with an id that was sent, which says the same in answer to the same, has been said: it
 * was appended twice. Some servers give each answer the same ids: what says something else stays, without its id where the API can do
 * without, or with another one.
 */
export const withUniqueIds = (
  items: ReadonlyArray<SentItem>,
  omitted: Array<Codec.Omitted>,
): ReadonlyArray<SentItem> => {
  const sent = new Map<unknown, ReadonlyArray<unknown>>()
  const renamed = new Map<string, number>()
  let [question, answers]: [unknown, string] = [null, ""]
  return items.flatMap((item) => {
    const { fields, message } = item
    const { id, type, role } = fields
    const { call, answer } = itemTable[String(type)] ?? {}
    // Outputs of tools come again in a loop that waits for something; how many there were says which one is answered.
    if (role === "user") [question, answers] = [fields, ""]
    else if (answer !== undefined) answers += `${String(type)} `
    if (typeof id !== "string" || answer?.ids.includes("id") === true) return [item]
    // What the provider ran has an id of its own, whatever was asked.
    const said = [fields, type === "message" || type === "reasoning" ? [question, answers] : null]
    const before = sent.get(id)
    if (before === undefined) {
      sent.set(id, said)
      return [item]
    }
    if (call?.by === "client" || answer !== undefined) return [{ ...item, fields: withoutIds(fields) }]
    if (Codec.isSame(said, before)) {
      omitted.push({ message, part: type === "message" ? "text" : "opaque" })
      return []
    }
    if (type === "message" || type === undefined) return [{ ...item, fields: withoutIds(fields) }]
    let count = renamed.get(id) ?? 2
    while (sent.has(`${id}_${count}`)) count++
    renamed.set(id, count)
    const other = { ...fields, id: `${id}_${count}` }
    sent.set(other.id, [other, ...said.slice(1)])
    return [{ ...item, fields: other }]
  })
}
