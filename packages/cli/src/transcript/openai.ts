/** Chat Completions messages: a list, `{ "messages": […] }`, or one per line. */
import { decodeMessage } from "@memfold/openai"
import { Either } from "effect"
import { brokenOf, type Decode, entriesOf, readChat } from "./chat.js"
import { nothing, type Reading } from "./Reader.js"
import type { Source } from "./source.js"

/** Decodes one message. */
export const decode: Decode = (value) => Either.map(decodeMessage(value), (message) => [message])

export const read = (source: Source): Reading =>
  Either.match(entriesOf(source), {
    onLeft: nothing,
    onRight: (entries) => readChat(entries, decode, brokenOf(source)),
  })
