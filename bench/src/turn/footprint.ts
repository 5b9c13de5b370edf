/**
 * The memory that sessions take in a process: one session of 1,000,000 messages, compacted as it grew, and 100,000 sessions
 * of two turns, each used once. The references are a session of 100 messages, and 1,000 sessions, which is the capacity
 * of a memory's cache.
 */
import { type EventLog, Message, Session } from "@memfold/core"
import * as SqliteEventLog from "@memfold/store-sqlite"
import { Effect } from "effect"
import { join } from "node:path"
import { claim, told } from "../measure.js"
import { fillSession } from "../large.js"
import { turnAt } from "./conversation.js"
import { fresh } from "./processes.js"

/** What is left of some work in a process, in MiB: objects in use after it, and the most of the process at any time. */
export interface Footprint {
  readonly heap: number
  readonly peak: number
}

/** Writes sessions of two turns each, in transactions that they share. */
const fillMany = (log: EventLog.Service, count: number) => {
  const sessions = Session.make(log, { capacity: 1 })
  const events = [0, 1].flatMap((turn) => {
    const { user, assistant } = turnAt(turn)
    return [Message.user(user), Message.assistant(assistant)].map((message, position) => ({
      _tag: "MessageAppended" as const,
      index: 2 * turn + position,
      message,
      tokens: 75,
    }))
  })
  return Effect.forEach(
    Array.from({ length: count }, (_, index) => index),
    (index) => sessions.transact(`s${index}`, () => ({ events, answer: undefined })),
    { concurrency: 256, discard: true },
  )
}

/** Measures and prints. Returns whether the memory use is bounded: at most three times the use of the references. */
export const footprint = async (folder: string): Promise<boolean> => {
  const open = (name: string) =>
    SqliteEventLog.make({ filename: join(folder, `${name}.db`), synchronous: "normal" })
  for (const size of [100, 1_000_000]) await fillSession(open(`size-${size}`), size)
  await Effect.runPromise(Effect.scoped(Effect.flatMap(open("many"), (log) => fillMany(log, 100_000))))
  const of = (task: string, name: string, count = 0) =>
    fresh<Footprint>(["--expose-gc"], task, join(folder, `${name}.db`), String(count))
  const small = await of("large session", "size-100")
  const large = await of("large session", "size-1000000")
  const cached = await of("many sessions", "many", 1_000)
  const touched = await of("many sessions", "many", 100_000)
  const shown = ({ heap, peak }: Footprint) => `${heap.toFixed(1)} MiB (peak ${peak.toFixed(0)} MiB)`
  console.log("\nMemory of a process: objects in use after the work (most of the whole process at any time)")
  told("a session of 100 messages, its context", shown(small))
  told("a session of 1,000,000 messages, its context", shown(large))
  told("1,000 sessions of 4 messages, a context of each", shown(cached))
  told("100,000 sessions of 4 messages, a context of each", shown(touched))
  return [
    claim("the process with 1,000,000 messages against 100", large.peak / small.peak, 1.5),
    claim("objects of 100,000 sessions against 1,000", touched.heap / cached.heap, 1.5),
  ].every(Boolean)
}
