/** Consumers of the feed in groups, over HTTP: what a consumer has done is kept, and what comes next is its answer. */
import { problem, type Problem, type schemas } from "@memfold/client/api"
import { EventLog, type Memory } from "@memfold/core"
import { Clock, Duration, Effect } from "effect"
import { type FeedPlace, feedPage, fedBehind, type PageText } from "./changes.js"
import { given, named } from "./requests.js"
import type { TenantMemory } from "./TenantMemory.js"

/** A turn, as a consumer has it. */
const nameOf = ({ version, batchId }: EventLog.LogPosition): string => `${version}:${batchId}`

const turnLost = problem(
  409,
  "TurnLost",
  "Another consumer of the group has taken over. Ask without `turn`: what was not kept comes again, to whoever has the turn",
)

const noTurn = problem(
  400,
  "InvalidInput",
  "`done` is kept in a turn: send the `turn` of the answer before with it, and `done` with what is `givenUp`",
)

const turnIn = (name: string): EventLog.LogPosition | null => {
  const [, version, batchId] = /^([1-9]\d{0,14}):(.+)$/s.exec(name) ?? []
  return EventLog.isName(batchId) ? { version: Number(version), batchId } : null
}

/** How often it is asked whether the turn has come. */
const askAgain = Duration.seconds(1)

interface Asked {
  readonly group: string
  readonly request: typeof schemas.Consume.Type
  /** Returns when the service begins to end. */
  readonly closing: Effect.Effect<void>
}

interface Consumed {
  readonly turn: string | null
  readonly page: PageText<Memory.FedEvent>
  readonly after: string | null
}

export const consumed = (
  memory: TenantMemory,
  { group, request, closing }: Asked,
): Effect.Effect<Consumed, Problem | Memory.MemoryError> => {
  const { turn, done, givenUp, after, limit = 100, wait = 0, lease = 30, from } = request
  const term = Duration.seconds(lease)
  const keep = (at: EventLog.LogPosition, how: Parameters<TenantMemory["keepTurn"]>[2] = {}) =>
    memory.keepTurn(group, at, { lease: term, ...how })
  /** The turn, as soon as it is there; `null` where it has not come in time. */
  const take = (until: number): ReturnType<TenantMemory["takeTurn"]> =>
    Effect.gen(function* () {
      const taken = yield* Effect.uninterruptible(memory.takeTurn(group, given({ from, lease: term })))
      if (taken !== null || (yield* Clock.currentTimeMillis) >= until) return taken
      yield* Effect.sleep(askAgain)
      return yield* take(until)
    })
  /** Waits for an event, and keeps the turn meanwhile; who leaves gives it back at once. */
  const waiting = (at: EventLog.LogPosition, place: FeedPlace, until: number) =>
    Effect.gen(function* () {
      const over = Effect.raceFirst(Effect.sleep(until - (yield* Clock.currentTimeMillis)), closing)
      const kept = Effect.forever(Effect.delay(keep(at), Duration.times(term, 1 / 3)))
      yield* Effect.raceFirst(Effect.raceFirst(Effect.asVoid(fedBehind(memory, place)), over), kept)
      yield* keep(at)
    }).pipe(Effect.onInterrupt(() => Effect.ignore(keep(at, { lease: 0 }))))
  /** The turn that the request names, with what it says is done; `null` without one that is there in time. */
  const mine = (until: number) =>
    Effect.gen(function* () {
      if (turn === undefined) {
        if (done !== undefined || givenUp !== undefined) return yield* Effect.fail(noTurn)
        return yield* Effect.raceFirst(take(until), Effect.as(closing, null))
      }
      const at = turnIn(turn)
      if (at === null) return yield* Effect.fail(turnLost)
      if (givenUp !== undefined && done === undefined) return yield* Effect.fail(noTurn)
      return yield* keep(at, given({ done, givenUp }))
    })
  return Effect.gen(function* () {
    yield* named("a group", group)
    const until = (yield* Clock.currentTimeMillis) + wait * 1_000
    const taken = yield* mine(until)
    if (taken === null || lease === 0)
      return { turn: null, page: { events: "[]", last: null }, after: taken?.position ?? null }
    const place = { after: after ?? taken.position ?? undefined }
    let page = yield* feedPage(memory, place, limit)
    if (page.last === null && limit > 0 && (yield* Clock.currentTimeMillis) < until) {
      yield* waiting(taken.at, place, until)
      page = yield* feedPage(memory, place, limit)
    }
    return { turn: nameOf(taken.at), page, after: page.last?.position ?? place.after ?? null }
  }).pipe(Effect.catchTag("TurnLost", () => Effect.fail(turnLost)))
}
