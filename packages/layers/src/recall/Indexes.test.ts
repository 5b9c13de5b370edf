import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
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
    expect(ids(scores("log", facts, "databas stag"))).toEqual(["c", "b"])
    expect(ids(scores("log", facts, "coffee"))).toEqual([])
    // From four letters on, the beginning of a word is enough.
    expect(ids(scores("log", facts, "frid"))).toEqual(["a"])
    expect(ids(scores("log", facts, "fri"))).toEqual([])
  })

  it("follow the facts: what is gone is not found any more, what is new is, what changed counts anew", () => {
    const { scores } = makeIndexes(100)
    const tea = known("a", "tea")
    expect(ids(scores("log", [tea, known("b", "coffee")], "tea"))).toEqual(["a"])
    expect(ids(scores("log", [known("b", "tea now")], "tea"))).toEqual(["b"])
    expect(ids(scores("log", [known("b", "tea now")], "coffee"))).toEqual([])
    expect(ids(scores("log", [], "tea"))).toEqual([])
  })

  it("keep logs apart", () => {
    const { scores } = makeIndexes(100)
    scores("one", [known("a", "tea")], "tea")
    expect(ids(scores("two", [known("b", "coffee")], "tea"))).toEqual([])
  })

  it("are the same from a kept index, one that was dropped, one that was never kept, and whatever came before", () => {
    const word = fc.constantFrom("tea", "coffee", "port", "deploy", "漢字", "staging", "friday")
    const facts = fc
      .uniqueArray(fc.tuple(fc.nat({ max: 9 }), fc.array(word, { maxLength: 6 })), { selector: ([id]) => id })
      .map((list) => list.map(([id, list]) => known(String(id), list.join(" "))))
    fc.assert(
      fc.property(
        fc.array(facts, { minLength: 1, maxLength: 5 }),
        word,
        fc.nat({ max: 20 }),
        (states, query, room) => {
          const kept = makeIndexes(1_000)
          const small = makeIndexes(room)
          for (const [position, state] of states.entries()) {
            const fresh = makeIndexes(0).scoresOnce(state, query)
            expect(new Map([...kept.scores("log", state, query)].toSorted())).toEqual(
              new Map([...fresh].toSorted()),
            )
            expect(new Map([...small.scores(`log ${position % 2}`, state, query)].toSorted())).toEqual(
              new Map([...fresh].toSorted()),
            )
            if (position % 2 === 1) kept.drop("log")
          }
        },
      ),
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
      const start = performance.now()
      run()
      return performance.now() - start
    }
    const building = time(() => scores("log", facts, "zzz"))
    const again = Math.min(...[1, 2, 3].map(() => time(() => scores("log", facts, "zzz"))))
    expect(again * 5).toBeLessThan(building)
  })
})
