/**
 * Layers over stores, in every order that there may be: whatever is done with a memory over them, also while sessions move to an archive and
 * to other shards, while keys are rotated and processes begin anew, it answers as one over a store in memory.
 */
import { InMemoryEventLog, type Memory, Message } from "@memfold/core"
import { archiveSegments, archiveSession, behind } from "@memfold/archive"
import { often } from "@memfold/harness/depth"
import { memoryOver, pairs } from "@memfold/harness/engine"
import { memoryArchive } from "@memfold/harness/memoryArchive"
import { fileRoot, folderKeyring, sealLog } from "@memfold/sealed"
import { makeSharded } from "@memfold/sharded"
import { Cause, Clock, Effect, Exit, Scope, Stream } from "effect"
import * as fc from "fast-check"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect, it } from "vitest"

const keys = mkdtempSync(join(tmpdir(), "memfold-compositions-"))
afterAll(() => rmSync(keys, { recursive: true, force: true }))

/** What nobody sees who uses the memory. Whatever a composition has not, is left out. */
interface Unseen {
  archive: (session: string) => Effect.Effect<unknown, unknown>
  archiveParts: (session: string) => Effect.Effect<unknown, unknown>
  move: (session: string, shard: string) => Effect.Effect<unknown, unknown>
  rotate: (owner: string) => Effect.Effect<unknown, unknown>
}

type Layer = "sharded" | "sealed" | "archive"
const [names, owners] = [["s", "t", "ü/7 %"] as const, ["ann", "ben"] as const]

/** What a process opens over stores that stay. */
const stores = (layers: ReadonlyArray<Layer>) =>
  Effect.gen(function* () {
    const logs = [yield* InMemoryEventLog.make, yield* InMemoryEventLog.make, yield* InMemoryEventLog.make]
    const folder = mkdtempSync(join(keys, "run-"))
    const { archive } = memoryArchive()
    return Effect.gen(function* () {
      let log = logs[0]!
      const unseen: Partial<Unseen> = {}
      for (const layer of layers)
        if (layer === "sharded") {
          const over = makeSharded({ shards: logs.map((one, at) => ({ name: "abc"[at]!, log: one })) })
          // A session never returns to a shard that it has left.
          unseen.move = (session, shard) => Effect.either(over.move(session, shard))
          log = over
        } else if (layer === "sealed") {
          const keyring = folderKeyring({
            folder: join(folder, "owners"),
            root: fileRoot(join(folder, "root.key")),
          })
          unseen.rotate = (owner) => keyring.rotate({ owner })
          log = sealLog(log, keyring)
        } else {
          const store = log
          unseen.archive = (session) => archiveSession(store, archive, session)
          unseen.archiveParts = (session) =>
            archiveSegments(store, archive, session, { keepVersions: 1, size: 2 })
          log = yield* behind(store, archive)
        }
      return { log, unseen }
    })
  })

type Act = (memory: Memory.Service, unseen: Partial<Unseen>) => Effect.Effect<unknown, unknown>
type Step = readonly [name: string, given: ReadonlyArray<unknown>, act: Act | null]

const session = fc.constantFrom(...names)
const owner = fc.constantFrom(...owners)
const text = fc.constantFrom("a zebra", "order KX-1", "the moon rises", "blue lake")
const index = fc.nat({ max: 5 })

/** A step with generated arguments. */
const step = <Given extends ReadonlyArray<unknown>>(
  name: string,
  given: { [At in keyof Given]: fc.Arbitrary<Given[At]> },
  act: ((...given: Given) => Act) | null,
): fc.Arbitrary<Step> =>
  (fc.tuple(...given) as unknown as fc.Arbitrary<Given>).map((made) => [name, made, act?.(...made) ?? null])

const said = fc.array(text, { minLength: 1, maxLength: 4 })
const append = step<[string, ReadonlyArray<string>, string]>(
  "append",
  [session, said, owner],
  (one, texts, of) => (memory) =>
    memory.append(
      one,
      texts.map((said, at) => (at % 2 === 0 ? Message.user(said) : Message.assistant(said))),
      { owner: of, title: texts[0]! },
    ),
)
const onSession = (
  name: string,
  act: (memory: Memory.Service, one: string) => Effect.Effect<unknown, unknown>,
) => step<[string]>(name, [session], (one) => (memory) => act(memory, one))

