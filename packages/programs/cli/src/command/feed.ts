/** `memfold feed`: the events of all sessions, for who reads along, and for consumers in groups. */
import { EventLog, Memory, OptionGroup } from "@memfold/core"
import { Console, Data, Effect, Option, Stream } from "effect"
import {
  color,
  date,
  inWords,
  json as toJson,
  printJson,
  shownId,
  table,
  printResult,
} from "../terminal/terminal.js"
import { Findings, UsageError } from "./failure.js"
import * as options from "./options.js"
import { eventRecord } from "./records.js"

const numbers = {
  lease: OptionGroup.numberOf({
    from: 1,
    to: 3_600,
    unit: "seconds",
    default: 30,
    description:
      "After how long another process of the group takes over when this one was killed; 1 to 3600.",
  }),
  attempts: OptionGroup.numberOf({
    from: 1,
    default: 20,
    description: "How often an event is posted, with pauses of up to a minute, before it is given up.",
  }),
}

const printed =
  (json: boolean) =>
  ({ record, position }: EventLog.FedRecord): Effect.Effect<void> =>
    Console.log(
      json
        ? toJson({ ...eventRecord(record), position })
        : `${color.dim(date(record.time))}  ${shownId(record.session)}  ${record.version}  ${inWords(shownId(record.type))}  ` +
            color.dim(position.length > 40 ? "" : position),
    )

const showGivenUp = (log: EventLog.Service, group: string, json: boolean) =>
  Effect.gen(function* () {
    const found = [...(yield* Stream.runCollect(EventLog.givenUp(log, group)))]
    if (json) return yield* printJson(found.map((one) => ({ type: "given-up", ...one })))
    if (found.length === 0) return yield* Console.log("the group has given up nothing")
    const rows = found.map(({ id, session, version, time, attempts, reason }) => [
      String(id),
      shownId(session),
      String(version),
      date(time),
      String(attempts),
      shownId(reason),
    ])
    yield* Console.log(
      table(["id", "session", "event", "given up", "attempts", "reason"], rows, [
        "right",
        "left",
        "right",
        "left",
        "right",
      ]),
    )
  })

/** The webhook of a call. Its secret is in the environment, where no list of processes shows it. */
const webhookOf = (url: string, secretEnv: Option.Option<string>) =>
  Effect.gen(function* () {
    if (Option.isNone(secretEnv))
      return yield* new UsageError({
        problem: "--webhook needs --secret-env NAME, the variable with its secret",
      })
    const secretIn = secretEnv.value
    return yield* Effect.try({
      try: () => Memory.webhook({ url, secret: process.env[secretIn] ?? "" }),
      catch: (error) =>
        error instanceof Memory.InvalidOption
          ? new UsageError({
              problem:
                error.option === "url"
                  ? `--webhook must be ${error.allowed}`
                  : `the environment variable ${secretIn} (--secret-env) must be ${error.allowed}`,
            })
          : new UsageError({ problem: String(error) }),
    })
  })

/** Nobody reads what is printed any more: it ends here, and is no failure. */
class ReaderGone extends Data.TaggedError("ReaderGone") {}

/**
 * Waits until what was printed has left the process: of a slow reader's pipe, Node keeps the rest, and it would die with the process though the
 * group has gone on behind it. Fails if nobody took it.
 */
const handedOver = Effect.async<void, ReaderGone>((resume) => {
  process.stdout.write("", (error) =>
    resume(error === null || error === undefined ? Effect.void : new ReaderGone()),
  )
})

/** Tells what came of events that a group had given up. */
const toldAgain = (
  again: Stream.Stream<Memory.Redelivered, EventLog.LogError>,
  json: boolean,
  { isPrinted = false } = {},
) =>
  Effect.gen(function* () {
    const sums = { delivered: 0, gone: 0, failed: 0 }
    yield* Stream.runForEach(again, (one) => {
      sums[one.outcome]++
      if (isPrinted && one.outcome === "delivered") return Effect.void
      const { session, version, outcome, reason } = one
      const why = reason === undefined ? "" : `: ${shownId(reason)}`
      const what = outcome === "failed" ? color.red(outcome) : outcome
      const text = `${what}  ${shownId(session)}  ${version}${why}`
      return printResult(json, { type: "redelivered", ...one }, text)
    })
    const text = `${sums.delivered} delivered, ${sums.gone} gone from the store, ${sums.failed} failed`
    yield* printResult(json, { type: "redelivery", ...sums }, text)
    if (sums.failed > 0) return yield* new Findings()
  })

