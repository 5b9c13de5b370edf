/** Checks of arguments. They run before anything is read or written. An exit is an effect, and known at once as well. */
import { Duration, Effect, Either, Exit, Option, ParseResult, Schema } from "effect"
import { eventsBetween, inSteps, type Steps } from "@memfold/log/breathe"
import { type ConsumeOptions, isName, type ReadOptions } from "@memfold/log/EventLog"
import { exactCheck } from "../event/exactCheck.js"
import { Message, Origin } from "@memfold/message/Message"
import type { TimeOptions } from "../recall/timed.js"
import type { FeedRange } from "@memfold/log/pages"
import type { SubscribeOptions } from "../shell/subscribe.js"

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

type Checked = Exit.Exit<void, InvalidInput>

/** Fails with what is wrong with an argument. */
export const refuse = (session: string, detail: string): Exit.Exit<never, InvalidInput> =>
  Exit.fail(new InvalidInput({ session, detail }))

const isExact = exactCheck(Message)

/**
 * One message or a list of them, as a copy that is taken at once: as they will be read back, in plain JSON. Otherwise the state could
 * differ from the log (law L6): by values that JSON cannot hold, or by a caller who changes a message after the append. The effect that
 * it gives checks the copy, in steps.
 */
export const copyMessages = (
  session: string,
  given: unknown,
): Exit.Exit<Effect.Effect<ReadonlyArray<Message>, InvalidInput>, InvalidInput> => {
  const list: ReadonlyArray<unknown> = Array.isArray(given) ? given : [given]
  try {
    const texts = copyOfTexts(list)
    if (texts !== null) return Exit.succeed(Effect.succeed(texts))
    const copy = JSON.parse(JSON.stringify(list)) as ReadonlyArray<unknown>
    return Exit.succeed(Effect.flatten(inSteps(() => parsed(session, copy))))
  } catch {
    return refuse(session, "a message has a value that JSON cannot hold; nothing was appended")
  }
}

/** One message or a list of them, checked where nobody can come in between. */
export const checkMessages = (
  session: string,
  given: unknown,
): Effect.Effect<ReadonlyArray<Message>, InvalidInput> => Effect.flatten(copyMessages(session, given))

/**
 * A checked copy of messages that are texts, as nearly all are; `null` if any is not, and JSON has to make the copy. That would
 * take ten times as long.
 */
const copyOfTexts = (given: ReadonlyArray<unknown>): ReadonlyArray<Message> | null => {
  const messages: Array<Message> = []
  for (const message of given) {
    const [role, parts, noted] =
      fieldsOf(message, "role", "parts") ?? fieldsOf(message, "role", "parts", "metadata") ?? []
    if (!isRole(role) || !Array.isArray(parts) || parts.length !== 1) return null
    const [type, text] = fieldsOf(parts[0], "type", "text") ?? []
    if (type !== "text" || typeof text !== "string") return null
    const metadata = noted === undefined ? undefined : copyOfNotes(noted)
    if (metadata === null) return null
    messages.push({ role, parts: [{ type, text }], ...(metadata === undefined ? {} : { metadata }) })
  }
  return messages
}

const isRole = (value: unknown): value is Message["role"] =>
  value === "user" || value === "assistant" || value === "system" || value === "tool"

const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" &&
  value !== null &&
  Object.getPrototypeOf(value) === Object.prototype &&
  !("toJSON" in value)

/** A copy of metadata that is texts under names of its own, as whoever marks messages gives them; `null` for any other. */
const copyOfNotes = (value: unknown): Readonly<Record<string, string>> | null => {
  if (!isPlain(value)) return null
  const copy: Record<string, string> = {}
  for (const name of Object.keys(value)) {
    const text = value[name]
    if (typeof text !== "string" || name === "__proto__") return null
    copy[name] = text
  }
  return copy
}

/** The values of an object that has these fields, in their order, and no others; each is read once. */
const fieldsOf = (value: unknown, ...wanted: ReadonlyArray<string>): ReadonlyArray<unknown> | null => {
  if (!isPlain(value)) return null
  const names = Object.keys(value)
  if (names.length !== wanted.length) return null
  for (let at = 0; at < names.length; at++) if (names[at] !== wanted[at]) return null
  return wanted.map((name) => value[name])
}

