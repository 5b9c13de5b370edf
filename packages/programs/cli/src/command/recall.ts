/** `memfold recall`: searches a session, or all sessions of an owner. */
import { Args } from "@effect/cli"
import { Memory, OptionGroup } from "@memfold/core"
import { Console, Effect, Option } from "effect"
import { UsageError } from "./failure.js"
import * as options from "./options.js"
import { clean, color, printJson } from "../terminal/terminal.js"

type RecallResult = Effect.Effect.Success<ReturnType<Memory.Service["recallOf"]>>

/** A time of the command line, in milliseconds since the epoch. A date is in UTC, whatever the time zone of the computer is. */
const timeOf = (name: "after" | "before", text: Option.Option<string>) =>
  Effect.gen(function* () {
    if (Option.isNone(text)) return {}
    const hasOffset = /(?:z|[+-]\d\d:?\d\d)$/i.test(text.value) || !/[t ]\d/i.test(text.value)
    const milliseconds = Date.parse(hasOffset ? text.value : `${text.value}Z`)
    if (Number.isNaN(milliseconds))
      return yield* new UsageError({
        problem: `--${name} ${text.value}: it must be a date, such as 2026-05-01, or a date and time`,
      })
    return { [name]: milliseconds }
  })

const numbers = {
  tokens: OptionGroup.numberOf({
    from: 0,
    default: 1_000,
    description: "The most tokens of the result; 1000 by default.",
  }),
}

export const command = options.command(
  "recall",
  "Search what was said in a session, or in all sessions of an owner.",
  {
    query: Args.text({ name: "QUERY" }).pipe(Args.withDescription("A question, or the words to search for.")),
    ...options.stored,
    session: options.optionalText("session", "ID", "Search this session."),
    owner: options.owner("Search all sessions of this owner."),
    ...options.numbers(numbers),
    after: options.optionalText(
      "after",
      "TIME",
      "Only messages from this time on: a date, or a date and time; UTC without an offset.",
    ),
    before: options.optionalText("before", "TIME", "Only messages before this time."),
    timeZone: options.optionalText(
      "time-zone",
      "NAME",
      'The time zone for words such as "yesterday", as Europe/Vienna; the one of this computer by default.',
    ),
    json: options.json,
  },
  ({ query, store, archive, session, owner, tokens, after, before, timeZone, json }) =>
    Effect.gen(function* () {
      const times = {
        ...(yield* timeOf("after", after)),
        ...(yield* timeOf("before", before)),
        timeZone: Option.getOrElse(timeZone, () => Intl.DateTimeFormat().resolvedOptions().timeZone),
      }
      if (Option.isSome(session) === Option.isSome(owner))
        return yield* new UsageError({ problem: "recall needs --session ID or --owner ID, one of them" })
      yield* options.allowed(numbers, { tokens })
      const memory = yield* Memory.Memory
      const found: RecallResult = Option.isSome(owner)
        ? yield* whole(
            memory.recallOf(owner.value, query, { tokens, ...times }),
            ({ unsearchedSessions: left }) => left,
            "sessions",
          )
        : yield* searched(
            memory,
            Option.getOrElse(session, () => ""),
            { store, query, tokens, ...times },
          )
      const { messages, unreadable } = found
      if (json) {
        return yield* printJson([
          ...messages.map(({ time, ...one }) => ({
            type: "recalled",
            ...one,
            time: new Date(time).toISOString(),
          })),
          { type: "recall", messages: messages.length, tokens: found.tokens, unreadable },
        ])
      }
      yield* Console.log(
        messages.length === 0 ? color.dim("nothing was found") : found.text.split("\n").map(clean).join("\n"),
      )
      for (const name of unreadable)
        yield* Console.error(clean(`memfold: session "${name}" has a damaged event, and was not searched`))
    }).pipe(Effect.provide(options.quietMemory({ store, archive }))),
)

/**
 * Searches again until nothing is left out: indexes are built meanwhile. The process would end before, and the next one begin again.
 *
 * @param leftOf - how much a search has left out
 * @param what - what that counts
 */
const whole = <Found, E, R>(
  search: Effect.Effect<Found, E, R>,
  leftOf: (found: Found) => number | undefined,
  what: string,
): Effect.Effect<Found, E, R> =>
  Effect.flatMap(search, (found) => {
    const left = leftOf(found)
    if (left === undefined) return Effect.succeed(found)
    return Console.error(`memfold: indexing, ${left.toLocaleString("en-US")} ${what} are left`).pipe(
      Effect.zipRight(Effect.delay(whole(search, leftOf, what), "300 millis")),
    )
  })

/** A search in one session. Each message names its session, as in a search of an owner's sessions. */
const searched = (
  memory: Memory.Service,
  session: string,
  { store, query, ...request }: { readonly store: string; readonly query: string } & Memory.RecallOptions,
) =>
  Effect.gen(function* () {
    yield* options.requireSession(session, store)
    const { messages, text, tokens } = yield* whole(
      memory.recall(session, query, request),
      ({ unsearched }) => unsearched,
      "messages",
    )
    return {
      text,
      tokens,
      messages: messages.map((one) => ({ session, ...one })),
      unreadable: [],
    } satisfies RecallResult
  })
