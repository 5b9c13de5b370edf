/** Copies that are made in a store before an erasure, by whoever: no key that is left opens what the owner has said, in any of them. */
import { InMemoryEventLog, type Memory, Message } from "@memfold/core"
import { often } from "@memfold/harness/depth"
import { memoryOver, pairs } from "@memfold/harness/engine"
import { openedPieces } from "@memfold/harness/openedPieces"
import { Effect, Either } from "effect"
import * as fc from "fast-check"
import { expect, it } from "vitest"
import { sealLog } from "../src/index.js"
import { folders } from "./support.js"

const { newFolder, newKeyring } = folders()

const options: Memory.Options = { strategy: pairs, compaction: { mode: "manual" } }
const owners = ["ann", "ben", "cid"] as const

/** What is done with one of the sessions that there are. */
const step = fc.record({
  process: fc.nat({ max: 1 }),
  session: fc.nat(),
  owner: fc.constantFrom(...owners),
  /** A copy is made first: as the session is now, or as it was. */
  copy: fc.option(fc.record({ back: fc.nat({ max: 8 }) }), { nil: null }),
  speaks: fc.boolean(),
  behind: fc.subarray(["compact", "recall", "context"] as const),
})

it("an owner is gone from copies, copies of copies, and copies that have passed to others", () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 2, maxLength: 7 }),
      fc.constantFrom(...owners),
      (steps, erased) =>
        Effect.gen(function* () {
          const store = yield* InMemoryEventLog.make
          const folder = newFolder()
          const memories = yield* Effect.forEach([0, 1], () =>
            memoryOver(sealLog(store, newKeyring(folder)), options),
          )
          const sessions = ["chat"]
          yield* memories[0]!.append("chat", Message.user("Hello"))
          for (const { process, session, owner, copy, speaks, behind } of steps) {
            const memory = memories[process]!
            let id = sessions[session % sessions.length]!
            if (copy !== null) {
              const to = `copy-${sessions.length}`
              const { version } = yield* memory.state(id)
              yield* memory.fork(id, to, { atVersion: Math.max(1, version - copy.back) })
              sessions.push(to)
              id = to
            }
            if (!speaks) continue
            yield* memory.describe(id, { owner, title: `About word-of-${owner}` })
            const words = `word-of-${owner} is there. `.repeat(20)
            yield* memory.append(id, [Message.user(words), Message.assistant(words)])
            if (behind.includes("compact")) yield* memory.compact(id)
            if (behind.includes("recall")) yield* memory.recall(id, "word")
            if (behind.includes("context")) yield* memory.context(id)
          }
          /** Whoever has the store and every key that is there opens it piece by piece. */
          const opened = Effect.forEach(sessions, (session) =>
            Effect.map(
              openedPieces(store, () => sealLog(store, newKeyring(folder)), session),
              (text) => [session, text] as const,
            ),
          )
          const saying = (all: ReadonlyArray<readonly [string, string]>) =>
            all.filter(([, text]) => text.includes(`word-of-${erased}`)).map(([session]) => session)
          const before = saying(yield* opened)
          const receipt = yield* memories[0]!.erase(erased, { reason: "asked for", after: 0 })
          expect(saying(yield* opened)).toEqual([])
          expect(receipt.sessions.map(({ session }) => session)).toEqual(expect.arrayContaining(before))
          const fresh = yield* memoryOver(sealLog(store, newKeyring(folder)), options)
          for (const memory of [...memories, fresh])
            for (const session of sessions) {
              const read = yield* Effect.either(memory.messages(session))
              const says = Either.isLeft(read) ? read.left.message : JSON.stringify(read.right)
              expect(says).not.toContain(`word-of-${erased}`)
            }
        }).pipe(Effect.scoped, Effect.runPromise),
    ),
    { numRuns: often(25, 400) },
  ))
