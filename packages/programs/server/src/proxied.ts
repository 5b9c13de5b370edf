/** The requests that go on to an upstream, or are answered in its place. */
import { HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { toIncomingMessage, toServerResponse } from "@effect/platform-node/NodeHttpServerRequest"
import { problem } from "@memfold/client/api"
import {
  type ConversationRoutes,
  conversationRoutes,
  Proxy,
  type ProxyRecord,
  withoutSlashes,
  ownerOf,
} from "@memfold/proxy"
import { Audit, Memory } from "@memfold/core"
import { Duration, Effect, type Scope } from "effect"
import { AsyncLocalStorage } from "node:async_hooks"
import type { ServerResponse } from "node:http"
import { type admission, type Foreign, Noting } from "./guard.js"
import type { Accounts } from "./openMemory.js"
import { limitsOf, type ServeOptions, upstreamsOf } from "./options.js"
import { workOf } from "./limits.js"
import { foreignRouteOf, isOwnPath } from "./routes.js"
import type { Served } from "./TenantMemory.js"

const ending = problem(503, "Closing", "The service is ending; try again")

/** What the log has of a request. */
const logged = (record: ProxyRecord) => {
  const { session, doubt, how, ending: end, tokens, charged, isStored, notStored } = record
  return {
    ...(session === null ? {} : { session, isStored }),
    ...(notStored === null ? {} : { notStored }),
    ...(doubt === null ? {} : { asItCame: doubt }),
    ...(how === null ? {} : { followed: how }),
    ended: end._tag,
    ...("status" in end && end.status !== null ? { status: end.status } : {}),
    ...(tokens === null ? {} : { tokensBefore: tokens.before, tokensAfter: tokens.after }),
    ...charged,
  }
}

/** OpenAI's conversations and responses in a memory. At the end, answers are stored whose client has left. */
const keptIn = (
  { memory, calls }: Pick<Served & Accounts, "memory" | "calls">,
  openai: URL,
  patience: number | undefined,
  shutdown: Duration.DurationInput,
): Effect.Effect<ConversationRoutes, never, Scope.Scope> => {
  const url = new URL(openai)
  url.pathname = `${withoutSlashes(openai.pathname)}/v1`
  return Effect.acquireRelease(
    Effect.sync(() => conversationRoutes({ memory, calls, upstream: { url, api: "auto", patience } })),
    ({ settled, stop }) =>
      Effect.promise(settled).pipe(
        Effect.timeout(shutdown),
        Effect.interruptible,
        Effect.ignore,
        Effect.zipRight(Effect.promise(stop)),
      ),
  )
}

/** Waits until a response is over. One that broke off is over with its connection, and the platform leaves it alone then. */
const over = (response: ServerResponse): Effect.Effect<void> =>
  Effect.async((resume) => {
    const end = (): void => {
      response.end()
      resume(Effect.void)
    }
    if (response.writableEnded) resume(Effect.void)
    else if (response.closed) end()
    else response.once("close", end)
  })

/**
 * The proxy as a handler behind the guard: what the service has no path for, and an API has, is its to answer. It writes to the
 * response of Node itself, so that no part of a stream waits for another.
 *
 * @param served - the memory and its accounts
 * @param options - the upstreams
 * @param admission - the checks of a request
 * @returns `null` without an upstream
 */
export const foreign = (
  { memory, calls, savings }: Served & Accounts,
  options: ServeOptions,
  { admit, body }: ReturnType<typeof admission>,
  isClosing: () => boolean,
): Effect.Effect<Foreign | null, never, Scope.Scope> =>
  Effect.gen(function* () {
    const upstreams = upstreamsOf(options)
    if (Object.keys(upstreams).length === 0) return null
    const { openai } = upstreams
    const { upstreamTimeout } = options
    const { maxBody, shutdown } = limitsOf(options)
    const patience = upstreamTimeout === undefined ? undefined : Duration.toMillis(upstreamTimeout)
    const asking = new AsyncLocalStorage<{
      readonly actor: Audit.Actor | null
      readonly owner: string | null
    }>()
    // Without a token, it is whoever runs the service.
    const runs = yield* Audit.CurrentActor
    const acted = Memory.actedBy(memory, () => asking.getStore()?.actor ?? runs)
    const append: typeof memory.append = (session, messages, options) => {
      const owner = asking.getStore()?.owner ?? null
      return acted.append(session, messages, owner === null ? options : { ...options, owner })
    }
    const speaking = { ...memory, ...acted, append }
    const conversations =
      openai === undefined
        ? undefined
        : yield* keptIn({ memory: speaking, calls }, openai, patience, shutdown)
    const proxy = new Proxy({
      memory: speaking,
      calls,
      savings,
      upstreams,
      patience,
      maxBody,
      ...(conversations === undefined ? {} : { conversations }),
      onRequest: () => undefined,
    })
    const app = Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      if (isClosing()) return yield* Effect.fail(ending)
      const token = request.headers["x-memfold-token"]
      const how = "as x-memfold-token; the key of the upstream stays where it is"
      const route = foreignRouteOf(request.method, request.url, conversations !== undefined)
      const { caller, mayBegin, charge, bodies } = yield* admit(route, token, how)
      const incoming = toIncomingMessage(request)
      const given = proxy.reads(incoming) ? { body: yield* body(bodies) } : {}
      const response = toServerResponse(request)
      const prefix = caller.tenant === null ? null : `${caller.tenant}/`
      // Who may name owners has a token: under another key of an upstream, an owner is somebody else.
      const owner = prefix === null ? null : ownerOf(incoming.headers)
      const who = {
        actor: caller.actor === null ? null : { ...caller.actor, via: "proxy" },
        owner: owner === null ? null : `${prefix}${owner}`,
      }
      const record = yield* Effect.promise(() =>
        asking.run(who, () =>
          proxy.handle(incoming, response, {
            ...given,
            ...(prefix === null ? {} : { prefix }),
            mayWork: (text, measured) =>
              Effect.runPromise(
                charge(workOf(text, measured)).pipe(
                  Effect.as(true),
                  Effect.orElseSucceed(() => false),
                ),
              ),
            mayBegin: (session) => Effect.runPromise(mayBegin(session)),
          }),
        ),
      )
      if (record !== null) (yield* Noting)(logged(record))
      yield* over(response)
      return HttpServerResponse.empty({ status: response.statusCode })
    })
    return {
      takes: (request) => {
        const incoming = toIncomingMessage(request)
        const [path = ""] = (incoming.url ?? "").split("?", 1)
        return proxy.takes(incoming) && !isOwnPath(path)
      },
      app,
    }
  })
