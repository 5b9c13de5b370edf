/** Finding what was said, and what it became. */
import type { MessageName, UnknownMessage } from "../../history/redact.js"
import type { UnknownSummary } from "../../history/revert.js"
import type { MemoryError, OwnerRecallOptions, RecallOptions } from "../MemoryOptions.js"
import type { Trace, Traced, TracedSummary } from "../trace.js"
import type { Answer, Face } from "./Face.js"

/** Searches in messages, and the ways between messages and summaries. */
export interface SearchOperations<F extends Face> {
  /**
   * Searches the messages since the last clear, covered messages included, without a model. Returns the best matches and the messages
   * around them, within a budget of tokens and in the order of the conversation. Groups of tool calls are returned whole. Of a long
   * message, the part that fits is returned: an excerpt. Without an embedder, a query without a word to search for finds nothing.
   *
   * @param session - the id of the session; a session without events has no messages
   * @param query - a question, words, an identifier or a path, in any language. Messages of a time that it names ("last week", "in
   *   March") come first; a query of a time alone finds only messages of that time
   * @param options - `tokens`: the most tokens of the result, 1,000 by default. `messages`: `"all"` (default), or `"outside-context"`
   *   for messages that the next context does not show word for word. `after` and `before`: only messages between these times, in
   *   milliseconds since the epoch. `timeZone`: for words such as "yesterday", `"UTC"` by default. `atVersion`: finds what it would
   *   have found then, but nothing from before a later clear. Also a `strategy`
   * @returns the messages with their index, time, role and `rank` (1 fits best), and all of them as one `text` for a prompt
   *
   * @example
   * ```ts
   * const { messages, text, tokens } = await memory.recall("chat-1", "Which order was late?", { tokens: 500 })
   * for (const { index, time, role, text } of messages) console.log(index, new Date(time), role, text)
   * console.log(text, tokens)
   * ```
   */
  recall(
    session: string,
    query: string,
    options?: F["request"] & RecallOptions,
  ): Answer<F, F["recalled"], MemoryError>
  /**
   * Searches all sessions of an owner as `recall` searches one, within one budget: what the user said in any of them. The messages of
   * all sessions are ranked together, and each one names its session. Sessions of other owners, or of none, are never found.
   *
   * @param owner - the owner, as it was given to `append` or `describe`
   * @param query - a question, or words to search for
   * @param options - `tokens`: the most tokens of the result, 1,000 by default. `without`: ids of sessions that are not searched, such
   *   as the session that is going on. `after`, `before` and `timeZone`: as for `recall`
   * @returns the messages with their session, index, time and role: the messages of a session together, in order. All of them are one
   *   `text` for a prompt, with a line above the messages of each session. `unreadable` names the sessions that could not be searched,
   *   because one of their stored events is damaged
   *
   * @example
   * ```ts
   * await memory.append("chat-1", { role: "user", content: "I am allergic to nuts." }, { owner: "ann" })
   * const { messages, text } = await memory.recallOf("ann", "allergic", { tokens: 500, without: ["chat-2"] })
   * for (const { session, index, role, text } of messages) console.log(session, index, role, text)
   * console.log(text)
   * ```
   */
  recallOf(
    owner: string,
    query: string,
    options?: OwnerRecallOptions,
  ): Answer<F, F["ownedRecalled"], MemoryError>
  /**
   * Which messages each sentence of a text rests on: messages that share its words and identifiers, weighted by how rare they are. A
   * sentence that none supports is marked, and so is one with an identifier that no message has. No model is asked, and the answer is
   * always the same.
   *
   * @param session - the id of the session
   * @param what - a text, traced to all messages since the last clear; or `{ summary }`, the id of a summary, traced to the messages
   *   that it covers
   * @returns the sentences with their places in the text, each with the messages it rests on and the words that both have
   * @throws UnknownSummary: the session has no such summary
   *
   * @example
   * ```ts
   * const { sentences } = await memory.trace("chat-1", "Order KX-4471 was sent on Monday.")
   * for (const { text, supported, messages, missing } of sentences)
   *   console.log(supported ? messages.map(({ index }) => index) : `nobody said: ${text}`, missing)
   * ```
   */
  trace(session: string, what: Traced): Answer<F, Trace, MemoryError | UnknownSummary>
  /**
   * In which summaries a message lives on: every summary that covers it, with the sentences that rest on it.
   *
   * @param session - the id of the session
   * @param message - the index of the message, or the version of the event that appended it
   * @returns the summaries, oldest first; one without sentences has lost the message
   * @throws UnknownMessage: the session has no such message
   *
   * @example
   * ```ts
   * for (const { summary, sentences } of await memory.traceMessage("chat-1", 0)) console.log(summary, sentences.length)
   * ```
   */
  traceMessage(
    session: string,
    message: MessageName,
  ): Answer<F, ReadonlyArray<TracedSummary>, MemoryError | UnknownMessage>
}
