/** Retention by rule: which sessions are archived, and which are deleted. */
import { Audit } from "@memfold/core"
import { EventLog } from "@memfold/log"
import { Clock, Duration, Effect, Schema, Stream } from "effect"
import { type Archive, ArchiveError } from "./Archive.js"
import { checkWithout, markedBy, unlessHeld } from "./marks.js"
import { archiveSession, eraseArchived, restoreSession } from "./move.js"

const DurationText = Schema.String.pipe(
  Schema.filter((text) => Duration.decodeUnknown(text)._tag === "Some", {
    message: () => 'a duration is text such as "90 days"',
  }),
)

/**
 * A rule. The first rule that applies to a session decides; a session that no rule applies to stays.
 *
 * - `do`: `archive` moves the session to the archive, `delete` deletes it for good, also from the archive, and `hold` keeps it as it is
 * - `idle`: only sessions that nothing was written to for this long
 * - `age`: only sessions that were begun this long ago
 * - `owner`: only sessions of this owner; `session`: only this session
 */
export const Rule = Schema.Struct({
  do: Schema.Literal("archive", "delete", "hold"),
  idle: Schema.optional(DurationText),
  age: Schema.optional(DurationText),
  owner: Schema.optional(Schema.String),
  session: Schema.optional(Schema.String),
})
export type Rule = typeof Rule.Type

/** The rules of a file: `{ "rules": [ … ] }`. */
export const Rules = Schema.Struct({ rules: Schema.Array(Rule) })

/** Sessions are archived after this time at the earliest, in milliseconds: see `withArchive`. */
const leastIdle = 3_600_000

/** What a rule wants for a session, and what became of it; `planned` in a dry run. */
export interface Retained {
  readonly session: string
  readonly owner: string | null
  readonly action: "archive" | "delete"
  readonly outcome: "planned" | "moved" | "deleted" | "active" | "gone" | "failed"
  readonly idleDays: number
  /** Why it failed; absent otherwise. */
  readonly reason?: string
}

const millisOf = (duration: string): number =>
  Duration.toMillis(Duration.decode(duration as Duration.DurationInput))

const applies = (rule: Rule, info: EventLog.SessionInfo, session: string, now: number): boolean =>
  (rule.owner === undefined || rule.owner === info.owner) &&
  (rule.session === undefined || rule.session === session) &&
  (rule.idle === undefined || now - info.updatedTime >= millisOf(rule.idle)) &&
  (rule.age === undefined || now - info.createdTime >= millisOf(rule.age))

type DueRule = Rule & { readonly do: "archive" | "delete" }

const isDue = (rule: Rule): rule is DueRule => rule.do !== "hold"

/** The rule that moves or deletes a session; `null` if it stays. */
const ruleFor = (rules: ReadonlyArray<Rule>, info: EventLog.SessionInfo, now: number): DueRule | null => {
  const marked = markedBy(info.session)
  // What memfold keeps for itself has no rules of its own.
  if (marked === null && EventLog.isReserved(info.session)) return null
  const rule = rules.find((one) => applies(one, info, marked ?? info.session, now))
  if (rule === undefined || !isDue(rule) || (rule.do === "archive" && marked !== null)) return null
  return rule.do === "archive" && now - info.updatedTime < leastIdle ? null : rule
}

/**
 * What the rules want for a session; `null` if it stays.
 *
 * @example
 * ```ts
 * import { actionFor } from "@memfold/archive"
 *
 * const rules = [{ do: "hold", owner: "ada" }, { do: "archive", idle: "90 days" }] as const
 * const chat = { session: "chat-1", version: 9, createdTime: 0, updatedTime: 0, owner: "bob" }
 * console.log(actionFor(rules, chat, Date.now())) // archive
 * ```
 */
export const actionFor = (
  rules: ReadonlyArray<Rule>,
  info: EventLog.SessionInfo,
  now: number,
): "archive" | "delete" | null => ruleFor(rules, info, now)?.do ?? null

/** How rules are applied. */
export interface RetentionOptions {
  readonly rules: ReadonlyArray<Rule>
  /** The archive; needed by rules that archive, and where sessions were archived before. */
  readonly archive: Archive | null
  /** Only says what the rules want; `true` by default. */
  readonly dryRun?: boolean
}

