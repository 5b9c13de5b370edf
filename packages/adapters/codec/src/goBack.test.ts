import { EventLog, InMemoryEventLog, Memory } from "@memfold/core"
import { Message } from "@memfold/message"
import { often } from "@memfold/harness/depth"
import { echoing, pairs } from "@memfold/harness/engine"
import { Effect } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { goBack, StoredSession } from "./index.js"

/** A conversation of few words, so that one thing is said on several branches: what is appended, or said in place of what follows. */
const step = fc.record({
  from: fc.option(fc.nat({ max: 6 })),
  words: fc.array(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 3 }),
})

/** What is said on a branch, each with the step that said it: two branches share the steps that they come from. */
interface Branch {
  readonly id: number
  readonly said: ReadonlyArray<{ readonly word: string; readonly step: number }>
}

type Steps = ReadonlyArray<{ readonly from: number | null; readonly words: ReadonlyArray<string> }>

/** The branches that the steps lead to, the branch in force first and then those that were left, newest first. */
const played = async (session: StoredSession, steps: Steps): Promise<readonly [Branch, ...Array<Branch>]> => {
  /** The newest last. */
  const branches: Array<Branch> = [{ id: 0, said: [] }]
  for (const [step, { from, words }] of steps.entries()) {
    const { id, said } = branches.at(-1)!
    const messages = words.map((word) => Message.user(word))
    const added = words.map((word) => ({ word, step }))
    const isEdit = from !== null && from < said.length
    const branch = isEdit ? (await session.memory.edit(session.id, from, messages)).branch : id
    if (!isEdit) {
      await session.append(messages)
      branches.pop()
    }
    branches.push({ id: branch, said: [...said.slice(0, isEdit ? from : said.length), ...added] })
  }
  const [now, ...left] = branches.toReversed()
  return [now!, ...left]
}

describe("a page that shows a branch which was left", () => {
  it("goes back to the newest one that has what it shows, where the branch in force has not", async () => {
    const property = fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 6 }),
      fc.constantFrom("a", "b", "c"),
      fc.nat({ max: 4 }),
      fc.nat({ max: 4 }),
      (steps, word, place, read) =>
        Effect.gen(function* () {
          const memory = yield* Memory.make({ strategy: pairs, compaction: { mode: "off" } })
          const session = new StoredSession(memory, "s", "library")
          const [now, ...left] = yield* Effect.promise(() => played(session, steps))
          const isShown = (message: Message.Message, index: number) =>
            Message.text(message) === word && index >= place
          const has = (branch: Branch, from: number) =>
            branch.said.some((one, index) => one.word === word && index >= Math.max(place, from))
          const sharedWith = ({ said }: Branch) => {
            const own = said.findIndex(
              ({ step }, index) =>
                now.said[index]?.step !== step || now.said[index].word !== said[index]?.word,
            )
            return own === -1 ? said.length : own
          }
          // Perhaps not all of the branch in force was read.
          const page = yield* Effect.promise(() => session.newestPage())
          const from = Math.min(read, page.messages.length)
          const wanted = has(now, from) ? undefined : left.find((branch) => has(branch, sharedWith(branch)))
          const went = yield* Effect.promise(() =>
            goBack(session, isShown, { from, messages: page.messages.slice(from) }),
          )
          expect(went).toBe(wanted !== undefined)
          const { messages } = yield* Effect.promise(() => session.all())
          expect(messages.map((one) => Message.text(one))).toEqual(
            (wanted ?? now).said.map((one) => one.word),
          )
          const [branch] = yield* memory.branches("s")
          expect(branch?.id).toBe((wanted ?? now).id)
        }).pipe(
          Effect.provide(echoing),
          Effect.provideServiceEffect(EventLog.EventLog, InMemoryEventLog.make),
          Effect.scoped,
          Effect.runPromise,
        ),
    )
    await fc.assert(property, { numRuns: often(200, 1_000) })
  })
})
