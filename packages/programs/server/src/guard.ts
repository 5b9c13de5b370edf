/**
 * What every request passes, whoever answers it: its host and its origin, its token, its rights, the rate, the limits, and only then its
 * body. Behind it stand the log and the form of errors.
 */
import { type HttpApp, HttpMethod, HttpRouter, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { toIncomingMessage } from "@effect/platform-node/NodeHttpServerRequest"
import { Caller, type Problem, problem } from "@memfold/client/api"
import { ambiguityIn } from "@memfold/proxy"
import { Cause, Clock, Context, type Duration, Effect, Either, Predicate } from "effect"
import { type Authorization, authorization } from "./authorization.js"
import { type BodyLimits, bytesOf, textOf, withText } from "./body.js"
import { failureFor, problemOf } from "./failure.js"
import type { GroupLimit, MayBegin, Room } from "./limits.js"
import { heeded, methodsOf, ownRoutes, type Route } from "./routes.js"
import { problemFor, type Served, tenantMemory } from "./TenantMemory.js"

/** What the guard goes by. */
export interface GuardOptions extends Authorization, Served {
  /** The names that requests may have as their host and their origin. */
  readonly names: ReadonlySet<string>
  /** The largest body, in bytes. */
  readonly maxBody: number
  /** What bodies may have in memory that are not whole yet. */
  readonly bodies: Room
  /** How long a request of the service itself may take. */
  readonly timeout: Duration.DurationInput
  readonly isClosing: () => boolean
  /** Checks that a tenant may begin a session. */
  readonly mayBegin: MayBegin
  readonly groups: GroupLimit
}

/** What a handler adds to the line of its request in the log. */
export class Noting extends Context.Tag("@memfold/server/Noting")<
  Noting,
  (facts: Readonly<Record<string, unknown>>) => void
>() {}

/** Answers requests with another form of tokens and errors than the service itself. */
export interface Foreign {
  readonly takes: (request: HttpServerRequest.HttpServerRequest) => boolean
  readonly app: HttpApp.Default<unknown, Noting>
}

const withoutQuery = (url: string): string => url.split("?", 1)[0] ?? ""

/** The name in a header `Host`, without its port. */
const nameIn = (host: string | undefined): string | null =>
  /^(\[[0-9a-f:.]+\]|[^:/@\s[\]]+)(?::\d{1,5})?$/i.exec(host ?? "")?.[1]?.toLowerCase() ?? null

const hostOf = (origin: string): string | null => {
  const [, host] = /^https?:\/\/([^/?#]+)$/i.exec(origin) ?? []
  return nameIn(host)
}

const wrongName = (name: string, what: string): Problem =>
  problem(403, name, `The service does not answer ${what}; --allow-host adds names`)

const wrongHost = wrongName("WrongHost", "under this host name")
const wrongOrigin = wrongName("WrongOrigin", "pages of this origin")

/** Fails for a request under another host, or of another origin, or one that another server may read in another way. */
const checkNames = (
  request: HttpServerRequest.HttpServerRequest,
  names: ReadonlySet<string>,
): Either.Either<void, Problem> => {
  const ambiguous = ambiguityIn(toIncomingMessage(request))
  if (ambiguous !== null)
    return Either.left(
      problem(400, "WrongHeader", `The header ${ambiguous} can be read in two ways; send one`),
    )
  const { host, origin } = request.headers
  if (!names.has(nameIn(host) ?? "")) return Either.left(wrongHost)
  return origin !== undefined && !names.has(hostOf(origin) ?? "") ? Either.left(wrongOrigin) : Either.void
}

/** How many bytes of a body that nobody reads are let come, so that the connection can go on: 64 KiB. */
const mostUnread = 65_536

/** Whether the rest of a body is not worth its connection. */
const isLong = (request: HttpServerRequest.HttpServerRequest): boolean =>
  !toIncomingMessage(request).complete &&
  !(
    Number(request.headers["content-length"] ?? 0) <= mostUnread &&
    request.headers["transfer-encoding"] === undefined
  )

/** The statuses of requests that are not to go on. */
const closing: ReadonlySet<number> = new Set([403, 413, 503])

/** What a request has failed with, and, if its path has other methods alone, which these are. */
const refusalOf = (
  error: unknown,
  { method, url }: HttpServerRequest.HttpServerRequest,
): { readonly problem: Problem; readonly allow?: string } => {
  const methods = Predicate.isTagged(error, "RouteNotFound") ? methodsOf(withoutQuery(url)) : []
  if (methods.length === 0 || methods.includes(method)) return { problem: problemOf(error) }
  const allow = methods.join(", ")
  return { problem: problem(405, "WrongMethod", `The path takes ${allow}; /docs has them`), allow }
}

const respond = (
  { problem: given, allow }: ReturnType<typeof refusalOf>,
  request: HttpServerRequest.HttpServerRequest,
  isForeign: boolean,
): HttpServerResponse.HttpServerResponse => {
  const { status, type, title, detail, retryAfter = status === 429 ? 1 : undefined } = given
  // Clients of the APIs read errors in the form of the APIs.
  const body = isForeign ? { type: "error", error: { type, code: title, message: detail } } : given
  return HttpServerResponse.unsafeJson(body, {
    status,
    contentType: isForeign ? "application/json" : "application/problem+json",
    headers: {
      ...(allow === undefined ? {} : { allow }),
      ...(retryAfter === undefined ? {} : { "retry-after": String(retryAfter) }),
      ...(closing.has(status) || isLong(request) ? { connection: "close" } : {}),
    },
  })
}

/** The work of a request took longer than it may. */
export const timedOut = problem(
  503,
  "TimedOut",
  "The request took too long. Nothing is known about its effect; try again, a write with its Idempotency-Key",
)

/** The session that a body names. */
const toIn = (text: string): unknown => {
  try {
    return (JSON.parse(text) as { readonly to?: unknown } | null)?.to
  } catch {
    return undefined
  }
}

/** Makes the checks of a request by its route, in their order. What fails is told, and nothing more is done for it. */
export const admission = (options: GuardOptions) => {
  const authorize = authorization(options)
  return {
    /** Everything up to the body. */
    admit: (route: Route, token: string | undefined, how: string) =>
      Effect.gen(function* () {
        const { headers } = yield* HttpServerRequest.HttpServerRequest
        const { caller, key } = yield* authorize(route, token, how, yield* Clock.currentTimeMillis)
        const untaken = [...heeded].find((name) => headers[name] !== undefined && !route.takes.has(name))
        if (untaken !== undefined)
          return yield* Effect.fail(
            problem(400, "WrongHeader", `This request does not take the header ${untaken}; leave it out`),
          )
        const { tenant } = caller
        const mayBegin = (name: string): Effect.Effect<void, Problem> => {
          if (route.begins === null)
            return Effect.dieMessage(`the route ${route.path} does not declare that it begins sessions`)
          const check = route.begins === "group" ? options.groups.mayBegin : options.mayBegin
          return Effect.mapError(check(tenantMemory(options, tenant, null), tenant, name), (error) =>
            problemFor(tenant, error),
          )
        }
        /** Counts the work that the body of a request is, in seconds. */
        const charge = (work: number): Effect.Effect<void, Problem> =>
          Effect.flatMap(Clock.currentTimeMillis, (now) =>
            key === null ? Effect.void : options.rate(key, now, work),
          )
        return { caller, mayBegin, charge, bodies: { room: options.bodies, key: tenant ?? "" } }
      }),
    /** The body of a request that goes on as bytes. */
    body: (bodies: BodyLimits) =>
      Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
        bytesOf(request, options.maxBody, bodies),
      ),
  }
}

const byRoute: ReadonlyMap<string, Route> = new Map(
  ownRoutes.map((route) => [`${route.method} ${route.path}`, route]),
)

const bearer = (authorization: string | undefined): string | undefined =>
  /^Bearer (.*)$/i.exec(authorization ?? "")?.[1]

/** Puts the checks before each route of the service itself. */
export const checked = (options: GuardOptions) => {
  const { admit } = admission(options)
  return <E, R>(handler: HttpApp.Default<E, R>) =>
    Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const { route, params } = yield* HttpRouter.RouteContext
      const declared = byRoute.get(`${route.method} ${route.path}`)
      if (declared === undefined) return yield* Effect.dieMessage(`the route ${route.path} is not declared`)
      const token = bearer(request.headers["authorization"])
      const { caller, mayBegin, charge, bodies } = yield* admit(
        declared,
        token,
        "as Authorization: Bearer TOKEN",
      )
      if (declared.begins === "session" || declared.begins === "group")
        yield* mayBegin(params[declared.begins] ?? "")
      const { text, work } = yield* textOf(request, options.maxBody, bodies)
      yield* charge(work)
      if (declared.begins === "to") {
        const to = toIn(text)
        if (typeof to === "string") yield* mayBegin(to)
      }
      return yield* handler.pipe(
        Effect.provideService(
          HttpServerRequest.HttpServerRequest,
          HttpMethod.hasBody(request.method) ? withText(request, text) : request,
        ),
        Effect.provideService(Caller, caller),
      )
    })
}

