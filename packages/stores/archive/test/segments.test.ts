/** Old parts of sessions that live on: moved, read by every reader, redacted, erased, and what a killed process leaves. */
import { describe, expect, it } from "@effect/vitest"
import { EventLog, InMemoryEventLog, Message, Verify } from "@memfold/core"
import { fileRoot, folderKeyring, sealLog } from "@memfold/sealed"
import * as SqliteEventLog from "@memfold/store-sqlite"
import { Effect, Either, Exit, type Scope, Stream } from "effect"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import {
  type Archive,
  archiveSegments,
  archiveSession,
  behind,
  folderArchive,
  retainSegments,
} from "../src/index.js"
import { moveUpTo } from "../src/segments.js"
import { bucketServer, faults } from "./bucketServer.js"
import { fill, folder, linesOf, memoryOver } from "./support.js"

const bucket = await bucketServer()

const inMemory = InMemoryEventLog.make
const inFile = Effect.suspend(() => SqliteEventLog.make({ filename: join(folder(), "chats.db") }))

/** As small as can be: everything that may move does, in segments of four events. */
const small = { keepVersions: 1, size: 4 }

/** Fills a session, whose old part can move: it has snapshots and a summary. */
const filled = (log: EventLog.Service, session = "chat", owner = "ada") => fill(log, session, owner, 40)

const texts = (archive: Archive) =>
  Effect.gen(function* () {
    const keys = yield* archive.list
    const objects = yield* Effect.forEach(keys, archive.get)
    return objects.map((bytes) => gunzipSync(bytes!).toString()).join("\n")
  })

/** The log with the archive behind it, as a process opens it that knows nothing. */
const moved = (log: EventLog.Service, archive: Archive, session = "chat") =>
  Effect.gen(function* () {
    const done = yield* archiveSegments(log, archive, session, small)
    expect(done.segments).toBeGreaterThan(2)
    return yield* behind(log, archive)
  })

