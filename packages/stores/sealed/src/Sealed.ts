/**
 * A log that seals what its store keeps: the data of records, of projection rows, and titles. The store sees ids of sessions and owners,
 * times, sizes, and types of events and rows.
 */
import { EventLog } from "@memfold/log"
import { Effect, Either, Layer, Schedule, type Scope, Struct } from "effect"
import { erase, heldOf, hold, restoreKeys } from "./erase.js"
import { forms, isHidden, kindOf } from "./forms.js"
import { type Keyring, KeyringError } from "./Keyring.js"
import { hiddenKey } from "./seal.js"
import { describedBy, failure, ofKeyring, type Operation, sealer } from "./sealer.js"

/** Throws for what is no keyring, such as the folder of one. */
const checkKeyring = ({ find, destroyDue }: Partial<Keyring>): void => {
  if (typeof find !== "function" || !Effect.isEffect(destroyDue))
    throw new TypeError("the keys must be a keyring, such as folderKeyring({ folder, root })")
}

/** Throws for a log whose layers go over this one, or that seals already: nobody above would know what is below. */
const checkOrder = (log: EventLog.Service): void => {
  // What comes back would have lost its owner, whom a sealed event does not name to the archive.
  if (log.archived === true)
    throw new TypeError(
      "the store to be sealed has an archive behind it; seal the store, and put the archive behind what is sealed: withArchive(sealed(…), …)",
    )
  // An erasure would reach the keys of one keyring alone.
  if (log.erasure !== undefined)
    throw new TypeError("the store to be sealed seals what it keeps already; seal it once, with one keyring")
}

/**
 * Seals what a log keeps.
 *
 * @param log - the log of a store, which neither seals itself nor has an archive behind it: an archive goes behind what is sealed
 * @param keyring - the keys
 * @returns a log with the same records, for whoever has the keys
 * @throws TypeError: the log seals already, or has an archive behind it, or the keyring is none
 */
