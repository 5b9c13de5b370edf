/** How the service says that it did not do what was asked: problem details (RFC 9457), with what to do about it. */
import { HttpApiSchema } from "@effect/platform"
import { Schema } from "effect"
import type { Problem, Status } from "./statuses.js"

export { isProblem, type Problem, type Status, statuses } from "./statuses.js"

const titles: Readonly<Record<Status, string>> = {
  400: "The request is wrong",
  401: "A token is needed",
  403: "The token does not allow it",
  404: "There is no such thing",
  405: "The path has no such method",
  409: "Something else is there already",
  412: "The session is at another version",
  413: "The request is too large",
  415: "The request is in another format",
  429: "Too much was asked",
  500: "The service failed",
  503: "The service cannot answer now",
}

const schemaOf = <S extends Status>(status: S) =>
  HttpApiSchema.withEncoding(
    Schema.Struct({
      type: Schema.String.annotations({ description: "`urn:memfold:` and the name of the error" }),
      title: Schema.String,
      status: Schema.Literal(status),
      detail: Schema.String.annotations({ description: "What happened, and what to do" }),
      session: Schema.optional(Schema.String),
      retryAfter: Schema.optional(
        Schema.Number.annotations({
          description: "After how many seconds to come again, as in `Retry-After`",
        }),
      ),
    }).annotations(
      HttpApiSchema.annotations({ status, identifier: `Problem${status}`, description: titles[status] }),
    ),
    { kind: "Json", contentType: "application/problem+json" },
  )

/**
 * Makes a problem.
 *
 * @param status - the status of the response
 * @param name - the name of the error
 * @param detail - what happened, and what to do
 * @param session - the session that it is about, if it is about one
 *
 * @example
 * ```ts
 * import { problem } from "@memfold/client/api"
 *
 * console.log(problem(404, "UnknownSession", 'There is no session "chat-1"; append starts one', "chat-1"))
 * ```
 */
export const problem = (status: Status, name: string, detail: string, session?: string): Problem => ({
  type: `urn:memfold:${name}`,
  title: titles[status],
  status,
  detail,
  ...(session === undefined ? {} : { session }),
})

/** The schema of all problems: each has the status of its response. Its type has a name: the declarations of all routes have it. */
export const Problems: Schema.Schema<Problem> = Schema.Union(
  schemaOf(400),
  schemaOf(401),
  schemaOf(403),
  schemaOf(404),
  schemaOf(405),
  schemaOf(409),
  schemaOf(412),
  schemaOf(413),
  schemaOf(415),
  schemaOf(429),
  schemaOf(500),
  schemaOf(503),
)