/**
 * Applies rules to all sessions of a store, one after another. A session that fails does not stop the others. A dry run, which is
 * the default, changes nothing. The trail of a session notes which rule has archived or deleted it, and for whom; that of its owner has
 * the deletions as well.
 *
 * @param log - the store itself, without an archive behind it
 *
 * @example
 * ```ts
 * import { folderArchive, retain } from "@memfold/archive"
 * import { EventLog } from "@memfold/core"
 * import { Effect, Stream } from "effect"
 *
 * const rules = [{ do: "hold", owner: "ada" }, { do: "archive", idle: "90 days" }] as const
 *
 * export const planned = Effect.flatMap(EventLog.EventLog, (log) =>
 *   Stream.runForEach(retain(log, { rules, archive: folderArchive("./cold") }), ({ session, action }) =>
 *     Effect.log(`${action} ${session}`),
 *   ),
 * )
 * ```
 */
export const retain = (
  log: EventLog.Service,
  { rules, archive, dryRun = true }: RetentionOptions,
): Stream.Stream<Retained, EventLog.LogError> =>
  Stream.unwrap(
    Effect.map(Effect.zipRight(checkWithout(log), Clock.currentTimeMillis), (now) =>
      EventLog.sessions(log).pipe(
        Stream.mapEffect((info) => {
          const rule = ruleFor(rules, info, now)
          if (rule === null) return Effect.succeed(null)
          const action = rule.do
          const session = markedBy(info.session) ?? info.session
          const idleDays = Math.floor((now - info.updatedTime) / 86_400_000)
          const retained = { session, owner: info.owner ?? null, action, idleDays }
          if (dryRun) return Effect.succeed({ ...retained, outcome: "planned" as const })
          return Effect.map(Effect.either(carryOut(log, archive, session, rule, info)), (done): Retained =>
            done._tag === "Right"
              ? { ...retained, outcome: done.right }
              : { ...retained, outcome: "failed", reason: done.left.message },
          )
        }),
        Stream.filter((one): one is Retained => one !== null),
      ),
    ),
  )

/** A rule in the words of an audit: `rule: delete, idle 90 days`. */
const reasonOf = ({ do: action, ...conditions }: Rule): string =>
  `rule: ${[action, ...Object.entries(conditions).map(([name, value]) => `${name} ${value}`)].join(", ")}`

/** Notes a deletion before it is done: what cannot be noted stays. The trail of the owner has it as well, whose list has the session no more. */
const noteDeletion = (log: EventLog.Service, session: string, owner: string | null | undefined, rule: Rule) =>
  Effect.gen(function* () {
    const entry = { act: "delete" as const, session, reason: reasonOf(rule) }
    yield* Audit.note(log, entry)
    if (owner != null) yield* Audit.note(log, { ...entry, owner })
  })

const carryOut = (
  log: EventLog.Service,
  archive: Archive | null,
  session: string,
  rule: DueRule,
  info: EventLog.SessionInfo,
) =>
  Effect.gen(function* () {
    const isMarked = markedBy(info.session) !== null
    if (archive === null && (rule.do === "archive" || isMarked))
      return yield* new ArchiveError({ operation: "open", about: session, reason: "no archive was given" })
    if (rule.do === "archive" && archive !== null)
      return (yield* archiveSession(log, archive, session, reasonOf(rule))).outcome
    const head = yield* log.head(session)
    if (isMarked && archive !== null) {
      // Back in the store meanwhile: then it is active, and what a killed process has left is taken away.
      if (head !== null) {
        yield* restoreSession(log, archive, session)
        return "active" as const
      }
    } else {
      if (head === null) return "gone" as const
      // Who speaks in it now keeps it.
      if (head.version !== info.version) return "active" as const
    }
    yield* unlessHeld(log, "delete", session)
    yield* noteDeletion(log, session, info.owner, rule)
    if (head !== null) return (yield* log.delete(session, head)) ? ("deleted" as const) : ("active" as const)
    return archive !== null && (yield* eraseArchived(log, archive, session))
      ? ("deleted" as const)
      : ("gone" as const)
  })
