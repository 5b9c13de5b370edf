/** What adapters use of a memory: its own messages, with Promises. */
import { Cause, Effect, Exit, Predicate } from "effect"
import type { Message } from "@memfold/message/Message"
import { InvalidOption } from "../options/OptionGroup.js"
import type { Service } from "./MemoryService.js"
import type { BranchOperations } from "./operations/BranchOperations.js"
import type { ConversationOperations } from "./operations/ConversationOperations.js"
import type { Promises } from "./operations/Face.js"
import { promised } from "./operations/promised.js"

/**
 * Appends, contexts, pages and changes of a memory in messages of `@memfold/core`, whatever its format is. A memory of
 * `createMemory` has them in `neutral`.
 */
export interface Neutral extends ConversationOperations<Promises>, BranchOperations<Promises> {
  /** Reads of sessions as this process knows them; see `KnownMemory`. */
  readonly known?: Pick<Neutral, "branches" | "context" | "messages"> & {
    readonly version: (session: string) => Promise<number | null>
    readonly asStored: (session: string, messages: ReadonlyArray<Message>) => Promise<ReadonlyArray<Message>>
  }
}

/** A memory: of `createMemory`, or the service for programs with Effect. */
export type AnyMemory = Service | { readonly neutral: Neutral }

/**
 * Runs an operation until a signal ends it. The promise rejects with the error of the operation, and not with a cause.
 *
 * @example
 * ```ts
 * import { Memory } from "@memfold/core"
 *
 * const versionOf = async (memory: Memory.Service, session: string, signal: AbortSignal) =>
 *   (await Memory.asPromise(memory.state(session), signal)).version
 * ```
 */
export const asPromise = async <A, E>(
  effect: Effect.Effect<A, E>,
  // This package is for every platform, and has the types of none.
  signal?: NonNullable<NonNullable<Parameters<typeof Effect.runPromiseExit>[1]>["signal"]>,
): Promise<A> => {
  // What has ended already takes no fiber.
  const exit = Exit.isExit(effect)
    ? (effect as Exit.Exit<A, E>)
    : await Effect.runPromiseExit(effect, signal === undefined ? {} : { signal })
  if (Exit.isSuccess(exit)) return exit.value
  throw Cause.squash(exit.cause)
}

/**
 * The neutral operations, by a function that runs them.
 *
 * @example
 * ```ts
 * import { Memory } from "@memfold/core"
 * import { Effect } from "effect"
 *
 * export const neutral = (memory: Memory.Service) => Memory.neutralBy((use) => Effect.runPromise(use(memory)))
 * ```
 */
export const neutralBy = (
  run: <A>(
    use: (memory: Service) => Effect.Effect<A, Error>,
    options: { readonly finishes: boolean },
  ) => Promise<A>,
): Neutral => ({
  ...promised({
    names: [
      "append",
      "context",
      "messages",
      "rewrite",
      "edit",
      "regenerate",
      "branches",
      "checkout",
      "clear",
    ],
    run,
  }),
  known: {
    ...promised({
      names: ["branches", "context", "messages"],
      run: (use, options) => run((memory) => use(memory.known ?? memory), options),
    }),
    version: (session) =>
      run(({ known }) => known?.version(session) ?? Effect.succeed(null), { finishes: false }),
    asStored: (session, messages) =>
      run(({ known }) => known?.asStored(session, messages) ?? Effect.succeed(messages), { finishes: false }),
  },
})

const ofServices = new WeakMap<Service, Neutral>()

/**
 * The neutral operations of a memory of either kind. Its promises reject with the errors of the memory.
 *
 * @throws InvalidOption: the value is no memory
 *
 * @example
 * ```ts
 * import { Memory, Message } from "@memfold/core"
 *
 * const remember = (memory: Memory.AnyMemory, text: string) =>
 *   Memory.neutralOf(memory).append("chat-1", Message.user(text))
 * ```
 */
export const neutralOf = (memory: AnyMemory): Neutral => {
  if (!Predicate.isRecord(memory) || !("neutral" in memory || "append" in memory))
    throw new InvalidOption({
      option: "memory",
      allowed: "a memory, as createMemory or Memory.make gives it",
    })
  if ("neutral" in memory) return memory.neutral
  const made = ofServices.get(memory) ?? neutralBy((use) => asPromise(use(memory)))
  ofServices.set(memory, made)
  return made
}

/**
 * The neutral operations of a memory on sessions as this process knows them, where it has any (see `KnownMemory`): reads ask the
 * store for nothing, and a write fails with `VersionMismatch` if somebody else has written.
 *
 * @example
 * ```ts
 * import { Memory } from "@memfold/core"
 *
 * const newest = (memory: Memory.AnyMemory) => Memory.knownOf(memory).messages("chat-1", { limit: 20 })
 * ```
 */
export const knownOf = (memory: AnyMemory): Neutral => {
  const neutral = neutralOf(memory)
  const { known } = neutral
  if (known === undefined) return neutral
  const { version, asStored: _asStored, ...reads } = known
  const ifKnown = async (session: string) => {
    const ifVersion = await version(session)
    return ifVersion === null ? {} : { ifVersion }
  }
  return {
    ...neutral,
    ...reads,
    append: async (session, messages, options) =>
      neutral.append(session, messages, { ...options, ...(await ifKnown(session)) }),
    edit: async (session, from, messages, options) =>
      neutral.edit(session, from, messages, { ...options, ...(await ifKnown(session)) }),
    regenerate: async (session, options) =>
      neutral.regenerate(session, { ...options, ...(await ifKnown(session)) }),
  }
}
