/** An index whose size is no number would keep nothing, or everything, and say nothing of it. */
import { expect, it } from "vitest"
import { type EventLog, OptionGroup, Recall } from "../index.js"

const store: EventLog.Projections = {
  get: () => expect.unreachable(),
  put: () => expect.unreachable(),
  drop: () => expect.unreachable(),
}

it.each([Number.NaN, -1, "5", null])("%s is no size of an index", (size) => {
  const given = size as number
  for (const make of [
    () => Recall.inProcess({ capacity: given }),
    () => Recall.vectorsInProcess({ capacity: given }),
    () => Recall.inStore(store, { capacity: given }),
    () => Recall.inStore(store, { eventsPerPart: given }),
    () => Recall.inStore(store, { largestPart: given }),
  ])
    expect(make).toThrow(OptionGroup.InvalidOption)
})
