import { Message } from "@memfold/message"
import * as fc from "fast-check"
import { expect, it } from "vitest"
import { lateResults } from "./lateResults.js"

const id = fc.constantFrom("a", "b", "c")
const message: fc.Arbitrary<Message.Message> = fc.oneof(
  fc.constant(Message.user("go on")),
  fc.constant(Message.assistant("yes")),
  fc
    .uniqueArray(id, { minLength: 1, maxLength: 2 })
    .map((ids) => Message.call(ids.map((one) => ({ id: one, name: "ask", arguments: "{}" })))),
  fc.uniqueArray(id, { minLength: 1, maxLength: 2 }).map((ids): Message.Message => ({
    role: "tool",
    parts: ids.map((one) => ({ type: "tool-result", id: one, output: "green" })),
  })),
)
const messages = fc.array(message, { maxLength: 8 })

const partsOf = (all: ReadonlyArray<Message.Message>) => all.flatMap(({ parts }) => parts)

it("loses no part, and moves results alone: each one that a call waits for stands before the user goes on", () => {
  fc.assert(
    fc.property(messages, messages, (stored, given) => {
      const { keep, added } = lateResults(stored, given)
      const all = [...stored.slice(0, keep), ...added]
      const others = (list: ReadonlyArray<Message.Message>) => list.filter(({ role }) => role !== "tool")
      expect(others(all)).toEqual(others([...stored, ...given]))
      expect(new Set(partsOf(all))).toEqual(new Set(partsOf([...stored, ...given])))
      expect(partsOf(all)).toHaveLength(partsOf([...stored, ...given]).length)
      // Nothing is late any more.
      expect(lateResults(stored.slice(0, keep), added)).toEqual({ keep, added })
    }),
  )
})

it("leaves what is in its place, and what answers nothing", () => {
  const call = Message.call([{ id: "a", name: "ask", arguments: "{}" }])
  const result = Message.result({ id: "a", output: "green" })
  expect(lateResults([Message.user("Paint."), call], [result])).toEqual({ keep: 2, added: [result] })
  expect(lateResults([Message.user("Paint.")], [result])).toEqual({ keep: 1, added: [result] })
  const again = lateResults([call, result, Message.user("Paint.")], [result])
  expect(again).toEqual({ keep: 3, added: [result] })
})

it("places a result that was stored late, too, where a place before it changes", () => {
  const call = Message.call(["c", "a"].map((id) => ({ id, name: "ask", arguments: "{}" })))
  const [c, a] = ["c", "a"].map((id) => Message.result({ id, output: "green" })) as [
    Message.Message,
    Message.Message,
  ]
  const user = Message.user("Paint.")
  expect(lateResults([call, user, a], [c])).toEqual({ keep: 1, added: [c, a, user] })
  expect(lateResults([call, user, a], [])).toEqual({ keep: 3, added: [] })
})
