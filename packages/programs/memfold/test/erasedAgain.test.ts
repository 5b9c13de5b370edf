/** An erasure that was cut off at any step, and is asked for again: the second one finishes what the first has begun. */
import { Audit, EventLog, InMemoryEventLog, Memory, MemoryLayers, Message, Summarizer } from "@memfold/core"
import { often } from "@memfold/harness/depth"
import { echo, pairs } from "@memfold/harness/engine"
import { openedPieces } from "@memfold/harness/openedPieces"
import { functionExtractor, make as makeLayers } from "@memfold/layers"
import { Effect, Either } from "effect"
import * as fc from "fast-check"
import { afterAll, expect, it } from "vitest"
import { fileRoot, folderKeyring, type Keyring, sealLog } from "@memfold/sealed"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const keys = mkdtempSync(join(tmpdir(), "memfold-again-"))
afterAll(() => rmSync(keys, { recursive: true, force: true }))
const newFolder = () => mkdtempSync(join(keys, "run-"))
const newKeyring = (folder: string) =>
  folderKeyring({ folder: join(folder, "owners"), root: fileRoot(join(folder, "root.key")) })

/** The calls of a process that is killed before one of them, counted from 0: it and all later ones never end well. */
const killing = (step: number) => {
  let calls = 0
  const wrapped = <Service extends object>(service: Service): Service =>
    new Proxy(service, {
      get: (target, name, receiver) => {
        const member: unknown = Reflect.get(target, name, receiver)
        if (name === "projections") return wrapped(member as object)
        if (Effect.isEffect(member)) return counted(member as Effect.Effect<unknown, unknown>)
        if (typeof member !== "function") return member
        return (...given: ReadonlyArray<unknown>) => {
          const made: unknown = Reflect.apply(member, target, given)
          return Effect.isEffect(made) ? counted(made as Effect.Effect<unknown, unknown>) : made
        }
      },
    })
  const counted = (call: Effect.Effect<unknown, unknown>) =>
    Effect.suspend(() => (calls++ >= step ? Effect.die("killed") : call))
  return { wrapped, calls: () => calls }
}

const owners = ["ann", "ben", "cid", "dan"] as const
const sessions = ["one", "two"] as const

/** Learns each sentence of a user as a fact about the user, and one about the project. */
const extractor = functionExtractor(
  ({ messages }) =>
    messages.flatMap(({ role, text }) =>
      role !== "user"
        ? []
        : [
            { predicate: "says", value: text, quote: text },
            { layer: "scope" as const, predicate: "note", value: text, quote: text },
          ],
    ),
  { isFree: true },
)

/** A memory of a process of its own. */
const memoryOf = (
  store: EventLog.Service,
  keyring: Keyring,
  wrap: <S extends object>(one: S) => S = (one) => one,
) =>
  Effect.gen(function* () {
    const log = sealLog(wrap(store), wrap(keyring))
    const layers = yield* makeLayers({ extractor, scopeOf: () => "project" }).pipe(
      Effect.provideService(EventLog.EventLog, log),
    )
    return yield* Memory.make({ strategy: pairs, compaction: { mode: "inline" } }).pipe(
      Effect.provideService(EventLog.EventLog, log),
      Effect.provideService(Summarizer.Summarizer, echo),
      Effect.provideService(MemoryLayers.MemoryLayers, layers),
    )
  })

const turn = (owner: string, session: string) => [
  Message.user(`word-of-${owner} in ${session}`),
  Message.assistant("Noted."),
]

it("takes with it what rests on words of the owner, with every owner that a session has had", () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.constantFrom(...sessions), fc.constantFrom(...owners)), {
        minLength: 3,
        maxLength: 7,
      }),
      fc.constantFrom(0, 86_400_000),
      fc.tuple(fc.nat({ max: 4 }), fc.constant(5 as number)),
      (turns, after, [from, every]) =>
        Effect.gen(function* () {
          const erased = turns[0]![1]
          /** The sessions that have words of the owner, and those of others. */
          const theirs = new Set(turns.flatMap(([session, owner]) => (owner === erased ? [session] : [])))
          for (let [step, more] = [from, true]; more; step += every) {
            const store = yield* InMemoryEventLog.make
            const folder = newFolder()
            const memory = yield* memoryOf(store, newKeyring(folder))
            for (const [session, owner] of turns) {
              yield* memory.describe(session, { owner })
              yield* memory.append(session, turn(owner, session))
            }
            const dying = killing(step)
            const first = yield* memoryOf(store, newKeyring(folder), dying.wrapped)
            yield* Effect.exit(first.erase(erased, { reason: "asked for", after }))
            more = dying.calls() > step
            const again = yield* memoryOf(store, newKeyring(folder))
            const receipt = yield* again.erase(erased, { reason: "asked for", after: 0 })
            expect(receipt.sessions.map(({ session }) => session)).toEqual(
              expect.arrayContaining([...theirs]),
            )
            const apart = () => sealLog(store, newKeyring(folder))
            const logs = owners.map((owner) => `memfold:user:${owner}`)
            for (const log of [...sessions, ...logs, "memfold:scope:project"]) {
              const opened = yield* openedPieces(store, apart, log)
              expect([step, log, opened.includes(`word-of-${erased}`)]).toEqual([step, log, false])
              // What was learned of others in a session that went with the owner may rest on words of the owner.
              if (!log.startsWith("memfold:user") || log.endsWith(erased)) continue
              for (const session of theirs)
                expect([step, log, opened.includes(` in ${session}`)]).toEqual([step, log, false])
            }
            const fresh = yield* memoryOf(store, newKeyring(folder))
            for (const session of sessions) {
              const read = yield* Effect.either(fresh.messages(session))
              expect([step, session, Either.isLeft(read)]).toEqual([step, session, theirs.has(session)])
            }
            for (const owner of owners)
              expect((yield* Audit.readTrail(store, { owner })).trail.brokenAt).toBeNull()
          }
        }).pipe(Effect.scoped, Effect.runPromise),
    ),
    {
      numRuns: often(2, 30),
      examples: [
        [
          [
            ["one", "ann"],
            ["one", "ben"],
            ["one", "cid"],
            ["two", "dan"],
          ],
          0,
          [0, 1],
        ],
      ],
    },
  ))
