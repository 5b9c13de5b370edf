/** The service: its store, its routes, its listener, and their end. */
import { HttpApiBuilder, HttpMiddleware, HttpRouter } from "@effect/platform"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { api } from "@memfold/client/api"
import { Cause, Deferred, Effect, Exit, Layer, Logger, LogLevel, Schedule, Scope } from "effect"
import {
  createServer,
  type IncomingMessage,
  maxHeaderSize,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http"
import type { AddressInfo, Socket } from "node:net"
import { callers } from "./authorization.js"
import { boundBacklog } from "./backlog.js"
import { documentation } from "./documentation.js"
import { mcp } from "./mcp.js"
import { admission, checked, guarded, type GuardOptions } from "./guard.js"
import { handlersOf } from "./handlers.js"
import type { Serving } from "./handlers/operation.js"
import { makeGroupLimit, makeRate, makeRoom, makeSessionLimit } from "./limits.js"
import { type Accounts, openMemory, strategySetting } from "./openMemory.js"
import { telemetry } from "./telemetry.js"
import { serviceSettings } from "./settings.js"
import { checkOptions, limitsOf, namesOf, ServeError, type ServeOptions } from "./options.js"
import { withSite } from "./site.js"
import { foreign } from "./proxied.js"

/** A service that listens. */
export interface Service {
  /** Its address, such as `http://127.0.0.1:4710`. */
  readonly url: string
  /** Finishes what requests have begun, ends the connections, and closes the store. */
  readonly close: () => Promise<void>
}

/**
 * How long a client may take to send a request, and how long an idle connection stays open, in milliseconds. Node's 5 seconds for the
 * latter are too short: under load, a connection is closed whose next request is there and not read yet.
 */
const patience = {
  headersTimeout: 30_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 75_000,
  connectionsCheckingInterval: 5_000,
}

/** How many connections may wait to be accepted: more than a thousand clients that begin at once. */
const backlog = 4_096

/** How many requests of one connection may be under way: a client may send others before the first one is answered. */
const mostPipelined = 100

const levels = { error: LogLevel.Error, info: LogLevel.Info, none: LogLevel.None } as const

/** Lines of JSON on standard error, instead of what Effect prints. */
const logging = ({ log = "info" }: ServeOptions) =>
  Layer.merge(
    Logger.replace(Logger.defaultLogger, Logger.withConsoleError(Logger.jsonLogger)),
    Logger.minimumLogLevel(levels[log]),
  )

/** The most requests a second for each token. */
const rateOf = ({ tokens, rate = tokens === undefined ? undefined : 100 }: ServeOptions): number | null =>
  rate ?? null

/** The application: all routes behind the guard. */
const application = (serving: Serving & Accounts, options: ServeOptions) => {
  const { tokens, readOnly } = options
  const { maxBody, maxBodies } = limitsOf(options)
  const guard: GuardOptions = {
    ...serving,
    tokens,
    readOnly,
    rate: makeRate(rateOf(options)),
    mayBegin: makeSessionLimit(options.maxSessions ?? null),
    names: namesOf(options),
    maxBody,
    bodies: makeRoom(maxBodies),
  }
  return Effect.gen(function* () {
    const routes = HttpRouter.use(yield* HttpApiBuilder.Router.router, checked(guard))
    const own = withSite(yield* HttpRouter.toHttpApp(routes), options.site)
    return guarded(own, yield* foreign(serving, options, admission(guard), serving.isClosing), guard)
  }).pipe(
    Effect.provide(
      Layer.mergeAll(HttpApiBuilder.middlewareOpenApi(), documentation, mcp(options.mcp, guard)).pipe(
        Layer.provideMerge(HttpApiBuilder.api(api)),
        Layer.provide(handlersOf(serving)),
        Layer.provide(callers),
        Layer.provideMerge(Layer.merge(HttpApiBuilder.Router.Live, HttpApiBuilder.Middleware.layer)),
      ),
    ),
    // Ids of sessions can be as long as a request allows, and one that is left out is no slash too many: `/v1/sessions//context` is not the session "context".
    Effect.provide(
      HttpRouter.setRouterConfig({ maxParamLength: maxHeaderSize, ignoreDuplicateSlashes: false }),
    ),
  )
}

/** Listens, and answers with the address. */
const listen = (server: Server, { port = 4710, host = "127.0.0.1" }: ServeOptions) =>
  Effect.async<string, ServeError>((resume) => {
    server.once("error", ({ code, message }: NodeJS.ErrnoException) => {
      const why = code === "EADDRINUSE" ? `port ${port} is taken; --port names another one` : message
      resume(Effect.fail(new ServeError(`the service cannot listen: ${why}`)))
    })
    server.listen(port, host, backlog, () => {
      const { address, port: taken } = server.address() as AddressInfo
      resume(Effect.succeed(`http://${address.includes(":") ? `[${address}]` : address}:${taken}`))
    })
  })

/**
 * Tells a client that waits for it to go on with its body (`100 Continue`) once somebody reads the body: not before token, right and length have
 * passed. Until then the connection ends with the answer: what comes behind it could be the body or the next request.
 */
const continueOnceRead = (request: IncomingMessage, response: ServerResponse): void => {
  const { shouldKeepAlive } = response
  const read = request.read.bind(request)
  response.shouldKeepAlive = false
  request.read = (size) => {
    request.read = read
    if (!response.headersSent) {
      response.writeContinue()
      response.shouldKeepAlive = shouldKeepAlive
    }
    return read(size) as unknown
  }
}

/** Takes a target that is a whole address apart, as clients send it to a proxy: its host counts, whatever the header says (RFC 9112, 3.2.2). */
const takeApart = (request: IncomingMessage): void => {
  const [, host, rest = ""] = /^https?:\/\/([^/?#]*)(.*)$/is.exec(request.url ?? "") ?? []
  if (host === undefined) return
  request.headers.host = host
  request.url = rest.startsWith("/") ? rest : `/${rest}`
}

/**
 * Makes a listener that ends when it is told to: what has begun is finished within a time, and what goes on then is cut off.
 * Connections without a request are closed: Node waits for those that have not sent any.
 */
const makeListener = (
  handler: RequestListener,
  { shutdown, maxConnections }: ReturnType<typeof limitsOf>,
) => {
  const server = createServer(patience)
  server.maxConnections = maxConnections
  // All fields that their size allows: Node would leave out those behind the thousandth, as if they had not been sent.
  server.maxHeadersCount = 0
  const underWay = new Set<ServerResponse>()
  const bySocket = new WeakMap<Socket, Set<ServerResponse>>()
  /** The responses of a connection that are not over. Of those that wait behind another one, Node tells nobody that their client has left. */
  const responsesOf = (socket: Socket): Set<ServerResponse> => {
    const known = bySocket.get(socket)
    if (known !== undefined) return known
    const begun = new Set<ServerResponse>()
    bySocket.set(socket, begun)
    socket.once("close", () => {
      for (const response of begun) if (response.socket === null) response.destroy().emit("close")
    })
    return begun
  }
  server.on("request", (request, response) => {
    takeApart(request)
    const { socket } = request
    const pipelined = responsesOf(socket)
    if (pipelined.size === mostPipelined) return void socket.destroy()
    for (const all of [underWay, pipelined]) {
      all.add(response)
      response.once("close", () => all.delete(response))
    }
    // A client that has gone is no failure of the process, whoever writes to it.
    response.on("error", () => undefined)
    handler(request, response)
  })
  server.on("checkContinue", (request, response) => {
    continueOnceRead(request, response)
    server.emit("request", request, response)
  })
  const bounded = boundBacklog(server, underWay)
  const isQuiet = Effect.sync(() => underWay.size === 0)
  const end = Effect.sync(() => void server.close()).pipe(
    Effect.zipRight(
      Effect.repeat(isQuiet, { until: (quiet) => quiet, schedule: Schedule.spaced("20 millis") }),
    ),
    Effect.timeout(shutdown),
    // The end of a scope is not interrupted, and what takes too long has to be.
    Effect.interruptible,
    Effect.ignore,
    Effect.zipRight(Effect.sync(() => server.closeAllConnections())),
  )
  return { server, bounded, end }
}

/**
 * Serves a memory over HTTP.
 *
 * @param options - the store, where to listen, who may use it, and the limits; see {@link ServeOptions}
 * @returns the address, and how to end the service
 * @throws ServeError: an option is not allowed, or the port cannot be listened on
 * @throws UnknownName, SettingsError: there is no such store or strategy, or a setting is out of its range
 * @throws LogError: the store cannot be opened
 *
 * @example
 * ```ts
 * import { serve } from "@memfold/server"
 *
 * const { url, close } = await serve({ store: "sqlite:chats.db", port: 4710 })
 * console.log(url)
 * await close()
 * ```
 */
export const serve = async (options: ServeOptions = {}): Promise<Service> => {
  checkOptions(options)
  const scope = await Effect.runPromise(Scope.make())
  let isClosing = false
  // A span for each request and each step of it costs more than the checks of the guard, and without a collector, nobody sees it.
  const isTraced = options.otlp !== undefined
  const start = Effect.gen(function* () {
    const served = yield* openMemory(options)
    const closing = yield* Deferred.make<void>()
    const serving: Serving = {
      ...served,
      settings: serviceSettings(strategySetting(options), options),
      closing: Deferred.await(closing),
      isClosing: () => isClosing,
      spend: options.spend,
      subscribers: makeRoom(limitsOf(options).maxSubscribers),
      groups: makeGroupLimit(options.maxSessions ?? null),
      timeout: limitsOf(options).timeout,
    }
    const handler = yield* NodeHttpServer.makeHandler(
      yield* application({ ...served, ...serving }, options),
    ).pipe(Effect.locally(HttpMiddleware.currentTracerDisabledWhen, () => !isTraced))
    const { server, bounded, end } = makeListener(handler, limitsOf(options))
    const url = yield* listen(server, options)
    yield* Effect.forkScoped(bounded)
    yield* Effect.addFinalizer(() => Effect.zipRight(Deferred.succeed(closing, undefined), end))
    return url
  })
  // Open as long as the scope: what is left is sent once everything else has ended.
  const told = Effect.flatMap(Layer.toRuntime(telemetry(options)), (runtime) =>
    Effect.provide(start, runtime),
  ).pipe(
    Effect.withTracerEnabled(isTraced),
    Effect.provide(logging(options)),
    Effect.provide(NodeHttpServer.layerContext),
    Scope.extend(scope),
  )
  const close = async (): Promise<void> => {
    isClosing = true
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }
  const exit = await Effect.runPromiseExit(told)
  if (Exit.isSuccess(exit)) return { url: exit.value, close }
  await close()
  throw Cause.squash(exit.cause)
}
