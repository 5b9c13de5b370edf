/** Answering for what is kept: erasing an owner from every copy, holding what must not go, and telling who did what. */
import { Clock, type Duration, Effect, Either, Schema, Stream } from "effect"
import { type AuditReport, auditOf as auditIn } from "../audit/audit.js"
import { note, readTrail, type Subject } from "../audit/Trail.js"
import { CurrentActor } from "../event/Actor.js"
import type { GuardRefused } from "../guard/Guard.js"
import { isErased } from "../shell/openSession.js"
import type { SessionError } from "../shell/Sessions.js"
import type { LayersError } from "../layers/MemoryLayers.js"
import { millisOf } from "../options/OptionGroup.js"
import {
  type Erasure,
  type Held,
  isReserved,
  type LogError,
  markOf,
  oneRecord,
  type Receipt,
} from "@memfold/log/EventLog"
import { ownersIn, storedLog } from "@memfold/log/pages"
import type { VectorIndexError } from "@memfold/log/VectorIndex"
import { spendLog } from "../shell/Spend.js"
import { changesOwner, describe, type DescriptionChange } from "../session/description.js"
import { guardedTitle } from "./entrance.js"
import { forgetSession, unlessHeld } from "./erase.js"
import { checkDescription, checkOwner, checkSession, checkText, type InvalidInput, refuse } from "./input.js"
import type { MemoryParts } from "./MemoryParts.js"
import { allOfOwned, logsOfOwned, ownerOf } from "./ownedSessions.js"

/** The store seals nothing, so there are no keys to erase or to hold. */
export class NotSealed extends Schema.TaggedError<NotSealed>()("NotSealed", {
  operation: Schema.String,
}) {
  override get message(): string {
    return `The store cannot ${this.operation}: it seals nothing. Put the layer of @memfold/sealed over it; deleteOf deletes without keys`
  }
}

/** Why an owner is erased, and when that is final. */
export interface EraseOptions {
  /** Why; it stands in the receipt and in the audit. */
  readonly reason: string
  /** How long the erasure can be taken back by `restore`: 30 days by default; 0 makes it final at once. */
  readonly after?: Duration.DurationInput
}

const defaultGrace = 30 * 86_400_000

const erasureOf = ({ log }: MemoryParts, operation: string): Effect.Effect<Erasure, NotSealed> =>
  log.erasure === undefined ? new NotSealed({ operation }) : Effect.succeed(log.erasure)

/** What this process knows of sessions is forgotten: no cache answers for what was erased. */
const forget = (parts: MemoryParts, names: ReadonlyArray<string>) =>
  Effect.forEach(
    names,
    (name) => {
      parts.sessions.notifyChange(name)
      return forgetSession(parts, name)
    },
    { discard: true },
  )

/** The log with the facts about an owner, whose changes are told with those of the owner. */
const aboutUser = ({ layers }: MemoryParts, owner: string | null) =>
  owner === null ? null : (layers?.logOf(owner) ?? null)

/** Whether the keys of an owner were destroyed, as far as the trail tells: what was sealed with them comes back no more. */
const isDestroyed = ({ log }: MemoryParts, owner: string) =>
  Effect.gen(function* () {
    const { noted: entries } = yield* readTrail(log, { owner })
    const last = entries.findLast(({ event: { act } }) => act === "erase" || act === "restore")
    return (last?.event.destroyTime ?? Number.POSITIVE_INFINITY) <= (yield* Clock.currentTimeMillis)
  })

/**
 * Whoever comes back after an erasure begins anew: the logs that the memory keeps of an owner, and that nobody can read any more, make room.
 */
const beginAnew = (parts: MemoryParts, owner: string): Effect.Effect<void, SessionError> =>
  Effect.gen(function* () {
    const { log, sessions } = parts
    if (log.erasure === undefined) return
    for (const name of [aboutUser(parts, owner), spendLog("owner", owner)]) {
      if (name === null) continue
      const read = yield* Effect.either(sessions.load(name))
      if (Either.isRight(read) || !isErased(read.left) || !(yield* isDestroyed(parts, owner))) continue
      // What cannot be deleted, since it is held, must not keep the owner from speaking.
      const removed = yield* Effect.either(sessions.delete(name))
      if (Either.isRight(removed))
        yield* note(log, { act: "delete", owner, reason: "begun anew after an erasure" })
    }
  })

