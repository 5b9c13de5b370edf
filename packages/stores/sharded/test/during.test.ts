/**
 * What else is done with a session, begun at each step of a move, and moves at each step of that: nothing is lost, torn, left behind on another
 * shard, or read again.
 */
import { EventLog, type Memory, Message, Verify } from "@memfold/core"
import {
  type Archive,
  archiveSegments,
  archiveSession,
  behind,
  bringBack,
  recordLine,
  restoreSession,
} from "@memfold/archive"
import { often } from "@memfold/harness/depth"
import { memoryArchive } from "@memfold/harness/memoryArchive"
import { memoryOver, pairs } from "@memfold/harness/engine"
import { fileRoot, folderKeyring, sealLog } from "@memfold/sealed"
import { Deferred, Effect, Exit, Fiber, type Scope, Stream } from "effect"
import * as fc from "fast-check"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import { afterAll, describe, expect, it } from "vitest"
import { makeSharded, type Shard, type ShardedLog } from "../src/index.js"
import { killedAt, logOf, mortal, simulated, stopped, stores } from "./support.js"

const canary = "KANARIENVOGEL-4711"

const folder = mkdtempSync(join(tmpdir(), "memfold-during-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let made = 0

/** A process: its shards, what lies over them, and a memory. */
interface Process {
  readonly sharded: ShardedLog
  /** The store itself, without its archive. */
  readonly store: EventLog.Service
  readonly log: EventLog.Service
  readonly memory: Memory.Service
}

interface World {
  readonly shards: ReadonlyArray<Shard>
  readonly archive: Archive
  readonly objects: ReadonlyMap<string, Uint8Array>
  readonly process: (of?: ReadonlyArray<Shard>) => Effect.Effect<Process, never, Scope.Scope>
}

const world = (isSealed: boolean) =>
  Effect.gen(function* () {
    const shards = yield* stores
    const own = join(folder, String(++made))
    mkdirSync(own)
    const keyring = folderKeyring({ folder: join(own, "owners"), root: fileRoot(join(own, "root.key")) })
    const { archive, objects } = memoryArchive()
    const process: World["process"] = (of = shards) =>
      Effect.gen(function* () {
        const sharded = makeSharded({ shards: of })
        const store = isSealed ? sealLog(sharded, keyring) : sharded
        const log = yield* behind(store, archive)
        return {
          sharded,
          store,
          log,
          memory: yield* memoryOver(log, { strategy: pairs, compaction: { mode: "manual" } }),
        }
      })
    const first = yield* process()
    yield* first.memory.append("s", [Message.user(canary), Message.assistant("Yes.")], { owner: "ann" })
    yield* first.memory.append("s", [Message.user("And?"), Message.assistant("No.")])
    yield* first.memory.describe("s", { title: "Birds" })
    yield* first.memory.append("other", [Message.user("I am another one.")], { owner: "ann" })
    return { shards, archive, objects, process } satisfies World
  })

/** What the stores of all shards have of the session: lines of records, and rows. */
const keptOf = ({ shards }: World) =>
  Effect.map(
    Effect.forEach(shards, ({ name, log }) =>
      Effect.gen(function* () {
        const records = [...(yield* Stream.runCollect(EventLog.storedRecords(log, "s")))]
        const rows = yield* Effect.forEach(["summary", "snapshot", "index"], (kind) =>
          log.projections.get("s", kind),
        )
        return records.length === 0 ? [] : [{ name, text: JSON.stringify([records, rows]) }]
      }),
    ),
    (found) => found.flat(),
  )

interface Operation {
  readonly sealed: boolean
  readonly before?: Operation["run"]
  readonly run: (world: World, by: Process) => Effect.Effect<unknown, unknown>
  /** Whether one that was killed is waited for, before it is done again. */
  readonly waits?: boolean
  /** What holds once it is done, and for good. */
  readonly done: (world: World, by: Process, answer: unknown) => Effect.Effect<void, unknown>
}

const lines = (by: Process) => Effect.map(logOf(by.log, "s"), (records) => records.map(recordLine))
const listed = (by: Process) =>
  Effect.map(by.memory.sessionsOf("ann"), ({ sessions }) => sessions.map(({ session }) => session).toSorted())

const isThere = (world: World, by: Process) =>
  Effect.gen(function* () {
    expect((yield* lines(by)).length).toBeGreaterThan(4)
    expect(yield* listed(by)).toEqual(["other", "s"])
  })

const isGone = (world: World, by: Process) =>
  Effect.gen(function* () {
    expect(yield* lines(by)).toEqual([])
    expect(yield* listed(by)).not.toContain("s")
    expect(yield* keptOf(world)).toEqual([])
  })

/** Nothing is missing or damaged, also of what is in the archive. */
const isSound = ({ log }: Process) =>
  Effect.map(Verify.session(log, "s"), (problems) => expect(problems).toEqual([]))

const archived: Operation["run"] = ({ archive }, { store }) => archiveSession(store, archive, "s")

const restoring = (sealed: boolean): Operation => ({
  sealed,
  waits: true,
  before: archived,
  run: ({ archive }, { store }) => restoreSession(store, archive, "s"),
  done: (world, by) =>
    Effect.gen(function* () {
      expect(world.objects.size).toBe(0)
      yield* isThere(world, by)
    }),
})

/** The old part of the session, which has got one before, in segments of a size. */
const segmentedBy =
  (size: number): Operation["run"] =>
  ({ archive }, { store, log }) =>
    Effect.gen(function* () {
      const memory = yield* memoryOver(log, { strategy: pairs, compaction: { mode: "inline" } })
      for (let at = 0; at < 12; at += 2)
        yield* memory.append("s", [Message.user(`${canary} ${at}`), Message.assistant("Hm.")])
      yield* archiveSegments(store, archive, "s", { keepVersions: 1, size })
      // Nobody waits any more for who put these segments there.
      yield* memory.append("s", Message.user("Go on."))
    }).pipe(Effect.scoped)

const segmented = segmentedBy(2)

/** A shard of a process that is slow before it replaces data, and may die behind it. */
const replacesSlowly = (shard: Shard, before: Effect.Effect<void>, isKilled: boolean): Shard => ({
  ...shard,
  log: {
    ...shard.log,
    replace: (session, replaced, at) =>
      before.pipe(
        Effect.zipRight(shard.log.replace!(session, replaced, at)),
        Effect.zipRight(isKilled ? Effect.die("killed") : Effect.void),
      ),
  },
})

/** No object has the words. */
const isNowhere = (world: World) =>
  Effect.gen(function* () {
    const texts = [...world.objects.values()].map((bytes) => gunzipSync(bytes).toString())
    // The other messages go on behind the word.
    expect([...texts, JSON.stringify(yield* keptOf(world))].join("\n")).not.toMatch(
      new RegExp(`${canary}(?! \\d)`, "u"),
    )
  })

const segmentOperations: Readonly<Record<string, Operation>> = {
  segments: {
    sealed: false,
    before: segmented,
    run: ({ archive }, { store }) => archiveSegments(store, archive, "s", { keepVersions: 1, size: 3 }),
    done: (world, by) => Effect.zipRight(isThere(world, by), isSound(by)),
  },
  "segments back": {
    sealed: false,
    before: segmented,
    run: (world, { store }) =>
      Effect.gen(function* () {
        // One before it dies when its rows are back, and before it knows whether the session has moved meanwhile.
        const dying = yield* world.process(
          world.shards.map((shard) => replacesSlowly(shard, Effect.void, true)),
        )
        yield* Effect.exit(bringBack(dying.store, world.archive, "s"))
        yield* bringBack(store, world.archive, "s")
        expect(world.objects.size).toBe(0)
      }).pipe(Effect.scoped),
    done: (world, by) => Effect.zipRight(isThere(world, by), isSound(by)),
  },
  "redact segments": {
    sealed: false,
    before: segmented,
    run: (_, { memory }) => memory.redact("s", 0),
    done: (world, by) => Effect.zipRight(isNowhere(world), Effect.zipRight(isThere(world, by), isSound(by))),
  },
  "delete segments": {
    sealed: false,
    before: segmented,
    run: (_, { memory }) => memory.delete("s"),
    done: (world, by) =>
      Effect.gen(function* () {
        yield* isGone(world, by)
        expect(world.objects.size).toBe(0)
      }),
  },
}

const plainOperations = {
  delete: { sealed: false, run: (_, { memory }) => memory.delete("s"), done: isGone },
  deleteOf: { sealed: true, run: (_, { memory }) => memory.deleteOf("ann"), done: isGone },
  redact: {
    sealed: false,
    run: (_, { memory }) => memory.redact("s", 0),
    done: (world, by) =>
      Effect.gen(function* () {
        expect(JSON.stringify(yield* keptOf(world))).not.toContain(canary)
        yield* isThere(world, by)
      }),
  },
  erase: {
    sealed: true,
    run: (_, { memory }) => memory.erase("ann", { reason: "asked for", after: 0 }),
    done: (_, by, answer) =>
      Effect.gen(function* () {
        const { sessions } = answer as EventLog.Receipt
        expect(sessions.find(({ session }) => session === "s")?.version).toBeGreaterThan(4)
        expect((yield* Effect.flip(logOf(by.log, "s"))).refused).toBe("erased")
        expect(yield* listed(by)).toEqual(["other", "s"])
      }),
  },
  hold: {
    sealed: true,
    run: (_, { memory }) => memory.hold("s", "case 17"),
    done: (world, by) =>
      Effect.gen(function* () {
        expect(String(yield* Effect.flip(by.memory.delete("s")))).toContain("case 17")
        yield* isThere(world, by)
      }),
  },
  archive: {
    sealed: false,
    waits: true,
    run: archived,
    done: (world, by, answer) =>
      Effect.gen(function* () {
        const { outcome } = answer as { readonly outcome: string }
        if (outcome === "moved") {
          expect(yield* keptOf(world)).toEqual([])
          expect(world.objects.size).toBe(1)
        }
        expect(yield* listed(by)).toEqual(["other", "s"])
      }),
  },
  restore: restoring(false),
  "restore sealed": restoring(true),
} satisfies Readonly<Record<string, Operation>>

const operations: Readonly<Record<string, Operation>> = {
  ...plainOperations,
  ...segmentOperations,
  "erase segments": { ...plainOperations.erase, before: segmented },
}

/** The shards of a process that stops at one of its calls until it is told to go on, or dies there. */
const stopping = (shards: ReadonlyArray<Shard>, step: number, isKilled: boolean) =>
  Effect.gen(function* () {
    const [hasStopped, goesOn] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
    const steps = { left: step }
    const stop = Effect.zipRight(Deferred.succeed(hasStopped, undefined), Deferred.await(goesOn))
    const killed = killedAt(1, "behind")
    const own = shards.map((shard) => {
      const log = mortal(shard.log, () => (isKilled && steps.left <= 0 ? killed() : "on"), Effect.void)
      return { ...shard, log: stopped(log, steps, stop) }
    })
    return { own, hasStopped: Deferred.await(hasStopped), goOn: Deferred.succeed(goesOn, undefined) }
  })

const holds = (name: string, who: "mover" | "other", step: number, isKilled: boolean) =>
  Effect.gen(function* () {
    const { run, done, before, sealed } = operations[name]!
    const all = yield* world(sealed)
    const others = yield* all.process()
    yield* before?.(all, others) ?? Effect.void
    const text = yield* lines(yield* all.process())
    if (before !== undefined) yield* before(all, others)
    const from = yield* others.sharded.placeOf("s")
    const to = all.shards.find((shard) => shard.name !== from && shard.name !== "a")!.name
    const { own, hasStopped, goOn } = yield* stopping(all.shards, step, isKilled)
    const stops = yield* all.process(own)
    const [move, other] = [
      (by: Process) => Effect.exit<unknown, unknown, never>(by.sharded.move("s", to)),
      (by: Process) => Effect.exit(run(all, by)),
    ]
    const first = yield* Effect.fork(who === "mover" ? move(stops) : other(stops))
    yield* Effect.race(hasStopped, Fiber.await(first))
    const second = yield* who === "mover" ? other(others) : move(others)
    // Also while the mover stands still.
    if (who === "mover" && Exit.isSuccess(second)) yield* done(all, yield* all.process(), second.value)
    yield* goOn
    const ended = yield* Fiber.join(first)
    // Whoever had asked for what a killed process began asks again.
    const result = who === "mover" ? second : isKilled ? yield* other(yield* all.process()) : ended
    if (Exit.isFailure(result)) return yield* result
    if (!isKilled || who === "other") yield* done(all, yield* all.process(), result.value)
    if (name === "archive" || name.startsWith("restore") || name.startsWith("segments"))
      expect((yield* lines(yield* all.process())).slice(0, text.length)).toEqual(text)
  }).pipe(Effect.asVoid, Effect.scoped)

const { seed = 1 } = fc.readConfigureGlobal()

describe.each(Object.keys(operations).map((name, at) => [name, seed + at] as const))("%s", (name, seed) => {
  it(
    "at each step of a move, and a move at each of its steps, leaves nothing behind",
    () =>
      fc.assert(
        fc.asyncProperty(
          fc.constantFrom("mover" as const, "other" as const),
          fc.integer({ min: 1, max: 50 }),
          fc.boolean(),
          (who, step, isKilled) =>
            simulated(holds(name, who, step, isKilled && (who === "mover" || !operations[name]!.waits))),
        ),
        {
          numRuns: often(name.includes("segments") ? 8 : 14, 1_000),
          // Each operation is stopped at other steps.
          seed,
          examples: [
            ["other", 17, false],
            ["other", 21, false],
            ["mover", 25, false],
            ["other", 4, false],
          ],
        },
      ),
    often(60_000, 600_000),
  )
})

it("old parts that a slow process brings back, or another one when that was killed, are whole wherever the session goes", () =>
  fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 40 }), fc.boolean(), (step, isKilled) =>
      Effect.gen(function* () {
        const all = yield* world(false)
        const others = yield* all.process()
        yield* segmentedBy(6)(all, others)
        expect(all.objects.size).toBe(1)
        const text = yield* lines(others)
        const from = yield* others.sharded.placeOf("s")
        const to = all.shards.find(({ name }) => name !== from && name !== "a")!.name
        const [comes, goesOn] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        // It has looked where the session is, and is slow.
        const waits = Effect.zipRight(Deferred.succeed(comes, undefined), Deferred.await(goesOn))
        const dying = yield* all.process(all.shards.map((shard) => replacesSlowly(shard, waits, isKilled)))
        const first = yield* Effect.fork(Effect.exit(bringBack(dying.store, all.archive, "s")))
        yield* Deferred.await(comes)
        const { own, hasStopped, goOn } = yield* stopping(all.shards, step, false)
        const mover = yield* all.process(own)
        const moving = yield* Effect.fork(Effect.exit(mover.sharded.move("s", to)))
        yield* Effect.race(hasStopped, Fiber.await(moving))
        yield* Deferred.succeed(goesOn, undefined)
        yield* Fiber.join(first)
        if (isKilled) yield* bringBack(others.store, all.archive, "s")
        yield* goOn
        yield* Fiber.join(moving)
        const now = yield* all.process()
        expect(yield* lines(now)).toEqual(text)
        expect(all.objects.size).toBe(0)
      }).pipe(Effect.scoped, simulated),
    ),
    { numRuns: often(14, 200) },
  ))

