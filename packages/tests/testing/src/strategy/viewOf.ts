import { SummaryMode, Keep, Policy, type Session, Strategy, type Trigger } from "@memfold/core"

/**
 * The view that a policy gets of a state at a time, in the circumstances of a memory. The tail is the messages that `keep`
 * keeps; without `keep` it is empty.
 */
export const viewOf = (
  state: Session.SessionState,
  now: number,
  keep: Keep.Keep = Keep.lastMessages(0),
  circumstances: Policy.Circumstances = {},
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
  Policy.decide(
    onlooker,
    { ...state, running: null, failures: null, pausedUntil: 0 },
    { ...circumstances, now },
  )
  return seen[0]!
}
