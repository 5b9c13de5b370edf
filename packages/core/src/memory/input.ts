/** Checks of arguments. They run before anything is read or written. */
import { Duration, Effect, Either, Option, ParseResult, Schema } from "effect"
import type { ReadOptions } from "../log/EventLog.js"
import { isExactMessage } from "../message/exact.js"
import { Message } from "../message/Message.js"
import type { SubscribeOptions } from "../observe/subscribe.js"

/** An argument is invalid: a session id, a message, an index. Nothing was written. */
export class InvalidInput extends Schema.TaggedError<InvalidInput>()("InvalidInput", {
  session: Schema.String,
  detail: Schema.String,
}) {
  /** The session, if it is valid, and what is wrong, in words. */
  override get message(): string {
    return this.session === "" ? this.detail : `Session "${this.session}": ${this.detail}`
  }
}

const parseMessage = Schema.decodeUnknownEither(Message)
const parseMessages = Schema.decodeUnknownEither(Schema.Array(Message))

/**
 * A copy of the messages as they will be read back, in plain JSON. Otherwise the state could differ from the log
 * (law L6): by values that JSON cannot hold, or by a caller who changes a message after the append.
 */
const jsonCopy = (session: string, messages: unknown): Effect.Effect<unknown, InvalidInput> =>
  Effect.try({
    try: () => JSON.parse(JSON.stringify(messages) ?? "null") as unknown,
    catch: () =>
      new InvalidInput({
        session,
        detail: "a message has a value that JSON cannot hold; nothing was appended",
      }),
  })

/** One message or a list of them, as a checked copy. */
export const checkMessages = (
  session: string,
  given: unknown,
): Effect.Effect<ReadonlyArray<Message>, InvalidInput> =>
  Effect.flatMap(jsonCopy(session, Array.isArray(given) ? given : [given]), (messages) =>
    Either.match(parsed(messages), {
      onRight: Effect.succeed,
      onLeft: (path) => {
        const detail = `message ${path.map(String).join(".")} is not a valid message; nothing was appended`
        return Effect.fail(new InvalidInput({ session, detail }))
      },
    }),
  )

/** The messages, or the path of the first mistake; only its message if the schema cannot even look at the value. */
const parsed = (messages: unknown): Either.Either<ReadonlyArray<Message>, ReadonlyArray<PropertyKey>> => {
  if (Array.isArray(messages) && messages.every(isExactMessage)) return Either.right(messages)
  try {
    return Either.mapLeft(
      parseMessages(messages),
      (error) => ParseResult.ArrayFormatter.formatErrorSync(error)[0]?.path ?? [],
    )
  } catch {
    const isReadable = (message: unknown) => {
      try {
        return Either.isRight(parseMessage(message))
      } catch {
        return false
      }
    }
    return Either.left([Array.isArray(messages) ? messages.findIndex((one) => !isReadable(one)) : 0])
  }
}

/** A session id is any text but an empty one. There is no default. */
export const checkSession = (session: unknown): Effect.Effect<string, InvalidInput> =>
  typeof session === "string" && session.trim() !== "" && session.isWellFormed()
    ? Effect.succeed(session)
    : Effect.fail(
        new InvalidInput({ session: "", detail: "A session id is required: a text that is not empty" }),
      )

/** An idempotency key is any text but an empty one: two batches with an empty key would count as the same. */
export const checkIdempotencyKey = (session: string, key: unknown): Effect.Effect<void, InvalidInput> =>
  typeof key === "string" && key.trim() !== "" && key.isWellFormed()
    ? Effect.void
    : Effect.fail(
        new InvalidInput({ session, detail: "An idempotency key must be a text that is not empty" }),
      )

/** Whether a value is a whole number, `least` or more. */
export const isCount = (value: unknown, least = 0): boolean =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= least

/** A message index, a number of messages, or a version. */
export const checkCount = (
  session: string,
  name: string,
  value: unknown,
  least = 0,
): Effect.Effect<void, InvalidInput> =>
  isCount(value, least)
    ? Effect.void
    : Effect.fail(new InvalidInput({ session, detail: `"${name}" must be a whole number, ${least} or more` }))

/** The name of a message: an index, or a version. The operation checks later whether there is such a message. */
export const checkMessageName = (session: string, name: unknown): Effect.Effect<void, InvalidInput> =>
  typeof name === "number"
    ? Effect.void
    : checkCount(
        session,
        "message",
        typeof name === "object" && name !== null ? (name as { readonly version?: unknown }).version : name,
      )

/** The id of a summary. The operation checks later whether the summary exists. */
export const checkSummary = (
  session: string,
  name: string,
  summary: unknown,
): Effect.Effect<void, InvalidInput> =>
  typeof summary === "string"
    ? Effect.void
    : Effect.fail(new InvalidInput({ session, detail: `"${name}" must be the id of a summary, a text` }))

