/** Sessions as a whole: listing, describing, copying and erasing them. */
import type { GuardRefused } from "../../guard/Guard.js"
import type { CannotFork } from "../../history/fork.js"
import type { CannotRedact, MessageName, UnknownMessage } from "../../history/redact.js"
import type { LayersError } from "../../layers/MemoryLayers.js"
import type { VectorIndexError } from "@memfold/log/VectorIndex"
import type { DescriptionChange } from "../../session/description.js"
import type { AtVersionOptions, MemoryError } from "../MemoryOptions.js"
import type { SessionPage, SessionPageOptions } from "../ownedSessions.js"
import type { Answer, Face } from "./Face.js"

/** Sessions, and their owners. */
export interface SessionOperations<F extends Face> {
  /**
   * The sessions of an owner, newest activity first, page by page: for the list in a chat application. The owner and the title of a
   * session are set with `append`, or with `describe`.
   *
   * @param owner - the owner, an id of the application
   * @param page - `limit`: the most sessions of a page, 1 or more, 50 by default; `before`: the `before` of a page, to read the
   *   sessions before it
   * @returns the sessions, and `before`
   *
   * @example
   * ```ts
   * const { sessions, before } = await memory.sessionsOf("ann", { limit: 20 })
   * for (const { session, title, updatedTime } of sessions) console.log(session, title, new Date(updatedTime))
   * console.log(before === null)
   * ```
   */
  sessionsOf(owner: string, page?: SessionPageOptions): Answer<F, SessionPage, MemoryError>
  /**
   * Sets the owner and the title of a session, or removes them. A fork has the owner and the title of its source, and a clear keeps
   * them. Earlier titles stay in the log, and `redact` does not erase them. A guard sees a title as a message of the user.
   *
   * @param session - the id of the session; a session that does not exist begins with that
   * @param change - `owner` and `title`: a text, or `null` to remove it; what is missing stays
   * @throws GuardRefused: the guard of the memory refuses the title; nothing was changed
   *
   * @example
   * ```ts
   * await memory.describe("chat-1", { title: "Plans for Lisbon" })
   * ```
   */
  describe(session: string, change: DescriptionChange): Answer<F, void, MemoryError | GuardRefused>
  /**
   * Starts a new session as a copy of this one, now or at a version. The two are independent from then on.
   *
   * @param session - the id of the session to copy
   * @param to - the id of the new session
   * @param options - `atVersion`: the version to copy up to, 0 or more; the newest by default. A batch is copied whole
   * @returns the version of the new session
   * @throws CannotFork: there is a session `to` already, or there is nothing to copy
   *
   * @example
   * ```ts
   * await memory.fork("chat-1", "chat-1-retry", { atVersion: 12 })
   * ```
   */
  fork(session: string, to: string, options?: AtVersionOptions): Answer<F, number, MemoryError | CannotFork>
  /**
   * Erases a message's text from the log, from the summaries that cover it, and from the facts learned from it (law L15). These
   * summaries become invalid and their messages uncovered, until the next compaction. It ends when the text is gone from the store's
   * files as well. Backups of the store, and forks of the session, still have the text.
   *
   * @param session - the id of the session
   * @param message - the index of the message, from 0, counted since the last clear; or `{ version }`, the version of the event that
   *   appended it, which also names messages from before a clear
   * @returns `invalidated`: how many summaries became invalid
   * @throws UnknownMessage: the session has no such message
   * @throws CannotRedact: a newer version of memfold wrote an event that may contain the text
   * @throws LayersError: the facts of the memory layers could not be deleted; redact the message again
   * @throws VectorIndexError: the vectors of the message could not be deleted; redact it again
   * @throws LogError: the store failed, or another process reads the old data for too long; the store finishes it later, and a repeated
   *   call waits for it again
   *
   * @example
   * ```ts
   * const { invalidated } = await memory.redact("chat-1", 4)
   * console.log(`${invalidated} summaries will be written again`)
   * ```
   */
  redact(
    session: string,
    message: MessageName,
  ): Answer<
    F,
    { readonly invalidated: number },
    MemoryError | UnknownMessage | CannotRedact | LayersError | VectorIndexError
  >
  /**
   * Deletes the session with its log. If the process ends before that is done, the next one goes on.
   *
   * @param session - the id of the session
   * @returns `false` if there was no such session
   * @throws VectorIndexError: the vectors of its messages could not be deleted; delete it again
   *
   * @example
   * ```ts
   * console.log(await memory.delete("chat-1"))
   * ```
   */
  delete(session: string): Answer<F, boolean, MemoryError | VectorIndexError>
  /**
   * Deletes everything of an owner: all sessions with their logs, the facts that the memory layers learned in them, and the facts
   * about the user of that name (`layers.userOf`). If it fails, delete again: what is left is found. Facts learned in a session that
   * was deleted by itself stay in the log of its scope.
   *
   * @param owner - the owner, an id of the application
   * @returns how many sessions there were
   * @throws LayersError: facts could not be deleted
   * @throws VectorIndexError: vectors could not be deleted
   *
   * @example
   * ```ts
   * console.log(await memory.deleteOf("ann"))
   * ```
   */
  deleteOf(owner: string): Answer<F, number, MemoryError | LayersError | VectorIndexError>
}