export const command = options.command(
  "feed",
  "Print the events of all sessions in one order, and with --follow new ones as they come; or post them to a webhook. The position of an event, in --json, goes on behind it, and with --group the store keeps it.",
  {
    ...options.stored,
    after: options.optionalText(
      "after",
      "POSITION",
      "Go on behind this event; from the first one by default.",
    ),
    group: options.optionalText(
      "group",
      "NAME",
      "Go on where this group has come to, which the store keeps. One process of a group reads at a time.",
    ),
    from: options.optionalChoice(
      "from",
      ["start", "end"],
      "Where a new group begins: with the first event (by default), or with what comes from now on.",
    ),
    webhook: options.optionalText(
      "webhook",
      "URL",
      "Post each event there, signed as Standard Webhooks says; needs --group and --secret-env.",
    ),
    secretEnv: options.optionalText(
      "secret-env",
      "NAME",
      "The environment variable with the secret of the webhook, whsec_ and base64.",
    ),
    givenUp: options.flag("given-up", "List what the group has given up, and why."),
    redeliver: options.flag(
      "redeliver",
      "Print once more what the group has given up, or post it to --webhook; what is taken is no longer given up.",
    ),
    done: options.optionalInteger(
      "done",
      "ID",
      "Take this one from what the group has given up, by its id in --given-up: it was done in another way.",
    ),
    delete: options.flag(
      "delete",
      "Delete the group, with how far it has come and what it has given up: a group of this name begins anew.",
    ),
    ...options.numbers(numbers),
    follow: options.flag("follow", "Wait for new events, until you end it."),
    json: options.json,
  },
  ({
    store,
    archive,
    after,
    follow,
    json,
    group,
    from,
    webhook,
    secretEnv,
    givenUp,
    redeliver,
    done,
    ...given
  }) =>
    Effect.gen(function* () {
      yield* options.allowed(numbers, given)
      const log = yield* EventLog.EventLog
      if (Option.isNone(group)) {
        if (
          [from, webhook, secretEnv, done].some((one) => Option.isSome<unknown>(one)) ||
          givenUp ||
          redeliver ||
          given.delete
        )
          return yield* new UsageError({
            problem:
              "--from, --webhook, --secret-env, --given-up, --redeliver, --done and --delete need --group NAME",
          })
        const range = Option.match(after, { onNone: () => ({}), onSome: (position) => ({ after: position }) })
        return yield* Stream.runForEach(EventLog.feed(log, { ...range, follow }), (fed) =>
          follow ? Effect.zipRight(printed(json)(fed), handedOver) : printed(json)(fed),
        )
      }
      if (Option.isSome(after))
        return yield* new UsageError({
          problem: "--after is for readers without a group: the store has its position",
        })
      if (given.delete) {
        const deleted = yield* EventLog.deleteGroup(log, group.value)
        const text = deleted ? "deleted" : "there is no such group"
        return yield* printResult(json, { type: "group", group: group.value, deleted }, text)
      }
      if (Option.isSome(done)) {
        const id = done.value
        const wasGivenUp = yield* EventLog.deleteGivenUp(log, group.value, id)
        const text = wasGivenUp ? "done" : "the group has given up no such event"
        return yield* printResult(json, { type: "done", group: group.value, id, done: wasGivenUp }, text)
      }
      if (givenUp) return yield* showGivenUp(log, group.value, json)
      const how = { follow, from: Option.getOrElse(from, () => "start" as const), lease: given.lease * 1_000 }
      if (Option.isNone(webhook)) {
        const print = (page: ReadonlyArray<EventLog.FedRecord>) =>
          Effect.zipRight(Effect.forEach(page, printed(json), { discard: true }), handedOver)
        return yield* redeliver
          ? toldAgain(EventLog.redeliver(log, group.value, print), json, { isPrinted: true })
          : EventLog.consume(log, group.value, print, how)
      }
      const post = yield* webhookOf(webhook.value, secretEnv)
      if (redeliver) return yield* toldAgain(Memory.redeliver(log, group.value, post), json)
      yield* Memory.consume(log, group.value, post, { ...how, attempts: given.attempts, batch: 1 })
    }).pipe(
      Effect.catchTag("ReaderGone", () => Effect.void),
      Effect.provide(options.existingStore({ store, archive }, { readonly: false })),
    ),
)
