/**
 * The newest messages of sessions, as pages have them. While a conversation goes on behind what this process has read or written, its
 * newest page needs no read of the log.
 */
import { unreadable } from "../event/EventCodec.js"
import type { Message } from "@memfold/message/Message"
import { messageLength } from "./textLength.js"
import type { Entry, SessionState } from "../session/SessionState.js"

/** A message as a page has it. `version` is the version of the event that appended it, `time` is in milliseconds since the epoch. */
export interface PageMessage {
  readonly message: Message
  readonly time: number
  readonly version: number
}

/** How many messages of a session are kept, and about how long those of all sessions are together, in UTF-16 code units. */
const most = { ofSession: 1_000, length: 2 ** 25 }

interface Kept {
  /** A branch that is left, a clear and a state that is read anew (after a redaction, for example) all come with gaps of their own. */
  readonly gaps: SessionState["gaps"]
  readonly from: number
  readonly messages: ReadonlyArray<PageMessage>
  readonly length: number
}

/** The messages of entries as they were appended; `null` if one was pruned since, or cannot be read. */
const asAppended = (entries: ReadonlyArray<Entry>): ReadonlyArray<PageMessage> | null => {
  const isAsAppended = ({ appendedTokens, message }: Entry) =>
    appendedTokens === undefined && message !== unreadable
  if (!entries.every(isAsAppended)) return null
  return entries.map(({ message, time, version }) => ({ message, time: message.time ?? time, version }))
}

const lengthOf = (messages: ReadonlyArray<PageMessage>): number =>
  messages.reduce((sum, { message }) => sum + messageLength(message), 0)

/** The newest messages of the sessions of a log. */
export class NewestMessages {
  private readonly sessions = new Map<string, Kept>()
  private length = 0

  /** The newest messages of a state, at most `limit`, oldest first; `null` if the log has to be read for them. */
  of(
    { session, gaps, total, coveredTo, uncovered }: SessionState,
    limit: number,
  ): ReadonlyArray<PageMessage> | null {
    const from = Math.max(total - limit, 0)
    const found = this.sessions.get(session)
    const kept = found?.gaps === gaps ? found : undefined
    const end = kept === undefined ? from : kept.from + kept.messages.length
    if (end < coveredTo || total < end || (kept !== undefined && kept.from > from)) return null
    const added = asAppended(uncovered.slice(end))
    if (added === null) return null
    const all = kept === undefined ? added : [...kept.messages, ...added]
    if (kept !== undefined && added.length > 0)
      this.set(session, { gaps, from: kept.from, messages: all, length: kept.length + lengthOf(added) })
    return all.slice(all.length - (total - from))
  }

  /** Keeps messages that were read: the newest of a state. */
  keep({ session, gaps, total }: SessionState, messages: ReadonlyArray<PageMessage>): void {
    if (messages.some(({ message }) => message === unreadable)) return
    this.set(session, { gaps, from: total - messages.length, messages, length: lengthOf(messages) })
  }

  forget(session: string): void {
    this.length -= this.sessions.get(session)?.length ?? 0
    this.sessions.delete(session)
  }

  /** Keeps the last of some messages, whose length is known: most of them were there before. */
  private set(session: string, { gaps, from, messages: all, length: ofAll }: Kept): void {
    this.forget(session)
    const first = Math.max(all.length - most.ofSession, 0)
    const length = ofAll - lengthOf(all.slice(0, first))
    this.sessions.set(session, { gaps, from: from + first, messages: all.slice(first), length })
    this.length += length
    for (const oldest of this.sessions.keys()) {
      if (this.length <= most.length) break
      this.forget(oldest)
    }
  }
}
