/** Erasures and holds as operations of a memory: at once in every process, whatever is under way, and told by the audit. */
import { Audit, EventLog, InMemoryEventLog, Memory, Message, Summarizer } from "@memfold/core"
import { often } from "@memfold/harness/depth"
import { echo, memoryOver, pairs } from "@memfold/harness/engine"
import { openedPieces } from "@memfold/harness/openedPieces"
import { Clock, Deferred, Effect, Either, Fiber, type Scope, Stream, TestClock, TestContext } from "effect"
import * as fc from "fast-check"
import fs from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { fileRoot, folderKeyring, type Keyring, sealing, sealLog } from "../src/index.js"
import { placeOf } from "../src/keyFiles.js"
import { filesDyingAt, folders } from "./support.js"

const { newFolder, newKeyring } = folders()

const canary = "KANARIENVOGEL-4711"
const dpo: Audit.Actor = { id: "dpo", via: "console" }
const options: Memory.Options = { strategy: pairs, compaction: { mode: "manual" } }

/** A store, and processes over it, each with a cache and a keyring of its own. */
const processes = (count: number, given: Partial<Memory.Options> = {}) =>
  Effect.gen(function* () {
    const store = yield* InMemoryEventLog.make
    const folder = newFolder()
    const logs = Array.from({ length: count }, () => sealLog(store, newKeyring(folder)))
    const memories = yield* Effect.forEach(logs, (log) => memoryOver(log, { ...options, ...given }))
    return { store, folder, keyring: newKeyring(folder), logs, memories, memory: memories[0]!, log: logs[0]! }
  })

const run = <A, E>(use: Effect.Effect<A, E, Scope.Scope>) => Effect.runPromise(Effect.scoped(use))

const refusalOf = <A>(attempt: Effect.Effect<A, Error>) =>
  Effect.map(Effect.either(attempt), (done) => (Either.isLeft(done) ? done.left.message : "done"))

const said = [Message.user(`Is ${canary} there?`), Message.assistant(`${canary} is there.`)]

/** The next turn of the event loop: writers to a store in memory would keep everything else waiting. */
const nextTurn = Effect.async<void>((resume) => void setImmediate(() => resume(Effect.void)))

const reads = (memory: Memory.Service): ReadonlyArray<Effect.Effect<unknown, Error>> => [
  memory.context("chat"),
  memory.messages("chat"),
  memory.recall("chat", canary),
  memory.summaries("chat"),
  memory.state("chat"),
  Stream.runCollect(memory.events("chat")),
  Stream.runCollect(memory.eventsOf("ann")),
]

