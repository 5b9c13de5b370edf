import { Message } from "@memfold/core"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { isAlike, keyOf, newStep, wholeStep } from "./conversation.js"

describe("what a message says", () => {
  it("is the same for an answer as it came and as a client sends it again", () => {
    const came: Message.Message = {
      role: "assistant",
      parts: [
        { type: "reasoning", text: "Hm.", signature: "s" },
        { type: "text", text: "I " },
        { type: "text", text: "look." },
        {
          type: "tool-call",
          id: "c",
          name: "look",
          arguments: '{"b":1,"a":2}',
          providerData: { anthropic: { caller: 1 } },
        },
      ],
      usage: { output: 3 },
    }
    const again = Message.call([{ id: "c", name: "look", arguments: '{"a": 2, "b": 1}' }], {
      text: "I look.",
    })
    expect(keyOf(came)).toBe(keyOf(again))
  })

  it.each([
    [Message.user("a"), Message.assistant("a")],
    [Message.user("a"), Message.user("b")],
    [Message.result({ id: "1", output: "x" }), Message.result({ id: "2", output: "x" })],
    [
      Message.call([{ id: "1", name: "f", arguments: "{}" }]),
      Message.call([{ id: "1", name: "f", arguments: '{"a":1}' }]),
    ],
  ])("tells %j from %j", (one, other) => {
    expect(keyOf(one)).not.toBe(keyOf(other))
  })
})

describe("a number that a double does not hold", () => {
  const call = (id: string) =>
    keyOf(Message.call([{ id: "1", name: "read", arguments: `{"id":${id},"page":2}` }]))
  it.each(["1234567890123456789", "-98765432109876543.25", "123456789012345678901234567890"])(
    "%s is what a client has that reads a double, and no other one",
    (digits) => {
      const next = digits.replace(/.$/, (last) => String((Number(last) + 1) % 10))
      const [whole, other, double] = [`"${digits}"`, `"${next}"`, String(Number(digits))].map(call)
      expect(Number(next)).toBe(Number(digits))
      expect([isAlike(whole, whole), isAlike(whole, double), isAlike(double, other)]).toEqual([
        true,
        true,
        true,
      ])
      expect(isAlike(whole, other)).toBe(false)
      expect(wholeStep([whole!], [other!])).toEqual({ keep: 0, from: 0 })
    },
  )
})

describe("the step of a client that sends everything", () => {
  it("makes the stored conversation the given one", () => {
    const keys = fc.array(fc.constantFrom("a", "b", "c"))
    fc.assert(
      fc.property(keys, keys, (stored, given) => {
        const { keep, from } = wholeStep(stored, given)
        expect([...stored.slice(0, keep), ...given.slice(from)]).toEqual(given)
      }),
    )
  })
})

describe("the step of a client that sends what is new", () => {
  const isAnswer = (stored: ReadonlyArray<string>) => (at: number) => stored[at]!.startsWith("A")
  it.each<[stored: Array<string>, given: Array<string>, isRetry: boolean, after: Array<string>]>([
    [[], ["u1"], false, ["u1"]],
    [["u1", "A1"], ["u2"], false, ["u1", "A1", "u2"]],
    // The same words behind an answer are said again.
    [["u1", "A1"], ["u1"], false, ["u1", "A1", "u1"]],
    // No answer came: the request is sent again, also with more behind it.
    [["u1", "A1", "u2"], ["u2"], false, ["u1", "A1", "u2"]],
    [["u1", "A1", "u2"], ["u2", "u3"], false, ["u1", "A1", "u2", "u3"]],
    [["u1", "A1", "u2"], ["u3"], false, ["u1", "A1", "u2", "u3"]],
    // The answer came to the session and not to the client.
    [["u1", "A1"], ["u1"], true, ["u1"]],
    [["u1", "A1", "u2", "A2"], ["u3"], true, ["u1", "A1", "u2", "A2", "u3"]],
    [["u1", "A1", "u2", "A2"], ["u2"], true, ["u1", "A1", "u2"]],
  ])("%j and %j, retry %s: %j", (stored, given, isRetry, after) => {
    const { keep, from } = newStep(stored, given, isAnswer(stored), isRetry)
    expect([...stored.slice(0, keep), ...given.slice(from)]).toEqual(after)
  })
})
