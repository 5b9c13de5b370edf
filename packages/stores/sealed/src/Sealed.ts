/**
 * A log that seals what its store keeps: the data of records, of projection rows, and titles. The store sees ids of sessions and owners,
 * times, sizes, and types of events and rows.
 */
import { EventLog } from "@memfold/log"
import { Effect, Layer } from "effect"
import { forms, kindOf } from "./forms.js"
import type { Key, Keyring } from "./Keyring.js"
import { describedBy, failure, ofKeyring, type Operation, sealer } from "./sealer.js"

/**
 * Seals what a log keeps.
 *
 * @param log - the log of a store
 * @param keyring - the keys
 * @returns a log with the same records, for whoever has the keys
 */
export const sealLog = (log: EventLog.Service, keyring: Keyring): EventLog.Service => {
  const own = sealer(log, keyring)
  const { keysNow, forgetting } = own
  const { openRecord, openRow, openTitle, sealBatch, sealChanges, sealRewritten } = forms(own)

  /** Fails if the owner of a session, or the session, is held. */
  const unlessHeld = (operation: Operation, session: string) =>
    Effect.gen(function* () {
      const [stored] = yield* log.projections.get(session, "description")
      const { owner } = describedBy(stored?.data)
      for (const holder of [{ session }, ...(owner === null ? [] : [{ owner }])]) {
        const reason = yield* Effect.mapError(keyring.held(holder), ofKeyring(operation, session))
        if (reason !== null)
          return yield* failure(operation, session, `it is held: ${reason}. End the hold first`)
      }
    })

  const { changes, finishRewrites, within } = log
  return {
    append: (session, records, options) =>
      Effect.flatMap(sealBatch("append", session, records, options), (batch) =>
        forgetting(session, log.append(session, batch.records, batch.options)),
      ),
    read: (session, page) =>
      Effect.flatMap(log.read(session, page), (records) =>
        Effect.forEach(records, openRecord(session, new Map())),
      ),
    head: log.head,
    list: (options) =>
      Effect.flatMap(log.list(options), (found) => {
        const asked = new Map<string, Key | null>()
        return Effect.forEach(found, (info) => {
          const { title, ...rest } = info
          // A list is for people who look for something else, too: what was erased has no title in it.
          return title === undefined
            ? Effect.succeed(info)
            : Effect.match(openTitle(info.session, title, asked), {
                onFailure: () => rest,
                onSuccess: (shown) => ({ ...rest, ...(shown === null ? {} : { title: shown }) }),
              })
        })
      }),
    delete: (session, at) => Effect.zipRight(unlessHeld("delete", session), log.delete(session, at)),
    rewrite: (session, rewritten, records, options) =>
      Effect.gen(function* () {
        yield* unlessHeld("rewrite", session)
        const batch = yield* sealBatch("rewrite", session, records, options)
        const replaced = yield* Effect.forEach(rewritten, (one) =>
          Effect.map(
            log.read(session, { fromVersion: one.version, toVersion: one.version, reverse: false, limit: 1 }),
            ([record]) => sealRewritten(session, batch.keys, one, record?.type ?? ""),
          ),
        )
        return yield* forgetting(session, log.rewrite(session, replaced, batch.records, batch.options))
      }),
    ...(finishRewrites === undefined ? {} : { finishRewrites }),
    ...(changes === undefined ? {} : { changes }),
    ...(within === undefined
      ? {}
      : { within: (transaction) => Effect.map(within(transaction), (inner) => sealLog(inner, keyring)) }),
    projections: {
      get: (session, kind, filter) =>
        Effect.flatMap(log.projections.get(session, kindOf(kind), filter), (rows) =>
          Effect.forEach(rows, openRow(session, kind, new Map())),
        ),
      put: (session, at, given) =>
        Effect.flatMap(keysNow("projections", session, false, given), (keys) =>
          forgetting(session, log.projections.put(session, at, sealChanges(session, keys, given))),
        ),
      drop: (kind, session) => log.projections.drop(kindOf(kind), session),
    },
  }
}

/**
 * Seals the log of a store.
 *
 * @param store - the layer of the store, or another layer of a log
 * @param keyring - the keys
 *
 * @example
 * ```ts
 * import { fileRoot, folderKeyring, sealed } from "@memfold/sealed"
 * import { layer as sqlite } from "@memfold/store-sqlite"
 * import { createMemory } from "memfold"
 *
 * const keyring = folderKeyring({ folder: "keys/owners", root: fileRoot("keys/root.key") })
 * const memory = createMemory({ store: sealed(sqlite({ filename: "chats.db" }), keyring) })
 * await memory.append("chat-1", { role: "user", content: "My code is 4711." }, { owner: "ann" })
 * await memory.close()
 * ```
 */
export const sealed = <E, R>(
  store: Layer.Layer<EventLog.EventLog, E, R>,
  keyring: Keyring,
): Layer.Layer<EventLog.EventLog, E, R> =>
  Layer.effect(
    EventLog.EventLog,
    Effect.map(EventLog.EventLog, (log) => sealLog(log, keyring)),
  ).pipe(Layer.provide(store))
