/** `memfold feed`: the events of all sessions, for who reads along, and for consumers in groups. */
import { Options } from "@effect/cli"
import { EventLog, Memory, OptionGroup } from "@memfold/core"
import { Console, Effect, Option, Stream } from "effect"
import { color, date, inWords, json as toJson, shownId, table } from "../terminal/terminal.js"
import { UsageError } from "./failure.js"
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

/** What a group has given up. */
const showGivenUp = (log: EventLog.Service, group: string, json: boolean) =>
  Effect.gen(function* () {
    const found = [...(yield* Stream.runCollect(EventLog.givenUp(log, group)))]
    if (json)
      return yield* Effect.forEach(found, (one) => Console.log(toJson({ type: "given-up", ...one })), {
        discard: true,
      })
    if (found.length === 0) return yield* Console.log("the group has given up nothing")
    const rows = found.map(({ session, version, time, attempts, reason }) => [
      shownId(session),
      String(version),
      date(time),
      String(attempts),
      shownId(reason),
    ])
    yield* Console.log(
      table(["session", "event", "given up", "attempts", "reason"], rows, [
        "left",
        "right",
        "left",
        "right",
        "left",
      ]),
    )
  })

/** Posts the events to a webhook. The secret is in the environment, where no list of processes shows it. */
const posting = (
  log: EventLog.Service,
  {
    group,
    url,
    secretIn,
    ...how
  }: { group: string; url: string; secretIn: string } & EventLog.ConsumeOptions,
) =>
  Effect.gen(function* () {
    const post = yield* Effect.try({
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
    yield* Memory.consume(log, group, post, { ...how, batch: 1 })
  })

export const command = options.command(
  "feed",
  "Print the events of all sessions in one order, and with --follow new ones as they come; or post them to a webhook. The position of an event, in --json, goes on behind it, and with --group the store keeps it.",
  {
    store: options.store,
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
    from: Options.choice("from", ["start", "end"]).pipe(
      Options.withDefault("start"),
      Options.withDescription(
        "Where a new group begins: with the first event, or with what comes from now on.",
      ),
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
    ...options.numbers(numbers),
    follow: options.flag("follow", "Wait for new events, until you end it."),
    json: options.json,
  },
  ({ store, after, follow, json, group, from, webhook, secretEnv, givenUp, ...given }) =>
    Effect.gen(function* () {
      yield* options.allowed(numbers, given)
      const log = yield* EventLog.EventLog
      if (Option.isNone(group)) {
        if (Option.isSome(webhook) || givenUp)
          return yield* new UsageError({ problem: "--webhook and --given-up need --group NAME" })
        const range = Option.match(after, { onNone: () => ({}), onSome: (position) => ({ after: position }) })
        return yield* Stream.runForEach(EventLog.feed(log, { ...range, follow }), printed(json))
      }
      if (Option.isSome(after))
        return yield* new UsageError({
          problem: "--after is for readers without a group: the store has its position",
        })
      if (givenUp) return yield* showGivenUp(log, group.value, json)
      const how = { follow, from, lease: given.lease * 1_000 }
      if (Option.isNone(webhook))
        return yield* EventLog.consume(
          log,
          group.value,
          (page) => Effect.forEach(page, printed(json), { discard: true }),
          how,
        )
      if (Option.isNone(secretEnv))
        return yield* new UsageError({
          problem: "--webhook needs --secret-env NAME, the variable with its secret",
        })
      yield* posting(log, {
        group: group.value,
        url: webhook.value,
        secretIn: secretEnv.value,
        attempts: given.attempts,
        ...how,
      })
    }).pipe(Effect.provide(options.existingStore(store, { readonly: false }))),
)