describe("an erased owner", () => {
  it("is refused at once, also by processes that have it in their caches, and lists go on", () =>
    run(
      Effect.gen(function* () {
        const { memories, memory, log } = yield* processes(3)
        yield* memory.append("chat", said, { owner: "ann", title: canary })
        yield* memory.append("other", said, { owner: "ben" })
        for (const each of memories) yield* Effect.all(reads(each))
        const receipt = yield* memory.erase("ann", { reason: "asked for" }).pipe(Audit.as(dpo))
        expect(receipt).toMatchObject({ owner: "ann", actor: "dpo", sessions: [{ session: "chat" }] })
        for (const each of memories) {
          for (const read of reads(each)) expect(yield* refusalOf(read)).toMatch(/"chat".*erased/)
          expect(yield* refusalOf(each.append("chat", said))).toMatch(/erased|revoked/)
          const { sessions } = yield* each.sessionsOf("ann")
          expect(sessions.map(({ session, title }) => [session, title])).toEqual([["chat", undefined]])
          expect((yield* each.recallOf("ann", canary)).messages).toEqual([])
          expect((yield* each.context("other")).messages).toHaveLength(2)
        }
        expect(yield* memory.restore("ann", { reason: "by mistake" })).toBeGreaterThan(0)
        for (const each of memories) yield* Effect.all(reads(each))
        expect(yield* log.list({ limit: 10, owner: "ann" })).toMatchObject([{ title: canary }])
      }),
    ))

  it("is told what was stored in the clear, before the store was sealed, and is refused all the same", () =>
    run(
      Effect.gen(function* () {
        const { store, memory, memories } = yield* processes(2)
        const before = yield* memoryOver(store, options)
        for (const session of ["chat", "both"]) yield* before.append(session, said, { owner: "ann" })
        yield* memory.append("both", said, { owner: "ann" })
        yield* memory.append("sealed", said, { owner: "ann" })
        for (const each of memories) yield* Effect.all(reads(each))
        const receipt = yield* memory.erase("ann", { reason: "asked for" })
        const [first = ""] = receipt.notProven
        expect(first).toMatch(
          /^events in the clear, .* in "both" \(3\), "chat" \(3\): delete these sessions$/,
        )
        for (const session of ["chat", "both", "sealed"])
          for (const each of memories)
            expect(yield* refusalOf(each.context(session))).toMatch(/erased|revoked/)
        yield* memory.append("of ben", said, { owner: "ben" })
        expect((yield* memory.erase("ben", { reason: "asked for" })).notProven.join()).not.toContain("clear")
      }),
    ))

  it("is destroyed once the time is over, and taken back before, whoever is running then", () =>
    run(
      Effect.gen(function* () {
        const { store, keyring, memory } = yield* processes(1)
        yield* sealing(store, keyring)
        yield* memory.append("chat", said, { owner: "ann" })
        const { destroyTime, time } = yield* memory.erase("ann", { reason: "asked for", after: "5 hours" })
        expect(destroyTime).toBe(time + 5 * 3_600_000)
        yield* TestClock.adjust("4 hours")
        expect(yield* memory.restore("ann")).toBe(1)
        yield* TestClock.adjust("2 hours")
        expect((yield* memory.context("chat")).messages).toHaveLength(2)
        yield* memory.erase("ann", { reason: "asked for", after: "5 hours" })
        yield* TestClock.adjust("6 hours")
        expect(yield* memory.restore("ann")).toBe(0)
        expect((yield* keyring.list({ owner: "ann" })).map(({ destroyed }) => destroyed === null)).toEqual([
          false,
        ])
        const now = yield* Clock.currentTimeMillis
        yield* memory.append("chat-2", said, { owner: "ben" })
        const final = yield* memory.erase("ben", { reason: "asked for", after: 0 })
        expect(final.destroyTime).toBe(now)
        expect(yield* memory.restore("ben")).toBe(0)
      }).pipe(Effect.provide(TestContext.TestContext)),
    ))

  it("is taken back, and erased again, where what it spends is counted", () =>
    run(
      Effect.gen(function* () {
        const { store, log } = yield* processes(1)
        const { isFree: _isFree, ...paid } = echo
        const memory = yield* Memory.make({ ...options, spend: { owner: { tokens: 1_000_000 } } }).pipe(
          Effect.provideService(EventLog.EventLog, log),
          Effect.provideService(Summarizer.Summarizer, paid),
        )
        yield* memory.append("chat", [...said, ...said, ...said], { owner: "ann" })
        yield* memory.compact("chat")
        const counted = Memory.spendLog("owner", "ann")
        expect(yield* store.head(counted)).not.toBeNull()
        yield* memory.erase("ann", { reason: "asked for" })
        const again = yield* memory.erase("ann", { reason: "asked for again" })
        expect(again.sessions.map(({ session }) => session)).toContain(counted)
        expect(yield* memory.restore("ann")).toBeGreaterThan(0)
        yield* memory.compact("chat")
      }),
    ))

  it("stays erased while eight writers append and a compaction runs, and nothing is sealed with a new key", () =>
    fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 30 }), fc.boolean(), (steps, isFinal) =>
        run(
          Effect.gen(function* () {
            const { store, keyring, memories, memory } = yield* processes(4)
            const long = said.map(({ role }) => ({
              ...Message.user(`${canary} is there. `.repeat(60)),
              role,
            }))
            yield* memory.append("chat", [...long, ...long, ...long], { owner: "ann", title: canary })
            const asked = yield* Deferred.make<void>()
            const answer = yield* Deferred.make<void>()
            const compacting = yield* Memory.make(options).pipe(
              Effect.provideService(EventLog.EventLog, sealLog(store, keyring)),
              Effect.provideService(Summarizer.Summarizer, {
                name: "slow",
                maxInputTokens: Number.POSITIVE_INFINITY,
                summarize: () =>
                  Deferred.succeed(asked, undefined).pipe(
                    Effect.zipRight(Deferred.await(answer)),
                    Effect.as({ text: `They spoke of ${canary}.` }),
                  ),
              }),
            )
            const compaction = yield* Effect.fork(Effect.either(compacting.compact("chat")))
            yield* Effect.raceFirst(
              Deferred.await(asked),
              Effect.zipRight(Fiber.join(compaction), Effect.dieMessage("it has asked nobody")),
            )
            let written = 0
            const enough = yield* Deferred.make<void>()
            const writers = yield* Effect.forEach(Array.from({ length: 8 }), (_, at) =>
              Effect.fork(
                Effect.gen(function* () {
                  const own = memories[at % memories.length]!
                  for (let turn = 0; ; turn++) {
                    yield* own.append("chat", Message.user(`${canary} ${at} ${turn}`))
                    if (++written > steps) yield* Deferred.succeed(enough, undefined)
                    yield* nextTurn
                  }
                }).pipe(Effect.either),
              ),
            )
            yield* Deferred.await(enough)
            const receipt = yield* memory.erase("ann", { reason: "asked for", after: isFinal ? 0 : 1_000 })
            yield* Deferred.succeed(answer, undefined)
            for (const writer of writers) expect(Either.isLeft(yield* Fiber.join(writer))).toBe(true)
            expect(yield* Fiber.join(compaction)).not.toMatchObject({ right: { _tag: "Committed" } })
            for (const each of [...memories, compacting])
              for (const read of reads(each)) expect(yield* refusalOf(read)).toMatch(/erased/)
            const ids = new Set(receipt.keys.map(({ id }) => id))
            const kept = [...(yield* Stream.runCollect(EventLog.records(store, "chat")))]
            const rows = yield* Effect.forEach(["snapshot", "sealed-summary"], (kind) =>
              store.projections.get("chat", kind),
            )
            for (const { data } of [...kept, ...rows.flat()])
              expect(ids).toContain((JSON.parse(data) as { readonly sealed: string }).sealed)
            expect(JSON.stringify([kept, rows])).not.toContain(canary)
          }),
        ),
      ),
      { numRuns: often(6, 100) },
    ))

  it("is gone from sessions that have another owner now, with all that rests on what was said before", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            process: fc.nat({ max: 1 }),
            owner: fc.constantFrom("ann", "ben", "cid"),
            behind: fc.subarray(["compact", "recall", "context", "rotate"] as const),
          }),
          { minLength: 2, maxLength: 5 },
        ),
        fc.constantFrom("ann", "ben", "cid"),
        (turns, erased) =>
          run(
            Effect.gen(function* () {
              const { store, folder, keyring, memories, memory } = yield* processes(2)
              for (const { process, owner, behind } of turns) {
                const own = memories[process]!
                yield* own.describe("chat", { owner, title: `About ${owner}` })
                const words = `word-of-${owner} is there. `.repeat(20)
                yield* own.append("chat", [Message.user(words), Message.assistant(words)])
                if (behind.includes("compact")) yield* own.compact("chat")
                if (behind.includes("recall")) yield* own.recall("chat", "word")
                if (behind.includes("context")) for (const each of memories) yield* each.context("chat")
                if (behind.includes("rotate")) yield* keyring.rotate({ owner })
              }
              yield* memory.erase(erased, { reason: "asked for", after: 0 })
              const hasSpoken = turns.some(({ owner }) => owner === erased)
              const fresh = yield* memoryOver(sealLog(store, newKeyring(folder)), options)
              for (const each of [...memories, fresh])
                for (const read of reads(each).slice(0, 6))
                  expect(yield* refusalOf(read)).toMatch(hasSpoken ? /"chat".*erased/ : "done")
              // Whoever has the store and every key that is left opens it piece by piece.
              const opened = yield* openedPieces(store, () => sealLog(store, newKeyring(folder)), "chat")
              expect(opened).not.toContain(`word-of-${erased}`)
            }),
          ),
      ),
      { numRuns: often(25, 400) },
    ))

  it("is told by an audit whose chain holds, also once the keys are destroyed, and which has no text", () =>
    run(
      Effect.gen(function* () {
        const { store, memories, memory } = yield* processes(2, { audit: { reads: true } })
        yield* memory.append("chat", said, { owner: "ann", title: canary }).pipe(Audit.as({ id: "ann" }))
        yield* memory.context("chat").pipe(Audit.as({ id: "bot" }))
        yield* memory.erase("ann", { reason: "asked for", after: 0 }).pipe(Audit.as(dpo))
        for (const each of memories)
          for (const report of [yield* each.audit("chat"), yield* each.auditOf("ann")]) {
            expect(report.totals).toMatchObject({ append: 2, describe: 1, read: 1, erase: 1 })
            for (const { brokenAt } of report.trails) expect(brokenAt).toBeNull()
            expect(report.entries.find(({ act }) => act === "erase")).toMatchObject({
              actor: dpo,
              reason: "asked for",
              sessions: [{ session: "chat" }],
            })
            expect(report.entries.find(({ act }) => act === "read")).toMatchObject({
              actor: { id: "bot" },
              operation: "context",
            })
            expect(JSON.stringify(report)).not.toContain(canary)
          }
        // Whoever has the store alone, and no key, can check it as well.
        expect((yield* Audit.readTrail(store, { owner: "ann" })).trail).toMatchObject({
          entries: 1,
          brokenAt: null,
        })
      }),
    ))
})