/** The messages, or the path of the first mistake. */
function* parsed(
  session: string,
  given: ReadonlyArray<unknown>,
): Steps<Exit.Exit<ReadonlyArray<Message>, InvalidInput>> {
  const messages: Array<Message> = []
  for (const [position, one] of given.entries()) {
    const message = parsedMessage(one)
    if (Either.isLeft(message)) {
      const path = [position, ...message.left].map(String).join(".")
      return refuse(session, `message ${path} is not a valid message; nothing was appended`)
    }
    messages.push(message.right)
    if ((position + 1) % eventsBetween === 0) yield
  }
  return Exit.succeed(messages)
}

/** A message, or where its first mistake is; nowhere in it if the schema cannot even look at the value. */
const parsedMessage = (given: unknown): Either.Either<Message, ReadonlyArray<PropertyKey>> => {
  if (isExact(given)) return Either.right(given)
  try {
    return Either.mapLeft(
      Schema.decodeUnknownEither(Message)(given),
      (error) => ParseResult.ArrayFormatter.formatErrorSync(error)[0]?.path ?? [],
    )
  } catch {
    return Either.left([])
  }
}

/** Refuses a name, and says more of what it must be where that is why. */
const wrongName = (session: string, given: unknown, detail: string): Exit.Exit<never, InvalidInput> => {
  const text = typeof given === "string" ? given : ""
  const also = text.includes("\0") ? "U+0000" : text.isWellFormed() ? null : "half of a surrogate pair"
  return refuse(session, also === null ? detail : `${detail}, and has no ${also}`)
}

/** Fails with what an argument must be, unless it is that. */
const must = (isRight: boolean, session: string, detail: string): Checked =>
  isRight ? Exit.void : refuse(session, detail)

/** A session id is any text but an empty one. There is no default. */
export const checkSession = (session: unknown): Checked =>
  isName(session) ? Exit.void : wrongName("", session, "A session id is required: a text that is not empty")

/** An idempotency key is any text but an empty one: two batches with an empty key would count as the same. */
export const checkIdempotencyKey = (session: string, key: unknown): Checked =>
  isName(key) ? Exit.void : wrongName(session, key, "An idempotency key must be a text that is not empty")

/** Whether a value is a whole number, `least` or more. */
export const isCount = (value: unknown, least = 0): boolean =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= least

/** A message index, a number of messages, or a version. */
export const checkCount = (session: string, name: string, value: unknown, least = 0): Checked =>
  must(isCount(value, least), session, `"${name}" must be a whole number, ${least} or more`)

/** The last moment that a date can say, in milliseconds since the epoch; the first one is as far before it. */
const lastTime = 8.64e15

/** A time in milliseconds since the epoch, before or behind it. */
export const checkTime = (session: string, name: string, value: unknown): Checked =>
  must(
    isCount(value, -lastTime) && (value as number) <= lastTime,
    session,
    `"${name}" must be a time, in whole milliseconds since the epoch`,
  )

/** The name of a message: an index, or a version. The operation checks later whether there is such a message. */
export const checkMessageName = (session: string, name: unknown): Checked =>
  typeof name === "number"
    ? Exit.void
    : checkCount(session, "message", (name as { readonly version?: unknown } | null | undefined)?.version)

/** The id of a summary. The operation checks later whether the summary exists. */
export const checkSummary = (session: string, name: string, summary: unknown): Checked =>
  must(typeof summary === "string", session, `"${name}" must be the id of a summary, a text`)

const Count = Schema.NonNegativeInt
const Prefix = Schema.Struct({ version: Count, total: Count, head: Schema.String })

/** The prefix of a context. Whether it is still the session's is decided at the append. */
export const checkPrefix = (session: string, prefix: unknown): Checked =>
  must(
    Either.isRight(Schema.decodeUnknownEither(Prefix)(prefix)),
    session,
    '"prefix" must be the prefix of a context',
  )

/** The origin of messages that do not say it. */
export const checkOrigin = (session: string, origin: unknown): Checked =>
  must(Schema.is(Origin)(origin), session, `"origin" must be one of ${Origin.literals.join(", ")}`)

/** Whether a value is a duration above 0. */
const isLength = (value: unknown): boolean =>
  Option.exists(Duration.decodeUnknown(value), (length) => Duration.toMillis(length) > 0)

/** The first version and the interval of a subscription; a name that is no option is a typing mistake. */
export const checkSubscription = (session: string, options: SubscribeOptions | undefined): Checked => {
  if (options === undefined) return Exit.void
  if (typeof options !== "object" || options === null) return refuse(session, "the options must be an object")
  const { fromVersion, pollInterval, ...others } = options
  const [unknown] = Object.keys(others)
  if (unknown !== undefined)
    return refuse(session, `"${unknown}" is none of the options: fromVersion, pollInterval`)
  if (!isLength(pollInterval ?? 1_000)) return refuse(session, '"pollInterval" must be a duration above 0')
  return fromVersion === undefined ? Exit.void : checkCount(session, "fromVersion", fromVersion)
}

