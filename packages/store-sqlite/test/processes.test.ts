/** Many processes on one file, and processes that are killed. */
import { Effect } from "effect"
import { setTimeout as sleep } from "node:timers/promises"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { type Child, start } from "@memfold/harness/children"
import { often } from "@memfold/harness/depth"
import { random } from "@memfold/harness/random"
import {
  bundled,
  countsOf,
  findings,
  folder,
  integrity,
  records,
  summariesOf,
  summary,
  textsOf,
  versionOf,
  withLog,
} from "./support.js"

const script = bundled("untilKilled", "many", "opener")

const isReady = async (child: Child): Promise<Child> => {
  expect(await child.line()).toBe("ready")
  return child
}

const numbered = (name: number | string, count: number): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, index) => `${name}.${index}`)

/** How often two processes open a new file at the same moment. */
const openings = often(10, 100)

describe("killed processes (L14)", () => {
  const turns = often(5, 200)

  /** What a process said: an acknowledgement, or that a session was compacted. */
  const isOfMessages = (line: string) => !line.startsWith("rows ") && !line.startsWith("compacted ")

  /**
   * Lets a process append until `batches` batches of messages are acknowledged and these sessions are compacted. Kills it
   * some milliseconds later, and returns all acknowledgements that were heard.
   */
  const killed = async (child: Child, batches: number, compacted: ReadonlyArray<string>, millis: number) => {
    child.say("go")
    const lines: Array<string> = []
    const isEnough = () =>
      lines.filter(isOfMessages).length >= batches &&
      compacted.every((session) => lines.includes(`compacted ${session}`))
    while (!isEnough()) {
      const line = await child.line()
      if (line === undefined) throw new Error("The process ended by itself; what it said is above")
      lines.push(line)
    }
    await sleep(millis)
    child.kill()
    lines.push(...(await child.end()))
    return lines.flatMap((line) => {
      const [session, count] = line.split(" ")
      return session === "compacted" ? [] : [{ session, count: Number(count) }]
    })
  }

  it.each(["full", "normal"])(
    `synchronous %s: every acknowledged message survives ${turns} kills, once and in order`,
    async (synchronous) => {
      const file = join(folder(), "chats.db")
      const next = random(synchronous === "full" ? 2_026 : 2_027)
      const launch = (turn: number) => start(script("untilKilled"), file, synchronous, String(turn))

      const heard: Array<Awaited<ReturnType<typeof killed>>> = []
      // Starting takes longest, so the next processes start while one is at work.
      const starting = [launch(0), launch(1)]
      for (let turn = 0; turn < turns; turn++) {
        const child = starting.shift() ?? launch(turn)
        if (turn + 2 < turns) starting.push(launch(turn + 2))
        await isReady(child)
        // Every fifth is killed while it opens the file.
        const batches = turn % 5 === 0 ? 0 : 1 + Math.floor(next() * 20)
        // The last one is killed once it has compacted, however slow the machine is.
        const compacted = turn === turns - 1 ? ["one", "two"] : []
        heard.push(await killed(child, batches, compacted, next() * (turn % 5 === 0 ? 50 : 10)))
      }

      expect(integrity(file)).toBe("ok")
      await withLog({ filename: file }, (log) =>
        Effect.gen(function* () {
          // The rows of "rows" are given by hand, and no event says the same.
          expect((yield* findings(log)).filter(({ session }) => session !== "rows")).toEqual([])
          // Each append came with its summary rows, or not at all.
          const appended = yield* versionOf(log, "rows")
          const told = heard.flat().filter(({ session }) => session === "rows")
          expect(appended).toBeGreaterThanOrEqual(told.at(-1)?.count ?? 1)
          const rows = Array.from({ length: appended }, (_, index) => summary(index + 1, { time: 0 }))
          const superseded = rows.slice(0, -1).map((row) => ({
            ...row,
            status: "superseded",
            supersededBy: `s${row.version + 1}`,
          }))
          expect(yield* summariesOf(log, "rows")).toEqual([...superseded, ...rows.slice(-1)])
          for (const session of ["one", "two"]) {
            const texts = yield* textsOf(log, session)
            const written = heard.map((_, turn) => texts.filter((text) => text.startsWith(`${turn}.`)).length)
            expect(texts).toEqual(written.flatMap((count, turn) => numbered(turn, count)))
            for (const [turn, lines] of heard.entries()) {
              const acknowledged = lines.filter((line) => line.session === session)
              const count = acknowledged.at(-1)?.count ?? 0
              // One more batch may be there whose acknowledgement was not heard: the whole of it, or nothing.
              expect([count, count + (acknowledged.length % 3) + 1]).toContain(written[turn])
            }
            const counts = yield* countsOf(log, session)
            expect(counts["SummaryCommitted"]).toBeGreaterThan(0)
          }
        }),
      )
      expect(heard.flat().length).toBeGreaterThan(5 * turns)
    },
    often(300_000, 3_600_000),
  )
})