/** What makes a session unreadable, and how that is mended; what was erased is not mended. */
const unreadable: Readonly<
  Record<string, (folder: string, store: EventLog.Service) => Effect.Effect<Effect.Effect<unknown> | null>>
> = {
  "whose earlier owner was erased": (folder) =>
    Effect.as(Effect.orDie(newKeyring(folder).revoke({ owner: "ben" }, null)), null),
  "whose key another root has wrapped": (folder) =>
    Effect.gen(function* () {
      const root = join(folder, "root.key")
      fs.renameSync(root, `${root}.before`)
      const both = folderKeyring({
        folder: join(folder, "owners"),
        root: fileRoot(root),
        earlierRoots: [fileRoot(`${root}.before`)],
      })
      for (const owner of ["ann", "cid"]) yield* Effect.orDie(both.rotate({ owner }))
      return Effect.orDie(both.rewrap)
    }),
  "whose file of keys is damaged": (folder) =>
    Effect.sync(() => {
      const of = join(folder, "owners", placeOf("owner:ben"))
      const [path] = fs.readdirSync(of).map((name) => join(of, name)) as [string]
      const before = fs.readFileSync(path)
      fs.writeFileSync(path, before.subarray(0, 40))
      return Effect.sync(() => fs.writeFileSync(path, before))
    }),
  "in which a sealed record was changed": (_folder, store) =>
    Effect.gen(function* () {
      const [record] = yield* Effect.orDie(
        store.read("chat", { fromVersion: 1, toVersion: 1, reverse: false, limit: 1 }),
      )
      const { data } = record!
      // The store in memory gives its own records.
      const write = (text: string) => Effect.sync(() => void Object.assign(record!, { data: text }))
      yield* write(data.replace(/"text":"./, '"text":"!'))
      return write(data)
    }),
}

describe("a session that nobody can read here", () => {
  it.each(Object.keys(unreadable))("%s, keeps no other one waiting, and is named", (kind) =>
    run(
      Effect.gen(function* () {
        const { store, folder, memory: before } = yield* processes(1)
        yield* before.append("chat", said, { owner: "ben" })
        yield* before.describe("chat", { owner: "ann" })
        for (const [session, owner] of [
          ["chat-2", "ann"],
          ["other", "cid"],
        ] as const)
          yield* before.append(session, said, { owner })
        yield* before.append("chat", said)
        const mend = yield* unreadable[kind]!(folder, store)
        const memory = yield* memoryOver(sealLog(store, newKeyring(folder)), options)

        expect(yield* memory.recallOf("ann", canary)).toMatchObject({
          messages: [{ session: "chat-2" }, { session: "chat-2" }],
          unreadable: ["chat"],
        })
        expect(yield* memory.sessionsOf("ann")).toMatchObject({
          sessions: [{ session: "chat" }, { session: "chat-2" }],
        })
        const exported: Array<string> = []
        const failed = yield* Effect.flip(
          Stream.runForEach(memory.eventsOf("ann"), ({ session }) =>
            Effect.sync(() => void exported.push(session)),
          ),
        )
        expect(failed).toMatchObject({ session: "chat", refused: expect.any(String) })
        expect(new Set(exported)).toContain("chat-2")

        const told = (events: Iterable<Memory.FedEvent>) => [
          ...new Set([...events].map(({ session, event }) => `${session} ${event._tag}`)),
        ]
        const others = ["chat-2", "other"].flatMap((session) =>
          ["MessageAppended", "SessionDescribed"].map((type) => `${session} ${type}`),
        )
        const fed = told(yield* Stream.runCollect(memory.feed({ follow: false })))
        expect(fed).toEqual(expect.arrayContaining(others))
        expect(fed.includes("chat UnknownEvent")).toBe(mend !== null)
        const taken: Array<Memory.FedEvent> = []
        const take = (events: ReadonlyArray<Memory.FedEvent>) => void taken.push(...events)
        yield* memory.consume("crm", take, { follow: false })
        expect(told(taken)).toEqual(expect.arrayContaining(others))
        const givenUp = () => Effect.map(Stream.runCollect(EventLog.givenUp(store, "crm")), (all) => [...all])
        const letters = yield* givenUp()
        expect(letters.length > 0).toBe(mend !== null)
        expect(JSON.stringify(letters)).not.toContain(canary)
        if (mend !== null) {
          yield* mend
          const mended = sealLog(store, newKeyring(folder))
          yield* Stream.runDrain(Memory.redeliver(mended, "crm", take))
          expect(yield* givenUp()).toEqual([])
          const all = yield* Stream.runCollect((yield* memoryOver(mended, options)).feed({ follow: false }))
          const named = (events: Iterable<Memory.FedEvent>) =>
            [...events].map(({ id, event }) => `${id} ${event._tag}`).toSorted()
          expect(named(taken)).toEqual(named(all))
        }
      }),
    ),
  )

  it("is not deleted where nobody can say whether it is held, and all others of the owner are", () =>
    run(
      Effect.gen(function* () {
        const { folder, memory } = yield* processes(1)
        for (const session of ["chat", "chat-2", "chat-3"])
          yield* memory.append(session, said, { owner: "ann" })
        yield* memory.hold("chat-2", "case 17")
        const of = join(folder, "owners", placeOf("session:chat-2"))
        for (const name of fs.readdirSync(of)) fs.writeFileSync(join(of, name), "{")
        expect(yield* refusalOf(memory.deleteOf("ann"))).toMatch(/"chat-2".*damaged/s)
        expect((yield* memory.sessionsOf("ann")).sessions.map(({ session }) => session)).toEqual(["chat-2"])
        fs.rmSync(of, { recursive: true })
        expect(yield* memory.deleteOf("ann")).toBe(1)
      }),
    ))
})

/** What stands in the files of a keyring. */
const inFiles = (folder: string): string =>
  fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.name} ${fs.readFileSync(join(entry.parentPath, entry.name), "latin1")}`)
    .join("\n")

/** A keyring of a process that is killed before or behind one of its calls, counted from 0. */
const killedAt = (keyring: Keyring, step: number, isBehind: boolean) => {
  let calls = 0
  const dying = <A, E>(call: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.suspend(() => {
      if (calls++ !== step) return call
      const killed = Effect.die("killed")
      return isBehind ? Effect.zipRight(call, killed) : killed
    })
  const wrapped: Keyring = {
    current: (holder) => dying(keyring.current(holder)),
    find: (id) => dying(keyring.find(id)),
    list: (holder) => dying(keyring.list(holder)),
    rotate: (holder) => dying(keyring.rotate(holder)),
    revoke: (holder, due) => dying(keyring.revoke(holder, due)),
    restore: (holder) => dying(keyring.restore(holder)),
    destroy: (holder) => dying(keyring.destroy(holder)),
    destroyDue: dying(keyring.destroyDue),
    hold: (holder, reason) => dying(keyring.hold(holder, reason)),
    held: (holder) => dying(keyring.held(holder)),
  }
  return { keyring: wrapped, calls: () => calls }
}

describe("a process that is killed", () => {
  it.each([false, true])(
    "at any step of an erasure, behind it: %s, leaves what can be erased, or taken back",
    (isBehind) =>
      run(
        Effect.gen(function* () {
          for (let [step, more] = [0, true]; more; step++) {
            const { store, keyring, memories } = yield* processes(1)
            yield* memories[0]!.append("chat", Message.user("Before anybody is known"))
            yield* memories[0]!.append("chat-2", said, { owner: "ann" })
            yield* memories[0]!.describe("chat", { owner: "ann" })
            yield* memories[0]!.append("chat", said)
            const dying = killedAt(keyring, step, isBehind)
            const log = sealLog(store, dying.keyring)
            yield* Effect.exit(log.erasure!.erase({ owner: "ann", actor: "a", reason: "r", after: step % 2 }))
            more = dying.calls() > step
            const texts = Effect.gen(function* () {
              const fresh = yield* memoryOver(sealLog(store, keyring), options)
              const reads = ["chat", "chat-2"].map((session) => Effect.either(fresh.messages(session)))
              return (yield* Effect.all(reads)).filter(Either.isRight).length
            })
            const again = sealLog(store, keyring).erasure!
            // With the time 0, what was revoked may be destroyed; otherwise all of it comes back.
            if (step % 2 === 1) {
              yield* again.restore("ann")
              expect(yield* texts).toBe(2)
            }
            yield* again.erase({ owner: "ann", actor: "a", reason: "r", after: 0 })
            expect(yield* texts).toBe(0)
            expect(yield* again.restore("ann")).toEqual([])
          }
        }),
      ),
  )

  it.each([
    ["an erasure", 0],
    ["an erasure that is due later", 1_000],
  ])("at any write of a file of %s leaves no wrapped key once it is erased again", (_what, after) =>
    run(
      Effect.gen(function* () {
        for (let [step, more] = [0, true]; more; step++) {
          const { store, folder, keyring, memory } = yield* processes(1)
          yield* memory.append("chat", said, { owner: "ann" })
          const wrapped = [...inFiles(folder).matchAll(/"wrapped":"([^"]+)"/g)].map(([, key]) => key!)
          expect(wrapped.length).toBeGreaterThan(0)
          const erasing = { owner: "ann", actor: "a", reason: "r" }
          const files = filesDyingAt(step)
          yield* Effect.exit(sealLog(store, newKeyring(folder)).erasure!.erase({ ...erasing, after }))
          yield* TestClock.adjust(after)
          yield* Effect.exit(keyring.destroyDue)
          files.restart()
          more = files.calls() > step
          yield* sealLog(store, newKeyring(folder)).erasure!.erase({ ...erasing, after: 0 })
          yield* keyring.destroyDue
          const left = inFiles(folder)
          expect({ step, left: wrapped.filter((key) => left.includes(key)) }).toEqual({ step, left: [] })
          expect(left).not.toContain("draft-")
        }
      }).pipe(Effect.provide(TestContext.TestContext)),
    ),
  )

  it("at any step of a rotation loses nothing that was said, before or after it", () =>
    run(
      Effect.gen(function* () {
        for (const isBehind of [false, true])
          for (let [step, more] = [0, true]; more; step++) {
            const { store, keyring, memory } = yield* processes(1)
            yield* memory.append("chat", said, { owner: "ann" })
            const dying = killedAt(keyring, step, isBehind)
            const other = yield* memoryOver(sealLog(store, dying.keyring), options)
            yield* Effect.exit(
              dying.keyring.rotate({ owner: "ann" }).pipe(Effect.zipRight(other.append("chat", said))),
            )
            more = dying.calls() > step
            const fresh = yield* memoryOver(sealLog(store, keyring), options)
            yield* fresh.append("chat", said)
            const { total } = yield* fresh.messages("chat")
            expect([4, 6]).toContain(total)
          }
      }),
    ))
})

describe("a hold", () => {
  it.each([
    ["of the owner", (memory: Memory.Service, reason: string | null) => memory.holdOf("ann", reason)],
    ["of a session", (memory: Memory.Service, reason: string | null) => memory.hold("chat", reason)],
  ])("%s beats erasure, deletion and redaction, and the refusal names it", (_whose, hold) =>
    run(
      Effect.gen(function* () {
        const { memories, memory } = yield* processes(2)
        const [, other] = memories
        yield* memory.append("chat", said, { owner: "ann" })
        yield* hold(memory, "case 17").pipe(Audit.as(dpo))
        for (const attempt of [
          other!.erase("ann", { reason: "asked for" }),
          other!.delete("chat"),
          other!.deleteOf("ann"),
          other!.redact("chat", 0),
        ])
          expect(yield* refusalOf<unknown>(attempt)).toContain("case 17")
        expect((yield* other!.context("chat")).messages).toHaveLength(2)
        yield* hold(memory, null)
        yield* other!.erase("ann", { reason: "asked for" })
        const { totals } = yield* memory.auditOf("ann")
        expect(totals).toMatchObject({ hold: 1, release: 1, erase: 1 })
      }),
    ),
  )

  it("that nobody has begun is not ended: the trail has no word of it", () =>
    run(
      Effect.gen(function* () {
        const { memory } = yield* processes(1)
        yield* memory.append("chat", said, { owner: "ann" })
        const trails = Effect.map(Effect.all([memory.audit("chat"), memory.auditOf("ann")]), (reports) =>
          reports.map(({ totals }) => [totals["hold"], totals["release"]]),
        )
        for (const end of [memory.hold("chat", null), memory.holdOf("ann", null), memory.hold("none", null)])
          yield* end
        expect(yield* trails).toEqual([
          [undefined, undefined],
          [undefined, undefined],
        ])
        yield* memory.hold("chat", "case 17")
        // The hold of a session is none of its owner.
        yield* memory.holdOf("ann", null)
        for (let times = 0; times < 2; times++) yield* memory.hold("chat", null)
        expect(yield* trails).toEqual([
          [1, 1],
          [1, 1],
        ])
      }),
    ))

  it("that comes while an erasure can be taken back keeps the keys of the owner", () =>
    run(
      Effect.gen(function* () {
        const { keyring, memory } = yield* processes(1)
        yield* memory.append("chat", said, { owner: "ann" })
        yield* memory.erase("ann", { reason: "asked for", after: "1 day" })
        expect(yield* refusalOf(memory.hold("chat", "case 17"))).toContain("hold the owner")
        yield* memory.holdOf("ann", "case 17")
        yield* TestClock.adjust("2 days")
        expect(yield* keyring.destroyDue).toBe(0)
        expect(yield* memory.restore("ann")).toBe(1)
        yield* memory.erase("ann", { reason: "asked for", after: "1 day" }).pipe(Effect.either)
        expect((yield* memory.context("chat")).messages).toHaveLength(2)
      }).pipe(Effect.provide(TestContext.TestContext)),
    ))
})

it("a store that seals nothing refuses erasures and holds, and says what it takes", () =>
  run(
    Effect.gen(function* () {
      const memory = yield* memoryOver(yield* InMemoryEventLog.make, options)
      for (const attempt of [
        memory.erase("ann", { reason: "asked for" }),
        memory.restore("ann"),
        memory.hold("chat", "case 17"),
        memory.holdOf("ann", null),
      ]) {
        const failed = yield* Effect.flip(attempt as Effect.Effect<unknown, Error>)
        expect(failed).toMatchObject({ _tag: "NotSealed" })
        expect(failed.message).toContain("@memfold/sealed")
      }
    }),
  ))
