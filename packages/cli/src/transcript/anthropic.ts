/**
 * Anthropic Messages: `{ "system": …, "messages": […] }`, a list, or one per line. The list may contain whole responses of
 * the API; their usage is read.
 */
import { decodeMessage, decodeMessages } from "@memfold/anthropic"
import type { Message } from "@memfold/core"
import { Either } from "effect"
import { brokenOf, type ChatEntry, type Decode, entriesOf, readChat } from "./chat.js"
import { nothing, type Reading } from "./Reader.js"
import { isObject, type JsonObject, type Problem, type Source } from "./source.js"

const systemField = (source: Source): Either.Either<ReadonlyArray<Message.Message>, Problem> => {
  const value = source.kind === "document" ? source.value : undefined
  const system = isObject(value) && Array.isArray(value["messages"]) ? value["system"] : undefined
  return Either.mapLeft(decodeMessages({ system, messages: [] }), ({ problem, allowed }) => ({
    problem: `the file ${problem}`,
    allowed,
  }))
}

const isSystem = ({ value }: ChatEntry): boolean => isObject(value) && value["role"] === "system"

/** System messages before the conversation become the `system` field; later ones stay in their place. */
const decoder = (entries: ReadonlyArray<ChatEntry>): Decode => {
  const begin = entries.findIndex((entry) => !isSystem(entry))
  return (value, index) =>
    begin >= 0 && index >= begin
      ? decodeMessage(value)
      : Either.flatMap(decodeMessage(value), () =>
          decodeMessages({ system: (value as JsonObject)["content"], messages: [] }),
        )
}

export const read = (source: Source): Reading =>
  Either.match(Either.all([systemField(source), entriesOf(source)]), {
    onLeft: nothing,
    onRight: ([system, entries]) => {
      const { messages, broken } = readChat(entries, decoder(entries), brokenOf(source))
      return { messages: [...system, ...messages], broken }
    },
  })
