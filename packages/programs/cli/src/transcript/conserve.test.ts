/** L23 over files of every format, written from a model of a conversation. */
import { often } from "@memfold/harness/depth"
import { describe, expect, it } from "vitest"
import { broken, laws, writers } from "../../test/conserving/law.js"
import { formats } from "./Transcript.js"

it("is tried with every format", () => {
  expect(new Set(writers.map(({ format }) => format))).toEqual(new Set(formats))
})

describe.each(laws)("L23: $name", (law) => {
  it.each(writers.filter(law.applies))("$format", (writer) => {
    const found = broken(law, writer, { runs: often(20, 400), seed: 46 })
    expect(found?.why ?? "").toBe("")
  })
})
