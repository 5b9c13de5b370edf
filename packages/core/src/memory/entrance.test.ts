/** Long texts of messages are counted in steps, whatever part they are in (L19). */
import { expect, it } from "@effect/vitest"
import { atOnce } from "@memfold/log/breathe"
import type { Message, Part } from "@memfold/message/Message"
import { estimating, ofBoundParts, ofMessage, type Service } from "@memfold/message/TokenCounter"
import { Effect } from "effect"
import { counted } from "./entrance.js"

const long = "one word and another one, ".repeat(40_000)
const file = {
  mediaType: "text/plain",
  uri: `data:text/plain;base64,${Buffer.from(long).toString("base64")}`,
}

const parts: Readonly<Record<Part["type"], ReadonlyArray<Part>>> = {
  text: [{ type: "text", text: long }],
  reasoning: [{ type: "reasoning", text: long, signature: "EqQB" }],
  "tool-call": [{ type: "tool-call", id: "1", name: "run", arguments: JSON.stringify({ long }) }],
  "tool-result": [
    { type: "tool-result", id: "1", name: "run", output: long },
    { type: "tool-result", id: "1", name: "run", output: "", content: [{ type: "text", text: long }] },
  ],
  file: [{ type: "file", ...file }],
  opaque: [{ type: "opaque", provider: "openai", data: { type: "note", text: long } }],
}

for (const [type, ofType] of Object.entries(parts))
  it.effect(`a long text in a part of type ${type} is counted in steps, and once`, () =>
    Effect.gen(function* () {
      const counts: Array<string> = []
      const counter: Service = {
        ...estimating,
        count: (text) => {
          if (text.length > 100_000) counts.push("at once")
          return estimating.count(text)
        },
        countInSteps: (text) => {
          counts.push("in steps")
          return estimating.countInSteps!(text)
        },
      }
      for (const part of ofType) {
        const message: Message = { role: "assistant", parts: [part, { type: "text", text: "Yes." }] }
        const [found] = yield* counted(counter, [{ message }])
        expect(counts.splice(0)).toEqual(["in steps"])
        expect(found).toMatchObject({ tokens: ofMessage(estimating, message) })
        expect(found!.boundTokens).toBe(ofBoundParts(estimating, message))
      }
    }),
  )

it("a long text takes many steps", () => {
  expect(atOnce(estimating.countInSteps!(long))).toBe(estimating.count(long))
  expect([...estimating.countInSteps!(long)].length).toBeGreaterThan(long.length / 100_000)
})
