import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { cpuTime } from "@memfold/harness/cpuTime"
import { conversation } from "@memfold/testing/arbitrary"
import * as oracles from "@memfold/testing/oracle"
import { Message } from "./index.js"
import * as Structure from "./Structure.js"

const { assistant, call, result, system, user } = Message

const calls = (...ids: ReadonlyArray<string>) =>
  call(ids.map((id) => ({ id, name: `tool-${id}`, arguments: "{}" })))

const answer = (id: string, name?: string) =>
  result({ id, output: "done", ...(name === undefined ? {} : { name }) })

/** Where each message's group starts, and where rounds start. */
const placed = (messages: ReadonlyArray<Message.Message>) => {
  let structure = Structure.empty
  const groups: Array<number> = []
  const turns: Array<number> = []
  messages.forEach((message, index) => {
    const place = Structure.addMessage(structure, index, message)
    structure = place.structure
    groups.push(place.group)
    if (place.startsTurn) turns.push(index)
  })
  return { groups, turns, structure }
}

describe("groups", () => {
  it("of one message each, where no tool is called", () => {
    const { groups, structure } = placed([system("s"), user("q"), assistant("a"), user("q")])
    expect(groups).toEqual([0, 1, 2, 3])
    expect(structure.open).toBeNull()
  })

  it("reach from the calls to the last result", () => {
    const messages = [user("q"), calls("a", "b"), answer("b"), answer("a"), assistant("so")]
    expect(placed(messages).groups).toEqual([0, 1, 1, 1, 4])
    expect(placed(messages.slice(0, 3)).structure.open).toEqual({
      from: 1,
      calls: [{ id: "a", name: "tool-a" }],
    })
  })

  it("end with one message that has all the results", () => {
    const both: Message.Message = { role: "tool", parts: [...answer("a").parts, ...answer("b").parts] }
    expect(placed([calls("a", "b"), both, assistant("so")]).groups).toEqual([0, 0, 2])
  })

  it("take in what is said while they wait, and further calls", () => {
    const messages = [calls("a"), assistant("one moment"), calls("b"), answer("a"), system("!"), answer("b")]
    expect(placed([...messages, assistant("so")]).groups).toEqual([0, 0, 0, 0, 0, 0, 6])
  })

  it("reuse ids: a result goes to the oldest open call that has its id", () => {
    const { groups, structure } = placed([calls("a"), answer("a"), calls("a", "a"), answer("a")])
    expect(groups).toEqual([0, 0, 2, 2])
    expect(structure.open).toEqual({ from: 2, calls: [{ id: "a", name: "tool-a" }] })
  })

  it("are closed by the user: the call is dead, its result comes too late", () => {
    const messages = [calls("a"), user("stop"), answer("a"), assistant("stopped")]
    expect(placed(messages).groups).toEqual([0, 1, 2, 3])
    expect(placed(messages.slice(0, 2)).structure.open).toBeNull()
  })

  it("leave out a second result of the same call", () => {
    expect(placed([calls("a"), answer("a"), answer("a")]).groups).toEqual([0, 0, 2])
  })

  it("leave out a result nobody asked for", () => {
    expect(placed([answer("x"), user("q"), answer("y")]).groups).toEqual([0, 1, 2])
  })

  it("take a message that answers one call and makes another for one of theirs", () => {
    const relay: Message.Message = { role: "assistant", parts: [...answer("a").parts, ...calls("b").parts] }
    expect(placed([calls("a"), relay, answer("b"), user("q")]).groups).toEqual([0, 0, 0, 3])
  })
})

describe("a result", () => {
  const open = [
    { id: "1", name: "x" },
    { id: "2", name: "y" },
    { id: "2", name: "z" },
  ]
  const answered = (result: { readonly id: string; readonly name?: string }) => {
    const calls = new Structure.OpenCalls(open)
    const call = calls.answer(result)
    expect(calls.left).toEqual(open.filter((one) => one !== call))
    return call?.name
  }

  it("with an id answers the oldest open call of that id, whatever its name", () => {
    expect(answered({ id: "2" })).toBe("y")
    expect(answered({ id: "2", name: "z" })).toBe("y")
    expect(answered({ id: "3", name: "x" })).toBeUndefined()
  })

  it("without an id answers the oldest open call of its name, or else the oldest", () => {
    expect(answered({ id: "", name: "z" })).toBe("z")
    expect(answered({ id: "", name: "nobody" })).toBe("x")
    expect(answered({ id: "" })).toBe("x")
  })

  it("answers nothing where nothing is open", () => {
    expect(new Structure.OpenCalls().answer({ id: "" })).toBeUndefined()
    expect(new Structure.OpenCalls().answer({ id: "1" })).toBeUndefined()
  })
})

