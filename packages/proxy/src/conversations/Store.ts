/** The memory as the routes use it: with Promises, and one writer at a time for each session of this process. */
import { Cause, Clock, Effect, Exit, Option, Stream } from "effect"
import type { Memory, Message } from "@memfold/core"

/** The operations of a memory that conversations need. */
export type ConversationMemory = Pick<
  Memory.Service,
  | "append"
  | "branches"
  | "checkout"
  | "context"
  | "delete"
  | "edit"
  | "events"
  | "fork"
  | "messages"
  | "redact"
  | "rewrite"
  | "state"
>

/** Runs an effect, and throws its own error. */
const run = async <A, E>(effect: Effect.Effect<A, E>): Promise<A> => {
  const exit = await Effect.runPromiseExit(effect)
  if (Exit.isSuccess(exit)) return exit.value
  throw Cause.squash(exit.cause)
}

type Promised<Operation> = Operation extends (...given: infer Given) => Effect.Effect<infer A, infer _E>
  ? (...given: Given) => Promise<A>
  : never

/** The memory with Promises that reject with its errors. */
export type Store = {
  readonly [Name in Exclude<keyof ConversationMemory, "events">]: Promised<ConversationMemory[Name]>
} & {
  /** The versions of the events that appended a message of a kind. */
  readonly versionsOf: (
    session: string,
    accepts: (message: Message.Message) => boolean,
  ) => Promise<ReadonlyArray<number>>
  /** The time in milliseconds since the epoch. */
  readonly now: () => Promise<number>
  /** Runs work on a session behind the work on it that was begun before, in this process. */
  readonly inTurn: <A>(session: string, work: () => Promise<A>) => Promise<A>
}

const promised =
  <Given extends ReadonlyArray<unknown>, A, E>(operation: (...given: Given) => Effect.Effect<A, E>) =>
  (...given: Given): Promise<A> =>
    run(operation(...given))

/** The operations of a memory on sessions whose ids begin with a prefix in the store. */
const within = (memory: ConversationMemory, prefix: string): ConversationMemory => {
  const inside = (session: string): string => `${prefix}${session}`
  return {
    append: (session, messages, options) => memory.append(inside(session), messages, options),
    branches: (session) => memory.branches(inside(session)),
    checkout: (session, branch, options) => memory.checkout(inside(session), branch, options),
    context: (session, options) => memory.context(inside(session), options),
    delete: (session) => memory.delete(inside(session)),
    edit: (session, from, messages, options) => memory.edit(inside(session), from, messages, options),
    events: (session, options) => memory.events(inside(session), options),
    fork: (session, to, options) => memory.fork(inside(session), inside(to), options),
    messages: (session, options) => memory.messages(inside(session), options),
    redact: (session, message) => memory.redact(inside(session), message),
    rewrite: (session, rewrite, options) => memory.rewrite(inside(session), rewrite, options),
    state: (session, options) => memory.state(inside(session), options),
  }
}

/**
 * The memory with Promises.
 *
 * @param prefix - what the ids of its sessions begin with in the store
 */
export const storeOf = (given: ConversationMemory, prefix: string): Store => {
  const memory = prefix === "" ? given : within(given, prefix)
  const last = new Map<string, Promise<unknown>>()
  return {
    append: promised(memory.append),
    branches: promised(memory.branches),
    checkout: promised(memory.checkout),
    context: promised(memory.context),
    delete: promised(memory.delete),
    edit: promised(memory.edit),
    fork: promised(memory.fork),
    messages: promised(memory.messages),
    redact: promised(memory.redact),
    rewrite: promised(memory.rewrite),
    state: promised(memory.state),
    versionsOf: (session, accepts) =>
      run(
        memory.events(session).pipe(
          Stream.filterMap(({ event, version }) =>
            event._tag === "MessageAppended" && accepts(event.message) ? Option.some(version) : Option.none(),
          ),
          Stream.runCollect,
          Effect.map((versions) => [...versions]),
        ),
      ),
    now: () => run(Clock.currentTimeMillis),
    inTurn: async (session, work) => {
      const turn = (last.get(session) ?? Promise.resolve()).then(work, work)
      const settled = turn.then(
        () => undefined,
        () => undefined,
      )
      last.set(session, settled)
      try {
        return await turn
      } finally {
        if (last.get(session) === settled) last.delete(session)
      }
    },
  }
}

/** The time of a store in seconds since the epoch, as the API has it. */
export const secondsOf = async (store: Pick<Store, "now">): Promise<number> =>
  Math.floor((await store.now()) / 1_000)