const steps = fc.oneof(
  { arbitrary: append, weight: 6 },
  step<[string, number, string]>(
    "edit",
    [session, index, text],
    (one, at, said) => (memory) => memory.edit(one, at, Message.user(said)),
  ),
  step<[string, number]>("redact", [session, index], (one, at) => (memory) => memory.redact(one, at)),
  step<[string, string]>("fork", [session, session], (one, to) => (memory) => memory.fork(one, to)),
  step<[string, string]>("recall", [session, text], (one, query) => (memory) => memory.recall(one, query)),
  step<[string, string]>("recallOf", [owner, text], (of, query) => (memory) => memory.recallOf(of, query)),
  step<[string, string]>(
    "describe",
    [session, owner],
    (one, to) => (memory) => memory.describe(one, { owner: to }),
  ),
  onSession("compact", (memory, one) => memory.compact(one)),
  onSession("clear", (memory, one) => memory.clear(one)),
  onSession("revert", (memory, one) => memory.revert(one)),
  onSession("delete", (memory, one) => memory.delete(one)),
  onSession("context", (memory, one) => memory.context(one)),
  onSession("messages", (memory, one) => memory.messages(one)),
  onSession("branches", (memory, one) => memory.branches(one)),
  onSession("summaries", (memory, one) => memory.summaries(one)),
  onSession("events", (memory, one) => Stream.runCollect(memory.events(one))),
  {
    arbitrary: step<[string]>(
      "archive",
      [session],
      (one) =>
        (_memory, { archive }) =>
          archive?.(one) ?? Effect.void,
    ),
    weight: 3,
  },
  {
    arbitrary: step<[string]>(
      "archive parts",
      [session],
      (one) =>
        (_memory, { archiveParts }) =>
          archiveParts?.(one) ?? Effect.void,
    ),
    weight: 2,
  },
  {
    arbitrary: step<[string, string]>(
      "move",
      [session, fc.constantFrom("a", "b", "c")],
      (one, to) =>
        (_memory, { move }) =>
          move?.(one, to) ?? Effect.void,
    ),
    weight: 2,
  },
  step<[string]>(
    "rotate",
    [owner],
    (of) =>
      (_memory, { rotate }) =>
        rotate?.(of) ?? Effect.void,
  ),
  step("another process", [], null),
)

const unseenSteps = new Set(["archive", "archive parts", "move", "rotate"])

/** An answer, with ids by the order in which they come. */
const shown = (answer: unknown): string => {
  const ids = new Map<string, string>()
  return (JSON.stringify(answer) ?? "").replace(
    /\b[0-9a-hjkmnp-tv-z]{20}(?:-[0-9a-hjkmnp-tv-z]{10})*\b/g,
    (id) => {
      const name = ids.get(id) ?? `#${ids.size}`
      ids.set(id, name)
      return name
    },
  )
}

let now = 0
/** A clock that shows the same in all compositions. */
const clock: Clock.Clock = Object.assign(Object.create(Clock.make()) as Clock.Clock, {
  unsafeCurrentTimeMillis: () => now,
  currentTimeMillis: Effect.sync(() => now),
})

/** What each step answers, and at the end what each session and each owner has. */
const played = (layers: ReadonlyArray<Layer>, all: ReadonlyArray<Step>) =>
  Effect.gen(function* () {
    now = 1_700_000_000_000
    const open = yield* stores(layers)
    const process = Effect.gen(function* () {
      const { log, unseen } = yield* open
      return { memory: yield* memoryOver(log, { strategy: pairs, compaction: { mode: "inline" } }), unseen }
    })
    let scope = yield* Scope.make()
    let { memory, unseen } = yield* Scope.extend(process, scope)
    const answers: Array<string> = []
    const last = [
      ...names.map((one): Step => ["messages", [one], (now) => now.messages(one)]),
      ...owners.map((of): Step => [
        "sessionsOf",
        [of],
        (now) =>
          Effect.map(now.sessionsOf(of), ({ sessions }) =>
            sessions.map((one) => [one.session, one.title, one.updatedTime]),
          ),
      ]),
    ]
    for (const [name, given, act] of [...all, ...last]) {
      // Longer than a process relies on what it has seen of an archive.
      now += 7_200_000
      if (act === null) {
        yield* Scope.close(scope, Exit.void)
        scope = yield* Scope.make()
        ;({ memory, unseen } = yield* Scope.extend(process, scope))
        continue
      }
      const exit = yield* Effect.exit(act(memory, unseen))
      const answer = Exit.match(exit, {
        onSuccess: (value) => (unseenSteps.has(name) ? "" : shown(value)),
        onFailure: (cause) => String(Cause.squash(cause)),
      })
      answers.push(`${name} ${given.join(", ")}: ${answer}`)
    }
    yield* Scope.close(scope, Exit.void)
    return answers
  }).pipe(Effect.withClock(clock), Effect.runPromise)

const compositions: ReadonlyArray<ReadonlyArray<Layer>> = [
  ["sharded", "sealed"],
  ["sharded", "archive"],
  ["sealed", "archive"],
  ["sharded", "sealed", "archive"],
]

it("answer as a store in memory, whatever is done", () =>
  fc.assert(
    fc.asyncProperty(fc.array(steps, { minLength: 25, maxLength: 40, size: "max" }), async (all) => {
      const expected = await played([], all)
      for (const layers of compositions)
        expect([layers, await played(layers, all)]).toEqual([layers, expected])
    }),
    { numRuns: often(3, 200) },
  ))
