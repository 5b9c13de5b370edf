/** Law L16 for Anthropic Messages. */
import { Message } from "@memfold/core"
import { Either, Schema } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { often } from "@memfold/harness/depth"
import { json, objectsWith, wireText as text } from "@memfold/testing/arbitrary"
import { decodeMessages, encodeMessages } from "./index.js"

const id = fc.constantFrom("toolu_1", "toolu_2", "toolu_2", "")
const object = objectsWith("cache_control", "citations", "__proto__", "caller", "toolset_name")

const textBlock = object({ type: fc.constant("text"), text })
const mediaType = fc.constantFrom("image/png", "application/pdf", "text/plain", "x;base64,y", "")
const source = fc.oneof(
  object({ type: fc.constant("base64"), media_type: mediaType, data: fc.base64String() }),
  object({ type: fc.constant("text"), media_type: mediaType, data: text }),
  object({
    type: fc.constant("url"),
    url: fc.constantFrom("https://example.org/a", "data:text/plain,a", "data:image/*;base64,A"),
  }),
  object({ type: fc.constant("file"), file_id: id }),
)
const fileBlock = object(
  { type: fc.constantFrom("image", "document"), source, title: fc.oneof(text, fc.constant(null)) },
  ["type", "source"],
)
const otherBlock = object({
  type: fc.constantFrom("image", "redacted_thinking", "server_tool_use", "x"),
  data: text,
})
const result = object(
  {
    type: fc.constant("tool_result"),
    tool_use_id: id,
    content: fc.oneof(text, fc.array(fc.oneof(textBlock, fileBlock, otherBlock), { maxLength: 3 })),
    is_error: fc.boolean(),
  },
  ["type", "tool_use_id"],
)
const spoken = fc.array(fc.oneof(textBlock, fileBlock, otherBlock), { maxLength: 3 })
const results = fc.array(result, { maxLength: 3 })

const said = fc.tuple(results, spoken).map(([first, others]) => [...first, ...others])
const thought = fc.array(
  fc.oneof(
    textBlock,
    fileBlock,
    otherBlock,
    object({ type: fc.constant("thinking"), thinking: text, signature: text }, ["type", "thinking"]),
    object({
      type: fc.constant("tool_use"),
      id,
      name: text,
      input: fc.dictionary(fc.string(), json),
    }),
  ),
  { maxLength: 4 },
)
const message = fc.oneof(
  object({ role: fc.constant("user"), content: fc.oneof(text, said) }),
  object({ role: fc.constant("assistant"), content: fc.oneof(text, thought) }),
  object({ role: fc.constant("system"), content: fc.oneof(text, spoken) }),
)
const conversation = fc.record(
  {
    system: fc.oneof(text, fc.array(fc.oneof(textBlock, otherBlock), { minLength: 1, maxLength: 3 })),
    messages: fc.array(message, { maxLength: 5 }),
  },
  { requiredKeys: ["messages"] },
)

describe("L16: a codec reads back what it wrote", () => {
  it("decode, encode, decode gives the same messages", () => {
    const shuffled = fc.oneof(
      message,
      object({ role: fc.constant("user"), content: fc.array(fc.oneof(result, textBlock, otherBlock)) }),
    )
    fc.assert(
      fc.property(fc.array(shuffled, { maxLength: 5 }), (wire) => {
        const messages = Either.getOrThrow(decodeMessages(wire))
        const written = encodeMessages(messages, { exact: true })
        expect(Either.getOrThrow(decodeMessages(written))).toEqual(messages)
      }),
      { numRuns: often(100, 500) },
    )
  })

  it("encode gives the very conversation that was decoded, results standing first", () => {
    fc.assert(
      fc.property(conversation, (wire) => {
        const written = encodeMessages(Either.getOrThrow(decodeMessages(wire)), { exact: true })
        expect(written).toEqual(wire)
        // toEqual does not look at own fields called __proto__, their text does.
        expect(JSON.stringify(written).length).toBe(JSON.stringify(wire).length)
      }),
      { numRuns: often(100, 500) },
    )
  })

  it("messages from elsewhere settle after one encoding", () => {
    const part: fc.Arbitrary<Message.Part> = fc.oneof(
      fc.record({ type: fc.constant("text" as const), text }),
      fc.record({ type: fc.constant("reasoning" as const), text }),
      fc.record({ type: fc.constant("tool-call" as const), id, name: text, arguments: text }),
      fc.record({ type: fc.constant("tool-result" as const), id, output: text }),
      fc.record({
        type: fc.constant("opaque" as const),
        provider: fc.constant("openai"),
        data: json,
      }),
    )
    const role = fc.constantFrom<Message.Role>("system", "user", "assistant", "tool")
    fc.assert(
      fc.property(fc.array(fc.record({ role, parts: fc.array(part, { maxLength: 4 }) })), (messages) => {
        const written = encodeMessages(messages)
        const roles = written.messages.map((one) => one.role)
        expect(roles.every((one, at) => one !== roles[at - 1])).toBe(true)
        expect(encodeMessages(Either.getOrThrow(decodeMessages(written)))).toEqual(written)
      }),
    )
  })

  it("what is decoded is a message that a log can store", () => {
    const stored = Schema.parseJson(Message.Message)
    fc.assert(
      fc.property(message, (wire) => {
        for (const one of Either.getOrThrow(decodeMessages([wire]))) {
          expect(Schema.decodeSync(stored)(Schema.encodeSync(stored)(one))).toEqual(one)
        }
      }),
    )
  })
})
