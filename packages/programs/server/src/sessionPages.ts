/** Pages of sessions, filtered by title and time. */
import { problem, type schemas } from "@memfold/client/api"
import { EventLog } from "@memfold/core"
import { Effect } from "effect"
import { named } from "./requests.js"
import type { TenantMemory } from "./TenantMemory.js"

/** The most sessions that one request looks at: with filters, a page may be short, and others follow. */
const mostLookedAt = 1_000

type Query = typeof schemas.ListQuery.Type

const cursorOf = ({ session, updatedTime }: EventLog.SessionPosition): string =>
  Buffer.from(JSON.stringify([updatedTime, session])).toString("base64url")

const parse = (cursor: string): EventLog.SessionPosition | null => {
  try {
    const [updatedTime, session] = JSON.parse(Buffer.from(cursor, "base64url").toString()) as Array<unknown>
    return typeof updatedTime === "number" && EventLog.isName(session) ? { updatedTime, session } : null
  } catch {
    return null
  }
}

const isWanted =
  ({ title, activeFrom = Number.NEGATIVE_INFINITY, activeTo = Number.POSITIVE_INFINITY }: Query) =>
  (info: EventLog.SessionInfo): boolean =>
    !EventLog.isNotes(info.session) &&
    (title === undefined || (info.title ?? "").toLowerCase().includes(title.toLowerCase())) &&
    info.updatedTime >= activeFrom &&
    info.updatedTime < activeTo

export const sessionPage = (memory: TenantMemory, query: Query) =>
  Effect.gen(function* () {
    const { owner, limit = 50, cursor } = query
    const after = cursor === undefined ? undefined : parse(cursor)
    if (after === null)
      return yield* Effect.fail(
        problem(400, "WrongCursor", "`cursor` is not the `next` of a page; leave it out for the first page"),
      )
    if (owner !== undefined) yield* named("an owner", owner)
    const wanted = isWanted(query)
    const sessions: Array<EventLog.SessionInfo> = []
    let [position, looked] = [after, 0]
    for (;;) {
      // One more than is needed shows whether there are others.
      const size = Math.max(limit - sessions.length, 100) + 1
      const page: ReadonlyArray<EventLog.SessionInfo> = yield* memory.list({
        owner,
        after: position,
        limit: size,
      })
      for (const [at, info] of page.slice(0, size - 1).entries()) {
        position = info
        if (wanted(info)) sessions.push(info)
        if (sessions.length === limit) return { sessions, next: at + 1 < page.length ? cursorOf(info) : null }
      }
      looked += page.length
      if (page.length < size || position === undefined) return { sessions, next: null }
      if (looked >= mostLookedAt) return { sessions, next: cursorOf(position) }
    }
  })
