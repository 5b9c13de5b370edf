import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Timetable } from "./TimerQueue.js"

describe("a timetable", () => {
  it("keeps the earlier of two times, and the newer value", () => {
    const timetable = new Timetable<string>()
    timetable.set("a", 10, "first")
    timetable.set("a", 20, "second")
    expect(timetable.next).toBe(10)
    timetable.set("a", 5, "third")
    timetable.set("b", 7, "other")
    expect(timetable.take(6)).toEqual([["a", "third"]])
    expect(timetable.take(100)).toEqual([["b", "other"]])
    expect(timetable.next).toBeUndefined()
  })

  it("gives out what is due in order, whatever was set and deleted before", () => {
    const step = fc.oneof(
      fc.record({ set: fc.nat({ max: 9 }), time: fc.nat({ max: 30 }) }),
      fc.record({ delete: fc.nat({ max: 9 }) }),
      fc.record({ take: fc.nat({ max: 30 }) }),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const timetable = new Timetable<number>()
        const naive = new Map<string, readonly [time: number, value: number]>()
        steps.forEach((one, value) => {
          if ("set" in one) {
            const known = naive.get(`${one.set}`)
            timetable.set(`${one.set}`, one.time, value)
            naive.set(`${one.set}`, [Math.min(known?.[0] ?? one.time, one.time), value])
          } else if ("delete" in one) {
            timetable.delete(`${one.delete}`)
            naive.delete(`${one.delete}`)
          } else {
            const due = [...naive].filter(([, [time]]) => time <= one.take)
            const taken = timetable.take(one.take)
            expect(new Map(taken)).toEqual(new Map(due.map(([session, [, last]]) => [session, last])))
            expect(taken.map(([session]) => naive.get(session)?.[0])).toEqual(
              due.map(([, [time]]) => time).toSorted((a, b) => a - b),
            )
            for (const [session] of due) naive.delete(session)
          }
          expect(timetable.next).toBe(
            naive.size === 0 ? undefined : Math.min(...[...naive.values()].map(([time]) => time)),
          )
        })
      }),
    )
  })
})
