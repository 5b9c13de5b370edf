import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { cpuTime } from "@memfold/harness/cpuTime"
import { Search } from "@memfold/core"
import { known } from "../../test/facts.js"
import { makeIndexes } from "./Indexes.js"

const ids = (scores: ReadonlyMap<string, number>): ReadonlyArray<string> =>
  [...scores].toSorted(([, one], [, other]) => other - one).map(([id]) => id)

describe("scores", () => {
  it("name the facts that share a word with the question, the better ones higher", () => {
    const facts = [
      known("a", "Deploys go out on Friday"),
      known("b", "The database listens on port 5432"),
      known("c", "Port of the database in staging: 6432"),
      known("d", "Likes: tea"),
    ]
    const { scores } = makeIndexes(100)
    expect(ids(scores("log", facts, ["databas", "stag"]))).toEqual(["c", "b"])
    expect(ids(scores("log", facts, ["coffe"]))).toEqual([])
  })

  it("follow the facts: what is gone is not found any more, what is new is, what changed counts anew", () => {
    const { scores } = makeIndexes(100)
    const tea = known("a", "tea")
    expect(ids(scores("log", [tea, known("b", "coffee")], ["tea"]))).toEqual(["a"])
    expect(ids(scores("log", [known("b", "tea now")], ["tea"]))).toEqual(["b"])
    expect(ids(scores("log", [known("b", "tea now")], ["coffe"]))).toEqual([])
    expect(ids(scores("log", [], ["tea"]))).toEqual([])
  })

  it("keep logs apart", () => {
    const { scores } = makeIndexes(100)
    scores("one", [known("a", "tea")], ["tea"])
    expect(ids(scores("two", [known("b", "coffee")], ["tea"]))).toEqual([])
  })

  it("do not depend on whether the index was kept, dropped or never kept, and on what came before", () => {
    const word = fc.constantFrom("tea", "coffee", "port", "friday", "漢字")
    const fact = fc
      .tuple(fc.nat({ max: 15 }), fc.array(word, { minLength: 1, maxLength: 9, size: "max" }))
      .map(([id, list]) => known(String(id), list.join(" ")))
    const facts = fc.uniqueArray(fact, { maxLength: 15, size: "max", selector: ({ id }) => id })
    const query = fc.uniqueArray(
      word.map((one) => Search.termsOf(one)[0]!),
      { minLength: 1, maxLength: 3 },
    )
    fc.assert(
      fc.property(
        fc.array(facts, { minLength: 3, maxLength: 6 }),
        query,
        fc.nat({ max: 20 }),
        (states, query, room) => {
          const kept = makeIndexes(1_000)
          const small = makeIndexes(room)
          const dropped = makeIndexes(1_000)
          for (const [position, state] of states.entries()) {
            const fresh = [...makeIndexes(1_000).scores("log", state, query)].toSorted()
            expect([...kept.scores("log", state, query)].toSorted()).toEqual(fresh)
            expect([...small.scores(`log ${position % 2}`, state, query)].toSorted()).toEqual(fresh)
            expect([...dropped.scores("log", state, query)].toSorted()).toEqual(fresh)
            dropped.drop("log")
          }
        },
      ),
      { numRuns: 50 },
    )
  })

  it("cost little when nothing has changed", () => {
    const facts = Array.from({ length: 1_000 }, (_, at) =>
      known(
        String(at),
        `fact number ${at} about ${at % 7 === 0 ? "deployments" : "tea"} and a few more words`,
      ),
    )
    const { scores } = makeIndexes(10_000)
    const time = (run: () => void): number => {
      const start = cpuTime()
      run()
      return start()
    }
    const building = time(() => scores("log", facts, ["zzz"]))
    const again = Math.min(...[1, 2, 3].map(() => time(() => scores("log", facts, ["zzz"]))))
    expect(again * 5).toBeLessThan(building)
  })
})
