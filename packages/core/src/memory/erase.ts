/** Taking away what was said: redacting a message, clearing a session, deleting it, deleting all sessions of an owner. */
import { Effect, Either, Option, Stream } from "effect"
import { redact, type CannotRedact, type MessageName, type UnknownMessage } from "../history/redact.js"
import type { LayersError } from "../layers/MemoryLayers.js"
import { isErased } from "../shell/openSession.js"
import { spendLog } from "../shell/Spend.js"
import { isReserved, LogError } from "@memfold/log/EventLog"
import type { VectorIndexError } from "@memfold/log/VectorIndex"
import { checkMessageName, checkOwner, checkSession } from "./input.js"
import type { MemoryParts } from "./MemoryParts.js"
import type { MemoryError } from "./MemoryOptions.js"
import { allOfOwned, unreached } from "./ownedSessions.js"
import { readState } from "./readState.js"

/**
 * Fails if one of the sessions is held, before anything of them is erased elsewhere. The log of the facts about a user is held with the
 * sessions of the owner of that name.
 */
export const unlessHeld = (
  { log, layers }: Pick<MemoryParts, "log" | "layers">,
  operation: "append" | "delete" | "rewrite",
  names: ReadonlyArray<string>,
): Effect.Effect<void, LogError> =>
  Effect.gen(function* () {
    const { erasure } = log
    if (erasure === undefined) return
    const aboutUser = layers?.logOf("") ?? null
    const all = new Set(names)
    for (const name of names)
      if (aboutUser !== null && name.startsWith(aboutUser))
        for (const { session } of yield* allOfOwned(log, name.slice(aboutUser.length))) all.add(session)
    for (const session of all) {
      const held = yield* erasure.held(session)
      if (held !== null)
        return yield* new LogError({ operation, session, reason: held.message, refused: "held" })
    }
  })

/** Erases the text of a message from the log and from everything that follows from it (law L15). */
export const redactMessage = (
  { log, sessions, counter, reading, layers, schedule, strategyOf }: MemoryParts,
  session: string,
  name: MessageName,
): Effect.Effect<
  { readonly invalidated: number },
  MemoryError | UnknownMessage | CannotRedact | LayersError | VectorIndexError
> =>
  Effect.gen(function* () {
    yield* readState(sessions, session)
    yield* checkMessageName(session, name)
    yield* unlessHeld({ log, layers }, "rewrite", [session])
    let unlearned: Either.Either<void, MemoryError | LayersError> = Either.void
    const { invalidated, message } = yield* redact(log, sessions, counter, session, name, (place) =>
      // The state at its version knows since which clear its index counts.
      readState(sessions, session, { atVersion: place.version }).pipe(
        Effect.flatMap((state) => layers?.forgetMessage(state, place) ?? Effect.void),
        Effect.either,
        Effect.map((done) => void (unlearned = done)),
      ),
    )
    yield* reading.index.forget(session)
    reading.owned.forget(session)
    const forgotten = yield* Effect.either(reading.meaning.forgetMessage(session, message.version))
    yield* schedule.check(yield* sessions.load(session), yield* strategyOf(session))
    // Also for a message that was redacted before: that time, this may have failed.
    yield* log.finishRewrites?.(session) ?? Effect.void
    yield* forgotten
    yield* unlearned
    return { invalidated }
  })

/** Starts a session over. */
export const clearSession = (
  { sessions, reading }: MemoryParts,
  session: string,
): Effect.Effect<void, MemoryError> =>
  Effect.gen(function* () {
    yield* readState(sessions, session)
    yield* sessions.transact(session, ({ total }) => ({
      events: total === 0 ? [] : [{ _tag: "SessionCleared" }],
      answer: undefined,
    }))
    // The log keeps what was said, so a failure hurts nobody: the next search drops the vectors.
    yield* Effect.ignore(reading.meaning.forgetSession(session))
  })

