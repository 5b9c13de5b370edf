/** Logs to copy and to export. */
import { EventLog, InMemoryEventLog, Message } from "@memfold/core"
import { Effect, type Scope, Stream } from "effect"
import { memoryOver as over, pairs } from "@memfold/harness/engine"
import { withRecords } from "@memfold/harness/logs"

/** A memory over a log, with a strategy that compacts two messages at a time. */
export const memoryOver = (log: EventLog.Service) =>
  over(log, { strategy: pairs, compaction: { mode: "inline" } })

/** A text that encodings and JSON Lines have to keep as it is. */
const words = "𝕊 你好 \ud800 \u2028 \u0000"

/** A log with two sessions that have been compacted, one of them with a message that was redacted. */
export const filled = Effect.gen(function* () {
  const log = yield* InMemoryEventLog.make
  const memory = yield* memoryOver(log)
  for (const session of ["one", 'two\n"2"']) {
    for (let turn = 0; turn < 6; turn++) {
      yield* memory.append(session, [Message.user(`${words} ${turn}`), Message.assistant(`said ${turn}`)])
    }
  }
  yield* memory.redact("one", 1)
  return log
})

/** A log as a store would give it that has lost an event, or has another one in its place. */
export const damaged = (
  log: EventLog.Service,
  version: number,
  change: "lost" | "changed",
): EventLog.Service =>
  withRecords(log, (records) =>
    records
      .filter((record) => change === "changed" || record.version !== version)
      .map((record) => (record.version === version ? { ...record, data: "{}" } : record)),
  )

/** All records of a session. */
export const read = (log: EventLog.Service, session: string) =>
  Effect.map(Stream.runCollect(EventLog.records(log, session)), (records) => [...records])

/** Runs a program, and releases afterwards what it opened. */
export const run = <A, E>(program: Effect.Effect<A, E, Scope.Scope>) =>
  Effect.runPromise(Effect.scoped(program))
