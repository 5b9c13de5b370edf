/** Items of OpenAI's Responses API: a list, `{ "input": […] }` or `{ "output": […] }`, or one per line. */
import { Responses } from "@memfold/openai"
import { Item, type Message } from "@memfold/core"
import { Either } from "effect"
import { brokenOf, type ChatEntry } from "./chat.js"
import { listOf, nothing, objectOf, type Reader, type Reading, recorded, single, timeAt } from "./Reader.js"
import { isObject, type JsonObject, type Problem, type Source } from "./source.js"

/** Whether a value is an item that only the Responses API has, or a whole response. */
export const isItem = (value: unknown): value is JsonObject => {
  if (!isObject(value)) return false
  const { object, role, type, content } = value
  if (object === "response") return true
  const known = (name: unknown, within: boolean) =>
    typeof name === "string" &&
    Item.items["openai-responses"][name] !== undefined &&
    (within || Item.items["openai-responses"][name].within !== true)
  if (role === undefined) return type !== "message" && known(type, false)
  return listOf(content).some((part) => {
    const name = objectOf(part)["type"]
    return known(name, true) && Item.items.openai[String(name)] === undefined && !isAnthropic(name)
  })
}

const isAnthropic = (name: unknown): boolean => Item.items.anthropic[String(name)] !== undefined

const itemsOf = (source: Source): ReadonlyArray<ChatEntry> => {
  if (source.kind === "lines") return source.lines
  const { value } = source
  if (Array.isArray(value)) return value.map((one: unknown) => ({ value: one }))
  const { input, messages, object } = objectOf(value)
  const list = [input, messages].find(Array.isArray)
  return object === "response" || list === undefined
    ? [{ value }]
    : list.map((one: unknown) => ({ value: one }))
}

const problemAt = ({ line }: ChatEntry, index: number, { problem, allowed }: Problem): Problem => ({
  ...(line === undefined ? {} : { line }),
  problem: `${line === undefined ? `item ${index}` : "the item"} ${problem}`,
  ...(allowed === undefined ? {} : { allowed }),
})

/** Decodes neighbouring items. */
export const decodeItems = (
  items: ReadonlyArray<unknown>,
): Either.Either<ReadonlyArray<Message.Message>, Problem> =>
  Either.mapLeft(Responses.decodeItems(items), ({ problem, allowed }) => ({ problem, allowed }))

/** Whether an item belongs to an answer of the model, whose items make one message. */
export const isOfAnswer = (value: unknown): boolean => {
  const { role, type, object } = objectOf(value)
  if (role !== undefined) return role === "assistant"
  return object === undefined && !(typeof type === "string" && /_(?:output|response)$/.test(type))
}

/** Reads items one after another. The items of an answer are one message, with the time of the first. */
const readItems = (entries: ReadonlyArray<ChatEntry>, broken: Problem | undefined): Reading => {
  const messages: Array<Message.Message> = []
  let answer: Array<unknown> = []
  let began = 0
  const flush = (end: number): Problem | undefined => {
    if (answer.length === 0) return undefined
    const entry = entries[began]!
    const time = timeAt(objectOf(entry.value), "timestamp")
    const decoded = Either.flatMap(time, (at) =>
      Either.mapBoth(decodeItems(answer), {
        onLeft: (problem) => problemAt(entry, began, problem),
        onRight: (some) => some.map((message) => recorded(message, { time: at })),
      }),
    )
    answer = []
    began = end
    if (Either.isLeft(decoded)) return decoded.left
    messages.push(...decoded.right)
    return undefined
  }
  for (const [index, { value }] of entries.entries()) {
    const previous = entries[index - 1]?.value
    if (index > 0 && !(isOfAnswer(previous) && isOfAnswer(value))) {
      const problem = flush(index)
      if (problem !== undefined) return { messages, broken: problem }
    }
    const { timestamp: _, ...item } = objectOf(value)
    answer.push(isObject(value) ? item : value)
  }
  const problem = flush(entries.length)
  return { messages, broken: problem ?? broken }
}

export const reader: Reader = {
  recognizes: (source) => itemsOf(source).some(({ value }) => isItem(value)),
  find: (source) =>
    single(() => {
      const items = itemsOf(source)
      const hasItems = items.some(({ value }) => isItem(value) || "role" in objectOf(value))
      return !hasItems
        ? nothing({ problem: "the file holds no items", allowed: "a list of items, or one item a line" })
        : readItems(items, brokenOf(source))
    }),
}
