/** What was spent on one day, from the events of a log that counts it. */
import type { SpendCapReached, SpendCharged } from "../event/Event.js"
import type { Spent } from "./SessionState.js"

/** What was spent on a day. A day that nobody has spent anything on is a new one. */
export const spentOn = (spent: Spent | null, day: string): Spent =>
  spent?.day === day ? spent : { day, tokens: 0, dollars: 0, heldTokens: 0, heldDollars: 0, reached: null }

/** Days as text are in the order of time. */
const isPast = (spent: Spent | null, day: string): boolean => spent !== null && day < spent.day

/** What was spent after a charge. A call that began before midnight is settled on a day that does not count any more. */
export const charged = (spent: Spent | null, event: SpendCharged): Spent | null => {
  if (isPast(spent, event.day)) return spent
  const before = spentOn(spent, event.day)
  return {
    ...before,
    tokens: before.tokens + event.tokens,
    dollars: before.dollars + event.dollars,
    heldTokens: before.heldTokens + event.heldTokens,
    heldDollars: before.heldDollars + event.heldDollars,
  }
}

/** What was spent, and that it has reached the cap. The first time counts. */
export const capReached = (
  spent: Spent | null,
  { day, tokens, dollars }: SpendCapReached,
  time: number,
): Spent | null => {
  if (isPast(spent, day)) return spent
  const before = spentOn(spent, day)
  const cap = { ...(tokens === undefined ? {} : { tokens }), ...(dollars === undefined ? {} : { dollars }) }
  return before.reached === null ? { ...before, reached: { time, ...cap } } : before
}
