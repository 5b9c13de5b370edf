/**
 * The full-text index in the process: built from the log when a session is first searched, and extended as the log grows.
 * The indexes of all sessions together are bounded; the least recently searched ones are dropped and built again.
 */
import { Effect } from "effect"
import { eachEvent } from "./eachEvent.js"
import type { IndexError, Service, Source } from "./FullTextIndex.js"
import { amount, checkArguments } from "../options/OptionGroup.js"
import { Recent } from "./Recent.js"
import { rangesBetween } from "../session/branches.js"
import { beginning, lookUp, SessionIndex } from "./SessionIndex.js"

/** Builds the index of a session from the beginning of its conversation. */
export const build = ({ gaps, head, events }: Source): Effect.Effect<SessionIndex, IndexError> =>
  Effect.gen(function* () {
    for (;;) {
      const newest = (yield* head)?.version ?? 0
      const index = new SessionIndex(beginning(gaps), gaps)
      let redaction = 0
      yield* eachEvent(
        events({ fromVersion: index.version + 1 }),
        (recorded) => {
          if (recorded.event._tag === "MessageRedacted") redaction = recorded.version
          index.add(recorded)
        },
        1,
      )
      // A redaction that came in between has rewritten events that may have been read before (law L15).
      if (redaction <= newest) return index
    }
  })

/** Takes the index to the branch of a source, and adds the messages of the branch up to the last event of the index. */
const switchTo = (index: SessionIndex, { gaps, events }: Source): Effect.Effect<void, IndexError> =>
  Effect.gen(function* () {
    const from = index.moveTo(gaps)
    if (from === null) return
    for (const range of rangesBetween(gaps, from, index.version))
      yield* eachEvent(
        events({ fromVersion: range.from, toVersion: range.to }),
        (recorded) => index.addMessage(recorded),
        1,
      )
  })

/** Extends an index by the events after it; `null` if it has to be built again: the past has changed. */
const extend = (index: SessionIndex, source: Source): Effect.Effect<SessionIndex | null, IndexError> =>
  Effect.gen(function* () {
    const { events } = source
    yield* switchTo(index, source)
    const from = index.version
    const lastId = index.lastId
    let same = lastId === null
    let redacted = false
    yield* eachEvent(
      events({ fromVersion: Math.max(from, 1) }),
      (recorded) => {
        if (recorded.version === from) same = recorded.id === lastId
        else if (recorded.event._tag === "MessageRedacted") redacted = true
        if (same && !redacted) index.add(recorded)
      },
      1,
    )
    return same && !redacted ? index : null
  })

/**
 * Makes an index in the process.
 *
 * @param options - `capacity`: how many postings to keep, of all sessions together: a message has one for each different
 *   term in it, some 30 on average. 4,000,000 by default, which take about 100 MB. A larger session is searched all the
 *   same; its index is built again for each search.
 * @throws InvalidOption: the capacity is no number
 *
 * @example
 * ```ts
 * import { FullTextIndex, Recall } from "@memfold/core"
 * import { Layer } from "effect"
 *
 * export const small = Layer.sync(FullTextIndex.FullTextIndex, () => Recall.inProcess({ capacity: 500_000 }))
 * ```
 */
export const inProcess = ({ capacity = 4_000_000 } = {}): Service => {
  checkArguments("Recall.inProcess", { capacity: amount }, { capacity })
  const recent = new Recent(capacity)
  return {
    lookUp: (source, lookup) =>
      Effect.gen(function* () {
        const { session } = source
        const taken = recent.take(session)
        const extended = taken.index === null ? null : yield* extend(taken.index, source)
        const index = extended ?? (yield* build(source))
        recent.keep(session, index, taken)
        return lookUp([index], lookup)
      }),
    forget: (session) => Effect.sync(() => recent.forget(session)),
  }
}
