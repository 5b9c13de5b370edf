import { Message } from "@memfold/core"
import { guard } from "@memfold/guard"
import { planted } from "@memfold/harness/planted"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { eventsOf } from "./events.js"
import { guardedSession } from "./guarded.js"
import type { OldState } from "./OldState.js"
import { type OldSession, isConsolidated } from "./programs.js"

const secrets = planted(11)
const text = secrets.map((one) => one.text).join("\n")
const messages = [
  Message.user(text),
  Message.assistant("Yes."),
  Message.user("And now?"),
  Message.assistant("No."),
]
const guarded = (state: OldSession["state"]) =>
  Effect.runPromise(guardedSession(guard(), { session: "old", state }, "s"))
const found = (value: unknown) =>
  secrets.filter(({ secret }) => JSON.stringify(value).includes(JSON.stringify(secret).slice(1, -1)))

it("guards the messages and the summaries of another program, and notes what was left out", async () => {
  const given: OldState = {
    messages,
    summaries: [
      {
        id: "one",
        status: "active",
        text: `The user said: ${text}`,
        turnPrefix: text,
        covers: [{ from: 0, to: 2 }],
        time: 0,
        total: 4,
      },
    ],
  }
  expect(found(given)).toHaveLength(secrets.length)
  const { state, noted, session } = await guarded(given)
  expect({ found: found(state), session }).toEqual({ found: [], session: "old" })
  if (isConsolidated(state)) throw new Error("it has summaries")
  const { events } = noted(
    eventsOf(state, { session: "s", now: 0, counter: { name: "length", count: (said) => said.length } }),
  )
  expect(found(events)).toEqual([])
  const [first, second] = events.map(({ event }) => event)
  expect(first).toMatchObject({ _tag: "MessageAppended", guarded: { card: 3, iban: 2 } })
  expect(second).toMatchObject({ _tag: "MessageAppended" })
  expect(second).not.toHaveProperty("guarded")
  expect(JSON.stringify(events.at(-1))).toContain("[redacted: card]")
})

it("guards a summary that was given apart", async () => {
  const { state } = await guarded({ messages, coveredTo: 2, time: 0, text })
  expect(found(state)).toEqual([])
  expect(JSON.stringify(state)).toContain("[redacted: iban]")
})
