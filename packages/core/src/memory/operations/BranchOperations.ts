/** Going on from an earlier place of a conversation. */
import type { GuardRefused } from "../../guard/Guard.js"
import type { MessageName, UnknownMessage } from "../../history/redact.js"
import type { Prefix } from "../../session/prefix.js"
import type { IdempotencyKeyReused, VersionMismatch } from "../appendMessages.js"
import type { BranchInfo, Edited } from "../branching.js"
import type { MemoryError } from "../MemoryOptions.js"
import type { UnknownBranch } from "../readMessages.js"
import type { Rewritten } from "../rewriteMessages.js"
import type { Answer, Face } from "./Face.js"

/** Changes of what a conversation consists of. What was said before stays in the log, as a branch. */
export interface BranchOperations<F extends Face> {
  /**
   * Goes on from an earlier place with other messages, all or nothing: for a page whose user edits a message. The messages before
   * `from` stay, and `messages` come behind them. What was said behind the place stays in the log as a branch, to which `checkout`
   * returns. The newest summary that covers nothing beyond the place is in force, and without messages, the newest one that leaves the
   * last message before the place to the context; none is written again.
   *
   * @param session - the id of the session
   * @param from - the first message to replace: its index (see `messages`), or `{ version }` of the event that appended it
   * @param messages - one message or a list, in the format of the memory. Without any, the conversation is only cut
   * @param options - `idempotencyKey`: with this key, a retry is applied once. `prefix` and `ifVersion`: as for `append`. Also a
   *   `strategy`
   * @returns the message indexes `[from, to)` of the new messages, the version of the session, the branch in force, the branch that
   *   was left, and whether it was a duplicate
   * @throws UnknownMessage: the branch in force has no such message; nothing was changed
   * @throws GuardRefused: the guard of the memory refuses a message; nothing was changed
   * @throws IdempotencyKeyReused: the key was used before for another edit; nothing was changed
   * @throws VersionMismatch: the session is not at `ifVersion`; nothing was changed
   *
   * @example
   * ```ts
   * await memory.append("chat-1", { role: "user", content: "Where is my order?" })
   * const { left } = await memory.edit("chat-1", 0, { role: "user", content: "Where is my invoice?" })
   * // The first question again.
   * if (left !== null) await memory.checkout("chat-1", left)
   * ```
   */
  edit(
    session: string,
    from: MessageName,
    messages: F["message"] | ReadonlyArray<F["message"]>,
    options?: F["request"] & {
      readonly idempotencyKey?: string
      readonly prefix?: Prefix
      readonly ifVersion?: number
    },
  ): Answer<F, Edited, MemoryError | GuardRefused | UnknownMessage | IdempotencyKeyReused | VersionMismatch>
  /**
   * Goes back to before an answer, so that the next context asks for another one. An answer is everything behind a user message,
   * tool calls included. The old answer stays in the log, on a branch.
   *
   * @param session - the id of the session
   * @param options - `from`: a message of the answer, by its index or `{ version }`; the newest answer by default.
   *   `idempotencyKey`: with this key, a retry is applied once. `ifVersion`: as for `append`. Also a `strategy`
   * @returns as `edit`; `left` is `null` if the conversation ends with a user message already
   * @throws UnknownMessage: the branch in force has no such message; nothing was changed
   * @throws IdempotencyKeyReused: the key was used before for something else; nothing was changed
   * @throws VersionMismatch: the session is not at `ifVersion`; nothing was changed
   *
   * @example
   * ```ts
   * await memory.regenerate("chat-1")
   * const { messages } = await memory.context("chat-1") // ends with the question
   * ```
   */
  regenerate(
    session: string,
    options?: F["request"] & {
      readonly from?: MessageName
      readonly idempotencyKey?: string
      readonly ifVersion?: number
    },
  ): Answer<F, Edited, MemoryError | UnknownMessage | IdempotencyKeyReused | VersionMismatch>
  /**
   * Changes what the conversation consists of, all or nothing: takes messages back, or replaces them. Messages at the end only are
   * appended. Otherwise the conversation goes on behind the messages that both have, as with `edit`. It reads the whole log, unless
   * `last` says how much is enough: where you know the place, `edit` costs less.
   *
   * @param session - the id of the session
   * @param rewrite - a function without effects, because it runs again if another writer was first. It gets the messages of the
   *   branch in force, and returns the messages that there are to be, or `null` to change nothing. Return what stays as it was given
   * @param options - `idempotencyKey`: with this key, a retry is applied once. `last`: the function gets only so many of the newest
   *   messages, and those before them stay; it may get all of them where another writer was first. Also a `strategy`
   * @returns whether it was applied, whether it was a duplicate, how many messages stayed, and how many there are
   * @throws GuardRefused: the guard of the memory refuses a message; nothing was changed
   * @throws IdempotencyKeyReused: the key was used before for another rewrite; nothing was changed
   *
   * @example
   * ```ts
   * // Takes the last answer back.
   * const { total } = await memory.rewrite("chat-1", (messages) => messages.slice(0, -1))
   * console.log(total)
   * ```
   */
  rewrite(
    session: string,
    rewrite: F["rewrite"],
    options?: F["request"] & { readonly idempotencyKey?: string; readonly last?: number },
  ): Answer<F, Rewritten, MemoryError | GuardRefused | IdempotencyKeyReused>
  /**
   * The branches of a session: the branch in force, and then up to 1,000 branches that edits, regenerations and checkouts have left
   * since the last clear, newest first.
   *
   * @param session - the id of the session
   *
   * @example
   * ```ts
   * for (const { id, from, total, leftAt } of await memory.branches("chat-1"))
   *   console.log(id, `messages ${from} to ${total}`, leftAt === null ? "in force" : new Date(leftAt))
   * ```
   */
  branches(session: string): Answer<F, ReadonlyArray<BranchInfo>, MemoryError>
  /**
   * Returns to a branch that was left: its messages and its summary are in force again.
   *
   * @param session - the id of the session
   * @param branch - the id of the branch, as `branches` lists it
   * @param options - a `strategy`
   * @returns as `edit`, without new messages
   * @throws UnknownBranch: the session has left no such branch
   *
   * @example
   * ```ts
   * const [, newest] = await memory.branches("chat-1")
   * if (newest !== undefined) await memory.checkout("chat-1", newest.id)
   * ```
   */
  checkout(
    session: string,
    branch: number,
    options?: F["request"],
  ): Answer<F, Edited, MemoryError | UnknownBranch>
}
