/** Arbitraries of the prompts and responses of Effect AI. */
import { Prompt, type Response, Tool, Toolkit } from "@effect/ai"
import { Schema } from "effect"
import * as fc from "fast-check"
import { json, wireText as text } from "@memfold/testing/arbitrary"

const id = fc.constantFrom("call_1", "call_2", "call_3", "", "with space")
const name = fc.constantFrom("lookUp", "AnthropicWebSearch", "OpenAiWebSearch", "half \ud83d")
const bytes = fc.uint8Array({ maxLength: 8 })
const url = fc
  .constantFrom("https://example.org/a.png", "https://example.org/a%20b?c=d#e", "data:text/plain,hello")
  .map((one) => new URL(one))
const special = fc.oneof(json, bytes, url, fc.record({ when: url }))
/** What each provider keeps with a part. */
const options = fc.dictionary(
  fc.constantFrom("anthropic", "openai", "acme", "__proto__"),
  fc
    .tuple(
      fc.dictionary(
        fc.constantFrom("type", "cacheControl", "itemId", "encryptedContent", "signature", "redactedData"),
        fc.oneof(text, json),
        { maxKeys: 3 },
      ),
      fc.dictionary(fc.constant("seen"), special, { maxKeys: 1 }),
    )
    .map(([known, more]) => ({ ...known, ...more })),
  { maxKeys: 2 },
)
const data = fc.oneof(
  bytes,
  url,
  fc.base64String(),
  fc.constantFrom(
    "file-1",
    "",
    "no base64!",
    "https://example.org/a.png",
    "data:image/png;base64,AAAA",
    "data:,",
  ),
)
const mediaType = fc.constantFrom("image/png", "image/*", "application/pdf", "text/plain", "")
const without = <A extends object>(given: A, ...keys: ReadonlyArray<keyof A>): A =>
  Object.fromEntries(
    Object.entries(given).filter(([key, value]) => value !== undefined || !keys.includes(key as keyof A)),
  ) as A

const textPart = fc.record({ text, options }).map((given): Prompt.TextPart => Prompt.makePart("text", given))
const reasoning = fc
  .record({ text, options })
  .map((given): Prompt.ReasoningPart => Prompt.makePart("reasoning", given))
const file = fc
  .record({ mediaType, data, options, fileName: fc.option(text, { nil: undefined }) })
  .map((given): Prompt.FilePart => Prompt.makePart("file", without(given, "fileName") as never))
const call = fc
  .record({ id, name, params: special, providerExecuted: fc.boolean(), options })
  .map((given): Prompt.ToolCallPart => Prompt.makePart("tool-call", given))
const result = fc
  .record({
    id,
    name,
    isFailure: fc.boolean(),
    result: fc.oneof(special, text),
    providerExecuted: fc.boolean(),
    options,
  })
  .map((given): Prompt.ToolResultPart => Prompt.makePart("tool-result", given))

const content = <A>(...parts: ReadonlyArray<fc.Arbitrary<A>>) =>
  fc.array(fc.oneof(...parts), { maxLength: 4 })

/** Any message of a prompt, with what no model takes. */
const message: fc.Arbitrary<Prompt.Message> = fc.oneof(
  fc.record({ content: text, options }).map((given) => Prompt.makeMessage("system", given)),
  fc
    .record({ content: content<Prompt.UserMessagePart>(textPart, file), options })
    .map((given) => Prompt.makeMessage("user", given)),
  fc
    .record({
      content: content<Prompt.AssistantMessagePart>(textPart, reasoning, file, call, result),
      options,
    })
    .map((given) => Prompt.makeMessage("assistant", given)),
  fc.record({ content: content(result), options }).map((given) => Prompt.makeMessage("tool", given)),
)

export const prompt = fc.array(message, { maxLength: 4 }).map(Prompt.fromMessages)

/** Tools whose parameters and results are encoded: dates, as JSON has no form for them. */
export const toolkit = Toolkit.make(
  Tool.make("lookUp", {
    parameters: { request: Schema.String, when: Schema.Date },
    success: Schema.Struct({ found: Schema.String, at: Schema.Date }),
    failure: Schema.String,
    failureMode: "return",
  }),
)

const day = fc.date({ noInvalidDate: true, min: new Date(0) }).map((one) => one.toISOString())
const metadata = fc.dictionary(
  fc.constantFrom("anthropic", "openai"),
  fc.dictionary(fc.constantFrom("signature", "itemId", "type", "usage"), json, { maxKeys: 2 }),
  { minKeys: 1, maxKeys: 2 },
)
const maybe = <A>(value: fc.Arbitrary<A>) => fc.option(value, { nil: undefined })
const providerName = maybe(fc.constantFrom("web_search", "bash"))
/** A part of a response as JSON, without the fields that are `undefined`. */
const encoded = <A extends object>(
  type: Response.PartEncoded["type"],
  fields: { [K in keyof A]: fc.Arbitrary<A[K]> },
) =>
  fc
    .record({ ...fields, metadata: maybe(metadata) } as Record<string, fc.Arbitrary<unknown>>)
    .map((given) =>
      Object.fromEntries(Object.entries({ type, ...given }).filter(([, value]) => value !== undefined)),
    )
const count = maybe(fc.nat(9_999))
const toolResult = {
  id,
  name: fc.constant("lookUp"),
  result: fc.record({ found: text, at: day }),
  isFailure: fc.constant(false),
  providerName,
}

/** The parts of a response that says something, as `generateText` orders them: results of tools come last. */
export const response: fc.Arbitrary<ReadonlyArray<unknown>> = fc
  .tuple(
    fc.array(
      fc.oneof(
        encoded("text", { text }),
        encoded("reasoning", { text }),
        encoded("file", { mediaType, data: bytes.map((one) => Buffer.from(one).toString("base64")) }),
        encoded("tool-call", {
          id,
          name: fc.constant("lookUp"),
          params: fc.record({ request: text, when: day }),
          providerName,
          providerExecuted: maybe(fc.constant(true)),
        }),
        encoded("tool-result", { ...toolResult, providerExecuted: fc.constant(true) }),
        encoded("response-metadata", { id: maybe(text), modelId: maybe(text), timestamp: maybe(day) }),
        encoded("source", {
          sourceType: fc.constant("url"),
          id,
          url: url.map(({ href }) => href),
          title: text,
        }),
        encoded("source", {
          sourceType: fc.constant("document"),
          id,
          mediaType,
          title: text,
          fileName: maybe(text),
        }),
      ),
      { maxLength: 6 },
    ),
    encoded("finish", {
      reason: fc.constantFrom("stop", "length", "tool-calls"),
      usage: fc.record({ inputTokens: count, outputTokens: count, totalTokens: count }),
    }),
    fc.array(encoded("tool-result", toolResult), { maxLength: 2 }),
  )
  .map(([said, finish, results]) => [...said, finish, ...results])
  .filter((parts) =>
    parts.some(({ type }) => /^(?:text|reasoning|file|tool-call|tool-result)$/.test(String(type))),
  )
