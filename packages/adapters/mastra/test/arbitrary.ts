/** Arbitraries of the messages of Mastra, also as older versions of it wrote them. */
import type { MastraDBMessage } from "@mastra/core/agent"
import * as fc from "fast-check"
import { json, objectsWith, wireText as text } from "@memfold/testing/arbitrary"

const object = objectsWith("later", "mastra", "__proto__")

const id = fc.constantFrom("call_1", "call_2", "call_3")
const mimeType = fc.constantFrom("image/png", "application/pdf", "text/plain")
const data = fc.oneof(
  fc.constantFrom(
    "https://example.org/a.png",
    "data:image/png;base64,AAAA",
    "data:,",
    "AAAA",
    "",
    "no address",
  ),
  fc.uint8Array({ maxLength: 8 }),
  fc.constant(new URL("https://example.org/b.png")),
)
const modelOutput = fc.oneof(
  object({ type: fc.constantFrom("text", "error-text"), value: text }),
  object({ type: fc.constant("json"), value: json }),
  object({
    type: fc.constant("content"),
    value: fc.array(
      fc.oneof(
        object({ type: fc.constant("text"), text }),
        object({ type: fc.constant("media"), data: fc.constant("AAAA"), mediaType: mimeType }),
      ),
      { maxLength: 3 },
    ),
  }),
  object({ type: fc.constant("later"), value: json }),
)
const anthropic = object({ signature: text, redactedData: text, cacheControl: json }, [])
const openai = object({ itemId: id, reasoningEncryptedContent: text }, [])
const metadata = object(
  { anthropic, openai, mastra: object({ modelOutput, createdAt: fc.nat(), transcript: json }, []) },
  [],
)
const common = { providerMetadata: metadata, createdAt: fc.nat() }

const textPart = object({ type: fc.constant("text"), text, ...common }, ["type", "text"])
const reasoning = object(
  {
    type: fc.constant("reasoning"),
    reasoning: text,
    details: fc.array(
      fc.oneof(
        object({ type: fc.constant("text"), text, signature: text }, ["type", "text"]),
        object({ type: fc.constant("redacted"), data: text }),
      ),
      { maxLength: 2 },
    ),
    ...common,
  },
  ["type", "reasoning"],
)
const file = object({ type: fc.constant("file"), data, mimeType, filename: text, ...common }, [
  "type",
  "data",
  "mimeType",
])
const source = object(
  {
    type: fc.constant("source"),
    source: object({ sourceType: fc.constant("url"), id, url: text, title: text, providerMetadata: json }, [
      "id",
      "url",
    ]),
    ...common,
  },
  ["type", "source"],
)
const sourceDocument = object(
  { type: fc.constant("source-document"), sourceId: id, mediaType: mimeType, title: text, ...common },
  ["type", "sourceId"],
)
const other = fc.oneof(
  object({ type: fc.constantFrom("data-weather", "data-mastra", "data-tool-call-approval"), data: json }),
  object({ type: fc.constant("error"), error: object({ name: text, message: text }) }),
  object({ type: fc.constant("later"), value: json }),
)
const step = object({ type: fc.constant("step-start"), model: text, createdAt: fc.nat() }, ["type"])
const approval = object({ id, approved: fc.boolean(), reason: text }, ["id"])
const invocation = object(
  {
    state: fc.constantFrom(
      "partial-call",
      "call",
      "result",
      "approval-requested",
      "approval-responded",
      "output-error",
      "output-denied",
      "later",
    ),
    toolCallId: id,
    toolName: fc.constantFrom("search", "look-up", ""),
    args: json,
    result: json,
    isError: fc.boolean(),
    errorText: text,
    rawInput: json,
    step: fc.nat(),
    approval,
  },
  ["state", "toolCallId", "toolName"],
)
const call = object(
  {
    type: fc.constant("tool-invocation"),
    toolInvocation: invocation,
    providerExecuted: fc.boolean(),
    title: text,
    preliminary: fc.boolean(),
    ...common,
  },
  ["type", "toolInvocation"],
)

/** The fields that say the parts again, mostly as Mastra writes them. */
const mirrored = (parts: ReadonlyArray<{ readonly [key: string]: unknown }>) => {
  const texts = parts.filter(({ type }) => type === "text").map((part) => String(part["text"]))
  const calls = parts.filter(({ type }) => type === "tool-invocation")
  return fc.record(
    {
      content: fc.oneof(fc.constantFrom(texts.join(""), texts.join("\n"), texts.at(-1) ?? ""), text),
      toolInvocations: fc.oneof(fc.constant(calls.map(({ toolInvocation }) => toolInvocation)), json),
      reasoning: text,
      experimental_attachments: json,
      annotations: json,
      metadata: json,
      providerMetadata: metadata,
    },
    { requiredKeys: [] },
  )
}

const partsOf = (...kinds: ReadonlyArray<fc.Arbitrary<object>>) =>
  fc.array(fc.oneof(...kinds), { maxLength: 6 }) as fc.Arbitrary<
    ReadonlyArray<{ readonly [key: string]: unknown }>
  >

const message = (role: fc.Arbitrary<string>, parts: ReturnType<typeof partsOf>) =>
  parts.chain((all) =>
    fc.record(
      {
        role,
        createdAt: fc.date({ noInvalidDate: true }),
        threadId: text,
        resourceId: text,
        type: text,
        content: mirrored(all).map((beside) => ({ ...beside, format: 2, parts: all })),
      },
      { requiredKeys: ["role", "createdAt", "content"] },
    ),
  )

const said = message(
  fc.constantFrom("user", "system", "signal"),
  partsOf(textPart, file, other, sourceDocument),
)
const answer = message(
  fc.constant("assistant"),
  partsOf(step, textPart, reasoning, file, source, sourceDocument, call, other),
)

/** Any messages of Mastra; each has an id of its own. */
export const messages = fc
  .array(fc.oneof(said, answer), { maxLength: 4 })
  .map((all) => all.map((one, index) => ({ ...one, id: `m${index}` }))) as unknown as fc.Arbitrary<
  ReadonlyArray<MastraDBMessage>
>
