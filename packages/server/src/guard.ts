/** What every request passes: the checks of its host, its origin and its size, a limit of time, and the log. */
import { type HttpApp, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { type Problem, problem } from "@memfold/client/api"
import { Cause, Clock, type Duration, Effect } from "effect"
import { withBody } from "./body.js"
import { failureFor, problemOf } from "./failure.js"

/** What the guard goes by. */
export interface GuardOptions {
  /** The names that requests may have as their host and their origin. */
  readonly names: ReadonlySet<string>
  /** The largest body, in bytes. */
  readonly maxBody: number
  /** How long a request may take. */
  readonly timeout: Duration.DurationInput
  readonly isClosing: () => boolean
}

const withoutQuery = (url: string): string => url.split("?", 1)[0] ?? ""

/** The name in a header `Host`, without its port. */
const nameIn = (host: string | undefined): string | null =>
  /^(\[[0-9a-f:.]+\]|[^:/@\s[\]]+)(?::\d{1,5})?$/i.exec(host ?? "")?.[1]?.toLowerCase() ?? null

const hostOf = (origin: string): string | null => {
  const [, host] = /^https?:\/\/([^/?#]+)$/i.exec(origin) ?? []
  return nameIn(host)
}

/** The statuses of requests whose bodies may be unread. */
const unread: ReadonlySet<number> = new Set([403, 413, 503])

const respond = (problem: Problem): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.unsafeJson(problem, {
    status: problem.status,
    contentType: "application/problem+json",
    headers: {
      ...(problem.status === 429 ? { "retry-after": "1" } : {}),
      // What is left of the body is not read.
      ...(unread.has(problem.status) ? { connection: "close" } : {}),
    },
  })

const timedOut = problem(
  503,
  "TimedOut",
  "The request took too long. Nothing is known about its effect; try again, a write with its Idempotency-Key",
)

/**
 * The writes that take a header of this name. With another request, it is refused: who sends it counts on what it says, and would not
 * learn that nobody has looked at it.
 */
const taking: ReadonlyArray<readonly [header: string, by: RegExp]> = [
  ["if-match", /^POST \/v1\/sessions\/[^/]+\/(?:messages|edit|regenerate)$/],
  [
    "idempotency-key",
    /^(?:POST \/v1\/sessions\/[^/]+\/(?:messages|edit|regenerate)|PUT \/v1\/sessions\/[^/]+\/messages)$/,
  ],
]

/** Why a request under this host or of this origin is refused; `null` if it is not. */
export const wrongName = (
  { host, origin }: { readonly host?: string | undefined; readonly origin?: string | undefined },
  names: ReadonlySet<string>,
): Problem | null => {
  const name = nameIn(host)
  if (name === null || !names.has(name))
    return problem(
      403,
      "WrongHost",
      "The service does not answer under this host name; --allow-host adds names",
    )
  return origin !== undefined && !names.has(hostOf(origin) ?? "")
    ? problem(403, "WrongOrigin", "The service does not answer pages of this origin; --allow-host adds names")
    : null
}

/** Why a request is refused before anything is done for it; `null` if it is not. */
const refusal = (
  { headers, method, url }: HttpServerRequest.HttpServerRequest,
  { names }: GuardOptions,
): Problem | null => {
  const { host, origin } = headers
  const wrong = wrongName({ host, origin }, names)
  if (wrong !== null) return wrong
  const [untaken] =
    taking.find(
      ([header, by]) => headers[header] !== undefined && !by.test(`${method} ${withoutQuery(url)}`),
    ) ?? []
  return untaken === undefined
    ? null
    : problem(400, "WrongHeader", `This request does not take the header ${untaken}; leave it out`)
}

/**
 * Puts the checks before an application, and makes a problem of everything that it fails with. The log has the method, the path, the
 * status and the time of each request, and never a query, a header or a body.
 */
export const guarded = <E, R>(app: HttpApp.Default<E, R>, options: GuardOptions): HttpApp.Default<never, R> =>
  Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const start = yield* Clock.currentTimeMillis
    const refused = refusal(request, options)
    let failure: Readonly<Record<string, string>> = {}
    const answered = app.pipe(
      withBody(options.maxBody),
      Effect.timeoutFail({ duration: options.timeout, onTimeout: () => timedOut }),
      Effect.catchAllCause((cause) => {
        if (Cause.isInterruptedOnly(cause)) return Effect.interrupt
        const error = Cause.squash(cause)
        const problem = problemOf(error)
        if (problem.status >= 500) failure = failureFor(error)
        return Effect.succeed(respond(problem))
      }),
    )
    const response = yield* refused === null ? answered : Effect.succeed(respond(refused))
    const ms = (yield* Clock.currentTimeMillis) - start
    yield* Effect.annotateLogs(
      response.status >= 500 ? Effect.logError("request") : Effect.logInfo("request"),
      {
        method: request.method,
        path: withoutQuery(request.url).slice(0, 200),
        status: response.status,
        ms,
        ...failure,
      },
    )
    const safe = HttpServerResponse.setHeader(response, "x-content-type-options", "nosniff")
    // A connection that stays open would keep the process from ending.
    return options.isClosing() ? HttpServerResponse.setHeader(safe, "connection", "close") : safe
  })
