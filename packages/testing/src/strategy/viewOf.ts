import { SummaryMode, Keep, Policy, type Session, Strategy, type Trigger } from "@memfold/core"

/**
 * The view that a policy gets of a state at a time: what the engine shows to one that only looks. Its tail is what is
 * kept; without that, there is none.
 */
export const viewOf = (
  state: Session.SessionState,
  now: number,
  keep: Keep.Keep = Keep.lastMessages(0),
): Trigger.TriggerInput => {
  const seen: Array<Trigger.TriggerInput> = []
  const onlooker = Strategy.make({
    name: "onlooker",
    when: {
      due: (view) => {
        seen.push(view)
        return null
      },
    },
    keep,
    summaryMode: SummaryMode.none,
  })
  Policy.decide(onlooker, { ...state, running: null, failures: null, pausedUntil: 0 }, { now })
  return seen[0]!
}