/** Whose session it is going to be, before something is appended to it. A session that this process knows has begun already. */
export const appendedFor = (
  parts: MemoryParts,
  session: string,
  owner: string | null | undefined,
): Effect.Effect<void, SessionError> =>
  typeof owner !== "string" || (parts.sessions.cached(session)?.version ?? 0) > 0
    ? Effect.void
    : beginAnew(parts, owner)

/**
 * Describes a session. One that passes to another owner keeps words of the one before: the trail of that owner names it first, so that an
 * erasure finds it. What is held does not pass: behind another owner, the hold would not be seen.
 */
export const describeSession = (
  parts: MemoryParts,
  session: string,
  change: DescriptionChange,
): Effect.Effect<void, InvalidInput | SessionError | GuardRefused> =>
  Effect.gen(function* () {
    yield* checkSession(session)
    yield* checkDescription(session, change)
    const { log, sessions } = parts
    const stored = yield* guardedTitle(parts, session, change)
    for (let isDone = false; !isDone;) {
      const { description } = yield* sessions.load(session)
      if (log.erasure !== undefined && description.owner !== null && changesOwner(description, stored)) {
        yield* unlessHeld(parts, "append", [session])
        yield* note(log, { act: "pass", owner: description.owner, session })
      }
      if (typeof stored.owner === "string" && stored.owner !== description.owner)
        yield* beginAnew(parts, stored.owner)
      const { answer } = yield* sessions.transact(session, (before) => {
        const isSame = before.description.owner === description.owner
        return { events: isSame ? describe(before.description, stored) : [], answer: isSame }
      })
      isDone = answer
    }
  })

/** The sessions that an owner has passed on and that are still there: one that was begun later under the id has no word of the owner. */
const passedBy = ({ log }: MemoryParts, owner: string) =>
  Effect.gen(function* () {
    const { noted: entries } = yield* readTrail(log, { owner })
    const times = new Map(
      entries.flatMap(({ event: { act, session = "" }, time }) => (act === "pass" ? [[session, time]] : [])),
    )
    const stored = storedLog(log)
    return yield* Effect.filter(times, ([session, time]) =>
      Effect.gen(function* () {
        const [first] = yield* stored.read(session, oneRecord(1))
        return first === undefined ? (yield* stored.head(markOf(session))) !== null : first.time <= time
      }),
    ).pipe(Effect.map((kept) => kept.map(([session]) => session)))
  })

/** What is erased and restored with an owner, beside the sessions: logs of the memory itself, and sessions that the owner has passed on. */
const alsoOf = (parts: MemoryParts, owner: string) =>
  Effect.gen(function* () {
    const logs = yield* logsOfOwned(parts, owner)
    return { own: logs.filter(isReserved), passed: yield* passedBy(parts, owner) }
  })

/**
 * The owners that sessions have had whose facts may rest on words of the one that is erased: as far as the sessions can be read, and as
 * erasures of before have noted them, which may have been cut off. Without layers, there are no facts with anybody.
 */
const heirsOf = ({ log, layers }: MemoryParts, owner: string, names: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    if (layers === null) return { heirs: new Set<string>(), isNoted: true }
    const { noted: entries } = yield* readTrail(log, { owner })
    const known = new Set(entries.flatMap(({ event }) => event.owners ?? []))
    const heirs = new Set(known)
    for (const name of names) {
      const now = yield* ownerOf(log, name)
      if (now !== null) heirs.add(now)
      yield* ownersIn(log, name).pipe(
        Stream.runForEach((one) => Effect.sync(() => void (one !== null && heirs.add(one)))),
        Effect.ignore,
      )
    }
    heirs.delete(owner)
    return { heirs, isNoted: [...heirs].every((one) => known.has(one)) }
  })

