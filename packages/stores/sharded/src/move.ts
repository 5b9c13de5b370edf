/**
 * Moves a session to another shard while it is written to. It is copied, and compared; the directory says up to where the copy is complete;
 * and then the session is deleted on its shard at this very position. That deletion is the switch: a writer who was faster makes it fail,
 * and the copy goes on; a writer who is later finds the session gone, and looks it up again. Where writers are faster again and again, the
 * directory says that the session is held, once all of them look there: they wait for the rest. A process may be killed at any step.
 */
import { copySession, sourceOf } from "@memfold/archive"
import { EventLog } from "@memfold/log"
import { Clock, Effect, Exit } from "effect"
import type { Directory, Place } from "./Directory.js"
import { neverOn, type Places, plain, trusted } from "./Places.js"
import type { Shard } from "./Shard.js"

/** What became of a move. */
export interface Moved {
  readonly session: string
  /** `moved`; `there` if it was there already; `gone` if there is no such session. */
  readonly outcome: "moved" | "there" | "gone"
  readonly from: string | null
  readonly to: string
  /** How many events the session had. */
  readonly events: number
}

/** How often a copy goes on behind writers that are faster, before the session is held, and in all: an older memfold writes on. */
const [roundsBefore, mostRounds] = [4, 100] as const

/** The rows that are not made from the log by whoever reads it next: those that are listed, and the one that saves reading it. */
const rowKinds = ["description", "summary", "snapshot"]

const failed = (session: string, reason: string) =>
  new EventLog.LogError({ operation: "move", session, reason })

/** Copies rows as they are; what is sealed stays sealed. */
const copyRows = (from: Shard, to: Shard, session: string, at: EventLog.LogPosition) =>
  Effect.gen(function* () {
    const kinds = EventLog.isNotes(session) ? [...rowKinds, ...EventLog.groupRows] : rowKinds
    const changes = yield* Effect.forEach(
      kinds,
      (kind) =>
        Effect.map(from.log.projections.get(session, kind), (rows) => ({ kind, replace: true, rows })),
      { concurrency: "unbounded" },
    )
    yield* to.log.projections.put(session, at, changes)
  })

/**
 * Copies a session; `false` if there is a copy of an earlier move that is not of this log. That goes, if this move is still the one that
 * the directory has, and only as it was before the directory said so: it may be the session by now.
 */
const copied = (
  from: Shard,
  to: Shard,
  session: string,
  isOurs: Effect.Effect<boolean, EventLog.LogError>,
): Effect.Effect<boolean, EventLog.LogError> =>
  Effect.gen(function* () {
    const copy = yield* Effect.either(
      copySession(sourceOf(from.log), to.log, session, undefined, { rows: false }),
    )
    if (copy._tag === "Left" && copy.left._tag === "LogError") return yield* copy.left
    if (copy._tag === "Right" && copy.right.outcome === "copied") return true
    const leftover = yield* to.log.head(session)
    if (leftover !== null && (yield* isOurs)) yield* to.log.delete(session, leftover)
    return false
  })

/** Moves a session to a shard. */
export const moveSession = (
  places: Places,
  directory: Directory,
  session: string,
  target: Shard,
  again = false,
): Effect.Effect<Moved, EventLog.LogError> =>
  Effect.gen(function* () {
    const found = yield* places.settle(session)
    const place =
      found === null || !again
        ? found
        : { ...found, tried: found.tried?.filter((name) => name !== target.name) }
    const done = (outcome: Moved["outcome"], events = 0): Moved => ({
      session,
      outcome,
      from: place?.shard ?? null,
      to: target.name,
      events,
    })
    if (place === null) return done("gone")
    if (place.shard === target.name) return done("there")
    if (neverOn(place).includes(target.name))
      return yield* failed(
        session,
        place.left.includes(target.name)
          ? `it has left the shard "${target.name}", and a session never returns to one; move it to another shard`
          : `a move to the shard "${target.name}" was broken off, and its process may still write there; move it to another shard or, once that process has ended, move it with \`again\``,
      )
    const overtaken = failed(session, "another process moves or deletes it; look where it is, and try again")
    const changed = (version: number, next: Omit<Place, "version">) =>
      Effect.filterOrFail(
        directory.change(session, version, next),
        (done): done is Place => done !== null,
        () => overtaken,
      )
    const source = yield* places.named(session, place.shard)
    const { shard, left } = place
    const moving: Omit<Place, "version"> = { ...plain(place), to: target.name }
    let { version } = yield* changed(place.version, moving)
    const began = yield* Clock.currentTimeMillis
    /** Ends a move that is not decided. Whoever began it knows that nothing is written any more, and leaves no copy. */
    const abandoned = Effect.gen(function* () {
      const now = yield* directory.find(session)
      if (now === null) return
      const isOurs = now.version === version && now.at === undefined
      if (isOurs || neverOn(now).includes(target.name)) yield* target.log.delete(session)
      yield* isOurs ? directory.change(session, version, plain(place)) : places.settle(session)
    })
    const rounds = Effect.gen(function* () {
      let [held, isCounted] = [{}, false]
      for (let round = 0; round < mostRounds; round++) {
        if (round === roundsBefore - 1)
          yield* Effect.sleep(began + trusted - (yield* Clock.currentTimeMillis))
        if (round === roundsBefore) {
          held = { held: true }
          ;({ version } = yield* changed(version, { ...moving, ...held }))
        }
        const head = yield* source.log.head(session)
        if (head === null) return done("gone")
        const expected = version
        const isOurs = Effect.map(directory.find(session), (now) => now?.version === expected)
        if (!(yield* copied(source, target, session, isOurs))) {
          if (yield* isOurs) continue
          return yield* overtaken
        }
        if (!isCounted) yield* directory.count
        isCounted = true
        const at = yield* target.log.head(session)
        const isComplete = at !== null && at.version >= head.version
        const rows = isComplete
          ? yield* Effect.either(copyRows(source, target, session, at))
          : ({ _tag: "Left" } as const)
        if (!isComplete || rows._tag === "Left") continue
        ;({ version } = yield* changed(version, { ...moving, ...held, at }))
        if (yield* source.log.delete(session, at)) {
          places.forget(session)
          yield* directory.change(session, version, {
            ...plain(place),
            shard: target.name,
            left: [...left, shard],
          })
          return done("moved", at.version)
        }
        const now = yield* directory.find(session)
        if (now?.version !== version) {
          // Somebody has ended the move, one way or the other.
          const settled = yield* places.settle(session)
          return settled?.shard === target.name ? done("moved", at.version) : yield* overtaken
        }
        if ((yield* source.log.head(session)) === null) {
          yield* places.settle(session)
          return done("moved", at.version)
        }
        ;({ version } = yield* changed(version, { ...moving, ...held }))
      }
      return yield* failed(session, `writers were faster ${mostRounds} times; try again`)
    })
    return yield* Effect.onExit(rounds, (exit) =>
      Exit.isSuccess(exit) && exit.value.outcome === "moved" ? Effect.void : Effect.ignore(abandoned),
    )
  })
