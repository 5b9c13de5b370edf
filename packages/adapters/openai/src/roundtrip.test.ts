/** Law L16 for Chat Completions. */
import { Either, Schema } from "effect"
import { Message } from "@memfold/core"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { often } from "@memfold/harness/depth"
import { json, wireText as text } from "@memfold/testing/arbitrary"
import { decodeMessages, encodeMessages } from "./index.js"

const id = fc.constantFrom("call_1", "call_2", "call_2", "")
const extra = fc.dictionary(fc.constantFrom("cache_control", "index", "__proto__", "id_", "trace"), json, {
  maxKeys: 2,
})

/** Any of the fields of `model` may be missing where `requiredKeys` does not name it; unknown ones may be there. */
const object = <T extends object>(
  model: { [K in keyof T]: fc.Arbitrary<T[K]> },
  requiredKeys?: Array<keyof T & string>,
) =>
  fc
    .tuple(
      extra,
      fc.record<T, keyof T & string>(model, requiredKeys === undefined ? {} : ({ requiredKeys } as object)),
    )
    .map(([more, known]) => ({ ...more, ...known }))

const textPart = object({ type: fc.constant("text"), text })
const uri = fc.constantFrom(
  "https://example.org/a.png",
  "data:image/png;base64,AAAA",
  "data:image/png;charset=x;base64,AAAA",
  "data:application/pdf;base64,AAAA",
  "data:audio/wav;base64,AAAA",
  "data:,",
  "data:;base64,AAAA",
)
const otherPart = fc.oneof(
  object({
    type: fc.constant("image_url"),
    image_url: object({ url: uri, detail: fc.constant("low") }, ["url"]),
  }),
  object({
    type: fc.constant("input_audio"),
    input_audio: object({
      data: fc.base64String(),
      format: fc.constantFrom("mp3", "wav", "mpeg", "x;base64,"),
    }),
  }),
  object({
    type: fc.constant("file"),
    file: object({ file_data: uri, file_id: fc.constant("file-1"), filename: text }, []),
  }),
  object({ type: fc.constant("refusal"), refusal: text }),
  object({ type: fc.constantFrom("video_url", "image_url", "file", "x") }),
)
const parts = fc.array(fc.oneof(textPart, otherPart), { maxLength: 4 })
const content = fc.oneof(text, fc.constant(null), parts)
const name = fc.oneof(text, fc.constant(null))

const call = fc.oneof(
  object({ id, type: fc.constant("function"), function: object({ name: text, arguments: text }) }),
  object({ id, type: fc.constant("custom"), custom: object({ name: text, input: text }) }),
)
const message = fc.oneof(
  object({ role: fc.constantFrom("system", "developer", "user"), content, name }, ["role", "content"]),
  object(
    {
      role: fc.constant("assistant"),
      content,
      name,
      refusal: fc.oneof(text, fc.constant(null)),
      reasoning_content: fc.oneof(text, json),
      reasoning: fc.oneof(text, json),
      tool_calls: fc.oneof(fc.array(call, { maxLength: 3 }), fc.constant(null)),
      function_call: fc.oneof(object({ name: text, arguments: text }), fc.constant(null)),
    },
    ["role"],
  ),
  object({ role: fc.constant("tool"), content, tool_call_id: id, name }, ["role", "content", "tool_call_id"]),
  object({ role: fc.constant("function"), content, name: text }),
)

describe("L16: a codec reads back what it wrote", () => {
  it("decode, encode, decode gives the same messages", () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 4 }), (wire) => {
        const messages = Either.getOrThrow(decodeMessages(wire))
        expect(Either.getOrThrow(decodeMessages(encodeMessages(messages, { exact: true })))).toEqual(messages)
      }),
      { numRuns: often(100, 500) },
    )
  })

  it("encode gives the very messages that were decoded", () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 4 }), (wire) => {
        const written = encodeMessages(Either.getOrThrow(decodeMessages(wire)), { exact: true })
        expect(written).toEqual(wire)
        // toEqual does not look at own fields called __proto__, their text does.
        expect(JSON.stringify(written).length).toBe(JSON.stringify(wire).length)
      }),
      { numRuns: often(100, 500) },
    )
  })

  it("what is decoded is a message that a log can store", () => {
    const stored = Schema.parseJson(Message.Message)
    fc.assert(
      fc.property(message, (wire) => {
        const [one] = Either.getOrThrow(decodeMessages([wire]))
        expect(Schema.decodeSync(stored)(Schema.encodeSync(stored)(one!))).toEqual(one)
      }),
    )
  })
})
