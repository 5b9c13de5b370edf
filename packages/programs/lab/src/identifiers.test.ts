import { Message } from "@memfold/core"
import { expect, it } from "vitest"
import { identifiersIn, neededIn, recentMessages } from "./identifiers.js"

it("identifiers are numbers, addresses, paths, amounts and dates, each once", () => {
  const text =
    "Order KX-4471 (src/money.ts, src/money.ts) of ann@example.org: 39.90 EUR until 2026-03-02, 3月2日."
  expect([...identifiersIn(text)].toSorted()).toEqual(
    ["2026-03-02", "39.90 EUR", "3月2日", "KX-4471", "ann@example.org", "src/money.ts"].toSorted(),
  )
  expect([...identifiersIn("Just some words, 3 of them, and A4.")]).toEqual([])
})

const filler = (count: number) => Array.from({ length: count }, () => Message.user("and so on"))

it("what an assistant message uses is needed if it was said before, but not recently", () => {
  const order = Message.user("My order is KX-4471.")
  const answer = Message.assistant("KX-4471 is on its way to src/money.ts.")
  const after = (count: number) => neededIn([order, ...filler(count), answer]).at(-1)
  expect(after(recentMessages - 1)).toEqual([])
  expect(after(recentMessages)).toEqual(["KX-4471"])
  // Said again a moment ago, it need not be remembered.
  expect(neededIn([order, ...filler(20), order, answer]).at(-1)).toEqual([])
})

it("a user needs nothing; a call of a tool does, and its result says something", () => {
  const read = Message.call([{ id: "1", name: "read", arguments: '{"path":"src/money.ts"}' }])
  const result = Message.result({ id: "1", output: "see src/money.ts" })
  const messages = [result, ...filler(recentMessages), Message.user("src/money.ts?")]
  expect(neededIn(messages).flat()).toEqual([])
  expect(neededIn([result, ...filler(recentMessages), read]).at(-1)).toEqual(["src/money.ts"])
})
