/** A crowd at work: many processes on many sessions of one file, compacting, killed and started again. */
import { Effect } from "effect"
import { join } from "node:path"
import { expect, it } from "vitest"
import { type Child, start } from "@memfold/harness/children"
import { random } from "@memfold/harness/random"
import { bundled, findings, folder, integrity, recordsOf, textsOf, withLog } from "./support.js"

const script = bundled("crowd")

const names = ["a", "b", "c", "d", "e", "f", "g", "h"]
const sessions = Array.from({ length: 20 }, (_, index) => index)
/** How many appends each process makes to each session. */
const appends = 4
const kills = 10
/** How many killed processes are not started again. */
const gone = 2

interface Acknowledged {
  readonly session: number
  readonly number: number
  readonly batchId: string
  /** The index of the first message. */
  readonly from: number
}

const acknowledgedBy = (line: string): Acknowledged => {
  const [session, number, batchId = "", from] = line.split(" ")
  return { session: Number(session), number: Number(number), batchId, from: Number(from) }
}

const textsOfAppend = (name: string, number: number): ReadonlyArray<string> =>
  (number % 3 === 2 ? ["begin", "end"] : ["all"]).map((part) => `${name}.${number}.${part}`)

/**
 * Whoever is started again goes on from the append before the last acknowledged one, as a client does that is not
 * sure of it any more; the answer has to be the same (law L12).
 */
const resumed = (mine: ReadonlyArray<Acknowledged>): ReadonlyArray<number> =>
  sessions.map((session) => Math.max(0, mine.filter((one) => one.session === session).length - 1))

/** Runs the crowd on a file; answers with all acknowledgements, by process, in the order they were heard. */
const work = async (file: string) => {
  const next = random(20_260)
  const heard = new Map(names.map((name): [string, Array<Acknowledged>] => [name, []]))
  const living = new Map<string, Child>()
  const finished = new Set<string>()
  const left = new Set<string>()
  let killed = 0
  let total = 0
  const expected = names.length * sessions.length * appends
  // The first come while processes start, the last ones while there is still enough to do.
  const moments = Array.from({ length: kills }, () => Math.floor(next() * 0.7 * expected)).toSorted(
    (one, other) => one - other,
  )

  /** Kills one of the working processes when it is time to. */
  const perhapsKill = () => {
    const moment = moments[killed]
    if (moment === undefined || total < moment) return
    const candidates = [...living.keys()]
    const victim = candidates[Math.floor(next() * candidates.length)]
    if (victim === undefined) return
    killed++
    if (killed > kills - gone) left.add(victim)
    living.get(victim)?.kill()
    living.delete(victim)
  }

  const attend = async (name: string) => {
    const mine = heard.get(name) ?? []
    while (!finished.has(name) && !left.has(name)) {
      const running = start(script("crowd"), file, name, String(appends), ...resumed(mine).map(String))
      living.set(name, running)
      for (let line = await running.line(); line !== undefined; line = await running.line()) {
        if (line === "done") {
          finished.add(name)
          living.delete(name)
          continue
        }
        const told = acknowledgedBy(line)
        const before = mine.find(({ session, number }) => session === told.session && number === told.number)
        if (before === undefined) mine.push(told)
        else expect(told).toEqual(before)
        total++
        perhapsKill()
      }
      if (living.get(name) === running) throw new Error("A process ended by itself; what it said is above")
    }
  }
  await Promise.all(names.map(attend))
  return { heard, killed }
}

it("8 processes append to 20 sessions, compacting, while random ones are killed and started again (L1, L7, L12, L14)", async () => {
  const file = join(folder(), "chats.db")
  const { heard, killed } = await work(file)
  expect(killed).toBe(kills)

  expect(integrity(file)).toBe("ok")
  await withLog({ filename: file }, (log) =>
    Effect.gen(function* () {
      expect(yield* findings(log)).toEqual([])
      for (const session of sessions) {
        const texts = yield* textsOf(log, `s${session}`)
        const records = yield* recordsOf(log, `s${session}`)
        const commits = new Set([...records].map(({ batchId }) => batchId))
        for (const name of names) {
          const mine = (heard.get(name) ?? []).filter((one) => one.session === session)
          // Heard in order, each once, over all its lives.
          expect(mine.map(({ number }) => number)).toEqual(mine.map((_, number) => number))
          for (const { number, from, batchId } of mine) {
            const all = textsOfAppend(name, number)
            expect(texts.slice(from, from + all.length)).toEqual(all)
            expect(commits).toContain(batchId)
          }
          // What was acknowledged is there once and in order; one more may be there that was not.
          const written = texts.filter((text) => text.startsWith(`${name}.`))
          const allOf = (count: number) =>
            Array.from({ length: count }, (_, number) => textsOfAppend(name, number)).flat()
          expect([allOf(mine.length), allOf(mine.length + 1)]).toContainEqual(written)
          expect(mine.length === appends ? written : []).toEqual(
            mine.length === appends ? allOf(appends) : [],
          )
        }
      }
    }),
  )
})