/** Where a reader of the feed begins, and how it goes on. */
export const checkFeed = (options: FeedRange = {}): Checked => {
  const { after, pollInterval = 1 } = options
  if (after !== undefined && (typeof after !== "string" || after === ""))
    return refuse("", '"after" must be the `position` of an event')
  return isLength(pollInterval) ? Exit.void : refuse("", '"pollInterval" must be a duration above 0')
}

/** The group of a consumer of the feed, and how it consumes. */
export const checkConsumer = (
  group: unknown,
  { batch, attempts, lease = 1, pollInterval = 1 }: ConsumeOptions = {},
): Checked => {
  if (!isName(group)) return wrongName("", group, "a group has a name: a text that is not empty")
  for (const [name, count] of Object.entries({ batch, attempts }))
    if (count !== undefined && !isCount(count, 1))
      return refuse("", `"${name}" must be a whole number, 1 or more`)
  for (const [name, length] of Object.entries({ lease, pollInterval }))
    if (!isLength(length)) return refuse("", `"${name}" must be a duration above 0`)
  return Exit.void
}

/** The versions that `events` reads. */
export const checkRange = (session: string, { fromVersion, toVersion }: ReadOptions = {}): Checked =>
  Exit.zipRight(
    fromVersion === undefined ? Exit.void : checkCount(session, "fromVersion", fromVersion),
    toVersion === undefined ? Exit.void : checkCount(session, "toVersion", toVersion),
  )

export const checkRecall = (session: string, recall: unknown): Checked => {
  if (typeof recall !== "object" || recall === null) return refuse(session, '"recall" must be an object')
  const { tokens, ...others } = recall as Readonly<Record<string, unknown>>
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) return refuse(session, `"recall.${unknown}" is not the option tokens`)
  return tokens === undefined ? Exit.void : checkCount(session, "recall.tokens", tokens)
}

export const checkSearched = (session: string, messages: unknown): Checked =>
  must(
    messages === "all" || messages === "outside-context",
    session,
    '"messages" must be "all" or "outside-context"',
  )

/** Whether a time zone is known. Only making a format tells. */
const isTimeZone = (name: unknown): boolean =>
  typeof name === "string" &&
  Option.isSome(Option.liftThrowable(() => new Intl.DateTimeFormat("en-US", { timeZone: name }))())

/** The times between which messages are found, and the time zone of the words of a query. */
export const checkTimes = (session: string, { after, before, timeZone }: TimeOptions): Checked => {
  for (const [name, time] of Object.entries({ after, before }))
    if (time !== undefined && (typeof time !== "number" || !Number.isFinite(time)))
      return refuse(
        session,
        `"${name}" must be a time in milliseconds since the epoch, such as Date.parse("2026-05-01")`,
      )
  if (after !== undefined && before !== undefined && after >= before)
    return refuse(session, '"after" must be a time before "before"')
  return timeZone === undefined || isTimeZone(timeZone)
    ? Exit.void
    : refuse(session, '"timeZone" must be the name of a time zone, such as "Europe/Vienna"')
}

export const checkWithout = (sessions: unknown): Checked =>
  must(
    Array.isArray(sessions) && sessions.every((one) => typeof one === "string"),
    "",
    '"without" must be a list of session ids',
  )

export const checkText = (session: string, name: string, value: unknown): Checked =>
  must(typeof value === "string", session, `"${name}" must be a text`)

/** The most characters of an owner or a title: they stand in lists, and owners in the keys of stores. */
const mostDescribed = 1_000

/** An owner or a title: a text that is not empty, or `null` to remove it. */
export const checkDescription = (session: string, change: unknown): Checked => {
  const given = typeof change === "object" && change !== null ? (change as Record<string, unknown>) : {}
  const wrong = ["owner", "title"].find((name) => !isDescribing(given[name]))
  return wrong === undefined
    ? Exit.void
    : wrongName(
        session,
        given[wrong],
        `"${wrong}" must be a text that is not empty, of at most ${mostDescribed} characters, or null to remove it`,
      )
}

const isDescribing = (value: unknown): boolean =>
  value === undefined || value === null || (isName(value) && value.length <= mostDescribed)

export const checkOwner = (owner: unknown): Checked =>
  typeof owner === "string" && isDescribing(owner)
    ? Exit.void
    : wrongName("", owner, "An owner is required: a text that is not empty")
