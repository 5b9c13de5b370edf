/** What can be opened of a sealed session, piece by piece: one record that cannot be opened must not hide another one. */
import type { EventLog } from "@memfold/core"
import { Effect, Either } from "effect"

/**
 * The records and rows of a session that open, as one text.
 *
 * @param store - the log that has them sealed
 * @param apart - a layer over it that has seen nothing yet, with the keys that are left
 */
export const openedPieces = (
  store: EventLog.Service,
  apart: () => EventLog.Service,
  session: string,
): Effect.Effect<string, EventLog.LogError> =>
  Effect.gen(function* () {
    const { version } = (yield* store.head(session)) ?? { version: 0 }
    const pieces: ReadonlyArray<Effect.Effect<unknown, EventLog.LogError>> = [
      ...Array.from({ length: version }, (_, at) =>
        apart().read(session, { fromVersion: at + 1, toVersion: at + 1, reverse: false, limit: 1 }),
      ),
      ...["snapshot", "summary", "index", "description"].map((kind) =>
        apart().projections.get(session, kind),
      ),
    ]
    const opened = yield* Effect.forEach(pieces, Effect.either)
    return JSON.stringify(opened.map(Either.getOrNull))
  })
