/** Law L16 for LangChain. */
import {
  AIMessage,
  AIMessageChunk,
  type BaseMessage,
  HumanMessage,
  mapChatMessagesToStoredMessages,
  ToolMessage,
} from "@langchain/core/messages"
import { Message } from "@memfold/core"
import { Either, Schema } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { message } from "../test/arbitrary.js"
import { decodeMessages, encodeMessages } from "./index.js"
import { formOf } from "./form.js"

const stored = Schema.parseJson(Message.Message)
const throughLog = (messages: ReadonlyArray<Message.Message>) =>
  messages.map((one) => Schema.decodeSync(stored)(Schema.encodeSync(stored)(one)))

const decoded = (given: ReadonlyArray<unknown>) => Either.getOrThrow(decodeMessages(given))
const back = (given: ReadonlyArray<BaseMessage>) =>
  encodeMessages(throughLog(decoded(given)), { exact: true })

/** What a program can see of a message: its class and its own fields. */
const seen = (one: BaseMessage) => {
  const fields = Object.entries(one).filter(([name]) => !name.startsWith("lc_"))
  return { class: one.constructor.name, type: one.getType(), ...Object.fromEntries(fields) }
}

describe("L16: a codec reads back what it wrote", () => {
  it("messages come out of a log as they went in", () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 4 }), (given) => {
        expect(back(given).map(seen)).toEqual(given.map(seen))
      }),
      { numRuns: 1_000 },
    )
  })

  it("decode, encode, decode gives the same messages", () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 4 }), (given) => {
        const messages = decoded(given)
        expect(decoded(encodeMessages(messages, { exact: true }))).toEqual(messages)
      }),
      { numRuns: 500 },
    )
  })
})
