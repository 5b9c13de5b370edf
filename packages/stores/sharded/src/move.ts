/**
 * Moves a session to another shard while it is written to. It is copied, and compared; the directory says up to where the copy is complete;
 * and then the session is deleted on its shard at this very position. That deletion is the switch: a writer who was faster makes it fail,
 * and the copy goes on; a writer who is later finds the session gone, and looks it up again. Where writers are faster again and again, the
 * directory says that the session is held, once all of them look there: they wait for the rest, which alone is compared then. A process may be killed at any step.
 */
import { copySession, type Source, sourceOf } from "@memfold/archive"
import { EventLog } from "@memfold/log"
import { Clock, Effect, Exit, Random, Stream } from "effect"
import type { Directory, Place } from "./Directory.js"
import { neverOn, type Places, plain, samePosition, trusted } from "./Places.js"
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

/** How many rounds go before the one in which the session is held, and how many there are in all: an older memfold writes on. */
const [roundsBefore, mostRounds] = [4, 100] as const

/** The rows that are not made from the log by whoever reads it next: those that are listed, and the one that saves reading it. */
const rowKinds = ["description", "snapshot"]

/** The type of the events that change no rows of summaries, of which a session has as many as it had compactions. */
const said = "MessageAppended"

/**
 * The kind of the row by which a mover knows that what it has compared is as it was: a rewrite and a deletion drop it, whoever does them. It
 * stands in the log that is left, and goes with it.
 */
const comparedKind = "compared"

/** How often a mover tries to put its row while writers are faster. */
const mostPuts = 100

const failed = (session: string, reason: string) =>
  new EventLog.LogError({ operation: "move", session, reason })

const neverBack = (session: string, { name }: Shard) =>
  failed(
    session,
    `old parts of it are in an archive, and could not come back on the shard "${name}"; bring them back first (memfold restore), or move it to another shard`,
  )

/** Copies rows as they are; what is sealed stays sealed. */
const copyRows = (from: Shard, to: Shard, session: string, at: EventLog.LogPosition, hasSummaries: boolean) =>
  Effect.gen(function* () {
    const kinds = [
      ...rowKinds,
      ...(hasSummaries ? ["summary"] : []),
      ...(EventLog.isNotes(session) ? EventLog.groupRows : []),
    ]
    const changes = yield* Effect.forEach(
      kinds,
      (kind) =>
        Effect.map(from.log.projections.get(session, kind), (rows) => ({ kind, replace: true, rows })),
      { concurrency: "unbounded" },
    )
    yield* to.log.projections.put(session, at, changes)
  })

/** Puts the row of a mover into the log; its data, or `null` where writers are faster each time. */
const putCompared = (from: Shard, session: string) =>
  Effect.gen(function* () {
    const data = String(yield* Random.nextIntBetween(0, 2 ** 48))
    const head = yield* from.log.head(session)
    const change = { kind: comparedKind, replace: true, rows: [{ key: "", data }] }
    yield* from.log.projections.put(session, head ?? { version: 0, batchId: "" }, [change])
    return data
  }).pipe(
    Effect.retry({ times: mostPuts, while: ({ _tag }) => _tag === "VersionConflict" }),
    Effect.catchTag("VersionConflict", () => Effect.succeed(null)),
  )

/**
 * Copies a session in rounds. The first one compares all of it, and the others what has come since, as long as nothing was rewritten.
 *
 * @param isOurs - whether the directory still has this move. A copy of an earlier one goes only then: it may be the session by now
 * @returns a round: the position up to where the copy is complete; `rest` if more has come meanwhile, or `all` if all is to be compared again
 */
const copying = (
  from: Shard,
  to: Shard,
  session: string,
  isOurs: Effect.Effect<boolean, EventLog.LogError>,
): Effect.Effect<EventLog.LogPosition | "rest" | "all", EventLog.LogError> => {
  /** Up to where both are the same, if the row stands; whether what was copied since the rows were was all said. */
  let [same, row, isSaid] = [0, null as string | null, false]
  const all = sourceOf(from.log, EventLog.storedRecords)
  const source: Source = {
    ...all,
    records: (...asked) =>
      Stream.mapEffect(all.records(...asked), (record) => {
        isSaid &&= record.type === said
        const canComeBack = record.schemaVersion !== EventLog.movedSchema || to.log.replace !== undefined
        return canComeBack ? Effect.succeed(record) : neverBack(session, to)
      }),
  }
  return Effect.gen(function* () {
    const isFirst = same === 0
    // In front of the comparison: a replica then answers with no less than what is there now.
    if (isFirst) [row, isSaid] = [yield* putCompared(from, session), false]
    const how = { rows: false, same, read: EventLog.storedRecords }
    const copy = yield* Effect.either(copySession(source, to.log, session, undefined, how))
    if (copy._tag === "Left" && copy.left._tag === "LogError") return yield* copy.left
    same = 0
    if (copy._tag === "Left" || copy.right.outcome !== "copied") {
      const leftover = yield* to.log.head(session)
      if (leftover !== null && (yield* isOurs)) yield* to.log.delete(session, leftover)
      return "all"
    }
    const at = yield* to.log.head(session)
    if (at === null) return "all"
    if (row !== null) same = copy.right.there
    if (!samePosition(yield* from.log.head(session), at)) return "rest"
    const rows = yield* Effect.either(copyRows(from, to, session, at, !isSaid))
    if (rows._tag === "Left") return rows.left._tag === "LogError" ? yield* rows.left : "all"
    isSaid = true
    const [found] = isFirst ? [] : yield* from.log.projections.get(session, comparedKind)
    if (isFirst || (row !== null && found?.data === row)) return at
    same = 0
    return "all"
  })
}

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
    const source = yield* places.named(session, place.shard, true)
    yield* places.named(session, target.name, true)
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
      yield* source.log.projections.drop(comparedKind, session)
    })
    const rounds = Effect.gen(function* () {
      const isOurs = Effect.suspend(() =>
        Effect.map(directory.find(session), (now) => now?.version === version),
      )
      const copy = copying(source, target, session, isOurs)
      let [held, isCounted, behind] = [false, false, 0]
      for (let round = 0; round < mostRounds; round++) {
        if (behind === roundsBefore - 2)
          yield* Effect.sleep(began + trusted - (yield* Clock.currentTimeMillis))
        // Nobody waits while all of it is compared.
        if (held !== behind >= roundsBefore) {
          held = !held
          ;({ version } = yield* changed(version, { ...moving, held }))
        }
        if ((yield* source.log.head(session)) === null) return done("gone")
        const at = yield* copy
        behind = at === "all" ? 0 : behind + 1
        if (at === "all" || at === "rest") {
          if (yield* isOurs) continue
          return yield* overtaken
        }
        if (!isCounted) yield* directory.count
        isCounted = true
        ;({ version } = yield* changed(version, { ...moving, held, at }))
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
        ;({ version } = yield* changed(version, { ...moving, held }))
      }
      return yield* failed(session, `writers were faster ${mostRounds} times; try again`)
    })
    return yield* Effect.onExit(rounds, (exit) =>
      Exit.isSuccess(exit) && exit.value.outcome === "moved" ? Effect.void : Effect.ignore(abandoned),
    )
  })