const Count = Schema.NonNegativeInt
const parsePrefix = Schema.decodeUnknownEither(
  Schema.Struct({ version: Count, total: Count, head: Schema.String }),
)

/** The prefix of a context. Whether it is still the session's is decided at the append. */
export const checkPrefix = (session: string, prefix: unknown): Effect.Effect<void, InvalidInput> =>
  Either.isRight(parsePrefix(prefix))
    ? Effect.void
    : Effect.fail(new InvalidInput({ session, detail: '"prefix" must be the prefix of a context' }))
/** The first version and the interval of a subscription; a name that is no option is a typing mistake. */
export const checkSubscription = (
  session: string,
  options: SubscribeOptions | undefined,
): Effect.Effect<void, InvalidInput> => {
  const refuse = (detail: string) => Effect.fail(new InvalidInput({ session, detail }))
  if (options === undefined) return Effect.void
  if (typeof options !== "object" || options === null) return refuse("the options must be an object")
  const { fromVersion, pollInterval, ...others } = options
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) return refuse(`"${unknown}" is none of the options: fromVersion, pollInterval`)
  const millis = Option.map(Duration.decodeUnknown(pollInterval ?? 1_000), Duration.toMillis)
  if (!Option.exists(millis, (length) => length > 0))
    return refuse('"pollInterval" must be a duration above 0')
  return fromVersion === undefined ? Effect.void : checkCount(session, "fromVersion", fromVersion)
}

/** The versions that `events` reads. */
export const checkRange = (
  session: string,
  { fromVersion, toVersion }: ReadOptions = {},
): Effect.Effect<void, InvalidInput> =>
  Effect.zipRight(
    fromVersion === undefined ? Effect.void : checkCount(session, "fromVersion", fromVersion),
    toVersion === undefined ? Effect.void : checkCount(session, "toVersion", toVersion),
  )

/** The options of recall for a context. */
export const checkRecall = (session: string, recall: unknown): Effect.Effect<void, InvalidInput> => {
  if (typeof recall !== "object" || recall === null)
    return Effect.fail(new InvalidInput({ session, detail: '"recall" must be an object' }))
  const { tokens, ...others } = recall as Readonly<Record<string, unknown>>
  const [unknown] = Object.keys(others)
  if (unknown !== undefined)
    return Effect.fail(new InvalidInput({ session, detail: `"recall.${unknown}" is not the option tokens` }))
  return tokens === undefined ? Effect.void : checkCount(session, "recall.tokens", tokens)
}

/** Which messages a search finds. */
export const checkSearched = (session: string, messages: unknown): Effect.Effect<void, InvalidInput> =>
  messages === "all" || messages === "outside-context"
    ? Effect.void
    : Effect.fail(new InvalidInput({ session, detail: '"messages" must be "all" or "outside-context"' }))

/** Sessions that a search leaves out. */
export const checkWithout = (sessions: unknown): Effect.Effect<void, InvalidInput> =>
  Array.isArray(sessions) && sessions.every((one) => typeof one === "string")
    ? Effect.void
    : Effect.fail(new InvalidInput({ session: "", detail: '"without" must be a list of session ids' }))

/** A text in the options of a request. */
export const checkText = (session: string, name: string, value: unknown): Effect.Effect<void, InvalidInput> =>
  typeof value === "string"
    ? Effect.void
    : Effect.fail(new InvalidInput({ session, detail: `"${name}" must be a text` }))

/** The most characters of an owner or a title: they stand in lists, and owners in the keys of stores. */
const mostDescribed = 1_000

/** An owner or a title: a text that is not empty, or `null` to remove it. */
export const checkDescription = (session: string, change: unknown): Effect.Effect<void, InvalidInput> => {
  const given = typeof change === "object" && change !== null ? (change as Record<string, unknown>) : {}
  const wrong = ["owner", "title"].find((name) => !isDescribing(given[name]))
  return wrong === undefined
    ? Effect.void
    : Effect.fail(
        new InvalidInput({
          session,
          detail: `"${wrong}" must be a text that is not empty, of at most ${mostDescribed} characters, or null to remove it`,
        }),
      )
}

const isDescribing = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  (typeof value === "string" && value.trim() !== "" && value.isWellFormed() && value.length <= mostDescribed)

/** The owner whose sessions are listed. */
export const checkOwner = (owner: unknown): Effect.Effect<void, InvalidInput> =>
  typeof owner === "string" && isDescribing(owner)
    ? Effect.void
    : Effect.fail(new InvalidInput({ session: "", detail: "An owner is required: a text that is not empty" }))
