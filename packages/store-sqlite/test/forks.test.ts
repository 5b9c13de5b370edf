/** Processes that are killed while they fork a session, and while they change what was said: all of it is there, or nothing. */
import { EventCodec, EventLog, Message, Session } from "@memfold/core"
import { start } from "@memfold/harness/children"
import { often } from "@memfold/harness/depth"
import { random } from "@memfold/harness/random"
import { Effect, Either, Stream } from "effect"
import { join } from "node:path"
import { setImmediate as nextTurn } from "node:timers/promises"
import { expect, it } from "vitest"
import { bundled, findings, folder, integrity, recordsOf, textsOf, versionOf, withLog } from "./support.js"

const script = bundled("forks")
const kills = often(12, 100)

/** The texts of the branch in force. Nothing is compacted. */
const textsNow = (log: EventLog.Service, session: string) =>
  Effect.map(Session.make(log).load(session), ({ uncovered }) =>
    uncovered.slice().map(({ message }) => Message.text(message)),
  )

it(`${kills} kills during forks and edits leave whole copies, and one whole conversation (L14)`, async () => {
  const file = join(folder(), "chats.db")
  const next = random(2_028)
  const heard: Array<string> = []
  for (let kill = 0; kill < kills; kill++) {
    const child = start(script("forks"), file, String(kill))
    expect(await child.line()).toBe("ready")
    child.say("go")
    // Every second one is killed in a fork, the others in an edit, a few turns of the event loop after it has begun.
    const begins = kill % 2 === 0 ? "forking" : "editing"
    for (let left = 1 + Math.floor(next() * 3); left > 0;) {
      const line = await child.line()
      if (line === undefined) throw new Error("The process ended by itself; what it said is above")
      heard.push(line)
      if (line.startsWith(begins)) left--
    }
    for (let turns = Math.floor(next() * 40); turns > 0; turns--) await nextTurn()
    child.kill()
    heard.push(...(await child.end()))
  }
  const named = (word: string) =>
    heard.flatMap((line) => (line.startsWith(`${word} `) ? [line.slice(word.length + 1)] : []))
  expect(integrity(file)).toBe("ok")
  await withLog({ filename: file }, (log) =>
    Effect.gen(function* () {
      expect(yield* findings(log)).toEqual([])
      const source = yield* versionOf(log, "one")
      const said = yield* textsOf(log, "one")
      expect(said).toHaveLength(300)
      const listed = yield* Stream.runCollect(EventLog.sessions(log))
      const copies = [...listed].flatMap(({ session }) =>
        session.startsWith("copy ") ? [session.slice(5)] : [],
      )
      expect(copies).toEqual(expect.arrayContaining(named("forked")))
      expect(named("forking")).toEqual(expect.arrayContaining(copies))
      for (const name of copies) {
        expect(yield* versionOf(log, `copy ${name}`)).toBe(source)
        expect(yield* textsOf(log, `copy ${name}`)).toEqual(said)
      }
      const [last = "kept 4", ...kept] = (yield* textsNow(log, "edited")).toReversed()
      expect(kept).toEqual(["kept 3", "kept 2", "kept 1", "kept 0"])
      // The last acknowledged edit, or an edit that began after it.
      const edits = heard.filter((line) => /^edit(ed|ing) /.test(line))
      const since = edits.slice(
        Math.max(
          edits.findLastIndex((line) => line.startsWith("edited ")),
          0,
        ),
      )
      expect(since.map((line) => line.split(" ")[1])).toContain(last)
      for (const record of yield* recordsOf(log, "edited"))
        expect(Either.isRight(EventCodec.decode(record))).toBe(true)
    }),
  )
  // Some were killed in the middle: what they had begun was not acknowledged.
  expect(named("forking").length + named("editing").length).toBeGreaterThan(
    named("forked").length + named("edited").length,
  )
})
