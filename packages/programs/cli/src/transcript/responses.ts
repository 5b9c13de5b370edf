/** Items of OpenAI's Responses API: a list, `{ "input": […] }` or `{ "output": […] }`, or one per line. */
import { Responses } from "@memfold/openai"
import { Item } from "@memfold/core"
import { Either } from "effect"
import * as Field from "./Field.js"
import type { Said } from "./EntryFormat.js"
import { readerOf } from "./Log.js"
import { recorded, timeAt } from "./parts.js"
import { isObject, type Row, rowsOf, type Source } from "./source.js"

const readItem = Field.reads({
  object: Field.text,
  role: Field.any,
  type: Field.any,
  content: Field.records({ type: Field.text }),
})

/** Whether a value is an item that only the Responses API has, or a whole response. */
export const isItem = (value: unknown): boolean => {
  if (!isObject(value)) return false
  const { object, role, type, content } = readItem(value)
  const { anthropic, openai, "openai-responses": items } = Item.items
  if (object === "response") return true
  if (role === undefined)
    return (
      typeof type === "string" &&
      type !== "message" &&
      items[type] !== undefined &&
      items[type].within !== true
    )
  return content.some(
    ({ type: name = "" }) =>
      items[name]?.within === true && openai[name] === undefined && anthropic[name] === undefined,
  )
}

const itemsOf = ({ document, rows }: Source): ReadonlyArray<Row> => {
  if (document === undefined) return rows
  if (Array.isArray(document)) return rowsOf(document)
  const { input, messages, object } = isObject(document) ? document : {}
  const list = [input, messages].find(Array.isArray) as ReadonlyArray<unknown> | undefined
  return rowsOf(object === "response" || list === undefined ? [document] : list)
}

export const decodeItems = (items: ReadonlyArray<unknown>): Said =>
  Either.mapLeft(Responses.decodeItems(items), ({ problem, allowed }) => ({ problem, allowed }))

/** Whether an item belongs to an answer of the model, whose items make one message. */
export const isOfAnswer = (value: unknown): boolean => {
  const { role, type, object } = readItem(value)
  if (role !== undefined) return role === "assistant"
  return object === undefined && !(typeof type === "string" && /_(?:output|response)$/.test(type))
}

const untimed = (value: unknown): unknown => {
  if (!isObject(value)) return value
  const { timestamp: _, ...item } = value
  return item
}

export const reader = readerOf<unknown>({
  noun: "item",
  recognizes: (source) => itemsOf(source).some(({ value }) => isItem(value)),
  joins: (before, item) => isOfAnswer(before) && isOfAnswer(item),
  says: (items) =>
    Either.flatMap(timeAt(isObject(items[0]) ? items[0] : {}, "timestamp"), (time) =>
      Either.map(decodeItems(items.map(untimed)), (all) => all.map((one) => recorded(one, { time }))),
    ),
  logs: (source) => {
    const rows = itemsOf(source)
    return rows.some(({ value }) => isItem(value) || (isObject(value) && "role" in value))
      ? Either.right([{ rows, broken: source.broken }])
      : Either.left({ problem: "the file holds no items", allowed: "a list of items, or one item a line" })
  },
})
