/** A store with an archive behind it: whoever opens an archived session gets it back. */
import { catalogStore } from "./catalog.js"
import { EventLog } from "@memfold/log"
import { atMost } from "@memfold/log/atMost"
import { Newest } from "@memfold/log/Newest"
import { OptionGroup } from "@memfold/core"
import { Clock, Effect, Layer, Schema, Stream, Struct } from "effect"
import type { Archive } from "./Archive.js"
import { eraseArchived, restoreSession } from "./move.js"
import { openArchive } from "./open.js"
import { asLogError, segmentsIn } from "./withSegments.js"

/**
 * For how long a process relies on what it has seen: that a session is not archived. It is far less than the shortest time after
 * which sessions are archived.
 */
const trust = 60_000

/** How many sessions are remembered. */
const mostKnown = 10_000

const { markedBy, markOf } = EventLog
const { Callable, checkedBy, fits, option, orLayer } = OptionGroup

/**
 * The log of a store with an archive behind it. Every operation on an archived session brings it back first; of a session whose old part
 * is archived, it is read there. `delete` removes both from the archive. The sessions of an owner are listed with those that are archived.
 *
 * A session costs one more read of the store in each minute in which a process uses it.
 *
 * @example
 * ```ts
 * import { behind, folderArchive } from "@memfold/archive"
 * import { EventLog } from "@memfold/core"
 * import { Effect } from "effect"
 *
 * export const both = Effect.flatMap(EventLog.EventLog, (log) => behind(log, folderArchive("./cold")))
 * ```
 */
export const behind = (store: EventLog.Service, archive: Archive): Effect.Effect<EventLog.Service> =>
  Effect.gen(function* () {
    const oneAtATime = atMost(1)
    const withSegments = yield* segmentsIn(archive)
    // Segments have what the store has: where it is sealed, they are below what seals.
    const segmented = withSegments(EventLog.storedLog(store))
    const log = store.over?.(segmented) ?? segmented
    /** When sessions were seen in the store, in milliseconds since the epoch. */
    const seen = new Newest<number>(mostKnown)

    /** Brings a session back, unless it was seen in the store a moment ago. */
    const open = (operation: string, session: string): Effect.Effect<void, EventLog.LogError> =>
      Effect.gen(function* () {
        if (EventLog.isReserved(session)) return
        const now = yield* Clock.currentTimeMillis
        if (now - (seen.get(session) ?? Number.NEGATIVE_INFINITY) < trust) return
        // Several operations of a context begin at once; the first one brings the session back.
        yield* oneAtATime(restoreSession(log, archive, session))
        seen.set(session, now)
      }).pipe(Effect.mapError(asLogError(operation, session)))

    const opened =
      <Rest extends ReadonlyArray<unknown>, A, E>(
        operation: string,
        run: (session: string, ...rest: Rest) => Effect.Effect<A, E>,
      ) =>
      (session: string, ...rest: Rest): Effect.Effect<A, E | EventLog.LogError> =>
        Effect.zipRight(open(operation, session), run(session, ...rest))

    const { changes } = log
    return {
      ...Struct.pick(log, "erasure", "feed", "feedEnd", "finishRewrites", "over", "stored", "within"),
      archived: true,
      append: opened("append", log.append),
      read: opened("read", log.read),
      head: (session) =>
        Effect.flatMap(opened("head", log.head)(session), (head) => {
          if (head !== null || seen.get(session) === undefined) return Effect.succeed(head)
          // It was seen, and is gone: deleted, or archived by another process.
          seen.delete(session)
          return opened("head", log.head)(session)
        }),
      list: ({ owner, after, limit }) =>
        Effect.gen(function* () {
          if (owner === undefined) return yield* log.list({ owner, after, limit })
          // Between two sessions of one millisecond, the mark has a place of its own.
          const isMark = after !== undefined && (yield* log.head(markOf(after.session))) !== null
          const behindMark = isMark ? { ...after, session: markOf(after.session) } : after
          const found = yield* log.list({ owner, after: behindMark, limit })
          return found.map((info) => ({ ...info, session: markedBy(info.session) ?? info.session }))
        }),
      delete: (session, at) =>
        Effect.gen(function* () {
          if (at !== undefined) yield* open("delete", session)
          const wasThere = yield* log.delete(session, at)
          if (at !== undefined && !wasThere) return false
          const wasArchived = yield* eraseArchived(log, archive, session)
          return wasThere || wasArchived
        }).pipe(Effect.mapError(asLogError("delete", session))),
      // What a process that was killed has left in the archive must not keep the old text (law L15).
      rewrite: (session, ...rest) =>
        open("rewrite", session).pipe(
          Effect.zipRight(
            Effect.mapError(eraseArchived(log, archive, session), asLogError("rewrite", session)),
          ),
          Effect.zipRight(log.rewrite(session, ...rest)),
        ),
      ...(changes === undefined
        ? {}
        : {
            changes: (session: string) =>
              Stream.unwrap(Effect.as(open("changes", session), changes(session))),
          }),
      projections: {
        get: opened("projections.get", log.projections.get),
        put: opened("projections.put", log.projections.put),
        drop: log.projections.drop,
      },
    }
  })

/** What is given to {@link withArchive}. */
const checked = {
  store: option(orLayer(Schema.String), "the URL of a store, or a layer"),
  archive: option(
    Schema.Union(
      Schema.String,
      checkedBy<Archive>(
        fits(Schema.Struct({ name: Schema.String, put: Callable, get: Callable, remove: Callable })),
      ),
    ),
    "a folder, s3://BUCKET/PREFIX, or an archive",
  ),
}

/**
 * A store with an archive behind it, as a layer: for `createMemory({ store })`, and for `Memory.layer`.
 *
 * @param store - the URL of a store, or a layer
 * @param archive - a folder, `s3://BUCKET/PREFIX` (see {@link openArchive}), or an archive
 * @throws InvalidOption: one of them is something else
 *
 * @example
 * ```ts
 * import { withArchive } from "@memfold/archive"
 * import { createMemory } from "memfold"
 *
 * const memory = createMemory({ store: withArchive("sqlite:chats.db", "./cold") })
 * await memory.close()
 * ```
 */
export const withArchive = <E = never>(
  store: string | Layer.Layer<EventLog.EventLog, E | EventLog.LogError>,
  archive: string | Archive,
): Layer.Layer<EventLog.EventLog, E | EventLog.LogError> => {
  const wrong = OptionGroup.wrongIn(checked, { store: store ?? null, archive: archive ?? null })
  if (wrong !== null) throw wrong
  return Layer.effect(
    EventLog.EventLog,
    Effect.gen(function* () {
      const opened = typeof archive === "string" ? yield* openArchive(archive) : archive
      return yield* behind(yield* EventLog.EventLog, opened)
    }).pipe(
      Effect.catchTag(
        "ArchiveError",
        ({ message }) => new EventLog.LogError({ operation: "open", reason: message }),
      ),
    ),
  ).pipe(Layer.provide(typeof store === "string" ? catalogStore(store) : store))
}
