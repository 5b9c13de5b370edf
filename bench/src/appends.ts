/** Measures appends to a store against bare writes to the database that it is built on. */
import { EventCodec, type EventLog } from "@memfold/core"
import { Effect } from "effect"
import { claim, commitOf, event, median, milliseconds, told } from "./measure.js"

const perTurn = 128
const sessionsAtOnce = 64

export interface Comparison {
  /** Printed above the figures. */
  readonly name: string
  readonly log: EventLog.Service
  /** The reference, and how it writes one record. */
  readonly bare: {
    readonly name: string
    readonly write: (record: EventLog.NewRecord, index: number) => unknown
  }
  readonly turns: number
  /** The first turns, in which the code is compiled. They are not counted. */
  readonly warmUp: number
  /** The largest ratio of an append to a bare write: for a single writer, and for many sessions at once. */
  readonly bounds: { readonly single: number; readonly many: number }
}

/** Measures in alternating turns and prints. Returns whether the ratios are within their bounds. */
export const appends = ({ name, log, bare, turns, warmUp, bounds }: Comparison): Effect.Effect<boolean> =>
  Effect.gen(function* () {
    const events = Array.from({ length: turns * perTurn }, (_, index) => ({
      time: 1_800_000_000_000 + index,
      event: event(index),
    }))
    const records = EventCodec.encodeBatch({ session: name, version: 0 }, "bench", events)
    const append = (session: string, version: number, position: number) =>
      log.append(session, [records[position]!], {
        expectedVersion: version,
        lastBatchId: version === 0 ? undefined : commitOf(version - 1),
        batchId: commitOf(version),
      })
    const each = perTurn / sessionsAtOnce
    const times = { bare: [] as Array<number>, single: [] as Array<number>, many: [] as Array<number> }
    for (let turn = 0; turn < turns; turn++) {
      const start = turn * perTurn
      const positions = Array.from({ length: perTurn }, (_, index) => start + index)
      const single = Effect.forEach(positions, (index) => append("s", index, index), { discard: true })
      const many = Effect.forEach(
        Array.from({ length: sessionsAtOnce }, (_, session) => session),
        (session) =>
          Effect.forEach(
            Array.from({ length: each }, (_, index) => index),
            (index) => append(`s${session}`, turn * each + index, start + session * each + index),
          ),
        { concurrency: "unbounded", discard: true },
      )
      const took = yield* Effect.promise(async () => ({
        bare: await milliseconds(async () => {
          for (const index of positions) await bare.write(records[index]!, index)
        }),
        single: await milliseconds(() => Effect.runPromise(single)),
        many: await milliseconds(() => Effect.runPromise(many)),
      }))
      if (turn < warmUp) continue
      for (const what of ["bare", "single", "many"] as const) times[what].push(took[what] / perTurn)
    }

    const [alone, one, several] = [median(times.bare), median(times.single), median(times.many)]
    const second = (millis: number) => `${Math.round(1_000 / millis).toLocaleString("en-US")}/s`
    console.log(`\n${name}: appending a message`)
    told(bare.name, second(alone))
    told("an append, one writer", second(one))
    told(`an append, ${sessionsAtOnce} sessions at once`, second(several))
    told("an append by one writer takes longer by", `${Math.round((one - alone) * 1_000)} µs`)
    const held = [
      claim(`one writer against ${bare.name}`, one / alone, bounds.single),
      claim(`${sessionsAtOnce} sessions at once against ${bare.name}`, several / alone, bounds.many),
    ]
    return held.every(Boolean)
  })