/**
 * Puts what is the same for all requests around what answers them, and makes a problem of everything that fails. The log has the
 * method, the path, the status and the time of each request, what its handler has noted, and never a query, a header or a body.
 *
 * @param own - the service itself
 * @param foreign - answers requests in the form of other APIs; `null` without an upstream
 */
export const guarded = <E, R>(
  own: HttpApp.Default<E, R>,
  foreign: Foreign | null,
  { names, timeout, isClosing }: GuardOptions,
): HttpApp.Default<never, Exclude<R, Noting>> =>
  Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const start = yield* Clock.currentTimeMillis
    const isForeign = foreign?.takes(request) === true
    let facts: Readonly<Record<string, unknown>> = {}
    const limited = Effect.timeoutFail(own, { duration: timeout, onTimeout: () => timedOut })
    const answered: HttpApp.Default<unknown, R | Noting> = isForeign ? foreign!.app : limited
    const response = yield* checkNames(request, names).pipe(
      Effect.zipRight(answered),
      Effect.provideService(Noting, (noted) => (facts = noted)),
      Effect.catchAllCause((cause) => {
        if (Cause.isInterruptedOnly(cause)) return Effect.interrupt
        const error = Cause.squash(cause)
        const refusal = refusalOf(error, request)
        if (refusal.problem.status >= 500) facts = failureFor(error)
        return Effect.succeed(respond(refusal, request, isForeign))
      }),
    )
    const ms = (yield* Clock.currentTimeMillis) - start
    const { method, url } = request
    const path = withoutQuery(url).slice(0, 200)
    const { status } = response
    const isFailure = status >= 500 || facts["ended"] === "Unreachable" || facts["ended"] === "UpstreamBroke"
    yield* Effect.annotateLogs(isFailure ? Effect.logError("request") : Effect.logInfo("request"), {
      method,
      path,
      status,
      ms,
      ...facts,
    })
    const safe = HttpServerResponse.setHeader(response, "x-content-type-options", "nosniff")
    // A connection that stays open would keep the process from ending.
    return isClosing() ? HttpServerResponse.setHeader(safe, "connection", "close") : safe
  })
