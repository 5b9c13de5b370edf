import { describe, expect, it } from "vitest"
import { after, appended, failed, started, stateOf } from "@memfold/testing"
import { chat } from "@memfold/testing/arbitrary"
import { Keep, type Session, Strategy, SummaryMode, type Trigger } from "../index.js"
import { look } from "./look.js"

const now = 1_700_000_100_000
const lease = 1_700_000_600_000

const strategy = (when: Trigger.Trigger) =>
  Strategy.make({ name: "s", when, keep: Keep.lastMessages(4), summaryMode: SummaryMode.rolling })

const always = strategy({ due: () => "always" })
const never = strategy({ due: () => null })
/** Due a minute after the last message. */
const later = strategy({ due: () => null, dueTime: ({ lastMessageTime }) => lastMessageTime + 60_000 })

const ten = stateOf(chat(10))
const running = after(...appended(chat(10)), started(6))
const backingOff = after(
  ...appended(chat(10)),
  started(6),
  failed({ retryTime: now + 500, retryMessages: 99 }),
)

describe("a look at a state", () => {
  it("answers with the plan that is due, on the state that it was made for", () => {
    const due = look(ten, always, { now })
    expect(due).toMatchObject({ _tag: "Compact", plan: { reason: "always", from: 0, to: 6, tailFrom: 6 } })
    expect(due.state).toBe(ten)
  })

  it.each<readonly [name: string, state: Session.SessionState, strategy: Strategy.Strategy, answer: object]>([
    ["not due", ten, never, { reason: "not-due", lookAgainAt: null }],
    ["due by time", ten, later, { reason: "not-due", lookAgainAt: (ten.lastMessageTime ?? 0) + 60_000 }],
    ["nothing to take", stateOf(chat(3)), always, { reason: "nothing-to-take", lookAgainAt: null }],
    ["a compaction that runs", running, always, { reason: "running", lookAgainAt: lease }],
    ["a pause after a failure", backingOff, always, { reason: "backing-off", lookAgainAt: now + 500 }],
  ])("answers when to look again: %s", (_, state, strategy, answer) => {
    const moment = Math.min(now, (ten.lastMessageTime ?? now) + 1)
    const at = state === backingOff || state === running ? now : moment
    expect(look(state, strategy, { now: at })).toMatchObject({ _tag: "Nothing", ...answer })
  })

  it("finds a plan due once the lease of a compaction is over, and on demand in a pause", () => {
    expect(look(running, always, { now: lease })._tag).toBe("Compact")
    expect(look(backingOff, always, { now, onDemand: true })._tag).toBe("Compact")
  })
})
