/** Sessions, archives and servers for the tests. */
import { onTestFinished } from "vitest"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { EventLog, Memory, Message } from "@memfold/core"
import { echoing, pairs, said } from "@memfold/harness/engine"
import { Effect, Stream } from "effect"
import { recordLine } from "../src/index.js"

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
