import { Option, Schema } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { damage } from "../../test/damaged.js"
import { often } from "@memfold/harness/depth"
import { disorder } from "@memfold/testing/arbitrary"
import { Session } from "../index.js"
import { isExactState } from "./exactState.js"
import { Stored, take } from "./Snapshot.js"

const decode = Schema.decodeUnknownOption(Stored)

/** The state in the snapshot after some events, as JSON. */
const stored = (events: Parameters<typeof Session.fold>[1]): unknown =>
  JSON.parse(take(Session.fold(Session.empty("s"), events)).data.slice(8))

describe("the quick check of a stored state", () => {
  it("passes what the fold makes", () => {
    fc.assert(
      fc.property(disorder, (events) => {
        expect(isExactState(stored(events))).toBe(true)
      }),
      { numRuns: often(60, 300) },
    )
  })

  it("passes nothing that the schema would refuse or decode to something else", () => {
    let refused = 0
    fc.assert(
      fc.property(disorder, damage, (events, damaged) => {
        const value = stored(events)
        damaged(value)
        if (!isExactState(value)) {
          refused++
          return
        }
        const decoded = decode(value)
        expect(Option.isSome(decoded)).toBe(true)
        expect(JSON.stringify(Option.getOrThrow(decoded))).toBe(JSON.stringify(value))
      }),
      { numRuns: often(300, 3_000) },
    )
    expect(refused).toBeGreaterThan(often(100, 1_000))
  })
})
