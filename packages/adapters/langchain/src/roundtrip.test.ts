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
import { often } from "@memfold/harness/depth"
import { message } from "../test/arbitrary.js"
import { decodeMessages, encodeMessages } from "./index.js"

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
      { numRuns: often(200, 1_000) },
    )
  })

  it("decode, encode, decode gives the same messages", () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 4 }), (given) => {
        const messages = decoded(given)
        expect(decoded(encodeMessages(messages, { exact: true }))).toEqual(messages)
      }),
      { numRuns: often(100, 500) },
    )
  })
})

describe("what is read as a message", () => {
  it("a chunk, as the message that it is", () => {
    const chunk = new AIMessageChunk({
      content: "Let me see.",
      id: "msg_1",
      tool_call_chunks: [
        { id: "c1", name: "search", args: '{"query":"one"}', index: 0, type: "tool_call_chunk" },
      ],
    })
    const [message] = back([chunk])
    expect(seen(message!)).toMatchObject({
      class: "AIMessage",
      id: "msg_1",
      content: "Let me see.",
      tool_calls: [{ id: "c1", name: "search", args: { query: "one" } }],
    })
  })

  it("stored messages, and what LangChain makes messages of", () => {
    const given = [
      new HumanMessage("Hello?"),
      new AIMessage({ content: "", tool_calls: [{ id: "c1", name: "search", args: {} }] }),
      new ToolMessage({ content: "found", tool_call_id: "c1", artifact: { rows: [1] } }),
    ]
    const read = encodeMessages(decoded(mapChatMessagesToStoredMessages(given)), { exact: true })
    expect(read.map(seen)).toEqual(given.map(seen))
    const like = ["Hello?", { role: "assistant", content: "Hello." }, ["human", "And now?"]]
    expect(encodeMessages(decoded(like)).map(({ type, text }) => [type, text])).toEqual([
      ["human", "Hello?"],
      ["ai", "Hello."],
      ["human", "And now?"],
    ])
  })

  it("nothing else, and without a word of it", () => {
    for (const wrong of [7, null, { content: "KX-4471" }, { type: "remove", id: "KX-4471" }]) {
      const read = decodeMessages([wrong])
      expect(Either.isLeft(read)).toBe(true)
      expect(String(Either.getLeft(read))).not.toContain("KX-4471")
    }
    expect(Either.isLeft(decodeMessages("text"))).toBe(true)
  })
})