export const sealLog = (log: EventLog.Service, keyring: Keyring): EventLog.Service => {
  checkKeyring(keyring ?? {})
  checkOrder(log)
  const own = sealer(log, keyring)
  const { keysNow, forgetting, deleted, unlessErased } = own
  const { openEach, openRecords, openRows, openTitles, sealBatch, sealChanges, sealRewritten } = forms(own)

  const describedIn = (session: string) =>
    Effect.map(log.projections.get(session, "description"), ([stored]) => describedBy(stored?.data).owner)
  /** The owner of a session; of an archived one, by its mark. */
  const ownerOf = (session: string) =>
    Effect.flatMap(describedIn(session), (owner) =>
      owner === null ? describedIn(EventLog.markOf(session)) : Effect.succeed(owner),
    )
  const failing = <A, E>(operation: Operation, session: string, run: Effect.Effect<A, E | KeyringError>) =>
    Effect.mapError(run, (error) =>
      error instanceof KeyringError ? ofKeyring(operation, session)(error) : error,
    ) as Effect.Effect<A, Exclude<E, KeyringError> | EventLog.LogError>
  const held = (session: string) =>
    Effect.flatMap(ownerOf(session), (owner) =>
      failing("hold", session, heldOf(keyring, [{ session }, ...(owner === null ? [] : [{ owner }])])),
    )
  const unlessHeld = (operation: Operation, session: string) =>
    Effect.flatMap(held(session), (found) =>
      found === null ? Effect.void : failure(operation, session, found.message, "held"),
    )
  const erasure: EventLog.Erasure = {
    erase: (request) => failing("erase", request.owner, erase(log, keyring, request)),
    restore: (owner, also) =>
      Effect.map(failing("restore", owner, restoreKeys(log, keyring, owner, also)), (keys) =>
        keys.map(({ id }) => id),
      ),
    hold: (holder, reason) =>
      "owner" in holder
        ? failing("hold", holder.owner, hold(keyring, holder, null, reason))
        : Effect.flatMap(ownerOf(holder.session), (owner) =>
            failing("hold", holder.session, hold(keyring, holder, owner, reason)),
          ),
    held,
  }

  /** Under a key that was rotated, or of an owner that was changed, rows are not found, and a search makes them again. */
  const hiddenKeys = (session: string, names: ReadonlyArray<string>) =>
    Effect.map(keysNow("projections", session, false), (keys) => names.map((name) => hiddenKey(keys, name)))

  /**
   * The feed goes on behind what nobody can read. What was erased is left out; of what is there and cannot be opened here, it says so: it
   * may be opened another day.
   */
  const openFeed =
    (feed: NonNullable<EventLog.Service["feed"]>): NonNullable<EventLog.Service["feed"]> =>
    ({ after, limit }) =>
      Effect.gen(function* () {
        const page = yield* feed({ after, limit })
        const opened = yield* openEach(page.map(({ record }) => [record.session, record]))
        const kept = page.flatMap(
          ({ record, position }, at): ReadonlyArray<Either.Either<EventLog.FedRecord, EventLog.LogError>> => {
            const text = opened[at]!
            if (Either.isRight(text)) return [Either.right({ record: text.right, position })]
            const { refused, message } = text.left
            if (refused === "erased") return []
            return refused === "unreadable"
              ? [Either.right({ record: { ...record, data: "" }, position, unreadable: message })]
              : [Either.left(text.left)]
          },
        )
        const found = yield* Either.all(kept)
        const last = page.at(-1)
        return found.length > 0 || last === undefined
          ? found
          : yield* openFeed(feed)({ after: last.position, limit })
      })

  const { feed, within } = log
  return {
    ...Struct.pick(log, "changes", "feedEnd", "finishRewrites"),
    append: (session, records, options) =>
      Effect.flatMap(sealBatch("append", session, records, options), (batch) =>
        forgetting(session, log.append(session, batch.records, batch.options)),
      ),
    read: (session, page) =>
      Effect.flatMap(log.read(session, page), (records) => openRecords(session, records)),
    head: (session) => Effect.zipRight(unlessErased("head", session), log.head(session)),
    stored: EventLog.storedLog(log),
    over: (stored) => sealLog(stored, keyring),
    erasure,
    list: (options) =>
      Effect.flatMap(log.list(options), (found) =>
        Effect.map(openTitles(found.map(({ session, title = null }) => [session, title])), (titles) =>
          found.map(({ title, ...rest }, at) => {
            const shown = titles[at]!
            // A list is for people who look for something else, too: what was erased has no title in it.
            return title === undefined || Either.isLeft(shown) ? rest : { ...rest, title: shown.right }
          }),
        ),
      ),
    // Also what was erased can be deleted: nobody has to read it for that.
    delete: (session, at) =>
      Effect.zipRight(unlessHeld("delete", session), log.delete(session, at)).pipe(
        Effect.tap((isDone) => Effect.sync(() => isDone && deleted(session))),
      ),
    rewrite: (session, rewritten, records, options) =>
      Effect.gen(function* () {
        yield* unlessHeld("rewrite", session)
        const batch = yield* sealBatch("rewrite", session, records, options)
        const replaced = yield* Effect.forEach(rewritten, (one) =>
          Effect.map(log.read(session, EventLog.oneRecord(one.version)), ([record]) =>
            sealRewritten(session, batch.keys, one, record?.type ?? ""),
          ),
        )
        return yield* forgetting(session, log.rewrite(session, replaced, batch.records, batch.options))
      }),
    ...(feed === undefined ? {} : { feed: openFeed(feed) }),
    ...(within === undefined
      ? {}
      : { within: (transaction) => Effect.map(within(transaction), (inner) => sealLog(inner, keyring)) }),
    projections: {
      get: (session, kind, filter) =>
        Effect.gen(function* () {
          const rows = yield* log.projections.get(
            session,
            kindOf(kind),
            filter !== undefined && "keys" in filter && isHidden(kind)
              ? { keys: yield* hiddenKeys(session, filter.keys) }
              : filter,
          )
          return yield* openRows(session, kind, rows)
        }),
      put: (session, at, given) =>
        Effect.flatMap(keysNow("projections", session, false, given), (keys) =>
          forgetting(session, log.projections.put(session, at, sealChanges(session, keys, given))),
        ),
      drop: (kind, session) => log.projections.drop(kindOf(kind), session),
    },
  }
}

/** How often keys are destroyed whose time has come. */
const sweep = Schedule.spaced("1 hour")

/**
 * Seals a log, and destroys keys of erasures once their time has come, at most an hour later, until the scope ends.
 *
 * @param log - the log of a store, which neither seals itself nor has an archive behind it
 * @param keyring - the keys
 */
export const sealing = (
  log: EventLog.Service,
  keyring: Keyring,
): Effect.Effect<EventLog.Service, EventLog.LogError, Scope.Scope> =>
  Effect.gen(function* () {
    const sealed = yield* Effect.try({
      try: () => sealLog(log, keyring),
      catch: (error) => new EventLog.LogError({ operation: "open", reason: (error as TypeError).message }),
    })
    yield* keyring.destroyDue.pipe(
      Effect.catchAll(({ message }) =>
        Effect.annotateLogs(Effect.logWarning("keys were not destroyed whose time has come"), {
          reason: message,
        }),
      ),
      Effect.repeat(sweep),
      Effect.forkScoped,
    )
    return sealed
  })

/**
 * Seals the log of a store. While it is open, keys of erasures are destroyed once their time has come, at most an hour later.
 *
 * @param store - the layer of the store, or another layer of a log
 * @param keyring - the keys
 * @throws TypeError: one of them is something else
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
): Layer.Layer<EventLog.EventLog, E | EventLog.LogError, R> => {
  checkKeyring(keyring ?? {})
  const isLayer: boolean = Layer.isLayer(store)
  if (!isLayer)
    throw new TypeError("the store to be sealed must be a layer; a URL has its keys in it: sealed:FOLDER,URL")
  return Layer.scoped(
    EventLog.EventLog,
    Effect.flatMap(EventLog.EventLog, (log) => sealing(log, keyring)),
  ).pipe(Layer.provide(store))
}