/** A message of many calls, and messages behind it that make each of them be looked for. */
const many = 20_000
const ids = Array.from({ length: many }, (_, at) => `c${at}`)
const item = (type: string, id: string): Message.Part => ({
  type: "opaque",
  provider: "openai-responses",
  data: { type, call_id: id, id, output: [] },
})
const results = (given: ReadonlyArray<string>): Message.Message => ({
  role: "tool",
  parts: given.map((id) => ({ type: "tool-result", id, output: "done" })),
})
const items = (type: string, given: ReadonlyArray<string>): Message.Message => ({
  role: "assistant",
  parts: given.map((id) => item(type, id)),
})
const crowds: Readonly<Record<string, ReadonlyArray<Message.Message>>> = {
  "results in their order": [calls(...ids), results(ids)],
  "results from the last to the first": [calls(...ids), results(ids.toReversed())],
  "results that answer nothing": [calls(...ids), results(ids.map((id) => `x${id}`))],
  "results without an id": [calls(...ids), results(ids.map(() => ""))],
  "one id again and again": [calls(...ids.map(() => "c")), results(ids.map(() => "c"))],
  "the calls again": [calls(...ids), calls(...ids.toReversed()), results(ids)],
  "items of a provider": [items("computer_call", ids), items("computer_call_output", ids.toReversed())],
  "items again": [items("computer_call", ids), items("computer_call", ids.toReversed())],
}

it.each(Object.entries(crowds))(
  "L19: thousands of calls take a time in line with their number: %s",
  (_, messages) => {
    const passed = cpuTime()
    const { structure } = placed(messages)
    expect(passed()).toBeLessThan(1_000)
    expect(structure.open?.calls.length ?? 0).toBeLessThanOrEqual(many)
  },
)

describe("rounds", () => {
  const complete = (...messages: ReadonlyArray<Message.Message>) =>
    Structure.turnComplete(placed(messages).structure)

  it("start at a user message and reach to the next", () => {
    expect(placed([user("1"), assistant("1"), assistant("and"), user("2"), assistant("2")]).turns).toEqual([
      0, 3,
    ])
  })

  it("start with the first of several user messages in a row", () => {
    expect(
      placed([user("1"), user("and"), assistant("1"), user("2"), user("and"), user("and")]).turns,
    ).toEqual([0, 3])
    expect(placed([user("1"), system("note"), user("and"), assistant("1")]).turns).toEqual([0])
  })

  it("do not begin before the first user message", () => {
    expect(placed([system("s"), assistant("welcome"), user("1")]).turns).toEqual([2])
    expect(complete(system("s"), assistant("welcome"))).toBe(false)
  })

  it("end where the user speaks again, though the assistant's message was not the last", () => {
    expect(placed([user("1"), assistant("1"), system("note"), user("2")]).turns).toEqual([0, 3])
    expect(placed([user("1"), calls("a"), answer("a"), user("stop")]).turns).toEqual([0, 3])
    expect(placed([user("1"), calls("a"), user("stop"), answer("a"), user("2")]).turns).toEqual([0, 2])
  })

  it("are complete with an assistant message that waits for nothing", () => {
    expect(complete(user("1"))).toBe(false)
    expect(complete(user("1"), assistant("1"))).toBe(true)
    expect(complete(user("1"), calls("a"))).toBe(false)
    expect(complete(user("1"), calls("a"), answer("a"))).toBe(false)
    expect(complete(user("1"), calls("a"), assistant("one moment"))).toBe(false)
    expect(complete(user("1"), calls("a"), answer("a"), assistant("so"))).toBe(true)
    expect(complete(user("1"), assistant("1"), user("2"))).toBe(false)
  })
})

it("is what a look at the whole conversation finds, at every message", () => {
  fc.assert(
    fc.property(conversation, (messages) => {
      const { groups, turns, structure } = placed(messages)
      const cuts = groups.flatMap((group, index) => (group === index ? [index] : []))
      if (structure.open === null) cuts.push(messages.length)
      expect(cuts).toEqual(oracles.boundaries(messages))
      expect(turns).toEqual(oracles.turnStarts(messages))
      if (turns.length > 0) {
        expect(Structure.turnComplete(structure)).toBe(oracles.turnComplete(messages))
      }
    }),
    { numRuns: 300 },
  )
})