for (const [name, open] of [
  ["in memory", inMemory],
  ["in a SQLite file", inFile],
] as const)
  describe(`the old part of a session ${name}`, () => {
    it.scoped("is read from a bucket as if it were there", () =>
      Effect.gen(function* () {
        const archive = yield* Effect.promise(() => bucket.archive())
        const log = yield* open
        yield* filled(log)
        const before = yield* linesOf(log, "chat")
        const plain = yield* memoryOver(log)
        const [context, messages, found] = [
          yield* plain.context("chat"),
          yield* plain.messages("chat"),
          yield* plain.recall("chat", "7"),
        ]
        const head = yield* log.head("chat")
        const rows = yield* log.projections.get("chat", "snapshot")
        const whole = yield* moved(log, archive)
        expect(yield* log.head("chat")).toEqual(head)
        expect(yield* log.projections.get("chat", "snapshot")).toEqual(rows)
        expect(yield* linesOf(whole, "chat")).toEqual(before)
        for (const range of [
          { fromVersion: 3, toVersion: 6 },
          { fromVersion: 8, reverse: true },
          { fromVersion: 60 },
        ])
          expect([...(yield* Stream.runCollect(EventLog.records(whole, "chat", range)))]).toHaveLength(
            Math.min(range.toVersion ?? before.length, before.length) - range.fromVersion + 1,
          )
        const memory = yield* memoryOver(whole)
        expect(yield* memory.context("chat")).toEqual(context)
        expect(yield* memory.messages("chat")).toEqual(messages)
        expect(yield* memory.recall("chat", "7")).toEqual(found)
        expect(yield* Verify.session(whole, "chat")).toEqual([])
        yield* memory.fork("chat", "copy")
        expect((yield* memory.messages("copy")).messages).toEqual(messages.messages)
        expect(yield* Verify.session(log, "copy")).toEqual([])
        expect((yield* memory.append("chat", Message.user("and on"))).from).toBe(messages.total)
        // Moved again behind it, nothing is twice.
        const objects = yield* archive.list
        yield* archiveSegments(log, archive, "chat", small)
        expect(yield* archive.list).toEqual(expect.arrayContaining([...objects]))
        expect((yield* linesOf(whole, "chat")).slice(0, before.length)).toEqual(before)
        expect(yield* memory.delete("chat")).toBe(true)
        expect(yield* archive.list).toEqual([])
        expect((yield* log.list({ limit: 9 })).map(({ session }) => session)).toEqual(["copy"])
      }),
    )

    it.scoped("leaves no text of a message that is redacted (L15)", () =>
      Effect.gen(function* () {
        const archive = folderArchive(folder())
        const log = yield* open
        yield* filled(log)
        const whole = yield* moved(log, archive)
        const memory = yield* memoryOver(whole)
        const secret = Message.text((yield* memory.messages("chat")).messages[3]!)
        expect(yield* texts(archive)).toContain(JSON.stringify(secret).slice(1, -1))
        const others = (yield* archive.list).length
        yield* memory.redact("chat", 3)
        expect(yield* texts(archive)).not.toContain(JSON.stringify(secret))
        expect((yield* archive.list).length).toBeLessThan(others)
        expect(Message.text((yield* memory.messages("chat")).messages[3]!)).toBe("[redacted]")
        yield* moveUpTo(log, archive, "chat", { until: 12, size: 4 })
        expect(yield* texts(archive)).toContain("[redacted]")
        expect(yield* Verify.session(yield* behind(log, archive), "chat")).toEqual([])
      }),
    )

    it.scoped("loses nothing, whichever step is the last one of a process that is killed (L14)", () =>
      Effect.gen(function* () {
        let steps = 0
        for (let last = 0; last < 60; last += open === inMemory ? 1 : 9) {
          const archive = folderArchive(folder())
          const log = yield* open
          yield* filled(log)
          const before = yield* linesOf(log, "chat")
          const secret = Message.text((yield* (yield* memoryOver(log)).messages("chat")).messages[3]!)
          // There, and back for a redaction; the process is gone after so many writes, before or after the last one.
          let left = last >> 1
          const write = <A, E>(run: Effect.Effect<A, E>): Effect.Effect<A, E> =>
            Effect.suspend(() =>
              left-- > 0
                ? run
                : last % 2 === 0
                  ? Effect.die("killed")
                  : Effect.zipRight(run, Effect.die("killed")),
            )
          const dying: EventLog.Service = {
            ...log,
            append: (...args) => write(log.append(...args)),
            delete: (...args) => write(log.delete(...args)),
            rewrite: (...args) => write(log.rewrite(...args)),
            replace: (...args) => write(log.replace!(...args)),
          }
          const kept: Archive = {
            ...archive,
            put: (...args) => write(archive.put(...args)),
            remove: (key) => write(archive.remove(key)),
          }
          const ended = yield* Effect.exit(
            Effect.gen(function* () {
              yield* archiveSegments(dying, kept, "chat", { keepVersions: 1, size: 20 })
              yield* (yield* memoryOver(yield* behind(dying, kept))).redact("chat", 3)
            }),
          )
          const whole = yield* behind(log, archive)
          const now = yield* linesOf(whole, "chat")
          expect(now.length).toBeGreaterThanOrEqual(before.length)
          if (now.length === before.length) expect(now).toEqual(before)
          const memory = yield* memoryOver(whole)
          yield* memory.redact("chat", 3)
          expect(yield* texts(archive)).not.toContain(JSON.stringify(secret))
          expect((yield* linesOf(whole, "chat")).join("\n")).not.toContain(JSON.stringify(secret))
          expect(yield* Verify.session(whole, "chat")).toEqual([])
          yield* memory.delete("chat")
          expect(yield* archive.list).toEqual([])
          expect(yield* log.list({ limit: 9 })).toEqual([])
          steps = last
          if (Exit.isSuccess(ended)) break
        }
        // For each segment a note, an object and the rows; back the rows and the object, and the redaction.
        expect(steps).toBeGreaterThan(10)
        expect(steps).toBeLessThan(54)
      }),
    )
  })

