/**
 * The export of Grok (`prod-grok-backend.json`): `{ "conversations": [{ "conversation", "responses": [{ "response" }] }] }`.
 *
 * - a response that names another than the one before it (`parent_response_id`) begins a branch
 * - times are ISO 8601, or MongoDB's `{ "$date": { "$numberLong" } }`
 */
import type { Message } from "@memfold/core"
import { Either } from "effect"
import * as Field from "./Field.js"
import type { Said } from "./EntryFormat.js"
import { readerOf } from "./Log.js"
import { allRecorded, reasoning, text, timeAt } from "./parts.js"
import { isObject, type Source } from "./source.js"

const readExport = Field.reads({ conversations: Field.list })
const readConversation = Field.reads({
  conversation: Field.record({ id: Field.text }),
  responses: Field.list,
})
const readResponse = Field.reads({
  response: Field.record({
    _id: Field.text,
    parent_response_id: Field.text,
    sender: Field.text,
    message: Field.text,
    thinking_trace: Field.text,
    model: Field.text,
    create_time: Field.any,
  }),
})
type Entry = ReturnType<typeof readResponse>["response"]

const conversationsIn = ({ document }: Source) => readExport(document).conversations

const isConversation = (value: unknown): boolean =>
  isObject(value) && Array.isArray(value["responses"]) && isObject(value["conversation"])

const readDate = Field.reads({ $date: Field.any })
const readLong = Field.reads({ $numberLong: Field.any })

/** A time as a number, where MongoDB wrote it. */
const dateOf = (value: unknown): unknown => {
  if (!isObject(value)) return value
  const { $date: date } = readDate(value)
  if (!isObject(date)) return date
  const { $numberLong: long } = readLong(date)
  return long === undefined ? undefined : Number(long)
}

const says = (entry: Entry): Said =>
  Either.gen(function* () {
    const sender = (entry.sender ?? "").toLowerCase()
    if (sender !== "human" && sender !== "assistant")
      return yield* Either.left({ problem: "has an unknown sender", allowed: "human, assistant" })
    const { _id: id, model, message, thinking_trace: thought, create_time: made } = entry
    const time = yield* timeAt({ create_time: dateOf(made) }, "create_time")
    const parts: ReadonlyArray<Message.Part> = [
      ...text(thought).map((one) => reasoning(one.text)),
      ...text(message),
    ]
    return sender === "human"
      ? allRecorded([{ role: "user", parts }], { id, time })
      : allRecorded([{ role: "assistant", parts }], { id, time, model })
  })

export const reader = readerOf<Entry>({
  noun: "response",
  recognizes: (source) => conversationsIn(source).some(isConversation),
  logs: (source) => {
    const all = conversationsIn(source)
    return !all.some(isConversation)
      ? Either.left({ problem: "the file holds no conversations of Grok", allowed: "its export" })
      : Either.right(
          all.map((value, at) => {
            const { conversation, responses } = readConversation(value)
            return {
              id: conversation.id,
              raw: [{ value, index: at, list: "conversations" }],
              rows: responses.map((one, index) => ({ index, value: readResponse(one).response })),
            }
          }),
        )
  },
  id: ({ _id: id }) => id,
  isTree: true,
  parent: ({ parent_response_id: parent }) => parent,
  says: ([entry]) => says(entry),
})
