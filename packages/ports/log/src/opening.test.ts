/** What a session is opened with at once: a layer over a store that answers something else is asked by its own methods. */
import { Effect } from "effect"
import { expect, it } from "vitest"
import { EventLog, InMemoryEventLog } from "./index.js"

const layers: Readonly<Record<string, (log: EventLog.Service) => Partial<EventLog.Service>>> = {
  read: ({ read }) => ({ read: (...asked) => read(...asked) }),
  head: ({ head }) => ({ head: (...asked) => head(...asked) }),
  projections: ({ projections }) => ({ projections: { ...projections } }),
}

it.each(Object.entries(layers))(
  "a layer with another `%s` does not open as the store does",
  async (_, change) => {
    const store = EventLog.withOpening(await Effect.runPromise(InMemoryEventLog.make), () =>
      Effect.succeed({ head: null, snapshot: null, active: [], page: [] }),
    )
    expect(EventLog.openingOf({ ...store, list: store.list })).toBeDefined()
    expect(EventLog.openingOf({ ...store, ...change(store) })).toBeUndefined()
  },
)