describe("a bucket", async () => {
  const bucket = await bucketServer()

  it.scopedLive.each(faults)(
    "that %s gives no reader a part, keeps none waiting, and loses nothing",
    (fault) =>
      Effect.gen(function* () {
        const archive = yield* Effect.promise(() => bucket.archive())
        // Waits for less than a busy machine may need to answer: it reads from the spoiled bucket alone.
        const hasty = yield* Effect.promise(() => bucket.archive({ timeout: "100 millis" }))
        yield* Effect.addFinalizer(() => Effect.sync(() => bucket.fails(null)))
        const log = yield* inMemory
        yield* filled(log)
        yield* moved(log, archive)
        /** A process that knows nothing yet. */
        const freshOver = (from: Archive) =>
          Effect.flatMap(behind(log, from), (whole) =>
            Effect.map(memoryOver(whole), (memory) => ({ whole, memory })),
          )
        const all = { limit: 100 }
        const readersOf = (fresh: ReturnType<typeof freshOver>) => ({
          history: Effect.flatMap(fresh, ({ memory }) => memory.messages("chat", all)),
          events: Effect.flatMap(fresh, ({ memory }) => Stream.runCollect(memory.events("chat"))),
          "events of the owner": Effect.flatMap(fresh, ({ memory }) =>
            Stream.runCollect(memory.eventsOf("ada")),
          ),
          "a context of before": Effect.flatMap(fresh, ({ memory }) =>
            memory.context("chat", { atVersion: 9 }),
          ),
          records: Effect.flatMap(fresh, ({ whole }) => linesOf(whole, "chat")),
          feed: Effect.flatMap(fresh, ({ memory }) => Stream.runCollect(memory.feed({ follow: false }))),
          verify: Effect.filterOrFail(
            Effect.flatMap(fresh, ({ whole }) => Verify.session(whole, "chat")),
            (found) => found.length === 0,
            (found) => new Error(JSON.stringify(found)),
          ),
        })
        const { memory } = yield* freshOver(archive)
        const readers = readersOf(freshOver(archive))
        for (const read of Object.values(readers)) yield* read as Effect.Effect<unknown, Error, Scope.Scope>
        const before = yield* readers.history
        bucket.fails(fault)
        const fresh = freshOver(hasty)
        const writers = {
          redaction: Effect.flatMap(fresh, ({ memory }) => memory.redact("chat", 3)),
          fork: Effect.flatMap(fresh, ({ memory }) => memory.fork("chat", "copy")),
        }
        const asked: Record<string, Effect.Effect<unknown, Error, Scope.Scope>> = {
          ...readersOf(fresh),
          ...writers,
        }
        for (const [name, run] of Object.entries(asked)) {
          const failed = yield* Effect.either(Effect.timeout(run, "20 seconds"))
          const message = Either.isLeft(failed) ? failed.left.message : "it has answered"
          expect([name, message]).toEqual([name, expect.stringMatching(/archive failed at get|"archive"/)])
        }
        // What was said last is here, and goes on.
        const { memory: other } = yield* fresh
        yield* other.append("chat", Message.user("and on"))
        expect((yield* other.context("chat")).messages.length).toBeGreaterThan(0)
        bucket.fails(null)
        yield* memory.redact("chat", 3)
        const { messages } = yield* readers.history
        expect(messages.map(Message.text)).toEqual([
          ...before.messages.map((message, at) => (at === 3 ? "[redacted]" : Message.text(message))),
          "and on",
        ])
        for (const read of Object.values(readers)) yield* read as Effect.Effect<unknown, Error, Scope.Scope>
      }),
  )
})

