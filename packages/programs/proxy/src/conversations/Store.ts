/** The memory as the routes use it: with Promises, and one writer at a time for each session of this process. */
import { inOrder } from "@memfold/codec"
import { Memory, type Message } from "@memfold/core"
import { Clock, Effect, Option, Stream } from "effect"
import { asStored } from "../KnownSessions.js"

/** The operations that answer once. */
export const operations = [
  "append",
  "branches",
  "checkout",
  "context",
  "delete",
  "edit",
  "fork",
  "messages",
  "redact",
  "rewrite",
  "state",
] as const

/** The operations of a memory that conversations need. */
export type ConversationMemory = Pick<Memory.Service, (typeof operations)[number] | "events" | "known">

/** The memory with Promises that reject with its errors. */
export type Store = Pick<Memory.Operations<Memory.Promises>, (typeof operations)[number]> & {
  /** The versions of the events that appended a message of a kind. */
  readonly versionsOf: (
    session: string,
    accepts: (message: Message.Message) => boolean,
  ) => Promise<ReadonlyArray<number>>
  /** Messages as they are stored. */
  readonly asStored: (
    session: string,
    messages: ReadonlyArray<Message.Message>,
  ) => Promise<ReadonlyArray<Message.Message>>
  /** The time in milliseconds since the epoch. */
  readonly now: () => Promise<number>
  /** Runs work on a session behind the work on it that was begun before, in this process. */
  readonly inTurn: <A>(session: string, work: () => Promise<A>) => Promise<A>
}

/**
 * The memory with Promises.
 *
 * @param prefix - what the ids of its sessions begin with in the store
 */
export const storeOf = (given: ConversationMemory, prefix: string): Store => {
  const memory = Memory.withPrefix<(typeof operations)[number] | "events">(given, prefix)
  return {
    ...Memory.promised({ names: operations, run: (use) => Memory.asPromise(use(memory)) }),
    versionsOf: (session, accepts) =>
      Memory.asPromise(
        memory.events(session).pipe(
          Stream.filterMap(({ event, version }) =>
            event._tag === "MessageAppended" && accepts(event.message) ? Option.some(version) : Option.none(),
          ),
          Stream.runCollect,
          Effect.map((versions) => [...versions]),
        ),
      ),
    asStored: (session, messages) => asStored(given, `${prefix}${session}`, messages),
    now: () => Memory.asPromise(Clock.currentTimeMillis),
    inTurn: (session, work) => inOrder(memory, session, work),
  }
}

/** The time of a store in seconds since the epoch, as the API has it. */
export const secondsOf = async (store: Pick<Store, "now">): Promise<number> =>
  Math.floor((await store.now()) / 1_000)
