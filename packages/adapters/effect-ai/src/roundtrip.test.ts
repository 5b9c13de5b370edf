/** Law L16 for Effect AI. */
import { Prompt, Response } from "@effect/ai"
import { Message } from "@memfold/core"
import { Either, Schema } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { often } from "@memfold/harness/depth"
import { prompt, response, toolkit } from "../test/arbitrary.js"
import { decodePrompt, decodeResponse, encodePrompt, encodeResponse, type WriteParams } from "./index.js"

const stored = Schema.parseJson(Message.Message)
const throughLog = (messages: ReadonlyArray<Message.Message>) =>
  messages.map((message) => Schema.decodeSync(stored)(Schema.encodeSync(stored)(message)))

describe("L16: a codec reads back what it wrote", () => {
  it("prompts come out of a log as they went in", () => {
    fc.assert(
      fc.property(prompt, (given) => {
        const written = encodePrompt(throughLog(decodePrompt(given)))
        expect(written.content).toEqual(given.content)
        expect(written.content.map(({ options }) => Object.keys(options))).toEqual(
          given.content.map(({ options }) => Object.keys(options)),
        )
        // What Effect AI's own schema writes is the same, too.
        expect(Schema.encodeSync(Prompt.Prompt)(written)).toEqual(Schema.encodeSync(Prompt.Prompt)(given))
      }),
      { numRuns: often(200, 1_000) },
    )
  })

  it("decode, encode, decode gives the same messages", () => {
    fc.assert(
      fc.property(prompt, (given) => {
        const messages = decodePrompt(given)
        expect(decodePrompt(encodePrompt(messages))).toEqual(messages)
      }),
      { numRuns: often(100, 500) },
    )
  })

  const decodeParts = Schema.decodeUnknownSync(Schema.Array(Response.AllParts(toolkit)))
  const { lookUp } = toolkit.tools
  const write: WriteParams = (_tool, params) =>
    Either.getOrThrow(Schema.encodeUnknownEither(lookUp.parametersSchema)(params))

  it("the provider's own tools have the names that its package takes", () => {
    const [answer, results] = decodeResponse([
      Response.makePart("tool-call", {
        id: "s1",
        name: "AnthropicWebSearch",
        providerName: "web_search",
        params: { query: "folds" },
        providerExecuted: true,
      }),
      Response.makePart("tool-result", {
        id: "s1",
        name: "AnthropicWebSearch",
        providerName: "web_search",
        isFailure: false,
        result: [],
        encodedResult: [],
        providerExecuted: true,
      }),
      Response.makePart("tool-call", {
        id: "b1",
        name: "AnthropicBash",
        providerName: "bash",
        params: { command: "ls" },
        providerExecuted: false,
      }),
    ])
    expect(results).toBeUndefined()
    const [{ content }] = encodePrompt([answer!]).content as [Prompt.AssistantMessage]
    expect(content.map((part) => "name" in part && part.name)).toEqual([
      "AnthropicWebSearch",
      "AnthropicWebSearch",
      "bash",
    ])
  })

  it("responses come out of a log as they went in", () => {
    fc.assert(
      fc.property(response, (given) => {
        const parts = decodeParts(given)
        expect(encodeResponse(throughLog(decodeResponse(parts, write)))).toEqual(given)
      }),
      { numRuns: often(200, 1_000) },
    )
  })
})
