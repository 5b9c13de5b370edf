/** Where each operation on a session goes: to the shard that has it, also while it moves. */
import { EventLog } from "@memfold/log"
import { Effect } from "effect"
import type { Places } from "./Places.js"
import type { Shard } from "./Shard.js"

const ownerIn = ({ projections = [] }: EventLog.AppendOptions): string | null => {
  const data = projections.findLast(({ kind }) => kind === "description")?.rows[0]?.data
  return data === undefined ? null : ((JSON.parse(data) as { readonly owner?: string | null }).owner ?? null)
}

const isNothing = (answer: unknown): boolean =>
  answer === null || (Array.isArray(answer) && answer.length === 0)

/** Finds the shard of each operation on a session, and finds it again where the session has moved. */
export const routing = (places: Places) => {
  /** Reads on the shard that has a session. Where there is nothing, it may have moved since this process has looked. */
  const reading = <A>(
    session: string,
    none: A,
    read: (shard: Shard) => Effect.Effect<A, EventLog.LogError>,
  ) =>
    Effect.gen(function* () {
      let seen = places.known(session)
      let answer = seen === null ? none : yield* read(seen)
      while (isNothing(answer)) {
        const shard = yield* places.look(session)
        if (shard === null || shard === seen) break
        seen = shard
        answer = yield* read(shard)
      }
      return answer
    })

  /** Writes on the shard that has a session, and on the one that it has moved to meanwhile. */
  const writing = <A>(
    session: string,
    shard: Shard,
    write: (shard: Shard) => Effect.Effect<A, EventLog.VersionConflict | EventLog.LogError>,
  ): Effect.Effect<A, EventLog.VersionConflict | EventLog.LogError> =>
    Effect.catchTag(write(shard), "VersionConflict", (conflict) =>
      Effect.flatMap(places.look(session), (now) =>
        now === null || now === shard ? conflict : writing(session, now, write),
      ),
    )

  const regionIsKept = (
    operation: string,
    session: string,
    shard: Shard,
    options: EventLog.AppendOptions,
  ) => {
    const owner = ownerIn(options)
    return places.allowed(owner).includes(shard)
      ? Effect.void
      : new EventLog.LogError({
          operation,
          session,
          reason: `its owner belongs to another region than the shard "${shard.name}"; move the session there first`,
        })
  }

  /** Where a session is, and where one that begins goes. Whoever begins one looks again behind it: see `begun`. */
  const target = (session: string, options: EventLog.AppendOptions) =>
    Effect.gen(function* () {
      if (options.expectedVersion > 0) {
        const found = yield* places.toWrite(session)
        if (found !== null) return found
        const { expectedVersion } = options
        return yield* new EventLog.VersionConflict({ session, expectedVersion, actualVersion: 0 })
      }
      return yield* places.choose(session, ownerIn(options))
    })

  /** A session that begins on a shard which it has just left, begins nowhere: nobody has been told of it yet. */
  const begun = (session: string, shard: Shard, options: EventLog.AppendOptions, version: number) =>
    Effect.gen(function* () {
      const now = yield* places.look(session)
      if (now === shard) return
      yield* shard.log.delete(session, { version, batchId: options.batchId })
      const head = now === null ? null : yield* now.log.head(session)
      return yield* new EventLog.VersionConflict({
        session,
        expectedVersion: 0,
        actualVersion: head?.version ?? 0,
      })
    })

  const write = (
    operation: "append" | "rewrite",
    session: string,
    options: EventLog.AppendOptions,
    run: (shard: Shard) => Effect.Effect<EventLog.AppendResult, EventLog.VersionConflict | EventLog.LogError>,
  ) =>
    Effect.flatMap(target(session, options), (shard) =>
      writing(session, shard, (now) =>
        Effect.zipRight(regionIsKept(operation, session, now, options), run(now)).pipe(
          Effect.tap(({ version, duplicate }) =>
            options.expectedVersion === 0 && !duplicate ? begun(session, now, options, version) : Effect.void,
          ),
        ),
      ),
    )

  return { reading, writing, write }
}
