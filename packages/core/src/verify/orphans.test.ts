import { describe, expect, it } from "vitest"
import { Message, orphans } from "../index.js"

const { assistant, call, result, user } = Message

const calls = (...ids: ReadonlyArray<string>) => call(ids.map((id) => ({ id, name: "t", arguments: "{}" })))
const answer = (id: string) => result({ id, output: "x" })

describe("orphans", () => {
  it("are none where results follow their calls", () => {
    expect(orphans([])).toEqual([])
    expect(orphans([user("q"), assistant("a")])).toEqual([])
    expect(orphans([calls("1"), answer("1"), calls("1"), answer("1"), assistant("so")])).toEqual([])
    expect(orphans([calls("1", "2"), answer("2"), answer("1")])).toEqual([])
    expect(orphans([calls("1", "1"), answer("1"), answer("1")])).toEqual([])
  })

  it("are calls without results", () => {
    expect(orphans([calls("1")])).toEqual(["the context ends with 1 calls without results"])
    expect(orphans([calls("1", "2"), answer("1"), user("q")])).toEqual([
      "message 2 of the context comes before the results of 1 calls",
    ])
  })

  it("are results without calls", () => {
    expect(orphans([answer("1")])).toEqual(["message 0 of the context is a result without its call"])
    expect(orphans([calls("1"), answer("1"), answer("1")])).toHaveLength(1)
    expect(orphans([calls("1"), user("q"), answer("1")])).toHaveLength(2)
    expect(orphans([calls("1"), answer("2")])).toHaveLength(2)
  })
})
