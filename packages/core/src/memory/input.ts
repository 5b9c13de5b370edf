/** Checks of arguments. They run before anything is read or written. */
import { Effect, Either, ParseResult, Schema } from "effect"
import { Message } from "../message/Message.js"

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
    Either.match(parseMessages(messages), {
      onRight: Effect.succeed,
      onLeft: (error) => {
        const path = ParseResult.ArrayFormatter.formatErrorSync(error)[0]?.path ?? []
        const detail = `message ${path.map(String).join(".")} is not a valid message; nothing was appended`
        return Effect.fail(new InvalidInput({ session, detail }))
      },
    }),
  )

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

/** A message index, a number of messages, or a version. */
export const checkCount = (
  session: string,
  name: string,
  value: unknown,
): Effect.Effect<void, InvalidInput> =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0
    ? Effect.void
    : Effect.fail(new InvalidInput({ session, detail: `"${name}" must be a whole number, 0 or more` }))

/** The id of a summary. The operation checks later whether the summary exists. */
export const checkSummary = (
  session: string,
  name: string,
  summary: unknown,
): Effect.Effect<void, InvalidInput> =>
  typeof summary === "string"
    ? Effect.void
    : Effect.fail(new InvalidInput({ session, detail: `"${name}" must be the id of a summary, a text` }))
