/** Reading the conversation as it was said, page by page from its end. */
import { Effect, Option, Schema, Stream } from "effect"
import { appendedMessage, unreadable } from "../event/EventCodec.js"
import type { Message } from "@memfold/message/Message"
import type { PageMessage } from "../shell/NewestMessages.js"
import { messageLength } from "../shell/textLength.js"
import { isOnBranch, rangesBetween } from "../session/branches.js"
import type { SessionError, Sessions } from "../shell/Sessions.js"
import type { SessionState } from "../session/SessionState.js"
import { checkCount, type InvalidInput, refuse } from "./input.js"
import type { MemoryError } from "./MemoryOptions.js"
import { readState } from "./readState.js"

/** The session has left no branch with this id. */
export class UnknownBranch extends Schema.TaggedError<UnknownBranch>()("UnknownBranch", {
  session: Schema.String,
  branch: Schema.Number,
}) {
  override get message(): string {
    return `Session "${this.session}" has left no branch ${this.branch}; list them with branches`
  }
}

/** Which page to read. */
export interface PageOptions {
  /** The most messages of the page, 1 or more; 50 by default. */
  readonly limit?: number
  /**
   * About how long its messages are together at most, in UTF-16 code units; any length by default. The message that goes beyond it is the
   * first one of the page, which `before` goes on from.
   */
  readonly length?: number
  /** The `before` of the page that comes after this one; without it, the newest page. */
  readonly before?: string
  /** The id of the branch to read (see `branches`): the branch in force by default. */
  readonly branch?: number
}

/** Messages of the conversation, oldest first, with the indexes `[from, to)`. */
export interface MessagePage {
  readonly messages: ReadonlyArray<Message>
  /** When each message was written, in milliseconds since the epoch. */
  readonly times: ReadonlyArray<number>
  readonly from: number
  readonly to: number
  /** The indexes of messages in the page that cannot be read: an answer without parts stands in the place of each. */
  readonly unreadable: ReadonlyArray<number>
  /** How many messages the conversation has. */
  readonly total: number
  /** The `before` that asks for the page with earlier messages; `null` if there are none. */
  readonly before: string | null
}

/** A position in the log: everything before a message. A clear makes it invalid, and an edit before it. */
interface Cursor {
  readonly clears: number
  readonly index: number
  readonly version: number
}

const parse = (text: unknown): Cursor | null => {
  const [, clears, index, version] = /^(\d{1,15})\.(\d{1,15})\.(\d{1,15})$/.exec(String(text)) ?? []
  return version === undefined
    ? null
    : { clears: Number(clears), index: Number(index), version: Number(version) }
}

/** The length of a page that may be of any: its messages are not measured, which would take longer than to read them. */
const anyLength = Number.MAX_SAFE_INTEGER

/** How many messages a page has, and how long they are together, at most. */
interface Bound {
  readonly count: number
  readonly length: number
}

/** A page that is filled, the newest message first: whether there is room for another one behind a message. */
const filled = ({ count, length }: Bound): ((one: PageMessage) => boolean) => {
  let left = { count, length }
  return ({ message }) => {
    left = { count: left.count - 1, length: left.length - messageLength(message) }
    return left.count > 0 && left.length >= 0
  }
}

/** The last of some messages, which are no more than the bound says. */
const lastOf = (messages: ReadonlyArray<PageMessage>, bound: Bound): ReadonlyArray<PageMessage> => {
  if (bound.length === anyLength) return messages
  const hasRoom = filled(bound)
  return messages.slice(
    Math.max(
      messages.findLastIndex((one) => !hasRoom(one)),
      0,
    ),
  )
}

/** The messages in front of a position, as many as the bound says, oldest first. The log is read backwards from there, so the cost does not depend on the length of the history. */
const messagesBefore = (
  sessions: Pick<Sessions, "events">,
  { session, gaps }: Pick<SessionState, "session" | "gaps">,
  version: number,
  bound: Bound,
): Effect.Effect<ReadonlyArray<PageMessage>, SessionError> =>
  Effect.gen(function* () {
    const found: Array<PageMessage> = []
    const hasRoom = filled(bound)
    let goesOn = bound.count > 0
    for (const range of rangesBetween(gaps, 1, version - 1).toReversed()) {
      if (!goesOn) break
      yield* sessions.events(session, { fromVersion: range.from, toVersion: range.to, reverse: true }).pipe(
        Stream.filterMap((recorded) =>
          Option.map(Option.fromNullable(appendedMessage(recorded.event)), (message) => ({
            message,
            time: message.time ?? recorded.time,
            version: recorded.version,
          })),
        ),
        Stream.runForEachWhile((one) =>
          Effect.sync(() => {
            found.push(one)
            return (goesOn = hasRoom(one))
          }),
        ),
      )
    }
    return found.toReversed()
  })

