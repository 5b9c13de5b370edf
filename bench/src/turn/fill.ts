/** Files with sessions of many messages. */
import { EventLog, Message } from "@memfold/core"
import { Memory } from "@memfold/core"
import * as SqliteEventLog from "@memfold/store-sqlite"
import { SlidingWindow } from "@memfold/strategy-sliding-window"
import { ExtractiveSummarizer } from "@memfold/summarizer-extractive"
import { Effect } from "effect"
import { openBare } from "./bare.js"
import { turnAt } from "./conversation.js"

/** Writes turns one by one, as users do, in sessions that take turns; compacted as they grow if asked for. */
export const fill = (
  filename: string,
  {
    turns,
    compacted,
    sessions = 1,
  }: { readonly turns: number; readonly compacted: boolean; readonly sessions?: number },
): Promise<void> =>
  Effect.gen(function* () {
    const log = yield* SqliteEventLog.make({ filename, synchronous: "normal" })
    const memory = yield* Memory.make({
      strategy: SlidingWindow(),
      compaction: { mode: compacted ? "inline" : "off" },
    }).pipe(Effect.provide(ExtractiveSummarizer.layer()), Effect.provideService(EventLog.EventLog, log))
    for (let index = 0; index < turns; index++) {
      const { user, assistant } = turnAt(index)
      for (let session = 0; session < sessions; session++)
        yield* memory.append(session === 0 ? "s" : `s${session}`, [
          Message.user(user),
          Message.assistant(assistant),
        ])
    }
  }).pipe(Effect.scoped, Effect.runPromise)

/** The same turns in a file of the reference. */
export const fillBare = (
  filename: string,
  { turns, sessions = 1 }: { readonly turns: number; readonly sessions?: number },
): void => {
  const bare = openBare(filename)
  for (let index = 0; index < turns; index++)
    for (let session = 0; session < sessions; session++)
      bare.append(session === 0 ? "s" : `s${session}`, turnAt(index))
  bare.close()
}
