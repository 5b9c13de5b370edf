/** The requests that go on to an upstream: who may make them, and what is logged of them. */
import { type Problem, problem } from "@memfold/client/api"
import { type ConversationRoutes, conversationRoutes, Proxy, type ProxyRecord } from "@memfold/proxy"
import { Effect, Either, Runtime, type Scope } from "effect"
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http"
import { wrongName } from "./guard.js"
import type { makeRate, MayBegin } from "./limits.js"
import type { Accounts } from "./openMemory.js"
import { namesOf, type ServeOptions, upstreamsOf } from "./options.js"
import { type Served, tenantMemory } from "./TenantMemory.js"
import { finder } from "./tokens.js"

/** The paths that the service has itself. */
const own = /^\/v1\/(?:sessions|recall|tools|owners)(?:[/?]|$)/

const missing = problem(
  401,
  "NoToken",
  "Send a token of this service as x-memfold-token; the key of the upstream stays where it is",
)
const unknown = problem(401, "UnknownToken", "The service knows no such token; ask who runs it for one")
const notAllowed = problem(403, "NotAllowed", 'This needs a token with the rights "read" and "write"')
const ending = problem(503, "Closing", "The service is ending; try again")

/** A problem in the form that clients of the APIs read, too. */
const refuse = (response: ServerResponse, { status, type, title, detail }: Problem): void => {
  response.writeHead(status, { "content-type": "application/json", connection: "close" })
  response.end(JSON.stringify({ type: "error", error: { type, code: title, message: detail } }))
}

/** Who a request comes from: the tenant, or why it is refused. */
const callerOf = ({ tokens }: ServeOptions, rate: ReturnType<typeof makeRate>) => {
  const find = tokens === undefined ? null : finder(tokens)
  return (given: string | undefined): Either.Either<string | null, Problem> => {
    if (find !== null && given === undefined) return Either.left(missing)
    const token = find?.(given ?? "") ?? null
    if (find !== null && token === null) return Either.left(unknown)
    if (token !== null && !(token.rights.includes("read") && token.rights.includes("write")))
      return Either.left(notAllowed)
    const limited = Effect.runSync(Effect.either(rate(token?.sha256 ?? "")))
    return Either.map(limited, () => token?.tenant ?? null)
  }
}

/** What the log has of a request. */
const logged = (record: ProxyRecord) => {
  const { path, session, doubt, how, ending: end, tokens, charged, isStored } = record
  return {
    path: path.slice(0, 200),
    ...(session === null ? {} : { session, isStored }),
    ...(doubt === null ? {} : { asItCame: doubt }),
    ...(how === null ? {} : { followed: how }),
    ended: end._tag,
    ...("status" in end && end.status !== null ? { status: end.status } : {}),
    ...(tokens === null ? {} : { tokensBefore: tokens.before, tokensAfter: tokens.after }),
    ...charged,
  }
}

/** How the service is. */
export interface ProxiedParts extends Accounts, Served {
  readonly mayBegin: MayBegin
  readonly rate: ReturnType<typeof makeRate>
  readonly isClosing: () => boolean
}

/** OpenAI's conversations and responses in a memory. At the end, answers are stored whose client has left. */
const keptIn = (
  { memory, calls }: Pick<ProxiedParts, "memory" | "calls">,
  openai: URL,
  { shutdown = "10 seconds" }: ServeOptions,
): Effect.Effect<ConversationRoutes, never, Scope.Scope> => {
  const url = new URL(openai)
  url.pathname = `${openai.pathname.replace(/\/+$/, "")}/v1`
  return Effect.acquireRelease(
    Effect.sync(() => conversationRoutes({ memory, calls, upstream: { url, api: "auto" } })),
    ({ settled, stop }) =>
      Effect.promise(settled).pipe(
        Effect.timeout(shutdown),
        Effect.interruptible,
        Effect.ignore,
        Effect.zipRight(Effect.promise(stop)),
      ),
  )
}

/**
 * Puts a proxy before the service, if it has an upstream: what the service has no path for, and an API has, goes on to it.
 *
 * @param parts - the memory and its accounts
 * @param options - the upstreams, the tokens and the names
 * @param service - answers all other requests
 */
export const withProxy = (
  { memory, log, mayBegin, calls, savings, rate, isClosing }: ProxiedParts,
  options: ServeOptions,
  service: RequestListener,
): Effect.Effect<RequestListener, never, Scope.Scope> =>
  Effect.gen(function* () {
    const runtime = yield* Effect.runtime<never>()
    const upstreams = upstreamsOf(options)
    if (Object.keys(upstreams).length === 0) return service
    const { openai } = upstreams
    const conversations = openai === undefined ? undefined : yield* keptIn({ memory, calls }, openai, options)
    const names = namesOf(options)
    const caller = callerOf(options, rate)
    const proxy = new Proxy({
      memory,
      calls,
      savings,
      upstreams,
      maxBody: options.maxBody ?? 10 * 2 ** 20,
      ...(conversations === undefined ? {} : { conversations }),
      onRequest: (record) => {
        const failed = record.ending._tag === "Unreachable" || record.ending._tag === "UpstreamBroke"
        const line = failed ? Effect.logError("proxied") : Effect.logInfo("proxied")
        Runtime.runFork(runtime)(Effect.annotateLogs(line, logged(record)))
      },
    })
    return (request: IncomingMessage, response: ServerResponse): void => {
      if (own.test(request.url ?? "") || !proxy.takes(request)) {
        service(request, response as Parameters<RequestListener>[1])
        return
      }
      const { host, origin, "x-memfold-token": token } = request.headers
      const wrong = isClosing() ? ending : wrongName({ host, origin }, names)
      const found = wrong === null ? caller([token].flat()[0]) : Either.left(wrong)
      if (Either.isLeft(found)) {
        refuse(response, found.left)
        return
      }
      const tenant = found.right
      void proxy.handle(request, response, {
        ...(tenant === null ? {} : { prefix: `${tenant}/` }),
        mayBegin: (session) =>
          Effect.runPromise(mayBegin(tenantMemory({ memory, log }, tenant), tenant, session)),
      })
    }
  })