it("old parts are refused where they could not come back, and so is a shard with an archive of its own", () =>
  Effect.gen(function* () {
    const all = yield* world(false)
    const { sharded, store } = yield* all.process(
      all.shards.map(({ name, log: { replace, ...log } }) => ({
        name,
        log: name === "d" ? log : { ...log, replace: replace! },
      })),
    )
    const place = yield* sharded.placeOf("s")
    if (place !== "b") yield* sharded.move("s", "b")
    yield* segmentedBy(2)(all, yield* all.process())
    expect((yield* Effect.flip(sharded.move("s", "d"))).message).toMatch(/shard "d"; bring them back first/)
    expect(yield* sharded.placeOf("s")).toBe("b")
    yield* bringBack(store, all.archive, "s")
    expect((yield* sharded.move("s", "d")).outcome).toBe("moved")
    const objects = all.objects.size
    expect(
      (yield* Effect.flip(archiveSegments(store, all.archive, "s", { keepVersions: 1, size: 2 }))).message,
    ).toMatch(/shard "d" cannot keep parts/)
    expect(all.objects.size).toBe(objects)
    const [one, ...rest] = all.shards
    const shards = [{ name: "a", log: yield* behind(one!.log, all.archive) }, ...rest]
    expect(() => makeSharded({ shards })).toThrow(/shard "a" has an archive behind it; .* behind the shards/)
  }).pipe(Effect.scoped, simulated))