describe("many processes on one file", () => {
  const each = often(20, 1_000)
  it(
    `8 processes append ${each} messages each to one session: all once, in order`,
    async () => {
      const file = join(folder(), "chats.db")
      const names = ["a", "b", "c", "d", "e", "f", "g", "h"]
      const running = await Promise.all(
        names.map((name) => isReady(start(script("many"), file, name, "one", String(each)))),
      )
      for (const child of running) child.say("go")
      for (const child of running) expect(await child.end()).toEqual(["done"])
      await withLog({ filename: file }, (log) =>
        Effect.gen(function* () {
          expect(yield* findings(log)).toEqual([])
          const texts = yield* textsOf(log, "one")
          expect(texts).toHaveLength(names.length * each)
          for (const name of names) {
            expect(texts.filter((text) => text.startsWith(`${name}.`))).toEqual(numbered(name, each))
          }
        }),
      )
    },
    often(300_000, 3_600_000),
  )

  it("4 processes append 100 messages each to one session, and some to three others", async () => {
    const file = join(folder(), "chats.db")
    const sessions = { one: 100, two: 10, three: 10, four: 10 }
    const plan = Object.entries(sessions).flat().map(String)
    const names = ["a", "b", "c", "d"]
    const running = await Promise.all(
      names.map((name) => isReady(start(script("many"), file, name, ...plan))),
    )
    for (const child of running) child.say("go")
    for (const child of running) expect(await child.end()).toEqual(["done"])

    expect(integrity(file)).toBe("ok")
    await withLog({ filename: file }, (log) =>
      Effect.gen(function* () {
        expect(yield* findings(log)).toEqual([])
        for (const [session, count] of Object.entries(sessions)) {
          const texts = yield* textsOf(log, session)
          expect(texts).toHaveLength(names.length * count)
          for (const name of names) {
            expect(texts.filter((text) => text.startsWith(`${name}.`))).toEqual(numbered(name, count))
          }
          const counts = yield* countsOf(log, session)
          expect(counts["SummaryCommitted"]).toBeGreaterThan(0)
        }
      }),
    )
  })

  it(`2 processes open a new file at the same moment, ${openings} times`, async () => {
    const path = folder()
    const running = await Promise.all([isReady(start(script("opener"))), isReady(start(script("opener")))])
    for (let turn = 0; turn < openings; turn++) {
      const file = join(path, `${turn}.db`)
      const time = Date.now() + 3
      for (const child of running) child.say(`${time} ${file}`)
      for (const child of running) expect(await child.line()).toBe("opened")
      expect(integrity(file)).toBe("ok")
    }
    for (const child of running) expect(await child.end()).toEqual([])
    const appended = await withLog({ filename: join(path, "0.db") }, (log) =>
      log.append("one", records(1), { expectedVersion: 0, batchId: "c1" }),
    )
    expect(appended.version).toBe(1)
  })
})