/** Erases an owner from every copy of the store. */
export const eraseOwner = (
  parts: MemoryParts,
  owner: string,
  { reason, after = defaultGrace }: EraseOptions,
): Effect.Effect<Receipt, InvalidInput | LogError | NotSealed | Held | LayersError | VectorIndexError> =>
  Effect.gen(function* () {
    yield* checkOwner(owner)
    yield* checkText("", "reason", reason)
    const millis = millisOf(after)
    if (!(millis >= 0 && Number.isFinite(millis)))
      return yield* refuse("", "`after` has to be a duration of 0 or more, such as 30 days")
    const erasure = yield* erasureOf(parts, "erase")
    const actor = yield* CurrentActor
    const { own, passed } = yield* alsoOf(parts, owner)
    const also = [...own, ...passed]
    for (const session of also) {
      const held = yield* erasure.held(session)
      if (held !== null) return yield* held
    }
    const owned = (yield* allOfOwned(parts.log, owner)).map(({ session }) => session)
    const { heirs, isNoted } = yield* heirsOf(parts, owner, passed)
    // Nobody can read them in the sessions any more once the keys are gone: if this call is cut off, the next one has them from here.
    if (!isNoted) yield* note(parts.log, { act: "begin-erase", owner, reason, owners: [...heirs] })
    const receipt = yield* erasure.erase({ owner, actor: actor?.id ?? "", reason, after: millis, also })
    const { sessions, keys, destroyTime } = receipt
    yield* note(parts.log, {
      act: "erase",
      owner,
      reason,
      sessions,
      keys: keys.map(({ id }) => id),
      ...(destroyTime === null ? {} : { destroyTime }),
    })
    yield* forget(parts, [...new Set([...owned, ...sessions.map(({ session }) => session)])])
    // Facts about a project stand beside those of others: they are taken out of its log.
    yield* parts.layers?.forgetSessions(new Set([...owned, ...passed]), heirs) ?? Effect.void
    return receipt
  })

/** Takes an erasure back. */
export const restoreOwner = (
  parts: MemoryParts,
  owner: string,
  { reason }: { readonly reason?: string } = {},
): Effect.Effect<number, InvalidInput | LogError | NotSealed> =>
  Effect.gen(function* () {
    yield* checkOwner(owner)
    const erasure = yield* erasureOf(parts, "restore")
    const { own, passed } = yield* alsoOf(parts, owner)
    const keys = yield* erasure.restore(owner, [...own, ...passed])
    yield* note(parts.log, { act: "restore", owner, keys, ...(reason === undefined ? {} : { reason }) })
    return keys.length
  })

/** Holds a session or an owner, or ends the hold. */
export const holdSubject = (
  parts: MemoryParts,
  subject: Subject,
  reason: string | null,
): Effect.Effect<void, InvalidInput | LogError | NotSealed> =>
  Effect.gen(function* () {
    yield* "owner" in subject ? checkOwner(subject.owner) : checkSession(subject.session)
    if (reason !== null) yield* checkText("", "reason", reason)
    const erasure = yield* erasureOf(parts, "hold")
    if (yield* erasure.hold(subject, reason))
      yield* note(parts.log, {
        ...subject,
        ...(reason === null ? { act: "release" } : { act: "hold", reason }),
      })
  })

/** Who did what with a session. */
export const auditSession = (
  parts: MemoryParts,
  session: string,
): Effect.Effect<AuditReport, InvalidInput | LogError> =>
  Effect.gen(function* () {
    yield* checkSession(session)
    const owner = yield* ownerOf(parts.log, session)
    const subjects = [{ session }, ...(owner === null ? [] : [{ owner }])]
    return yield* auditIn(parts.log, [session], subjects, aboutUser(parts, owner))
  })

/** Who did what with an owner, and with every session of the owner. */
export const auditOwner = (
  parts: MemoryParts,
  owner: string,
): Effect.Effect<AuditReport, InvalidInput | LogError> =>
  Effect.gen(function* () {
    yield* checkOwner(owner)
    const sessions = (yield* allOfOwned(parts.log, owner)).map(({ session }) => session)
    const subjects = [{ owner }, ...sessions.map((session) => ({ session }))]
    return yield* auditIn(parts.log, sessions, subjects, aboutUser(parts, owner))
  })
