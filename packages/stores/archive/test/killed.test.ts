/** Processes that are killed while they move sessions: no session is lost, and none is changed (L14). */
import { EventLog, Verify } from "@memfold/core"
import { bundled, start } from "@memfold/harness/children"
import { often } from "@memfold/harness/depth"
import { random } from "@memfold/harness/random"
import * as SqliteEventLog from "@memfold/store-sqlite"
import { Effect } from "effect"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"
import { behind, folderArchive } from "../src/index.js"
import { fill, folder, linesOf } from "./support.js"

const script = bundled(new URL("children/", import.meta.url), ["move"], {
  "better-sqlite3": fileURLToPath(import.meta.resolve("better-sqlite3")),
})
const kills = often(6, 60)

it(`are killed ${kills} times, and every session is there as it was`, async () => {
  const place = folder()
  const filename = join(place, "chats.db")
  const sessions = Array.from({ length: 6 }, (_, at) => `chat ${at}`)
  const withLog = <A, E>(run: (log: EventLog.Service) => Effect.Effect<A, E>) =>
    Effect.runPromise(
      Effect.flatMap(EventLog.EventLog, run).pipe(Effect.provide(SqliteEventLog.layer({ filename }))),
    )
  const before = await withLog((log) =>
    Effect.zipRight(
      Effect.forEach(sessions, (session) => fill(log, session, "ada", 40), { discard: true }),
      Effect.forEach(sessions, (session) => linesOf(log, session)),
    ),
  )
  const next = random(2_026)
  let moved = 0
  for (let kill = 0; kill < kills; kill++) {
    const child = start(script("move"), filename, join(place, "cold"))
    for (let lines = Math.floor(next() * 20); lines >= 0; lines--) expect(await child.line()).toBeDefined()
    child.kill()
    await child.end()
    moved++
  }
  expect(moved).toBe(kills)
  const after = await withLog((log) =>
    Effect.gen(function* () {
      // With its own store behind it, and as `memfold verify` reads it afterwards.
      const whole = yield* behind(log, folderArchive(join(place, "cold")))
      const lines = yield* Effect.forEach(sessions, (session) => linesOf(whole, session))
      for (const session of sessions) expect(yield* Verify.session(log, session)).toEqual([])
      return lines
    }),
  )
  expect(after).toEqual(before)
})
