import type { Message } from "@memfold/message"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { everyTurn, type Speaker } from "./turns.js"

/** A message as an API has it: who speaks, and the position of the message that it was written of; `null` for a text that stands in. */
interface Written {
  readonly speaker: Speaker
  readonly of: number | null
}

/** A message and who speaks in what is written of it: nobody, where nothing can be written. */
interface Given {
  readonly message: Message.Message
  readonly speakers: ReadonlyArray<Speaker>
}

const nothing: ReadonlyArray<Speaker> = []
const given: fc.Arbitrary<Given> = fc.constantFrom("user", "assistant", "tool", "system").chain((role) =>
  fc.record({
    message: fc.constant<Message.Message>({ role, parts: [] }),
    // The results and the words of one message are two in some requests.
    speakers:
      role === "user"
        ? fc.constantFrom(nothing, ["user" as const], ["tool" as const, "user" as const])
        : fc.constantFrom(nothing, [role], [role, "tool" as const], ["tool" as const, role]),
  }),
)

const isAnswer = (speaker: Speaker | null) => speaker === "assistant" || speaker === undefined

const said = (all: ReadonlyArray<Given>): ReadonlyArray<Written> =>
  everyTurn(
    all.map(({ message }) => message),
    all.map(({ speakers }, of) => speakers.map((speaker): Written => ({ speaker, of }))),
    ({ speaker }) => speaker,
    (speaker): Written => ({ speaker, of: null }),
  )

describe("every turn", () => {
  it("L17: what is written stays as it is, and nobody answers where the user has not spoken", () => {
    fc.assert(
      fc.property(fc.array(given, { maxLength: 9 }), (all) => {
        const sent = said(all)
        const written = all.flatMap(({ speakers }, of) => speakers.map((speaker) => ({ speaker, of })))
        expect(sent.filter(({ of }) => of !== null)).toEqual(written)
        // A request does not end with the assistant if the user spoke last.
        const last = all.findLast(({ message }) => message.role !== "system")
        const end = sent.findLast(({ speaker }) => speaker !== "system")
        if (last?.message.role === "user") expect(isAnswer(end?.speaker ?? "assistant")).toBe(false)
        // The user's turn between two answers is there.
        const turns = sent.filter(({ speaker }) => speaker !== "system")
        for (const [at, one] of turns.entries()) {
          const next = turns[at + 1]
          if (one.of === null || next === undefined || next.of === null) continue
          const between = all.slice(one.of + 1, next.of).some(({ message }) => message.role === "user")
          if (between) expect([one, next].every(({ speaker }) => isAnswer(speaker))).toBe(false)
        }
        // A text stands in where it is needed alone.
        for (const [at, one] of turns.entries()) {
          if (one.of !== null) continue
          const before = turns.slice(0, at).findLast(({ of }) => of !== null)
          const behind = turns.slice(at).find(({ of }) => of !== null)
          expect(before === undefined ? behind === undefined : isAnswer(before.speaker)).toBe(true)
          expect(behind === undefined || isAnswer(behind.speaker)).toBe(true)
        }
      }),
      { numRuns: 3_000 },
    )
  })
})