/** The page that messages are, which end in front of an index. */
const pageOfFound = (
  { clears, total }: SessionState,
  to: number,
  found: ReadonlyArray<PageMessage>,
): MessagePage => {
  const from = to - found.length
  const [messages, times, gone]: [Array<Message>, Array<number>, Array<number>] = [[], [], []]
  // One loop: adapters ask for a hundred messages several times in a turn.
  for (const { message, time } of found) {
    if (message === unreadable) gone.push(from + messages.length)
    messages.push(message)
    times.push(time)
  }
  return {
    messages,
    times,
    from,
    to,
    unreadable: gone,
    total,
    before: from > 0 && found[0] !== undefined ? `${clears}.${from}.${found[0].version}` : null,
  }
}

const pageBefore = (
  sessions: Pick<Sessions, "events" | "newest">,
  state: SessionState,
  cursor: Cursor,
  bound: Bound,
): Effect.Effect<MessagePage, SessionError> =>
  Effect.gen(function* () {
    const { total } = state
    const to = cursor.index
    const count = Math.min(bound.count, to)
    const isNewest = to === total
    const known = isNewest ? sessions.newest.of(state, count) : null
    const found =
      known === null
        ? yield* messagesBefore(sessions, state, cursor.version, { ...bound, count })
        : lastOf(known, bound)
    if (isNewest && known === null) sessions.newest.keep(state, found)
    return pageOfFound(state, to, found)
  })

/** The state of a branch: of the branch in force, or of another branch when it was left. */
export const branchState = (
  sessions: Pick<Sessions, "stateBack">,
  now: SessionState,
  branch: number,
): Effect.Effect<SessionState, SessionError | UnknownBranch> => {
  if (branch === now.branch.id) return Effect.succeed(now)
  const left = now.branches.find(({ id }) => id === branch)
  return left === undefined
    ? new UnknownBranch({ session: now.session, branch })
    : sessions.stateBack(now, left.version)
}

export const pageOf = (
  sessions: Pick<Sessions, "events" | "newest">,
  state: SessionState,
  { limit = 50, length = anyLength, before }: PageOptions,
): Effect.Effect<MessagePage, SessionError | InvalidInput> =>
  Effect.gen(function* () {
    const { session, clears, total, version, gaps } = state
    yield* checkCount(session, "limit", limit, 1)
    yield* checkCount(session, "length", length, 1)
    const cursor = before === undefined ? { clears, index: total, version: version + 1 } : parse(before)
    if (
      cursor === null ||
      cursor.clears !== clears ||
      cursor.index > total ||
      cursor.version > version + 1 ||
      (cursor.version <= version && !isOnBranch(gaps, cursor.version))
    )
      return yield* refuse(
        session,
        "`before` is not the `before` of a page of this conversation; read the newest page",
      )
    return yield* pageBefore(sessions, state, cursor, { count: limit, length })
  })

/** The newest page of a state that this process has the messages of; `null` if they have to be read, or options to be checked. */
export const knownPage = (
  { newest }: Pick<Sessions, "newest">,
  state: SessionState,
  { limit = 50, length, before, branch }: PageOptions = {},
): MessagePage | null => {
  if (length !== undefined || before !== undefined || branch !== undefined) return null
  if (!Number.isSafeInteger(limit) || limit < 1) return null
  const found = newest.of(state, Math.min(limit, state.total))
  return found === null ? null : pageOfFound(state, state.total, found)
}

/** Reads a page of the conversation. */
export const readMessages = (
  sessions: Sessions,
  session: string,
  { branch, ...options }: PageOptions = {},
): Effect.Effect<MessagePage, MemoryError | UnknownBranch> =>
  Effect.gen(function* () {
    const now = yield* readState(sessions, session)
    const state = branch === undefined ? now : yield* branchState(sessions, now, branch)
    return yield* pageOf(sessions, state, options)
  })

/** The newest messages of a state, at most `limit`, oldest first. */
export const newestOf = (
  sessions: Pick<Sessions, "events" | "newest">,
  state: SessionState,
  limit: number,
): Effect.Effect<MessagePage, SessionError> => {
  const { clears, total, version } = state
  const bound = { count: limit, length: anyLength }
  return pageBefore(sessions, state, { clears, index: total, version: version + 1 }, bound)
}
