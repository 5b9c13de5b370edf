import { Message, type MemoryLayers, type Session } from "@memfold/core"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { often } from "@memfold/harness/depth"
import { known, sessionOf } from "../../test/facts.js"
import { factId } from "../identity.js"
import type { Places } from "../places.js"
import { makeEarlier } from "./Earlier.js"
import { makeIndexes } from "./Indexes.js"
import { select } from "./recall.js"

type Facts = ReadonlyArray<Session.KnownFact>

const words = ["tea", "parser", "deploy", "lexer"]
const messages = Array.from({ length: 24 }, (_, at) =>
  at % 2 === 0 ? Message.user(`${words[at % 3]} and ${words[at % 4]}?`) : Message.assistant("Yes."),
)

/** A context of a session of `total` messages, with its facts; the newest question knows all facts. */
const queryOf = (total: number, coveredTo: number): MemoryLayers.Query => {
  const state = { ...sessionOf(messages.slice(0, total)), coveredTo }
  const questions = messages
    .slice(0, total)
    .flatMap((current, index): ReadonlyArray<MemoryLayers.Question> =>
      current.role === "user" && index >= coveredTo
        ? [{ current, asked: { time: 10 * index, total: index } }]
        : [],
    )
  return {
    state,
    questions: questions.map((question, at) =>
      at === questions.length - 1 ? { ...question, orLater: true } : question,
    ),
  }
}

const placesOf = (own: Facts, user: Facts): Places => ({
  own: { log: "s", facts: own },
  user: { log: "u", facts: user },
  scope: null,
})

/** Recalls with what an earlier context has left, and counts the questions that were searched for. */
const recalling = (earlier: ReturnType<typeof makeEarlier>) => {
  const searched: Array<MemoryLayers.Question> = []
  const recall = (query: MemoryLayers.Query, places: Places) => {
    const past = makeIndexes(1_000)
    const now = makeIndexes(1_000)
    return earlier.recall(query, places, (question) => {
      searched.push(question)
      const indexes = question.orLater === true ? now : past
      return select(query.state, question, places, indexes, {
        mostUser: 3,
        mostScope: 3,
        showPast: false,
        unconfirmedSessions: 100,
      })
    })
  }
  return { recall, searched }
}

/** Facts of the session itself, each learned from the turn before a message, and facts from elsewhere. */
const ownFact = (to: number, late: number): Session.KnownFact => {
  const range = { from: Math.max(0, to - 2), to }
  const id = factId("scope", late, range, sessionOf(messages))
  return known(id, `${words[to % 4]} of ${to}`, { ...range, time: 10 * to + late })
}
const userFact = (time: number): Session.KnownFact =>
  known(`u${time}`, `${words[time % 4]} ${time}`, { layer: "user", kind: "preference", time })

describe("earlier results", () => {
  it("equal the results of a new process, whatever is learned, removed and compacted in between", () => {
    const seldom = (max: number) =>
      fc.oneof({ weight: 5, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.nat({ max }) })
    const step = fc.record({
      more: fc.integer({ min: 0, max: 3 }),
      learns: fc.array(fc.integer({ min: -60, max: 5 }), { maxLength: 2 }),
      late: fc.integer({ min: 0, max: 15 }),
      removes: seldom(20),
      compacts: seldom(6),
    })
    let searches = 0
    let questions = 0
    fc.assert(
      fc.property(fc.array(step, { minLength: 4, maxLength: 12, size: "max" }), (steps) => {
        const { recall, searched } = recalling(makeEarlier(10))
        let [total, coveredTo] = [1, 0]
        let own: Facts = []
        let user: Facts = []
        for (const { more, learns, late, removes, compacts } of steps) {
          total = Math.min(total + more, messages.length)
          own = [...own, ownFact(total, late)].filter(
            ({ id }, at, all) => all.findIndex((one) => one.id === id) === at && at !== removes,
          )
          const times = learns.map((after) => Math.max(10 * total + after, 0))
          user = [...user, ...times.map(userFact)].filter(
            ({ id }, at, all) => all.findIndex((one) => one.id === id) === at && at !== removes,
          )
          if (compacts !== null) coveredTo = Math.min(Math.max(coveredTo, 2 * compacts), total - 1)
          const query = queryOf(total, coveredTo)
          const places = placesOf(own, user)
          const fresh = recalling(makeEarlier(10))
          expect(recall(query, places)).toEqual(fresh.recall(query, places))
          questions += fresh.searched.length
        }
        searches += searched.length
      }),
      { numRuns: often(50, 500) },
    )
    expect(searches / questions).toBeLessThan(0.8)
  })

  it("are searched for once, as long as facts only come on top", () => {
    const { recall, searched } = recalling(makeEarlier(10))
    const own = messages.map((_, at) => ownFact(at, 0))
    for (let total = 1; total <= messages.length; total += 2)
      recall(queryOf(total, 0), placesOf(own.slice(0, total), []))
    expect(searched).toHaveLength(messages.length / 2)
  })

  it("are kept for a limited number of sessions, and not for contexts of the past", () => {
    const earlier = makeEarlier(1)
    const { recall, searched } = recalling(earlier)
    const query = queryOf(5, 0)
    const places = placesOf([ownFact(2, 0)], [])
    const times = (run: () => void) => {
      const before = searched.length
      run()
      return searched.length - before
    }
    expect(times(() => recall(query, places))).toBe(3)
    expect(times(() => recall(query, places))).toBe(1)
    expect(times(() => recall({ ...query, untilTime: 7 }, places))).toBe(3)
    const other = { ...query, state: { ...query.state, session: "other" } }
    expect(times(() => recall(other, places))).toBe(3)
    expect(times(() => recall(query, places))).toBe(3)
  })
})
