/** What declares facts and makes extractors refuses what it cannot take, before anything is learned. */
import { OptionGroup } from "@memfold/core"
import { Effect, Schema } from "effect"
import { expect, it } from "vitest"
import { Fact, functionExtractor, modelExtractor } from "./index.js"

const schema = Schema.String
const ask = () => Effect.succeed("{}")
const extract = () => []

it.each<[string, (...given: ReadonlyArray<never>) => unknown, ReadonlyArray<ReadonlyArray<unknown>>]>([
  [
    "Fact.of",
    Fact.of as never,
    [
      [],
      [null],
      [5],
      [{}],
      [{ schema: {} }],
      [{ schema: "text" }],
      [{ schema, singel: true }],
      [{ schema, single: 1 }],
      [{ schema, jsonSchema: "{}" }],
    ],
  ],
  [
    "modelExtractor",
    modelExtractor as never,
    [[], [null], [ask], [{ ask: "gpt" }], [{ ask, version: 2 }], [{ ask, model: "x" }]],
  ],
  [
    "functionExtractor",
    functionExtractor as never,
    [[], [{}], [extract, null], [extract, { nam: "x" }], [extract, { isFree: "yes" }]],
  ],
])("%s", (_name, make, wrong) => {
  for (const given of wrong)
    expect(() => make(...(given as ReadonlyArray<never>))).toThrow(OptionGroup.InvalidOption)
})
