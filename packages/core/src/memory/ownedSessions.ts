/** The sessions of an owner, page by page, newest activity first. */
import { Effect, Stream } from "effect"
import type { RecordedEvent } from "../event/EventCodec.js"
import { isUnreadable } from "../shell/openSession.js"
import type { SessionError } from "../shell/Sessions.js"
import {
  isName,
  LogError,
  markOf,
  type Service as EventLog,
  type SessionInfo,
  type SessionPosition,
} from "@memfold/log/EventLog"
import { sessions, storedLog } from "@memfold/log/pages"
import { spendLog } from "../shell/Spend.js"
import { rest } from "@memfold/log/breathe"
import { checkCount, checkOwner, type InvalidInput, refuse } from "./input.js"
import type { MemoryParts } from "./MemoryParts.js"

/** The owner in the description of a session, or of the mark of an archived one, which is in the clear also where the session is erased. */
export const ownerOf = (log: EventLog, session: string): Effect.Effect<string | null, LogError> =>
  Effect.gen(function* () {
    for (const id of [session, markOf(session)]) {
      const [row] = yield* storedLog(log).projections.get(id, "description")
      const { owner = null } = JSON.parse(row?.data ?? "{}") as { readonly owner?: string | null }
      if (owner !== null) return owner
    }
    return null
  })

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
  return !isName(session) || !Number.isFinite(Number(time)) ? null : { updatedTime: Number(time), session }
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
    if (after === null)
      return yield* refuse("", "`before` is not the `before` of a page of sessions; read the newest page")
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

/** Says of which logs something could not be done, at least one. */
export const unreached = <E extends SessionError>(
  operation: "read" | "delete",
  failed: ReadonlyArray<readonly [name: string, error: E]>,
): E | LogError => {
  const [[, first], ...others] = failed as [[string, E], ...typeof failed]
  return others.length === 0
    ? first
    : new LogError({
        operation,
        reason: `${failed.map(([name]) => `"${name}"`).join(", ")} cannot be read: ${first.message}`,
        refused: first._tag === "LogError" ? first.refused : "unreadable",
      })
}

/**
 * The events of everything that an owner has. A log that cannot be read keeps no other one back: behind them, the stream fails, and names
 * it.
 */
export const eventsOfOwned = (
  parts: Pick<MemoryParts, "log" | "layers">,
  owner: string,
  events: (name: string) => Stream.Stream<RecordedEvent, SessionError>,
): Stream.Stream<RecordedEvent, InvalidInput | SessionError> =>
  Stream.unwrap(
    Effect.map(logsOfOwned(parts, owner), (logs) => {
      const failed: Array<readonly [name: string, error: SessionError]> = []
      return Stream.concat(
        Stream.flatMap(Stream.fromIterable(logs), (name) =>
          Stream.catchAll(events(name), (error) => {
            if (!isUnreadable(error)) return Stream.fail(error)
            failed.push([name, error])
            return Stream.empty
          }),
        ),
        Stream.suspend(() => (failed.length === 0 ? Stream.empty : Stream.fail(unreached("read", failed)))),
      )
    }),
  )

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
