/** An owner whose sessions are on several shards, and move: erased, no key that is left opens what any shard has of them. */
import { EventLog, InMemoryEventLog, Message } from "@memfold/core"
import { often } from "@memfold/harness/depth"
import { memoryOver, pairs } from "@memfold/harness/engine"
import { openedPieces } from "@memfold/harness/openedPieces"
import { fileRoot, folderKeyring, sealLog } from "@memfold/sealed"
import { makeSharded, type Shard, sharded } from "@memfold/sharded"
import { Effect, Either, Fiber, Layer } from "effect"
import * as fc from "fast-check"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it, onTestFinished } from "vitest"

const canary = "KANARIENVOGEL-4711"
const said = [Message.user(`Is ${canary} there? `.repeat(20)), Message.assistant(`${canary} is there.`)]

it("is gone from each shard, also from one that a session has left or moves to meanwhile", async () => {
  const keys = mkdtempSync(join(tmpdir(), "memfold-shards-"))
  onTestFinished(() => rmSync(keys, { recursive: true, force: true }))
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 3 }),
      fc.nat({ max: 60 }),
      (moves, steps) =>
        Effect.gen(function* () {
          const folder = mkdtempSync(join(keys, "run-"))
          const keyring = () =>
            folderKeyring({ folder: join(folder, "owners"), root: fileRoot(join(folder, "root.key")) })
          const shards = yield* Effect.forEach(["a", "b", "c"], (name) =>
            Effect.map(InMemoryEventLog.make, (log): Shard => ({ name, log })),
          )
          const sharded = makeSharded({ shards })
          const memory = yield* memoryOver(sealLog(sharded, keyring()), {
            strategy: pairs,
            compaction: { mode: "manual" },
          })
          const sessions = ["chat", "copy", "other"]
          yield* memory.append("chat", [...said, ...said, ...said], { owner: "ann", title: canary })
          yield* memory.describe("chat", { owner: "ben" })
          yield* memory.append("chat", [Message.user("And now? ".repeat(50)), Message.assistant("Yes.")])
          yield* memory.compact("chat")
          yield* memory.recall("chat", canary)
          yield* memory.fork("chat", "copy")
          yield* memory.append("other", said, { owner: "cid" })
          for (const to of moves.slice(1)) yield* Effect.either(sharded.move("chat", to))
          const moving = yield* Effect.fork(
            Effect.forEach(moves.slice(0, 1), (to) => Effect.either(sharded.move("chat", to))),
          )
          for (let step = 0; step < steps; step++) yield* Effect.yieldNow()
          const receipt = yield* memory.erase("ann", { reason: "asked for", after: 0 })
          expect(receipt.sessions.map(({ session }) => session).toSorted()).toEqual(["chat", "copy"])
          yield* Fiber.join(moving)
          for (const { log } of shards)
            for (const session of ["chat", "copy"])
              expect(yield* openedPieces(log, () => sealLog(log, keyring()), session)).not.toContain(canary)
          const { sessions: listed } = yield* memory.sessionsOf("ben")
          expect(listed.map(({ session, title }) => [session, title]).toSorted()).toEqual([
            ["chat", undefined],
            ["copy", undefined],
          ])
          for (const session of sessions) {
            const read = yield* Effect.either(memory.messages(session))
            const isLeft = Either.isLeft(read)
            expect([session, isLeft && read.left.message]).toEqual([
              session,
              session === "other" ? false : expect.stringContaining("erased"),
            ])
          }
        }).pipe(Effect.scoped, Effect.runPromise),
    ),
    { numRuns: often(15, 200) },
  )
})

it("needs the layer that seals over the shards: a shard that seals is refused, and its error says so", () =>
  Effect.gen(function* () {
    const folder = mkdtempSync(join(tmpdir(), "memfold-shards-"))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const keyring = folderKeyring({
      folder: join(folder, "owners"),
      root: fileRoot(join(folder, "root.key")),
    })
    const [a, b] = [yield* InMemoryEventLog.make, yield* InMemoryEventLog.make]
    const shards = [
      { name: "a", log: a },
      { name: "b", log: sealLog(b, keyring) },
    ]
    expect(() => makeSharded({ shards })).toThrow(/shard "b" seals .* over the shards/)
    const store = sharded({
      shards: Object.fromEntries(
        shards.map(({ name, log }) => [name, { store: Layer.succeed(EventLog.EventLog, log) }]),
      ),
    })
    expect(yield* Effect.flip(Layer.build(store))).toMatchObject({
      _tag: "LogError",
      reason: expect.stringContaining("over the shards"),
    })
  }).pipe(Effect.scoped, Effect.runPromise))
