/** Law L16 for Mastra. */
import { Message } from "@memfold/core"
import { Either, Schema } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { often } from "@memfold/harness/depth"
import { messages } from "../test/arbitrary.js"
import { decodeMessages, encodeMessages } from "./index.js"

const stored = Schema.parseJson(Message.Message)
const throughLog = (given: ReadonlyArray<Message.Message>) =>
  given.map((one) => Schema.decodeSync(stored)(Schema.encodeSync(stored)(one)))
const decoded = (given: ReadonlyArray<unknown>) => Either.getOrThrow(decodeMessages(given))

describe("L16: a codec reads back what it wrote", () => {
  it("messages come out of a log as they went in", () => {
    fc.assert(
      fc.property(messages, (given) => {
        const written = encodeMessages(throughLog(decoded(given)))
        expect(written).toEqual(given)
        // toEqual does not look at own fields called __proto__, their text does.
        expect(JSON.stringify(written).length).toBe(JSON.stringify(given).length)
      }),
      { numRuns: often(100, 2_000) },
    )
  })

  it("decode, encode, decode gives the same messages", () => {
    fc.assert(
      fc.property(messages, (given) => {
        const once = decoded(given)
        expect(decoded(encodeMessages(once))).toEqual(once)
      }),
      { numRuns: often(50, 1_000) },
    )
  })
})

describe("what is read as a message", () => {
  const message = (role: string, ...parts: ReadonlyArray<unknown>) => ({
    id: "m1",
    role,
    createdAt: new Date(0),
    content: { format: 2, parts },
  })
  const call = (toolCallId: string, result: unknown) => ({
    type: "tool-invocation",
    toolInvocation: { state: "result", toolCallId, toolName: "search", args: {}, result },
  })
  const text = (text: string) => ({ type: "text", text })

  it("each step of an answer, whether its beginning is marked or not", () => {
    for (const marks of [[], [{ type: "step-start" }], [{ type: "step-start", model: "local/gpt" }]]) {
      const [first, results, second] = decoded([
        message("assistant", text("Both?"), call("a", 1), call("b", 2), ...marks, text("Both.")),
      ])
      expect(Message.calls(first!).map(({ id }) => id)).toEqual(["a", "b"])
      expect(Message.results(results!).map(({ id, output }) => [id, output])).toEqual([
        ["a", "1"],
        ["b", "2"],
      ])
      expect(Message.text(second!)).toBe("Both.")
    }
  })

  it("a failed tool, and a declined tool", () => {
    const declined = { state: "output-denied", approval: { id: "1", approved: false, reason: "Too dear." } }
    const states = [{ isError: true }, { state: "output-error", errorText: "No." }, declined]
    for (const state of states) {
      const { toolInvocation, ...part } = call("a", "No.")
      const { result: _result, ...rest } = toolInvocation
      const said = "isError" in state ? toolInvocation : rest
      const [, results] = decoded([message("assistant", { ...part, toolInvocation: { ...said, ...state } })])
      expect(Message.results(results!)[0]).toMatchObject({ id: "a", isError: true })
    }
  })

  it("nothing else, and without a word of it", () => {
    const wrong = [
      7,
      null,
      { role: "user", content: "KX-4471" },
      { ...message("user", text("KX-4471")), content: { format: 3, parts: [] } },
      message("tool", text("KX-4471")),
      { ...message("user", text("KX-4471")), id: 7 },
      { role: "user", content: [{ type: "image", image: "KX-4471" }] },
    ]
    for (const one of wrong) {
      const read = decodeMessages([message("user"), one])
      expect(Either.isLeft(read) && read.left.index).toBe(1)
      expect(String(Either.getLeft(read))).not.toContain("KX-4471")
    }
    expect(Either.isLeft(decodeMessages("text"))).toBe(true)
  })
})
