/** The two interfaces of memfold that are measured, behind one shape. */
import { EventLog, Memory, Message, Summarizer } from "@memfold/core"
import * as SqliteEventLog from "@memfold/store-sqlite"
import { SlidingWindow } from "@memfold/strategy-sliding-window"
import { Effect, Exit, Scope } from "effect"
import { createMemory } from "memfold"
import type { Turn } from "./conversation.js"

/** A memory as a program uses it in a turn. */
export interface Measured {
  readonly append: (session: string, turn: Turn) => Promise<unknown>
  /** Asks for a context; returns how many messages it has. */
  readonly context: (session: string) => Promise<number>
  readonly compactDue: (session: string) => Promise<unknown>
  readonly close: () => Promise<void>
}

/**
 * Answers at once, as a model would after seconds: the work of the process is measured, and the shipped summarizer has a
 * benchmark of its own.
 */
const summary = "The customer asked for the order. ".repeat(20)

export type Compaction = "background" | "manual" | "off"

/** Through `createMemory` of the package `memfold`. */
export const promises = async (filename: string, compaction: Compaction): Promise<Measured> => {
  const memory = createMemory({
    store: `sqlite:${filename}`,
    strategy: "sliding-window",
    compaction: { mode: compaction },
    summarizer: async () => summary,
  })
  return {
    append: (session, { user, assistant }) =>
      memory.append(session, [
        { role: "user", content: user },
        { role: "assistant", content: assistant },
      ]),
    context: async (session) => (await memory.context(session)).messages.length,
    compactDue: (session) => memory.compact(session, { which: "due" }),
    close: () => memory.close(),
  }
}

/** Through the services of `@memfold/core`. */
export const effects = async (filename: string, compaction: Compaction): Promise<Measured> => {
  const scope = await Effect.runPromise(Scope.make())
  const memory = await Effect.runPromise(
    Effect.gen(function* () {
      const log = yield* SqliteEventLog.make({ filename })
      return yield* Memory.make({ strategy: SlidingWindow(), compaction: { mode: compaction } }).pipe(
        Effect.provideService(EventLog.EventLog, log),
        Effect.provideService(Summarizer.Summarizer, {
          name: "at once",
          summarize: () => Effect.succeed({ text: summary }),
        }),
      )
    }).pipe(Scope.extend(scope)),
  )
  return {
    append: (session, { user, assistant }) =>
      Effect.runPromise(memory.append(session, [Message.user(user), Message.assistant(assistant)])),
    context: async (session) => (await Effect.runPromise(memory.context(session))).messages.length,
    compactDue: (session) => Effect.runPromise(memory.compact(session, { which: "due" })),
    close: () => Effect.runPromise(Scope.close(scope, Exit.void)),
  }
}
