/** An answer that is in the log twice, because an append was tried again without a key: a context shows it once. */
import type { Message, Part } from "@memfold/message/Message"
import type { Entry } from "../session/SessionState.js"
import { leftOutOf } from "./boundParts.js"
import type { PairedItems } from "./unpairedItems.js"

type Fields = Readonly<Record<string, unknown>>

const fieldsOf = (value: unknown): Fields =>
  typeof value === "object" && value !== null ? (value as Fields) : {}

const isId = (value: unknown): boolean => typeof value === "string" && value !== ""

/** Whether a provider gave the part an id: a call, or an item. */
const isIdentified = (part: Part): boolean =>
  (part.type === "tool-call" && isId(part.id)) ||
  (part.type === "opaque" && isId(fieldsOf(part.data)["id"])) ||
  Object.values(part.providerData ?? {}).some((form) =>
    [fieldsOf(form)["item"], fieldsOf(form)["fields"]].some((fields) => isId(fieldsOf(fields)["id"])),
  )

/** Whether the message came as a response, which has an id of its own. */
const isResponse = ({ metadata = {} }: Message): boolean =>
  Object.values(metadata).some((form) => isId(fieldsOf(fieldsOf(form)["response"])["id"]))

/**
 * Whether a message is the answer before it once more: equal parts, with an id that a provider gives only once. Without an id,
 * an assistant may well repeat an answer.
 */
const isDoubled = (before: Message, message: Message): boolean =>
  before.role === "assistant" &&
  message.role === "assistant" &&
  message.parts.length === before.parts.length &&
  (message.parts.some(isIdentified) || isResponse(message)) &&
  JSON.stringify([message.parts, message.metadata]) === JSON.stringify([before.parts, before.metadata])

/** The entries with nothing in doubled answers, and the sections that name these. */
export const leaveOutDoubled = (entries: ReadonlyArray<Entry>): PairedItems => {
  const doubled = entries.filter((entry, at) => {
    const before = entries[at - 1]
    return before?.index === entry.index - 1 && isDoubled(before.message, entry.message)
  })
  if (doubled.length === 0) return { entries, leftOut: [] }
  return {
    entries: entries.map((entry) =>
      doubled.includes(entry) ? { ...entry, message: { ...entry.message, parts: [] }, tokens: 0 } : entry,
    ),
    leftOut: doubled.map((entry) =>
      leftOutOf(
        entry,
        entry.message.parts.map(({ type }) => type),
      ),
    ),
  }
}