describe("a session whose old part is archived", () => {
  it.scoped("is refused without the archive, where it would have a hole", () =>
    Effect.gen(function* () {
      const archive = folderArchive(folder())
      const log = yield* inMemory
      yield* filled(log)
      const before = yield* (yield* memoryOver(log)).context("chat")
      yield* moved(log, archive)
      const memory = yield* memoryOver(log)
      // Neither needs what is archived.
      expect(yield* memory.context("chat")).toEqual(before)
      yield* memory.append("chat", Message.user("on"))
      for (const refused of [
        memory.messages("chat"),
        memory.redact("chat", 3),
        memory.fork("chat", "copy"),
        Verify.session(log, "chat"),
        linesOf(log, "chat"),
        Stream.runDrain(EventLog.feed(log, { follow: false })),
        Stream.runDrain(memory.events("chat")),
      ] as ReadonlyArray<Effect.Effect<unknown, unknown>>)
        expect(yield* Effect.flip(refused)).toMatchObject({
          _tag: "LogError",
          message: expect.stringMatching(
            /session "chat".*open the store with its archive \(withArchive, --archive\)/,
          ),
        })
      yield* log.projections.drop("snapshot")
      const cold = yield* memoryOver(log)
      expect((yield* Effect.flip(cold.context("chat")))._tag).toBe("LogError")
    }),
  )

  it.scoped("is said to be lost or damaged, and is whole again when its objects are", () =>
    Effect.gen(function* () {
      const archive = folderArchive(folder())
      const log = yield* inMemory
      yield* filled(log)
      const before = yield* linesOf(log, "chat")
      yield* moved(log, archive)
      const keys = (yield* archive.list).toSorted()
      const [first, second] = [yield* archive.get(keys[0]!), yield* archive.get(keys[1]!)]
      const read = Effect.flatMap(behind(log, archive), (whole) => linesOf(whole, "chat"))
      yield* archive.put(keys[0]!, second!)
      expect((yield* Effect.flip(read)).message).toMatch(/has other events/)
      yield* archive.put(keys[0]!, first!.slice(0, -20))
      expect((yield* Effect.flip(read)).message).toMatch(/archive failed at get/)
      yield* archive.remove(keys[0]!)
      expect((yield* Effect.flip(read)).message).toMatch(/the archive has lost its events/)
      yield* archive.put(keys[0]!, first!)
      expect(yield* read).toEqual(before)
    }),
  )

  it.scoped("goes to the archive as a whole, and comes back as it was", () =>
    Effect.gen(function* () {
      const archive = folderArchive(folder())
      const log = yield* inMemory
      yield* filled(log)
      const before = yield* linesOf(log, "chat")
      yield* moved(log, archive)
      expect(yield* archiveSession(log, archive, "chat")).toMatchObject({ outcome: "moved" })
      expect(yield* archive.list).toHaveLength(1)
      expect(yield* linesOf(yield* behind(log, archive), "chat")).toEqual(before)
    }),
  )

  it.scoped("leaves no object where another process has looked for it before it was written", () =>
    Effect.gen(function* () {
      const archive = folderArchive(folder())
      const log = yield* inMemory
      yield* filled(log)
      const memory = yield* memoryOver(yield* behind(log, archive))
      const meanwhile = memory
        .append("chat", Message.user("wait"))
        .pipe(Effect.zipRight(Stream.runDrain(retainSegments(log, archive, small))), Effect.orDie)
      const late = {
        ...archive,
        put: (key: string, bytes: Uint8Array) => Effect.zipRight(meanwhile, archive.put(key, bytes)),
      }
      expect(yield* archiveSegments(log, late, "chat", small)).toMatchObject({ outcome: "active" })
      yield* memory.delete("chat")
      expect(yield* archive.list).toEqual([])
    }),
  )

  it.scoped("is moved by two processes at once, and by one that others speak to", () =>
    Effect.gen(function* () {
      const archive = folderArchive(folder())
      const log = yield* inFile
      yield* filled(log)
      const before = yield* linesOf(log, "chat")
      const whole = yield* behind(log, archive)
      const memory = yield* memoryOver(whole)
      const move = archiveSegments(log, archive, "chat", small)
      yield* Effect.all([move, move, memory.append("chat", Message.user("wait")), memory.redact("chat", 3)], {
        concurrency: "unbounded",
      })
      yield* Stream.runDrain(retainSegments(log, archive, small))
      const now = yield* linesOf(whole, "chat")
      expect(now.length).toBeGreaterThan(before.length + 1)
      expect(yield* Verify.session(whole, "chat")).toEqual([])
      yield* memory.delete("chat")
      expect(yield* archive.list).toEqual([])
    }),
  )

  it.scoped("stays sealed, and stays where it is while it is held", () =>
    Effect.gen(function* () {
      const place = folder()
      const keyring = folderKeyring({
        folder: join(place, "owners"),
        root: fileRoot(join(place, "root.key")),
      })
      const archive = folderArchive(folder())
      const store = yield* inMemory
      const log = sealLog(store, keyring)
      yield* filled(log)
      const messages = yield* (yield* memoryOver(log)).messages("chat")
      yield* log.erasure!.hold({ owner: "ada" }, "case 17")
      expect((yield* Effect.flip(archiveSegments(log, archive, "chat", small))).message).toContain("case 17")
      yield* log.erasure!.hold({ owner: "ada" }, null)
      const whole = yield* moved(log, archive)
      expect(yield* texts(archive)).toContain("MessageAppended")
      expect(yield* texts(archive)).not.toContain(Message.text(messages.messages[3]!))
      const memory = yield* memoryOver(whole)
      expect(yield* memory.messages("chat")).toEqual(messages)
      yield* memory.redact("chat", 3)
      expect(Message.text((yield* memory.messages("chat")).messages[3]!)).toBe("[redacted]")
      yield* memory.erase("ada", { reason: "asked for", after: 0 })
      const later = yield* memoryOver(yield* behind(sealLog(store, keyring), archive))
      expect((yield* Effect.flip(later.messages("chat"))).message).toMatch(/erased/)
      yield* later.delete("chat")
      expect(yield* archive.list).toEqual([])
    }),
  )
})
