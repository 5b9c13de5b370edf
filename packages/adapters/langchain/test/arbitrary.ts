/** Arbitraries of the messages of LangChain. */
import {
  AIMessage,
  type BaseMessage,
  ChatMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages"
import * as fc from "fast-check"
import { json, objectsWith, wireText as text } from "@memfold/testing/arbitrary"

const object = objectsWith("cache_control", "index", "__proto__")

const id = fc.constantFrom("call_1", "call_2", "call_3")
const name = fc.constantFrom("search", "look_up")
const url = fc.constantFrom(
  "https://example.org/a.png",
  "data:image/png;base64,AAAA",
  "data:,",
  "",
  "no address",
)
const mediaType = fc.constantFrom("image/png", "application/pdf", "audio/wav", "text/plain")
const fileType = fc.constantFrom("image", "audio", "video", "file")
const bytes = fc.uint8Array({ maxLength: 8 })

const textBlock = object({ type: fc.constant("text"), text, citations: json, annotations: json }, [
  "type",
  "text",
])
const files = fc.oneof(
  object({
    type: fc.constant("image_url"),
    image_url: fc.oneof(url, object({ url, detail: text }, ["url"])),
  }),
  object(
    {
      type: fileType,
      source_type: fc.constantFrom("url", "base64", "id", "text"),
      url,
      data: url,
      mime_type: mediaType,
      metadata: object({ filename: text }, []),
    },
    ["type", "source_type"],
  ),
  object({ type: fileType, url, data: fc.oneof(url, bytes), mimeType: mediaType, fileId: id }, ["type"]),
  object({
    type: fc.constantFrom("image", "document"),
    source: object({ type: fc.constantFrom("url", "base64"), url, data: url, media_type: mediaType }, [
      "type",
    ]),
  }),
  object({ type: fc.constant("file"), file: object({ file_data: url, filename: text }, []) }),
)
const thinking = fc.oneof(
  object({ type: fc.constant("thinking"), thinking: text, signature: text }, ["type", "thinking"]),
  object({ type: fc.constant("redacted_thinking"), data: text }),
  object({ type: fc.constant("reasoning"), reasoning: text, signature: text, id, encrypted_content: text }, [
    "type",
  ]),
)
const callBlock = fc.oneof(
  object({ type: fc.constant("tool_use"), id, name, input: json }, ["type", "id", "name"]),
  object({ type: fc.constant("tool_call"), id, name, args: json }),
  object({ type: fc.constant("input_json_delta"), input: text }),
)
const unknown = fc.oneof(
  object({ type: fc.constantFrom("server_tool_use", "refusal", "later"), data: json }),
  json,
)

const kwargs = fc.dictionary(
  fc.constantFrom("refusal", "audio", "tool_calls", "function_call", "reasoning", "__proto__"),
  json,
  { maxKeys: 2 },
)
const metadata = fc.oneof(
  fc.dictionary(fc.constantFrom("model_name", "finish_reason", "logprobs", "output"), json, { maxKeys: 2 }),
  fc.constant({ output_version: "v1", model_provider: "anthropic" }),
)
const common = { id: text, name: text, additional_kwargs: kwargs, response_metadata: metadata }
const call = object(
  { id, name, args: fc.dictionary(fc.string(), json, { maxKeys: 2 }), type: fc.constant("tool_call") },
  ["name", "args"],
)
const invalid = object({ id, name, args: text, error: text, type: fc.constant("invalid_tool_call") }, [
  "name",
])
const usage = fc.record(
  {
    input_tokens: fc.nat(),
    output_tokens: fc.nat(),
    total_tokens: fc.nat(),
    output_token_details: fc.record({ reasoning: fc.nat() }),
  },
  { requiredKeys: ["input_tokens", "output_tokens", "total_tokens"] },
)

const said = (...blocks: ReadonlyArray<fc.Arbitrary<unknown>>) =>
  fc.oneof(text, fc.array(fc.oneof(...blocks), { maxLength: 4 }))
const special = fc.oneof(
  json,
  fc.constant(new URL("https://example.org/")),
  bytes,
  fc.record({ rows: fc.array(bytes, { maxLength: 2 }) }),
)

/** Fields are set behind the constructor, which makes calls of some and content of others. */
const made = <M extends BaseMessage>(message: M, fields: object): M => {
  Object.assign(message, fields)
  return message
}

/** An answer whose calls are in the content as well, as providers write them. */
const tidy = fc
  .tuple(
    fc.array(fc.oneof(textBlock, thinking), { maxLength: 3 }),
    fc.uniqueArray(call, { maxLength: 3, selector: ({ id }) => id }),
    fc.boolean(),
    fc.boolean(),
  )
  .map(([blocks, calls, shown, streamed]) => {
    const block = (one: { readonly id?: unknown; readonly name?: unknown; readonly args?: unknown }) => ({
      type: "tool_use",
      id: one.id,
      name: one.name,
      input: streamed ? "" : one.args,
    })
    return { content: [...blocks, ...(shown ? calls.map(block) : [])], tool_calls: calls }
  })

/** Any message, with what no model takes. */
export const message: fc.Arbitrary<BaseMessage> = fc.oneof(
  fc
    .tuple(said(textBlock, files, unknown), fc.record(common, { requiredKeys: [] }))
    .map(([content, fields]) => made(new HumanMessage(""), { content, ...fields })),
  fc
    .tuple(said(textBlock, unknown), fc.record(common, { requiredKeys: [] }))
    .map(([content, fields]) => made(new SystemMessage(""), { content, ...fields })),
  fc
    .tuple(
      said(textBlock, files, thinking, callBlock, unknown),
      fc.array(call, { maxLength: 3 }),
      fc.record(
        { ...common, invalid_tool_calls: fc.array(invalid, { maxLength: 2 }), usage_metadata: usage },
        { requiredKeys: [] },
      ),
    )
    .map(([content, tool_calls, fields]) => made(new AIMessage(""), { content, tool_calls, ...fields })),
  fc
    .tuple(tidy, fc.record(common, { requiredKeys: [] }))
    .map(([answer, fields]) => made(new AIMessage(""), { ...answer, ...fields })),
  fc
    .tuple(
      said(textBlock, files, unknown),
      fc.record(
        {
          ...common,
          status: fc.constantFrom("success", "error"),
          artifact: special,
          metadata: fc.record({ trace: json }),
        },
        { requiredKeys: [] },
      ),
      id,
    )
    .map(([content, fields, tool_call_id]) =>
      made(new ToolMessage({ content: "", tool_call_id }), { content, ...fields }),
    ),
  fc
    .tuple(
      said(textBlock),
      fc.constantFrom("assistant", "developer", "critic"),
      fc.record(common, { requiredKeys: [] }),
    )
    .map(([content, role, fields]) => made(new ChatMessage("", role), { content, ...fields })),
)
