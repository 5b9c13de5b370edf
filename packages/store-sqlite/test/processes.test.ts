/** Many processes on one file, and processes that are killed. They run the built package. */
import { Effect } from "effect"
import { setTimeout as sleep } from "node:timers/promises"
import { join } from "node:path"
import { beforeAll, describe, expect, it } from "vitest"
import type { Child } from "./support.js"
import {
  build,
  countsOf,
  findings,
  folder,
  integrity,
  start,
  textsOf,
  withDriver,
  withLog,
} from "./support.js"

beforeAll(build)

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
const random = (seed: number) => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const isReady = async (child: Child): Promise<Child> => {
  expect(await child.line()).toBe("ready")
  return child
}

const numbered = (name: number | string, count: number): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, index) => `${name}.${index}`)

describe("killed processes (L14)", () => {
  const rounds = 25

  /**
   * Lets a process append until so many batches are acknowledged, and kills it some milliseconds later; answers
   * with all acknowledgements that were heard.
   */
  const killed = async (child: Child, batches: number, millis: number) => {
    child.say("go")
    const lines: Array<string> = []
    for (let heard = 0; heard < batches; heard++) lines.push((await child.line()) ?? "ended by itself")
    await sleep(millis)
    child.kill()
    lines.push(...(await child.end()))
    return lines.map((line) => {
      const [session, count] = line.split(" ")
      return { session, count: Number(count) }
    })
  }

  it(`every acknowledged message survives ${rounds} kills, once and in order`, async () => {
    const file = join(folder(), "chats.db")
    const next = random(2_026)
    const launch = (round: number) =>
      start("untilKilled.mjs", file, round % 2 === 0 ? "full" : "normal", String(round))

    const heard: Array<Awaited<ReturnType<typeof killed>>> = []
    // Starting takes longest, so the next processes start while one is at work.
    const starting = [launch(0), launch(1)]
    for (let round = 0; round < rounds; round++) {
      const child = starting.shift() ?? launch(round)
      if (round + 2 < rounds) starting.push(launch(round + 2))
      await isReady(child)
      // Every fifth is killed while it opens the file.
      const batches = round % 5 === 0 ? 0 : 1 + Math.floor(next() * 40)
      heard.push(await killed(child, batches, next() * (round % 5 === 0 ? 50 : 10)))
    }

    expect(integrity(file)).toBe("ok")
    await withLog({ filename: file }, (log) =>
      Effect.gen(function* () {
        expect(yield* findings(log)).toEqual([])
        for (const session of ["one", "two"]) {
          const texts = yield* textsOf(log, session)
          const written = heard.map((_, round) => texts.filter((text) => text.startsWith(`${round}.`)).length)
          expect(texts).toEqual(written.flatMap((count, round) => numbered(round, count)))
          for (const [round, lines] of heard.entries()) {
            const acknowledged = lines.filter((line) => line.session === session)
            const count = acknowledged.at(-1)?.count ?? 0
            // One more batch may be there whose acknowledgement was not heard: the whole of it, or nothing.
            expect([count, count + (acknowledged.length % 3) + 1]).toContain(written[round])
          }
          const counts = yield* countsOf(log, session)
          expect(counts["SummaryCommitted"]).toBeGreaterThan(0)
          if (process.env["MEMFOLD_SHOW"]) console.log(session, counts)
        }
      }),
    )
    expect(heard.flat().length).toBeGreaterThan(10 * rounds)
  })
})

describe("many processes on one file", () => {
  it("4 processes append 100 messages each to the same 4 sessions", async () => {
    const file = join(folder(), "chats.db")
    const sessions = ["one", "two", "three", "four"]
    const names = ["a", "b", "c", "d"]
    const children = await Promise.all(
      names.map((name) => isReady(start("many.mjs", file, name, "100", ...sessions))),
    )
    for (const child of children) child.say("go")
    for (const child of children) expect(await child.end()).toEqual(["done"])

    expect(integrity(file)).toBe("ok")
    await withLog({ filename: file }, (log) =>
      Effect.gen(function* () {
        expect(yield* findings(log)).toEqual([])
        for (const session of sessions) {
          const texts = yield* textsOf(log, session)
          expect(texts).toHaveLength(400)
          for (const name of names) {
            expect(texts.filter((text) => text.startsWith(`${name}.`))).toEqual(numbered(name, 100))
          }
          const counts = yield* countsOf(log, session)
          expect(counts["SummaryCommitted"]).toBeGreaterThan(0)
          if (process.env["MEMFOLD_SHOW"]) console.log(session, counts)
        }
      }),
    )
  })

  it("2 processes open a new file at the same moment, 40 times", async () => {
    const path = folder()
    const children = await Promise.all([isReady(start("opener.mjs")), isReady(start("opener.mjs"))])
    for (let round = 0; round < 40; round++) {
      const file = join(path, `${round}.db`)
      const time = Date.now() + 10
      for (const child of children) child.say(`${time} ${file}`)
      for (const child of children) expect(await child.line()).toBe("opened")
      expect(integrity(file)).toBe("ok")
      const versions = withDriver(file, (driver) => driver.prepare("SELECT version FROM sessions").all())
      expect(versions).toEqual([{ version: 1 }, { version: 1 }])
    }
    for (const child of children) await child.end()
  })
})
