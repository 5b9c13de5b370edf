/** Changes of a fact that people ask for. */
import { type Event, type EventLog, type MemoryLayers, type Session } from "@memfold/core"
import { Clock, Effect } from "effect"
import { forget, ofFacts } from "./forget.js"
import { knownIn, type Places, sayingIt } from "./places.js"
import type { Indexes } from "./recall/Indexes.js"

/** The event of a change; none if it would change nothing. */
const changeOf = (
  { facts }: Session.SessionState,
  id: string,
  {
    as,
    until,
    reason,
  }: Pick<MemoryLayers.FactChange, "reason"> & {
    readonly as: Exclude<MemoryLayers.FactChange["as"], "redacted">
    readonly until: number
  },
): ReadonlyArray<Event.Event> => {
  const fact = facts.find((one) => one.id === id)
  if (fact === undefined) return []
  const isChanged = fact.retracted === true || fact.ended !== undefined
  if (as === "reverted") return isChanged ? [{ _tag: "FactReverted", fact: id }] : []
  if (fact.retracted === true) return []
  if (as === "confirmed") return fact.confirmed === true ? [] : [{ _tag: "FactConfirmed", fact: id }]
  if (as === "retracted") return [{ _tag: "FactRetracted", fact: id, reason }]
  return fact.ended?.timeSource === "said"
    ? []
    : [{ _tag: "FactEnded", fact: id, until, timeSource: "said", reason }]
}

/** Changes a fact in each log that has it; `false` if there is none, or nothing to change. */
export const change = (
  {
    log,
    sessions,
    indexes,
  }: {
    readonly log: EventLog.Service
    readonly sessions: Session.Sessions
    readonly indexes: Indexes
  },
  places: Places,
  { fact, as, until, reason }: MemoryLayers.FactChange,
): Effect.Effect<boolean, Session.SessionError> =>
  Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const known = knownIn(places)
    let isChanged = false
    for (const { log: place, facts } of sayingIt(places, fact)) {
      if (as === "redacted") {
        // What was learned anew is beside the facts about the user.
        for (const one of new Set([place, ...(places.user === null ? [] : [places.user.log])])) {
          yield* forget(log, sessions, one, ofFacts(facts, known))
          indexes.drop(one)
        }
        isChanged = true
        continue
      }
      const { answer } = yield* sessions.transact(place, (current) => {
        const events = facts.flatMap(({ id }) => changeOf(current, id, { as, until: until ?? now, reason }))
        return { events, answer: events.length > 0 }
      })
      isChanged ||= answer
    }
    return isChanged
  })