/** Waits until the files of the store have nothing of sessions that are deleted; also of those that were deleted before, when this may have failed. */
const erased = ({ log }: MemoryParts, names: ReadonlyArray<string>): Effect.Effect<void, MemoryError> =>
  Effect.forEach(names, (name) => log.finishRewrites?.(name) ?? Effect.void, {
    concurrency: "unbounded",
    discard: true,
  })

/** The sessions in which what a log of memfold has was learned; of one that was erased, nobody knows them. */
const taughtIn = ({ log, sessions }: Pick<MemoryParts, "log" | "sessions">, name: string) =>
  log.erasure !== undefined && isReserved(name)
    ? sessions.events(name).pipe(
        Stream.filterMap(({ event }) =>
          event._tag === "FactsLearned" ? Option.fromNullable(event.session) : Option.none(),
        ),
        Stream.runCollect,
        Effect.map((found) => [...new Set(found)]),
        Effect.catchIf(isErased, () => Effect.succeed([])),
      )
    : Effect.succeed([])

/** Deletes a session with everything that was kept of it; `false` if there was none. A log of facts is held with the sessions that they are from. */
export const deleteSession = (
  parts: MemoryParts,
  session: string,
): Effect.Effect<boolean, MemoryError | VectorIndexError> =>
  taughtIn(parts, session).pipe(
    Effect.flatMap((from) => unlessHeld(parts, "delete", [session, ...from])),
    Effect.zipRight(removeSession(parts, session)),
    Effect.zipLeft(erased(parts, [session])),
  )

/** Forgets what this process and the indexes have of a session: its timers, its terms and its vectors. */
export const forgetSession = (
  { schedule, reading }: Pick<MemoryParts, "schedule" | "reading">,
  session: string,
): Effect.Effect<void, VectorIndexError> =>
  Effect.gen(function* () {
    schedule.forget(session)
    reading.owned.forget(session)
    yield* reading.index.forget(session)
    yield* reading.meaning.forgetSession(session)
  })

const removeSession = (
  parts: MemoryParts,
  session: string,
): Effect.Effect<boolean, MemoryError | VectorIndexError> =>
  Effect.gen(function* () {
    const { sessions } = parts
    yield* checkSession(session)
    const deleted = yield* sessions.delete(session)
    yield* sessions.delete(spendLog("session", session))
    yield* forgetSession(parts, session)
    return deleted
  })

/** Deletes all sessions of an owner, and what was learned in them; how many sessions there were. */
export const deleteOwned = (
  parts: MemoryParts,
  owner: string,
): Effect.Effect<number, MemoryError | LayersError | VectorIndexError> =>
  Effect.gen(function* () {
    yield* checkOwner(owner)
    const { log, layers } = parts
    let deleted = 0
    /** Of which nobody can say whether they are held: they stay, and keep no other one. */
    const left = new Map<string, LogError>()
    const more = Effect.map(allOfOwned(log, owner), (owned) =>
      owned.map(({ session }) => session).filter((session) => !left.has(session)),
    )
    // Until there are none: others may begin sessions meanwhile.
    for (let owned = yield* more; owned.length > 0; owned = yield* more) {
      for (const session of owned) {
        const held = yield* Effect.either(unlessHeld(parts, "delete", [session]))
        if (Either.isRight(held)) continue
        if (held.left.refused !== "unreadable") return yield* held.left
        left.set(session, held.left)
      }
      const names = owned.filter((session) => !left.has(session))
      // Before the sessions: if this fails, they are still there, and the next call does it.
      yield* layers?.forgetSessions(new Set(names)) ?? Effect.void
      for (const name of names) if (yield* removeSession(parts, name)) deleted++
      // The files are written anew for all of them together.
      yield* erased(parts, names)
    }
    // The facts about the owner are held with each of the sessions.
    if (left.size > 0) return yield* unreached("delete", [...left])
    const aboutUser = layers?.logOf(owner) ?? null
    if (aboutUser !== null) yield* deleteSession(parts, aboutUser)
    yield* parts.sessions.delete(spendLog("owner", owner))
    return deleted
  })
