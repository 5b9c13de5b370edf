import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { TimerQueue } from "./TimerQueue.js"

describe("a timer queue", () => {
  it("keeps the earlier of two times, and the newer value", () => {
    const timers = new TimerQueue<string>()
    timers.set("a", 10, "first")
    timers.set("a", 20, "second")
    expect(timers.next).toBe(10)
    timers.set("a", 5, "third")
    timers.set("b", 7, "other")
    expect(timers.take(6)).toEqual([["a", "third"]])
    expect(timers.take(100)).toEqual([["b", "other"]])
    expect(timers.next).toBeUndefined()
  })

  it("gives out what is due in order, whatever was set and deleted before", () => {
    const step = fc.oneof(
      fc.record({ set: fc.nat({ max: 9 }), time: fc.nat({ max: 30 }) }),
      fc.record({ delete: fc.nat({ max: 9 }) }),
      fc.record({ take: fc.nat({ max: 30 }) }),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const timers = new TimerQueue<number>()
        const naive = new Map<string, readonly [time: number, value: number]>()
        steps.forEach((one, value) => {
          if ("set" in one) {
            const known = naive.get(`${one.set}`)
            timers.set(`${one.set}`, one.time, value)
            naive.set(`${one.set}`, [Math.min(known?.[0] ?? one.time, one.time), value])
          } else if ("delete" in one) {
            timers.delete(`${one.delete}`)
            naive.delete(`${one.delete}`)
          } else {
            const due = [...naive].filter(([, [time]]) => time <= one.take)
            const taken = timers.take(one.take)
            expect(new Map(taken)).toEqual(new Map(due.map(([session, [, last]]) => [session, last])))
            expect(taken.map(([session]) => naive.get(session)?.[0])).toEqual(
              due.map(([, [time]]) => time).toSorted((a, b) => a - b),
            )
            for (const [session] of due) naive.delete(session)
          }
          expect(timers.next).toBe(
            naive.size === 0 ? undefined : Math.min(...[...naive.values()].map(([time]) => time)),
          )
        })
      }),
    )
  })
})
