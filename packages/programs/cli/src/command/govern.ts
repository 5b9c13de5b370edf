/** `memfold audit`, `memfold erase` and `memfold hold`: who did what, and what must go or must not. */
import { Args, Options } from "@effect/cli"
import { type Audit, Memory } from "@memfold/core"
import { Console, Effect, Option } from "effect"
import {
  clean,
  color,
  date,
  json as toJson,
  several,
  shownId,
  table,
  printResult,
} from "../terminal/terminal.js"
import { Findings, UsageError } from "./failure.js"
import * as options from "./options.js"

const subject = {
  session: Args.optional(Args.text({ name: "SESSION" })),
  owner: options.owner("An owner, in place of a session."),
}

/** A session or an owner, and not both. */
const subjectOf = (given: {
  readonly session: Option.Option<string>
  readonly owner: Option.Option<string>
}): Effect.Effect<Audit.Subject, UsageError> => {
  if (Option.isSome(given.session) === Option.isSome(given.owner))
    return new UsageError({ problem: "name a session, or --owner ID" })
  return Effect.succeed(
    Option.isSome(given.session)
      ? { session: given.session.value }
      : { owner: Option.getOrElse(given.owner, () => "") },
  )
}

const actorOf = ({ actor }: Audit.AuditEntry): string =>
  actor === null
    ? "-"
    : [actor.id, actor.via && `via ${actor.via}`, actor.onBehalfOf && `for ${actor.onBehalfOf}`]
        .filter(Boolean)
        .join(" ")

/** What an entry says beside who and when. */
const detailOf = (entry: Audit.AuditEntry): string =>
  [
    entry.kind,
    entry.operation,
    entry.summarizer && `by ${entry.summarizer}`,
    entry.messages !== undefined && several(entry.messages, entry.act === "learn" ? "fact" : "message"),
    entry.sessions && several(entry.sessions.length, "session"),
    entry.destroyTime !== undefined && `final at ${date(entry.destroyTime)}`,
    entry.reason,
  ]
    .filter(Boolean)
    .join(", ")

export const audit = options.command(
  "audit",
  "Show who did what with a session or an owner, without a text of a conversation, and check the chain of the audit trail.",
  { ...subject, ...options.stored, json: options.json },
  ({ json, ...given }) =>
    Effect.gen(function* () {
      const about = yield* subjectOf(given)
      const memory = yield* Memory.Memory
      const { entries, totals, trails } = yield* "owner" in about
        ? memory.auditOf(about.owner)
        : memory.audit(about.session)
      const broken = trails.filter(({ brokenAt }) => brokenAt !== null)
      if (json) {
        for (const entry of entries) yield* Console.log(toJson({ type: "entry", ...entry }))
        yield* Console.log(toJson({ type: "audit", totals, trails }))
      } else {
        yield* Console.log(
          table(
            ["time (UTC)", "session", "done", "by", "more"],
            entries.map((entry) => [
              date(entry.time),
              entry.session === null ? "-" : shownId(entry.session),
              entry.act,
              clean(actorOf(entry)),
              clean(detailOf(entry)),
            ]),
          ),
        )
        for (const { of, entries: count, head, brokenAt } of trails)
          yield* Console.log(
            brokenAt === null
              ? color.dim(
                  `the trail of the ${of} holds: ${count} ${count === 1 ? "entry" : "entries"}${head === "" ? "" : `, head ${head.slice(0, 16)}`}`,
                )
              : color.red(`the trail of the ${of} was changed at its entry ${brokenAt}`),
          )
      }
      if (broken.length > 0) return yield* new Findings()
    }).pipe(Effect.provide(options.quietMemory(given))),
)

const reason = options.optionalText("reason", "TEXT", "Why; it stands in the receipt and in the audit.")

export const erase = options.command(
  "erase",
  "Erase an owner from every copy of a sealed store, backups included, and print the receipt.",
  {
    owner: options.text("owner", "ID", "Whose words are erased."),
    reason,
    after: options
      .text("after", "DURATION", "How long it can be taken back; 0 for not at all.")
      .pipe(Options.withDefault("30 days")),
    takeBack: options.flag("take-back", "Take an erasure back whose keys are not destroyed."),
    store: options.store,
    json: options.json,
  },
  ({ owner, reason, after, takeBack, store, json }) =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      if (takeBack) {
        const keys = yield* memory.restore(owner, Option.isSome(reason) ? { reason: reason.value } : {})
        return yield* printResult(
          json,
          { type: "restored", owner, keys },
          `${several(keys, "key")} in use again`,
        )
      }
      if (Option.isNone(reason)) return yield* new UsageError({ problem: "--reason TEXT: say why" })
      const millis = after === "0" ? 0 : after
      const receipt = yield* (
        memory
          .erase(owner, {
            reason: reason.value,
            after: millis as NonNullable<Memory.EraseOptions["after"]>,
          })
          // This memory has no layers.
          .pipe(Effect.catchTag("LayersError", Effect.die))
      )
      if (json) return yield* Console.log(toJson({ type: "receipt", ...receipt }))
      const { sessions, keys, destroyTime, notProven } = receipt
      for (const { session, version, bytes, sha256 } of sessions)
        yield* Console.log(
          `${color.green("erased")}  ${clean(`session "${session}"`)}: ${several(version, "event")}, ${several(bytes, "byte")}` +
            color.dim(`  sha256 ${sha256.slice(0, 16)}`),
        )
      yield* Console.log(
        `${several(keys.length, "key")} out of use` +
          (destroyTime === null ? "" : `, destroyed at ${date(destroyTime)} UTC`),
      )
      yield* Console.log(color.dim(`not proven: ${notProven.join("; ")}`))
    }).pipe(Effect.provide(options.quietMemory({ store }, { readonly: false }))),
)

export const hold = options.command(
  "hold",
  "Hold a session or an owner of a sealed store: nothing erases, deletes, archives or redacts it until the hold ends.",
  {
    ...subject,
    reason,
    end: options.flag("end", "End the hold."),
    store: options.store,
  },
  ({ reason, end, store, ...given }) =>
    Effect.gen(function* () {
      const about = yield* subjectOf(given)
      if (Option.isSome(reason) === end)
        return yield* new UsageError({ problem: "give --reason TEXT to hold, or --end" })
      const memory = yield* Memory.Memory
      const why = Option.getOrNull(reason)
      yield* "owner" in about ? memory.holdOf(about.owner, why) : memory.hold(about.session, why)
      yield* Console.log(
        clean(
          `${"owner" in about ? `owner "${about.owner}"` : `session "${about.session}"`}: ${end ? "not held any more" : `held (${why ?? ""})`}`,
        ),
      )
    }).pipe(Effect.provide(options.quietMemory({ store }, { readonly: false }))),
)
