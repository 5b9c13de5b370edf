/** Sessions, archives and servers for the tests. */
import { onTestFinished } from "vitest"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { EventLog, Memory, Message } from "@memfold/core"
import { echoing, pairs, said } from "@memfold/harness/engine"
import { Effect, Stream } from "effect"
import { type Archive, recordLine } from "../src/index.js"
import { moveUpTo } from "../src/segments.js"

/** A folder that is removed when the test has ended. */
export const folder = (): string => {
  const made = mkdtempSync(join(tmpdir(), "memfold-archive-"))
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  return made
}

/** All records of a session, as lines. */
export const linesOf = (log: EventLog.Service, session: string) =>
  Effect.map(Stream.runCollect(EventLog.records(log, session)), (records) => [...records].map(recordLine))

/** Fills a session with messages, compactions, an owner and a title. */
export const fill = (log: EventLog.Service, session: string, owner = "ada", count = 12) =>
  Effect.gen(function* () {
    const memory = yield* Memory.make({ strategy: pairs, compaction: { mode: "inline" } })
    for (let at = 0; at < count; at += 2) yield* memory.append(session, said(2, at), { owner })
    yield* memory.describe(session, { title: `about ${session.slice(0, 20)}` })
    yield* memory.append(session, Message.user("the last word"))
  }).pipe(Effect.scoped, Effect.provideService(EventLog.EventLog, log), Effect.provide(echoing))

/** A memory over a log. */
export const memoryOver = (log: EventLog.Service) =>
  Memory.make({ strategy: pairs, compaction: { mode: "manual" } }).pipe(
    Effect.provideService(EventLog.EventLog, log),
    Effect.provide(echoing),
  )

/** A log whose events move to the archive behind each write, but for the newest one: all that can move, in small segments. */
export const moving = (
  inner: EventLog.Service,
  whole: EventLog.Service,
  archive: Archive,
): EventLog.Service => {
  const moved = (session: string, version: number) =>
    Effect.orDie(
      moveUpTo(EventLog.storedLog(inner), archive, session, {
        until: version - 1,
        size: 1 + (version % 3) + (version >> 3),
      }),
    )
  return {
    ...whole,
    append: (session, ...rest) =>
      Effect.tap(whole.append(session, ...rest), ({ version }) => moved(session, version)),
    // The notes of segments are logs as well, which the laws do not know.
    list: ({ limit, ...rest }) =>
      Effect.map(whole.list({ ...rest, limit: 100_000 }), (all) =>
        all.filter(({ session }) => !session.startsWith("memfold:")).slice(0, limit),
      ),
    feed: ({ limit, ...rest }) =>
      Effect.map(whole.feed!({ ...rest, limit: 100_000 }), (all) =>
        all.filter(({ record }) => !record.session.startsWith("memfold:")).slice(0, limit),
      ),
    rewrite: (session, ...rest) =>
      Effect.tap(whole.rewrite(session, ...rest), ({ version }) => moved(session, version)),
  }
}
