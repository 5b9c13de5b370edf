/** The sessions of an owner, page by page, newest activity first. */
import { Effect, Stream } from "effect"
import type { LogError, Service as EventLog, SessionInfo, SessionPosition } from "@memfold/log/EventLog"
import { sessions, storedLog } from "@memfold/log/pages"
import { spendLog } from "../shell/Spend.js"
import { rest } from "@memfold/log/breathe"
import { checkCount, checkOwner, InvalidInput } from "./input.js"
import type { MemoryParts } from "./MemoryParts.js"

/** Which page to read. */
export interface SessionPageOptions {
  /** The most sessions of the page, 1 or more; 50 by default. */
  readonly limit?: number
  /** The `before` of the page that comes before this one; without it, the page with the newest activity. */
  readonly before?: string
}

/** Sessions of an owner, newest activity first. */
export interface SessionPage {
  readonly sessions: ReadonlyArray<SessionInfo>
  /**
   * The `before` that asks for the page with earlier activity; `null` if there is none. A session that becomes active between two
   * pages moves to the front, and is not on the later page any more.
   */
  readonly before: string | null
}

const cursorOf = ({ updatedTime, session }: SessionPosition): string => `${updatedTime}:${session}`

const parse = (cursor: unknown): SessionPosition | null => {
  const [, time, session] = /^([^:]+):(.+)$/s.exec(String(cursor)) ?? []
  return session === undefined || !Number.isFinite(Number(time))
    ? null
    : { updatedTime: Number(time), session }
}

/** Reads one page of an owner's sessions. */
export const ownedSessions = (
  log: EventLog,
  owner: string,
  { limit = 50, before }: SessionPageOptions = {},
): Effect.Effect<SessionPage, InvalidInput | LogError> =>
  Effect.gen(function* () {
    yield* checkOwner(owner)
    yield* checkCount("", "limit", limit, 1)
    const after = before === undefined ? undefined : parse(before)
    if (after === null) {
      const detail = "`before` is not the `before` of a page of sessions; read the newest page"
      return yield* new InvalidInput({ session: "", detail })
    }
    // One more than asked for shows whether there are others.
    const found = yield* log.list({ owner, limit: limit + 1, after })
    const sessions = found.slice(0, limit)
    const last = sessions.at(-1)
    return { sessions, before: found.length > limit && last !== undefined ? cursorOf(last) : null }
  })

/** Every session of an owner, the log with the facts about the user of that name, and the log that counts what the owner spends. */
export const logsOfOwned = (
  { log, layers }: Pick<MemoryParts, "log" | "layers">,
  owner: string,
): Effect.Effect<ReadonlyArray<string>, InvalidInput | LogError> =>
  Effect.gen(function* () {
    yield* checkOwner(owner)
    const owned = (yield* allOfOwned(log, owner)).map(({ session }) => session)
    const aboutUser = layers?.logOf(owner) ?? null
    const spends = spendLog("owner", owner)
    // A layer that seals refuses the head of what is erased, and the log that counts still has to be named.
    const isCounted = (yield* storedLog(log).head(spends)) !== null
    return [...owned, ...(aboutUser === null ? [] : [aboutUser]), ...(isCounted ? [spends] : [])]
  })

/** All sessions of an owner, the one with the newest activity first. */
export const allOfOwned = (
  log: EventLog,
  owner: string,
): Effect.Effect<ReadonlyArray<SessionInfo>, LogError> =>
  Effect.map(
    Stream.runCollect(Stream.mapChunksEffect(sessions(log, owner), (page) => Effect.as(rest, page))),
    (all) =>
      [
        // A session that became active between two pages is on both.
        ...new Map([...all].toReversed().map((info) => [info.session, info])).values(),
      ].toReversed(),
  )
