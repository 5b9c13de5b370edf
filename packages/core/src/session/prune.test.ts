import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { conversation, oneMessage } from "@memfold/testing/arbitrary"
import { appended, after, cleared } from "@memfold/testing"
import { Message, type Session } from "../index.js"
import { prune, prunedText } from "./prune.js"

const { call, result, user } = Message

const raw = (messages: ReadonlyArray<Message.Message>) => after(...appended(messages)).uncovered
const calling = call([{ id: "1", name: "t", arguments: "{}" }])
const three = [user("q"), calling, result({ id: "1", output: "0123456789" }), user("q")]

const outputs = (entries: Iterable<Session.Entry>) =>
  [...entries].flatMap(({ message }) => Message.results(message).map(({ output }) => output))

describe("what is left of an output", () => {
  it("is its two ends with the note between them", () => {
    expect(prunedText("0123456789", { head: 2, tail: 3, note: "…" })).toBe("01…789")
    expect(prunedText("0123456789", { head: 2, tail: 0, note: "…" })).toBe("01…")
    expect(prunedText("0123456789", { head: 0, tail: 3, note: "…" })).toBe("…789")
    expect(prunedText("0123456789", { head: 0, tail: 0, note: "…" })).toBe("…")
  })
})

describe("a pruning", () => {
  it("leaves every other message as it was, the very same", () => {
    const before = raw(three)
    const after = prune(before, [cleared(2)])
    expect(outputs(after)).toEqual(["[cut]"])
    expect(outputs(before)).toEqual(["0123456789"])
    expect([0, 1].map((index) => after.at(index) === before.at(index))).toEqual([true, true])
    expect(after.at(3)?.message).toBe(before.at(3)?.message)
  })

  it("says in the metadata what was done, and keeps what else stands there", () => {
    const mine = result({ id: "1", output: "0123456789" }, { metadata: { mine: 1 }, name: "n", time: 5 })
    const method = "soft-trim" as const
    const after = prune(raw([calling, mine]), [
      cleared(1, { method, originalLength: 10, head: 1, tail: 1, note: "…" }),
    ])
    expect(after.at(1)?.message).toEqual({
      ...result({ id: "1", output: "0…9" }, { name: "n", time: 5 }),
      metadata: { mine: 1, memfold: { pruned: true, originalLength: 10, prunedMethod: "soft-trim" } },
    })
  })

  it("leaves no words in the content of a result; a trimmed one keeps its files", () => {
    const file = { type: "file" as const, mediaType: "image/png", uri: "https://example.org/a.png" }
    const opaque = { type: "opaque" as const, provider: "p", data: { text: "0123456789" } }
    const content = [{ type: "text" as const, text: "0123456789" }, file, opaque]
    const shown = raw([calling, result({ id: "1", output: "0123456789", content })])
    const after = (method: "soft-trim" | "hard-clear") =>
      prune(shown, [cleared(1, { method })]).at(1)?.message.parts
    const part = { type: "tool-result", id: "1", output: "[cut]" }
    expect(after("soft-trim")).toEqual([{ ...part, content: [{ type: "text", text: "[cut]" }, file] }])
    expect(after("hard-clear")).toEqual([part])
  })

  it("sets the tokens of the message, and every sum behind it", () => {
    const after = prune(raw(three), [cleared(2, { tokens: 3 })])
    expect([...after].map(({ tokens, cumulativeTokens: cumulative }) => [tokens, cumulative])).toEqual([
      [10, 10],
      [10, 20],
      [3, 23],
      [10, 33],
    ])
  })

  it("counts a message with several outputs once", () => {
    const both: Message.Message = {
      role: "tool",
      parts: [
        { type: "tool-result", id: "1", output: "0123456789" },
        { type: "text", text: "said" },
        { type: "tool-result", id: "2", output: "abcdefghij" },
      ],
    }
    const after = prune(raw([calling, both, user("q")]), [
      cleared(1, { part: 0, tokens: 4 }),
      cleared(1, { part: 2, tokens: 4, head: 1 }),
    ])
    expect(outputs(after)).toEqual(["[cut]", "a[cut]"])
    expect([...after].map(({ tokens, cumulativeTokens: cumulative }) => [tokens, cumulative])).toEqual([
      [10, 10],
      [4, 14],
      [10, 24],
    ])
  })

  it("does without the size that a provider reported for the whole message", () => {
    const reported = result({ id: "1", output: "0123456789" }, { usage: { output: 500 } })
    expect(prune(raw([calling, reported]), [cleared(1)]).at(1)?.message.usage).toBeUndefined()
  })

  it("of what is no output, or not there, changes no message", () => {
    const before = raw(three)
    for (const wrong of [cleared(0), cleared(2, { part: 7 }), cleared(9)]) {
      expect([...prune(before, [wrong])].map(({ message }) => message)).toEqual(three)
    }
  })

  it("leaves the sums right, whatever is pruned", () => {
    const pruned = fc.record({
      index: fc.nat({ max: 30 }),
      part: fc.nat({ max: 2 }),
      head: fc.nat({ max: 20 }),
      tail: fc.nat({ max: 20 }),
      tokens: fc.nat({ max: 50 }),
    })
    fc.assert(
      fc.property(conversation, oneMessage, fc.array(pruned, { maxLength: 5 }), (messages, last, cuts) => {
        const before = raw([...messages, last])
        const after = prune(
          before,
          cuts.map((cut) => cleared(cut.index, cut)),
        )
        let sum = 0
        expect([after.from, after.to]).toEqual([before.from, before.to])
        expect([...after].map(({ index, cumulativeTokens: cumulative }) => [index, cumulative])).toEqual(
          [...after].map(({ tokens }, index) => [index, (sum += tokens)]),
        )
      }),
      { numRuns: 200 },
    )
  })
})
