import { Message } from "@memfold/core"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { conversation } from "./conversation.js"

const seeds = [1, 2, 3, 4, 5, 6, 7, 8]

/** The smallest conversation found that has something in it. */
const smallest = (
  has: (messages: ReadonlyArray<Message.Message>) => boolean,
  seed: number,
): ReadonlyArray<Message.Message> => {
  const found = fc.check(
    fc.property(conversation, (messages) => !has(messages)),
    { seed, numRuns: 2_000 },
  )
  if (found.counterexample === null) throw new Error("no conversation has it")
  return found.counterexample[0]
}

const texts = (messages: ReadonlyArray<Message.Message>) =>
  messages.flatMap(({ parts }) => parts.flatMap((part) => ("text" in part ? [part.text] : [])))

describe("conversations", () => {
  it.each<readonly [string, number, (messages: ReadonlyArray<Message.Message>) => boolean]>([
    ["a user message", 1, (all) => all.some(({ role }) => role === "user")],
    ["reasoning", 1, (all) => all.some(({ parts }) => parts.some(({ type }) => type === "reasoning"))],
    ["an empty message", 1, (all) => all.some(({ parts }) => parts.length === 0)],
    [
      "two user messages in a row",
      2,
      (all) => all.some(({ role }, at) => role === "user" && all[at + 1]?.role === "user"),
    ],
    ["half a surrogate pair", 1, (all) => texts(all).some((text) => !text.isWellFormed())],
    ["Chinese", 1, (all) => texts(all).some((text) => /\p{Script=Han}/u.test(text))],
    ["a long text", 1, (all) => texts(all).some((text) => text.length > 500)],
    ["parallel calls", 2, (all) => all.some((one) => Message.calls(one).length > 1)],
    [
      "an id that comes again",
      3,
      (all) => {
        const ids = all.flatMap((one) => Message.calls(one).map(({ id }) => id))
        return new Set(ids).size < ids.length
      },
    ],
    [
      "a huge output",
      2,
      (all) => all.some((one) => Message.results(one).some(({ output }) => output.length > 200)),
    ],
    [
      "a call that is never answered",
      2,
      (all) => {
        const count = (type: Message.Part["type"]) =>
          all.flatMap(({ parts }) => parts.filter((part) => part.type === type)).length
        return count("tool-call") > count("tool-result")
      },
    ],
    [
      "time that goes back",
      2,
      (all) => all.some(({ time }, index) => (time ?? 0) > (all[index + 1]?.time ?? Infinity)),
    ],
    [
      "time that stands still",
      2,
      (all) => all.some(({ time }, index) => time !== undefined && time === all[index + 1]?.time),
    ],
    ["more than thirty messages", 33, (all) => all.length > 30],
  ])("have %s now and then, and shrink to at most %d messages with it", (_what, most, has) => {
    for (const seed of seeds) expect(smallest(has, seed).length).toBeLessThanOrEqual(most)
  })
})
