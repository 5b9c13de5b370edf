/** Archives and forks of a sealed store: what is sealed stays sealed there, and an erasure reaches it. */
import { EventLog, InMemoryEventLog, Message } from "@memfold/core"
import { memoryOver, pairs } from "@memfold/harness/engine"
import { openedPieces } from "@memfold/harness/openedPieces"
import { fileRoot, folderKeyring, sealLog } from "@memfold/sealed"
import { Effect, Either, type Scope, Stream, TestClock, TestContext } from "effect"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import { expect, it } from "vitest"
import { archiveSession, behind, copySession, restoreSession, sourceOf } from "../src/index.js"
import { memoryArchive } from "@memfold/harness/memoryArchive"
import { folder } from "./support.js"

const canary = "KANARIENVOGEL-4711"
const said = [Message.user(`Is ${canary} there?`), Message.assistant(`${canary} is there.`)]

const setUp = Effect.gen(function* () {
  const store = yield* InMemoryEventLog.make
  const keys = folder()
  const keyring = folderKeyring({ folder: join(keys, "owners"), root: fileRoot(join(keys, "root.key")) })
  const { archive, objects } = memoryArchive()
  const log = yield* behind(sealLog(store, keyring), archive)
  const memory = yield* memoryOver(log, { strategy: pairs, compaction: { mode: "manual" } })
  yield* TestClock.adjust("1 day")
  yield* memory.append("chat", Message.user(`Before anybody is known: ${canary}`))
  yield* memory
    .append("chat", said)
    .pipe(Effect.zipRight(memory.describe("chat", { owner: "ann", title: canary })))
  yield* memory.append("chat", said)
  yield* memory.fork("chat", "copy")
  /** A process that begins now: it knows nothing. */
  const fresh = Effect.flatMap(behind(sealLog(store, keyring), archive), (own) =>
    memoryOver(own, { strategy: pairs, compaction: { mode: "manual" } }),
  )
  return { store, keyring, archive, objects, memory, fresh }
})

const run = <A, E>(use: Effect.Effect<A, E, Scope.Scope>) =>
  Effect.runPromise(Effect.scoped(Effect.provide(use, TestContext.TestContext)))

it("an archived session is sealed there, and comes back as it was", () =>
  run(
    Effect.gen(function* () {
      const { store, keyring, archive, objects, memory, fresh } = yield* setUp
      const before = yield* memory.messages("chat")
      yield* TestClock.adjust("1 day")
      const sealedLog = sealLog(store, keyring)
      expect((yield* archiveSession(sealedLog, archive, "chat")).outcome).toBe("moved")
      expect(yield* store.head("chat")).toBeNull()
      const [object] = [...objects.values()].map((bytes) => gunzipSync(bytes).toString())
      expect(object).toContain("MessageAppended")
      expect(object).not.toContain(canary)
      const later = yield* fresh
      expect((yield* later.messages("chat")).messages).toEqual(before.messages)
      expect((yield* later.sessionsOf("ann")).sessions.map(({ session, title }) => [session, title])).toEqual(
        expect.arrayContaining([["chat", canary]]),
      )
    }),
  ))

it("an erasure reaches an archived object, and a fork, that were taken before it", () =>
  run(
    Effect.gen(function* () {
      const { store, keyring, archive, objects, memory, fresh } = yield* setUp
      yield* TestClock.adjust("1 day")
      yield* archiveSession(sealLog(store, keyring), archive, "chat")
      const backup = new Map(objects)
      const { notProven } = yield* memory.erase("ann", { reason: "asked for", after: 0 })
      expect(notProven[0]).toMatch(
        /^versions, sizes and digests of sessions that are in an archive, .*: "chat"$/,
      )
      for (const [key, bytes] of backup) objects.set(key, bytes)
      yield* TestClock.adjust("1 day")
      expect(yield* restoreSession(sealLog(store, keyring), archive, "chat")).toBe(true)
      const later = yield* fresh
      for (const session of ["chat", "copy"]) {
        const read = yield* Effect.either(later.messages(session))
        expect(Either.isLeft(read) && read.left.message).toMatch(/erased/)
      }
      expect((yield* later.sessionsOf("ann")).sessions.map(({ session, title }) => [session, title])).toEqual(
        expect.arrayContaining([
          ["chat", undefined],
          ["copy", undefined],
        ]),
      )
    }),
  ))

it("a hold keeps a session out of the archive, and an archived one in it", () =>
  run(
    Effect.gen(function* () {
      const { store, keyring, archive, objects, memory } = yield* setUp
      const sealedLog = sealLog(store, keyring)
      yield* TestClock.adjust("1 day")
      yield* memory.holdOf("ann", "case 17")
      const refused = yield* Effect.either(archiveSession(sealedLog, archive, "chat"))
      expect(Either.isLeft(refused) && refused.left.message).toContain("case 17")
      expect(objects.size).toBe(0)
      yield* memory.holdOf("ann", null)
      yield* archiveSession(sealedLog, archive, "chat")
      yield* memory.holdOf("ann", "case 17")
      const deleted = yield* Effect.either((yield* behind(sealedLog, archive)).delete("chat"))
      expect(Either.isLeft(deleted) && deleted.left.message).toContain("case 17")
      expect(objects.size).toBe(1)
      // Without its mark, nobody would find it, whoever holds it.
      yield* memory.holdOf("ann", null)
      yield* memory.hold("chat", "case 17")
      for (const kept of [EventLog.markOf("chat"), `${EventLog.noted.segments}chat`])
        for (const attempt of [memory.delete(kept), memory.append(kept, said), memory.fork("copy", kept)]) {
          const refused = yield* Effect.either<unknown, Error, never>(attempt)
          expect(Either.isLeft(refused) && refused.left.message).toContain("archive")
        }
      expect((yield* memory.messages("chat")).total).toBe(5)
    }),
  ))

