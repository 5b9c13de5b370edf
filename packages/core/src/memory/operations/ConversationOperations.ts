/** Appending to a conversation, and reading it. */
import type { Origin } from "@memfold/message/Message"
import type { GuardRefused } from "../../guard/Guard.js"
import type { Prefix } from "../../session/prefix.js"
import type { DescriptionChange } from "../../session/description.js"
import type { IdempotencyKeyReused, OwnerMismatch, VersionMismatch } from "../appendMessages.js"
import type { AppendedMessages, MemoryError } from "../MemoryOptions.js"
import type { PageOptions, UnknownBranch } from "../readMessages.js"
import type { Answer, Face } from "./Face.js"

/** What is said in a session, and what the model gets of it. */
export interface ConversationOperations<F extends Face> {
  /**
   * Appends messages to a session: all of them or none. It is answered once they are durable. A summarizer cannot make it fail, and
   * cannot make it wait, unless compaction is `inline` (law L8): then it waits for the compactions that are due.
   *
   * @param session - the id of the session, any text that is not empty; the first append starts it
   * @param messages - one message or a list, in the format of the memory; with Promises, a whole response of the provider's client, too
   * @param options - `idempotencyKey`: a text that you choose for this append. With the same key, a retry writes nothing, and the
   *   answer is `duplicate: true` and the range of the first append (law L12). `prefix`: the `prefix` of the context that the messages
   *   answer; it decides whether later contexts send signed reasoning back to the provider (law L17). Without it, the log decides, and
   *   in doubt leaves the reasoning out: pass it if several requests of a session run at the same time, if compactions run inline, or
   *   with memory layers. `owner` and `title`: what the session is listed by from then on, as with `describe`, which alone takes a
   *   session from another owner. `ifVersion`: nothing is appended if the session is at another version. `origin`:
   *   who stands behind the words of messages that do not say it themselves, where their role does not tell (law L18). Also a `strategy`
   * @returns the message indexes `[from, to)`, the version of the session, and whether it was a duplicate
   * @throws GuardRefused: the guard of the memory refuses a message; nothing was appended
   * @throws IdempotencyKeyReused: the key was used before for other messages; nothing was appended
   * @throws OwnerMismatch: the session belongs to another owner than `owner`; this append wrote nothing
   * @throws VersionMismatch: the session is not at `ifVersion`; nothing was appended
   *
   * @example
   * ```ts
   * const question = { role: "user", content: "My order is KX-4471." } as const
   * const { from, to, duplicate } = await memory.append("chat-1", question, { idempotencyKey: "request-8841" })
   * console.log(from, to, duplicate)
   * const { messages, prefix } = await memory.context("chat-1")
   * console.log(messages) // send them to the model
   * await memory.append("chat-1", { role: "assistant", content: "Thank you, I found it." }, { prefix })
   * ```
   */
  append(
    session: string,
    messages: F["message"] | ReadonlyArray<F["message"]>,
    options?: F["request"] &
      DescriptionChange & {
        readonly idempotencyKey?: string
        readonly prefix?: Prefix
        readonly ifVersion?: number
        readonly origin?: Origin
      },
  ): Answer<
    F,
    AppendedMessages,
    MemoryError | GuardRefused | IdempotencyKeyReused | OwnerMismatch | VersionMismatch
  >
  /**
   * The messages to send to the model, now or as they were at a version. With a `budget`, it waits for compactions while the context
   * is larger, and says how that ended. It writes nothing: a `strategy` decides how this context is rendered, and no compaction starts
   * by it.
   *
   * @param session - the id of the session; a session without events has an empty context
   * @param options - `atVersion`: a version of the session, from 0 to the newest, for a context of the past. `recall`: adds earlier
   *   messages that fit the newest user message, `tokens` (1,000) at the most, right before it. `draft`: messages that are not appended
   *   yet. Also a `strategy`; and with Promises, `model` and `summaries`, which choose the form of a summary that a provider wrote,
   *   `cacheControl`, which marks where Anthropic's prompt cache is set, at most three times, and `extraFields`, as in the options of
   *   the memory
   * @returns the messages, their layout and their tokens, and the `prefix` to append the answer with
   *
   * @example
   * ```ts
   * const { messages, layout, tokens } = await memory.context("chat-1")
   * console.log(messages, tokens)
   * for (const { section, tokens } of layout) console.log(section, tokens)
   * ```
   */
  context(session: string, options?: F["request"] & F["contextOptions"]): Answer<F, F["context"], MemoryError>
  /**
   * The conversation as it was said, covered messages included, for a chat page: page by page from its end. It starts at the last
   * clear.
   *
   * @param session - the id of the session; a session without events has an empty page
   * @param options - `limit`: the most messages of a page, 1 or more, 50 by default; `before`: the `before` of a page, to read the
   *   messages before it (after a clear, it is an invalid one); `branch`: the id of a branch that was left (see `branches`), to read it
   *   without returning to it
   * @returns the messages `[from, to)`, their times, and `before`
   * @throws UnknownBranch: the session has left no such branch
   *
   * @example
   * ```ts
   * const newest = await memory.messages("chat-1", { limit: 20 })
   * if (newest.before !== null) {
   *   const { messages } = await memory.messages("chat-1", { limit: 20, before: newest.before })
   *   console.log(messages)
   * }
   * ```
   */
  messages(session: string, options?: PageOptions): Answer<F, F["page"], MemoryError | UnknownBranch>
  /**
   * Starts the session over, without messages. Message indexes start again from 0. The log keeps the earlier events, and the session
   * its owner and title.
   *
   * @param session - the id of the session
   *
   * @example
   * ```ts
   * await memory.clear("chat-1")
   * ```
   */
  clear(session: string): Answer<F, void, MemoryError>
}
