/** What a chat uses of a memory, as effects with the errors of Effect AI. */
import { AiError } from "@effect/ai"
import { Memory, type Message, type Render, type Session } from "@memfold/core"
import { Effect } from "effect"

/** Sessions of a memory, for a method of a chat. */
export interface Sessions {
  readonly append: (
    messages: ReadonlyArray<Message.Message>,
    options: { readonly idempotencyKey?: string; readonly prefix?: Session.Prefix },
  ) => Effect.Effect<Memory.AppendedMessages, AiError.UnknownError>
  /** Messages as they are stored, to compare them with what is. */
  readonly asStored: (
    messages: ReadonlyArray<Message.Message>,
  ) => Effect.Effect<ReadonlyArray<Message.Message>, AiError.UnknownError>
  readonly context: Effect.Effect<Render.Context, AiError.UnknownError>
  /** The whole conversation, covered messages included. */
  readonly all: Effect.Effect<ReadonlyArray<Message.Message>, AiError.UnknownError>
  /** Changes the conversation; with `last`, its newest messages. What is replaced stays in the log, as a branch. */
  readonly rewrite: (
    change: (messages: ReadonlyArray<Message.Message>) => ReadonlyArray<Message.Message> | null,
    options?: { readonly last?: number; readonly idempotencyKey?: string },
  ) => Effect.Effect<{ readonly duplicate: boolean }, AiError.UnknownError>
}

/** `Chat.Service` can only fail with errors of Effect AI, so the memory's error is the `cause`, without text of the conversation. */
const failed = (method: string) => (cause: unknown) =>
  new AiError.UnknownError({
    module: "MemfoldChat",
    method,
    description: `the memory failed: ${cause instanceof Error ? cause.message : String(cause)}`,
    cause,
  })

/** The operations on a session, with the name of the method that uses them. */
export const sessionOf = (memory: Memory.AnyMemory, id: string, method: string): Sessions => {
  // The service is used as it is, so that its spans are children of the caller's.
  const neutral = Memory.neutralOf(memory)
  const used = "neutral" in memory ? neutral : memory
  const run = <A, E>(
    use: (memory: Memory.Service | Memory.Neutral) => Effect.Effect<A, E> | Promise<A>,
  ): Effect.Effect<A, AiError.UnknownError> =>
    Effect.suspend(() => {
      const found = use(used)
      return Effect.isEffect(found)
        ? Effect.mapError(found, failed(method))
        : Effect.tryPromise({ try: () => found, catch: failed(method) })
    })
  return {
    append: (messages, options) => run((to) => to.append(id, messages, options)),
    asStored: (messages) => run(({ known }) => known?.asStored(id, messages) ?? Effect.succeed(messages)),
    context: run((of) => of.context(id)),
    all: Effect.gen(function* () {
      const pages: Array<ReadonlyArray<Message.Message>> = []
      let next: string | null | undefined
      while (next !== null) {
        const options = { limit: 500, ...(next === undefined ? {} : { before: next }) }
        const { messages, before }: Memory.MessagePage = yield* run((of) => of.messages(id, options))
        pages.unshift(messages)
        next = before
      }
      return pages.flat()
    }),
    rewrite: (change, options) => run((of) => of.rewrite(id, change, options)),
  }
}