it("an archived session is named where its owner passed it on, and told by the trail of its owner", () =>
  run(
    Effect.gen(function* () {
      const { store, keyring, archive, memory, fresh } = yield* setUp
      yield* memory.describe("chat", { owner: "ben" })
      yield* memory.append("chat", said)
      yield* TestClock.adjust("1 day")
      yield* archiveSession(sealLog(store, keyring), archive, "chat")
      const later = yield* fresh
      yield* later.holdOf("ben", "case 17")
      const refused = yield* Effect.either(later.erase("ann", { reason: "asked for" }))
      expect(Either.isLeft(refused) && refused.left.message).toContain("case 17")
      yield* later.holdOf("ben", null)
      const { sessions } = yield* later.erase("ann", { reason: "asked for" })
      expect(sessions.map(({ session }) => session)).toContain("chat")
      const { totals } = yield* later.audit("chat")
      expect(totals).toMatchObject({ append: 7, hold: 1, release: 1 })
    }),
  ))

it("a copy in another sealed store is erased with each owner that its session has had, and its trails hold", () =>
  run(
    Effect.gen(function* () {
      const { store, keyring, memory } = yield* setUp
      yield* memory.describe("chat", { owner: "ben" })
      yield* memory.append("chat", [...said.map(() => Message.user("And now?")), ...said.map(() => said[0]!)])
      yield* memory.compact("chat")
      yield* memory.recall("chat", canary)
      const from = sealLog(store, keyring)
      const other = yield* InMemoryEventLog.make
      const keys = folder()
      const apart = () =>
        sealLog(
          other,
          folderKeyring({ folder: join(keys, "owners"), root: fileRoot(join(keys, "root.key")) }),
        )
      for (const { session } of yield* Stream.runCollect(EventLog.sessions(from)))
        expect((yield* copySession(sourceOf(from), apart(), session)).outcome).toBe("copied")
      const there = yield* memoryOver(apart(), { strategy: pairs, compaction: { mode: "manual" } })
      expect((yield* there.messages("chat")).messages).toEqual((yield* memory.messages("chat")).messages)
      expect(yield* there.auditOf("ann")).toEqual(yield* memory.auditOf("ann"))
      yield* there.append("chat", Message.user("Goodbye"))

      const { sessions } = yield* there.erase("ann", { reason: "asked for", after: 0 })
      expect(sessions.map(({ session }) => session).toSorted()).toEqual(["chat", "copy"])
      for (const session of ["chat", "copy"])
        expect(yield* openedPieces(other, apart, session)).not.toContain(canary)
      const { trails } = yield* there.auditOf("ann")
      expect(trails.map(({ brokenAt }) => brokenAt)).toEqual(trails.map(() => null))
    }),
  ))

it("an archived session is of its owner, also if a process without the keys has brought it back", () =>
  run(
    Effect.gen(function* () {
      const { store, keyring, archive, fresh } = yield* setUp
      yield* TestClock.adjust("1 day")
      yield* archiveSession(sealLog(store, keyring), archive, "chat")
      expect(yield* restoreSession(store, archive, "chat")).toBe(true)
      const later = yield* fresh
      expect((yield* later.sessionsOf("ann")).sessions.map(({ session }) => session)).toContain("chat")
      expect((yield* later.messages("chat")).total).toBe(5)
    }),
  ))

it("a copy by who has no keys has the owners as well, and is not sealed once more", () =>
  run(
    Effect.gen(function* () {
      const { store, keyring, memory } = yield* setUp
      const other = yield* InMemoryEventLog.make
      for (const { session } of yield* Stream.runCollect(EventLog.sessions(store)))
        expect((yield* copySession(sourceOf(store), other, session)).outcome).toBe("copied")
      const there = yield* memoryOver(sealLog(other, keyring), { strategy: pairs })
      expect(yield* there.sessionsOf("ann")).toEqual(yield* memory.sessionsOf("ann"))
      expect((yield* there.messages("chat")).messages).toEqual((yield* memory.messages("chat")).messages)
      const keys = folder()
      const root = fileRoot(join(keys, "root.key"))
      const sealedTwice = sealLog(
        yield* InMemoryEventLog.make,
        folderKeyring({ folder: join(keys, "owners"), root }),
      )
      expect((yield* Effect.flip(copySession(sourceOf(store), sealedTwice, "chat"))).message).toMatch(
        /"chat": its events are sealed already; open the store that they are from with its keys/,
      )
    }),
  ))
