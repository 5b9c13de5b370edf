/** One flipped bit anywhere in a file: no session shows words that are not its own, and verification finds the damage. */
import { EventLog, Memory, Message, Verify } from "@memfold/core"
import { Effect, Exit, Layer, Logger, Stream } from "effect"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { isDeepStrictEqual } from "node:util"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { random } from "@memfold/harness/random"
import { often } from "@memfold/harness/depth"
import { echoing, pairs } from "@memfold/harness/engine"
import { integrity, make } from "../src/index.js"
import { withDriver } from "@memfold/harness/sqlite"

const sessions = ["one", "two", "three", "four"]
const folder = mkdtempSync(join(tmpdir(), "memfold-flips-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const original = join(folder, "original.db")

const opened = (filename: string) => Layer.scoped(EventLog.EventLog, make({ filename }))
const withMemory = <A, E>(filename: string, use: Effect.Effect<A, E, Memory.Memory | EventLog.EventLog>) =>
  use.pipe(
    Effect.provide(
      Layer.provideMerge(
        Memory.layer({ strategy: pairs, compaction: { mode: "manual" } }).pipe(Layer.provide(echoing)),
        opened(filename),
      ),
    ),
    // What is rebuilt is a warning each time.
    Effect.provide(Logger.remove(Logger.defaultLogger)),
    Effect.runPromiseExit,
  )

/** What each session shows, or that it cannot be read. */
const shown = Effect.gen(function* () {
  const memory = yield* Memory.Memory
  return yield* Effect.forEach(sessions, (session) =>
    Effect.exit(
      Effect.map(memory.context(session), ({ messages }) => messages.map((message) => Message.text(message))),
    ),
  )
})

/** The number of findings; a session that cannot be checked is one. */
const findings = (filename: string) =>
  Effect.gen(function* () {
    const log = yield* EventLog.EventLog
    const damage = yield* integrity({ filename })
    const found = yield* EventLog.sessions(log).pipe(
      Stream.mapEffect(({ session }) => Verify.session(log, session)),
      Stream.runCollect,
    )
    return damage.length + [...found].flat().length
  })

const said = (session: string, from: number, to: number) =>
  Array.from({ length: to - from }, (_, position) => {
    const text = `${session} ${from + position} `.repeat((from + position) % 6 === 3 ? 1_500 : 3)
    return position % 2 === 0 ? Message.user(text) : Message.assistant(text)
  })

let whole: Buffer
let expected: ReadonlyArray<ReadonlyArray<string>>
/** What each session may show: without its summary, it has the messages again. */
let own: ReadonlyArray<ReadonlySet<string>>
beforeAll(async () => {
  const written = Effect.gen(function* () {
    const memory = yield* Memory.Memory
    for (const session of sessions) {
      yield* memory.append(session, said(session, 0, 6), { owner: `owner of ${session}`, title: session })
      yield* memory.compact(session, { which: "due" })
      yield* memory.append(session, said(session, 6, 12))
      yield* memory.compact(session, { which: "due" })
      yield* memory.append(session, said(session, 12, 15))
    }
    // Pages that were in use and are free now belong to the file, too.
    yield* memory.append("gone", said("gone", 0, 6))
    yield* memory.delete("gone")
    return yield* shown
  })
  const exits = Exit.getOrElse(await withMemory(original, written), (cause) => {
    throw new Error(String(cause))
  })
  expected = exits.map(Exit.getOrElse(() => []))
  own = expected.map(
    (texts, index) =>
      new Set([...texts, ...said(sessions[index]!, 0, 15).map((message) => Message.text(message))]),
  )
  withDriver(original, (driver) => driver.pragma("journal_mode = DELETE"))
  whole = readFileSync(original)
})

interface Outcome {
  /** The byte, and the bit in it. */
  readonly at: number
  readonly bit: number
  /** Whether opening, reading a session, or checking it failed with an error. */
  readonly refused: boolean
  /** Whether a session shows something else than before. */
  readonly changed: boolean
  /** A text that the session never had. */
  readonly foreign: string | undefined
  readonly found: number
}

const flipped = async (at: number, bit: number): Promise<Outcome> => {
  const bytes = Buffer.from(whole)
  bytes[at] = bytes[at]! ^ (1 << bit)
  const file = join(folder, "flipped.db")
  for (const suffix of ["-wal", "-shm", "-journal"]) rmSync(file + suffix, { force: true })
  writeFileSync(file, bytes)
  const exit = await withMemory(file, Effect.all([shown, Effect.exit(findings(file))]))
  if (Exit.isFailure(exit)) return { at, bit, refused: true, changed: false, foreign: undefined, found: 0 }
  const [contexts, checked] = exit.value
  const seen = contexts.map(Exit.getOrElse(() => null))
  return {
    at,
    bit,
    refused: seen.includes(null) || Exit.isFailure(checked),
    changed: seen.some((texts, index) => texts !== null && !isDeepStrictEqual(texts, expected[index])),
    foreign: seen.flatMap((texts, index) => (texts ?? []).filter((text) => !own[index]!.has(text))).at(0),
    found: Exit.isSuccess(checked) ? checked.value : 0,
  }
}

describe("a record in the place of another", () => {
  const swapped = [
    [
      "of another session",
      `UPDATE sessions SET name = CASE name WHEN 'one' THEN '?' ELSE 'one' END WHERE name IN ('one', 'two');
       UPDATE sessions SET name = 'two' WHERE name = '?'`,
    ],
    [
      "of the same session",
      `UPDATE events SET data = other.data, checksum = other.checksum
       FROM (SELECT session, version, data, checksum FROM events) AS other, sessions
       WHERE sessions.name = 'one' AND events.session = sessions.id AND other.session = sessions.id
         AND events.version = 1 AND other.version = 3`,
    ],
    [
      "with another time",
      "UPDATE events SET time = time + 1 WHERE version = 2 AND session IN (SELECT id FROM sessions WHERE name = 'one')",
    ],
  ] as const
  it.each(swapped)("%s is damaged, and no context has it", async (_, sql) => {
    const file = join(folder, "swapped.db")
    writeFileSync(file, whole)
    withDriver(file, (driver) => driver.exec(`DELETE FROM projections WHERE kind = 'snapshot'; ${sql}`))
    const exit = await withMemory(file, Effect.all([shown, findings(file)]))
    const [[one], found] = Exit.getOrElse(exit, (cause) => {
      throw new Error(String(cause))
    })
    expect(found).toBeGreaterThan(0)
    if (Exit.isSuccess(one!)) {
      // A session goes on without a message that cannot be read.
      expect(one.value.filter((text) => !own[0]!.has(text))).toEqual([])
      return
    }
    expect(one).toMatchObject({
      cause: {
        error: {
          _tag: "DamagedEvent",
          session: "one",
          detail: expect.stringContaining("not as it was written, or not in its place"),
        },
      },
    })
  })
})

/** The size of SQLite's pages, and of what a page begins with: the header of the file, or of the page, and its cell pointers. */
const pageSize = 4_096
const startOfPage = 100

describe("a flipped bit", () => {
  const count = often(80, 10_000)
  it(
    `in ${count} places never shows other words, and never goes unnoticed`,
    async () => {
      const next = random(13)
      const outcomes: Array<Outcome> = []
      for (let run = 0; run < count; run++) {
        const page = Math.floor((next() * whole.length) / pageSize)
        // Every other one is at the start of its page, where SQLite has its own data: many pages are half empty.
        const within = Math.floor(next() * (run % 2 === 0 ? pageSize : startOfPage))
        outcomes.push(await flipped(page * pageSize + within, Math.floor(next() * 8)))
      }
      expect(outcomes.filter(({ foreign }) => foreign !== undefined)).toEqual([])
      expect(outcomes.filter(({ changed, refused, found }) => changed && !refused && found === 0)).toEqual([])
      // The places are in every kind of page.
      expect(outcomes.filter(({ refused }) => refused).length).toBeGreaterThan(count / 100)
      expect(outcomes.filter(({ found }) => found > 0).length).toBeGreaterThan(count / 20)
      console.log(
        "R",
        outcomes.filter(({ refused }) => refused).length,
        outcomes.filter(({ found }) => found > 0).length,
        outcomes.filter(({ changed }) => changed).length,
        whole.length / 4096,
      )
      expect(whole.length / pageSize).toBeGreaterThan(20)
    },
    often(120_000, 1_200_000),
  )
})
