/** Arbitraries of the messages of the AI SDK. */
import * as fc from "fast-check"
import { json, objectsWith, wireText as text } from "@memfold/testing/arbitrary"

const object = objectsWith("cache", "trace", "__proto__")

const id = fc.constantFrom("call_1", "call_2", "call_3")
const options = fc.dictionary(
  fc.constantFrom("anthropic", "openai", "acme"),
  fc.dictionary(fc.constantFrom("cacheControl", "itemId", "signature", "redactedData", "phase"), json, {
    maxKeys: 2,
  }),
  { maxKeys: 2 },
)
const bytes = fc.uint8Array({ maxLength: 8 })
const address = fc.constantFrom("https://example.org/a.png", "https://example.org/a%20b?c=d#e")
const url = address.map((one) => new URL(one))
const inline = fc.oneof(
  fc.base64String(),
  address,
  fc.constantFrom("data:image/png;base64,AAAA", "data:text/plain,hello", "data:,", "", "no base64!"),
)
const reference = fc.constant({ openai: "file-1" })
const tagged = fc.oneof(
  object({ type: fc.constant("data"), data: fc.oneof(inline, bytes) }),
  object({ type: fc.constant("url"), url: fc.oneof(url, address) }),
  object({ type: fc.constant("reference"), reference }),
  object({ type: fc.constant("text"), text }),
)
const data = fc.oneof(inline, bytes, url, reference, tagged)
const mediaType = fc.constantFrom("image/png", "image/*", "application/pdf", "text/plain", "image")

const textPart = object({ type: fc.constant("text"), text, providerOptions: options }, ["type", "text"])
const file = object(
  { type: fc.constant("file"), data, mediaType, filename: text, providerOptions: options },
  ["type", "data", "mediaType"],
)
const image = object(
  {
    type: fc.constant("image"),
    image: fc.oneof(inline, bytes, url, reference),
    mediaType,
    providerOptions: options,
  },
  ["type", "image"],
)
const reasoning = object({ type: fc.constant("reasoning"), text, providerOptions: options }, ["type", "text"])
const call = object(
  {
    type: fc.constant("tool-call"),
    toolCallId: id,
    toolName: text,
    input: fc.oneof(json, fc.constant({ when: new URL("https://example.org/") })),
    providerExecuted: fc.boolean(),
    providerOptions: options,
  },
  ["type", "toolCallId", "toolName"],
)
const fileId = fc.oneof(text, fc.constant({ openai: "file-1" }))
const content = fc.array(
  fc.oneof(
    textPart,
    file,
    object(
      { type: fc.constantFrom("file-data", "image-data", "media"), data: inline, mediaType, filename: text },
      ["type", "data", "mediaType"],
    ),
    object({ type: fc.constantFrom("file-url", "image-url"), url: inline, mediaType }, ["type", "url"]),
    object({ type: fc.constantFrom("file-id", "image-file-id"), fileId }),
    object({ type: fc.constant("custom"), providerOptions: options }),
  ),
  { maxLength: 3 },
)
const output = fc.oneof(
  object({ type: fc.constantFrom("text", "error-text"), value: text, providerOptions: options }, [
    "type",
    "value",
  ]),
  object({ type: fc.constantFrom("json", "error-json"), value: json, providerOptions: options }, [
    "type",
    "value",
  ]),
  object({ type: fc.constant("execution-denied"), reason: text }, ["type"]),
  object({ type: fc.constant("content"), value: content }),
  object({ type: fc.constant("later"), value: json }),
)
const result = object(
  { type: fc.constant("tool-result"), toolCallId: id, toolName: text, output, providerOptions: options },
  ["type", "toolCallId", "toolName", "output"],
)
const approvalRequest = object(
  { type: fc.constant("tool-approval-request"), approvalId: id, toolCallId: id, reason: text },
  ["type", "approvalId", "toolCallId"],
)
const approvalResponse = object(
  { type: fc.constant("tool-approval-response"), approvalId: id, approved: fc.boolean(), reason: text },
  ["type", "approvalId", "approved"],
)
const unknown = object({ type: fc.constantFrom("custom", "reasoning-file", "later"), data: json })

const said = (...parts: ReadonlyArray<fc.Arbitrary<object>>) =>
  fc.oneof(text, fc.array(fc.oneof(...parts), { maxLength: 4 }))

/** Any model message, with what no model takes. */
export const modelMessage: fc.Arbitrary<unknown> = fc.oneof(
  object({ role: fc.constant("system"), content: text, providerOptions: options }, ["role", "content"]),
  object(
    { role: fc.constant("user"), content: said(textPart, file, image, unknown), providerOptions: options },
    ["role", "content"],
  ),
  object(
    {
      role: fc.constant("assistant"),
      content: said(textPart, file, reasoning, call, result, approvalRequest, unknown),
      providerOptions: options,
    },
    ["role", "content"],
  ),
  object(
    {
      role: fc.constant("tool"),
      content: fc.array(fc.oneof(result, approvalResponse, unknown), { maxLength: 4 }),
      providerOptions: options,
    },
    ["role", "content"],
  ),
)

const uiText = object(
  { type: fc.constant("text"), text, state: fc.constant("done"), providerMetadata: options },
  ["type", "text"],
)
const uiReasoning = object(
  { type: fc.constant("reasoning"), text, id, state: fc.constant("done"), providerMetadata: options },
  ["type", "text"],
)
const uiFile = object(
  {
    type: fc.constant("file"),
    url: inline,
    mediaType,
    filename: text,
    providerReference: reference,
    providerMetadata: options,
  },
  ["type", "url", "mediaType"],
)
const source = object({ type: fc.constant("source-url"), sourceId: text, url: address })
const custom = object({
  type: fc.constantFrom("data-weather", "custom", "reasoning-file", "later"),
  data: json,
})
const approval = object({ id, approved: fc.boolean(), reason: text, requestReason: text }, ["id"])
const tool = fc
  .tuple(
    fc.constantFrom({ type: "tool-weather" }, { type: "dynamic-tool", toolName: "weather" }),
    object(
      {
        toolCallId: id,
        state: fc.constantFrom(
          "input-streaming",
          "input-available",
          "approval-requested",
          "approval-responded",
          "output-available",
          "output-error",
          "output-denied",
        ),
        input: json,
        rawInput: json,
        output: json,
        errorText: text,
        approval,
        preliminary: fc.boolean(),
        providerExecuted: fc.boolean(),
        callProviderMetadata: options,
        title: text,
      },
      ["toolCallId", "state"],
    ),
  )
  .map(([type, rest]) => ({ ...type, ...rest }))
const step = fc.constant({ type: "step-start" })

/** Any message of a page; each has an id of its own. */
export const uiMessages: fc.Arbitrary<ReadonlyArray<unknown>> = fc
  .array(
    fc.oneof(
      object(
        {
          role: fc.constantFrom("system", "user"),
          metadata: json,
          parts: fc.array(fc.oneof(uiText, uiFile, custom), { maxLength: 4 }),
        },
        ["role", "parts"],
      ),
      object(
        {
          role: fc.constant("assistant"),
          metadata: json,
          parts: fc.array(fc.oneof(step, uiText, uiReasoning, uiFile, source, custom, tool), {
            maxLength: 6,
          }),
        },
        ["role", "parts"],
      ),
    ),
    { maxLength: 4 },
  )
  .map((messages) => messages.map((message, index) => ({ ...message, id: `m${index}` })))
