/** Law L16 for items of the Responses API. */
import { Message } from "@memfold/core"
import { Either, Schema } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { often } from "@memfold/harness/depth"
import { json, objectsWith, wireText as text } from "@memfold/testing/arbitrary"
import { Responses } from "../index.js"

const { decodeItems, encodeItems } = Responses

const id = fc.constantFrom("call_1", "call_2", "call_2", "")
const object = objectsWith("status", "id", "__proto__", "phase", "prompt_cache_breakpoint")

const uri = fc.constantFrom(
  "https://example.org/a.png",
  "data:image/png;base64,AAAA",
  "data:application/pdf;base64,AAAA",
  "data:audio/wav;base64,AAAA",
  "data:,",
)
const inputPart = fc.oneof(
  object({ type: fc.constant("input_text"), text }),
  object({ type: fc.constant("input_image"), image_url: uri, detail: fc.constant("low") }, ["type"]),
  object({ type: fc.constant("input_file"), file_data: uri, file_url: uri, filename: text }, ["type"]),
  object({ type: fc.constantFrom("input_audio", "input_new") }),
)
const outputPart = fc.oneof(
  object({ type: fc.constant("output_text"), text, annotations: fc.constant([]) }, ["type", "text"]),
  object({ type: fc.constant("refusal"), refusal: text }),
)
const inputContent = fc.oneof(text, fc.array(inputPart, { maxLength: 3 }))
const item = fc.oneof(
  object(
    {
      type: fc.constant("message"),
      role: fc.constantFrom("user", "system", "developer"),
      content: inputContent,
    },
    ["role", "content"],
  ),
  object(
    {
      type: fc.constant("message"),
      role: fc.constant("assistant"),
      content: fc.oneof(text, fc.array(outputPart, { maxLength: 3 })),
    },
    ["role", "content"],
  ),
  object({ type: fc.constant("function_call"), call_id: id, name: text, arguments: text }),
  object({ type: fc.constant("custom_tool_call"), call_id: id, name: text, input: text }),
  object({ type: fc.constant("computer_call"), call_id: id, action: json }),
  object({ type: fc.constant("function_call_output"), call_id: id, output: inputContent }, [
    "type",
    "output",
  ]),
  object({ type: fc.constant("custom_tool_call_output"), call_id: id, output: inputContent }),
  object({ type: fc.constant("shell_call_output"), call_id: id, output: json }, ["type", "call_id"]),
  object({ type: fc.constant("reasoning"), id: text, summary: fc.constant([]), encrypted_content: text }),
  fc.record({ id: text, type: fc.constant(null) }, { requiredKeys: ["id"] }),
  object({ type: fc.constantFrom("item_reference", "web_search_call", "compaction", "new") }),
)
const items = fc.array(item, { maxLength: 6 })

describe("L16: a codec reads back what it wrote", () => {
  it("decode, encode, decode gives the same messages", () => {
    fc.assert(
      fc.property(items, (wire) => {
        const messages = Either.getOrThrow(decodeItems(wire))
        expect(Either.getOrThrow(decodeItems(encodeItems(messages, { exact: true })))).toEqual(messages)
      }),
      { numRuns: often(100, 500) },
    )
  })

  it("encode gives the very items that were decoded", () => {
    fc.assert(
      fc.property(items, (wire) => {
        const written = encodeItems(Either.getOrThrow(decodeItems(wire)), { exact: true })
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
      fc.property(items, (wire) => {
        for (const one of Either.getOrThrow(decodeItems(wire))) {
          expect(Schema.decodeSync(stored)(Schema.encodeSync(stored)(one))).toEqual(one)
        }
      }),
    )
  })
})
