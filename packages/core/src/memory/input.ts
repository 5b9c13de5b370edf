/** What callers pass in, looked at before anything is done with it. */
import { Effect, Either, ParseResult, Schema } from "effect"
import { Message } from "../message/Message.js"

/** What was passed in is not a session id or not a message. Nothing was written. */
export class InvalidInput extends Schema.TaggedError<InvalidInput>()("InvalidInput", {
  session: Schema.String,
  detail: Schema.String,
}) {
  override get message(): string {
    return this.session === "" ? this.detail : `Session "${this.session}": ${this.detail}`
  }
}

const parseMessages = Schema.decodeUnknownEither(Schema.Array(Message))

/**
 * The messages as they will be read back: as plain JSON, in copies of their own. What a caller does to an object
 * later on, or what JSON cannot hold, must not make the state differ from the log (law L6).
 */
export const plain = (session: string, messages: unknown): Effect.Effect<unknown, InvalidInput> =>
  Effect.try({
    try: () => JSON.parse(JSON.stringify(messages) ?? "null") as unknown,
    catch: () =>
      new InvalidInput({ session, detail: "a message holds what JSON cannot; nothing was appended" }),
  })

export const checked = (
  session: string,
  messages: unknown,
): Effect.Effect<ReadonlyArray<Message>, InvalidInput> =>
  Either.match(parseMessages(messages), {
    onRight: Effect.succeed,
    onLeft: (error) => {
      const path = ParseResult.ArrayFormatter.formatErrorSync(error)[0]?.path ?? []
      const detail = `message ${path.map(String).join(".")} does not fit the form of a message; nothing was appended`
      return Effect.fail(new InvalidInput({ session, detail }))
    },
  })

/** A session id is any text but an empty one; it is never guessed and never replaced by a default. */
export const checkSession = (session: unknown): Effect.Effect<string, InvalidInput> =>
  typeof session === "string" && session.trim() !== "" && session.isWellFormed()
    ? Effect.succeed(session)
    : Effect.fail(
        new InvalidInput({ session: "", detail: "A session id is required: a text that is not empty" }),
      )

/** An empty commit id is a missing one: two of them would be taken for the same batch. */
export const checkCommit = (session: string, commit: unknown): Effect.Effect<void, InvalidInput> =>
  typeof commit === "string" && commit.trim() !== "" && commit.isWellFormed()
    ? Effect.void
    : Effect.fail(new InvalidInput({ session, detail: "A commit id has to be a text that is not empty" }))

/** An amount of messages, or a version of a session. */
export const checkCount = (
  session: string,
  name: string,
  value: unknown,
): Effect.Effect<void, InvalidInput> =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0
    ? Effect.void
    : Effect.fail(new InvalidInput({ session, detail: `"${name}" has to be a whole number, 0 or more` }))

/** The id of a summary, as the memory gives it. */
export const checkSummary = (
  session: string,
  name: string,
  summary: unknown,
): Effect.Effect<void, InvalidInput> =>
  typeof summary === "string"
    ? Effect.void
    : Effect.fail(new InvalidInput({ session, detail: `"${name}" has to be the id of a summary, a text` }))
