/** A session that nobody compacts, written in large batches. */
import { Message, Session } from "@memfold/core"
import * as SqliteEventLog from "@memfold/store-sqlite"
import { Effect } from "effect"
import { turnAt } from "./conversation.js"

const batch = 2_000

/** Writes the messages of one session `s`. */
export const fillEvents = (filename: string, messages: number): Promise<void> =>
  Effect.gen(function* () {
    const sessions = Session.make(yield* SqliteEventLog.make({ filename, synchronous: "normal" }))
    for (let from = 0; from < messages; from += batch)
      yield* sessions.transact("s", () => ({
        events: Array.from({ length: batch }, (_, position) => {
          const index = from + position
          const { user, assistant } = turnAt(Math.floor(index / 2))
          return {
            _tag: "MessageAppended" as const,
            index,
            message: index % 2 === 0 ? Message.user(user) : Message.assistant(assistant),
            tokens: index % 2 === 0 ? 30 : 120,
          }
        }),
        answer: undefined,
      }))
  }).pipe(Effect.scoped, Effect.runPromise)
