/** The body of a request, read by the service itself: the platform would end the connection before anybody is told why. */
import { HttpMethod, type HttpServerRequest } from "@effect/platform"
import { toIncomingMessage } from "@effect/platform-node/NodeHttpServerRequest"
import { problem, type Problem } from "@memfold/client/api"
import { inSteps } from "@memfold/log/breathe"
import { BodyTooLarge, exactText, isTooMuch, measured, mostMeasured, NoRoom, readBody } from "@memfold/proxy"
import { Effect } from "effect"
import { type Room, workOf } from "./limits.js"

const tooLarge = (most: number): Problem =>
  problem(413, "TooLarge", `A body has at most ${most} bytes; append in several requests`)

const notJson = problem(415, "NotJson", "Send JSON, and say so: Content-Type: application/json")
const isEncoded = problem(
  415,
  "ContentEncoding",
  "The body is compressed, and only what goes on to an upstream may be; send it without Content-Encoding",
)
const notText = problem(400, "NotUtf8", "The body is not UTF-8 text; send JSON in UTF-8")
const tooDeep = problem(
  400,
  "TooDeep",
  `The body has lists or objects in each other, more than ${mostMeasured.depth} deep`,
)
const tooMany = problem(
  413,
  "TooMany",
  `A list in a body has at most ${mostMeasured.longest} items, and all its lists and objects together ${mostMeasured.items}; append in several requests`,
)
const busy = problem(503, "Busy", "The service reads as many bodies as it may; send this again in a second")
const broken = problem(400, "BrokenBody", "The body ended before its end")

/** Where the bytes of a body count, and whose they are. */
export interface BodyLimits {
  readonly room: Room
  readonly key: string
}

/** The bytes of a body, up to so many. The rest is left unread. */
export const bytesOf = (
  request: HttpServerRequest.HttpServerRequest,
  most: number,
  { room, key }: BodyLimits,
): Effect.Effect<Buffer, Problem> => {
  let held = 0
  const take = (bytes: number): boolean => {
    if (!room.take(key, bytes)) return false
    held += bytes
    return true
  }
  return Effect.tryPromise({
    try: (signal) => readBody(toIncomingMessage(request), most, signal, take),
    catch: (error) =>
      error instanceof BodyTooLarge ? tooLarge(most) : error instanceof NoRoom ? busy : broken,
    // The platform interrupts handlers only, and a body that never comes has to be left.
  }).pipe(Effect.interruptible, Effect.ensuring(Effect.sync(() => room.give(key, held))))
}

/** A body, and about how many seconds of work it is. */
export interface Body {
  readonly text: string
  readonly work: number
}

const noBody: Body = { text: "", work: 0 }

/** The text of a body: JSON in UTF-8, at most so many bytes. Empty without a body. */
export const textOf = (
  request: HttpServerRequest.HttpServerRequest,
  most: number,
  limits: BodyLimits,
): Effect.Effect<Body, Problem> =>
  Effect.gen(function* () {
    const { "content-type": type = "application/json", "content-encoding": encoding = "identity" } =
      request.headers
    if (!HttpMethod.hasBody(request.method)) return noBody
    if (!/^\s*identity\s*$/i.test(encoding)) return yield* Effect.fail(isEncoded)
    const bytes = yield* bytesOf(request, most, limits)
    if (bytes.length === 0) return noBody
    if (!/^\s*application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type)) return yield* Effect.fail(notJson)
    const text = yield* Effect.try({
      try: () => new TextDecoder("utf-8", { fatal: true }).decode(bytes),
      catch: () => notText,
    })
    const found = yield* inSteps(() => measured(text))
    if (isTooMuch(found)) return yield* Effect.fail(found.depth > mostMeasured.depth ? tooDeep : tooMany)
    return { text: yield* inSteps(() => exactText(text)), work: workOf(text, found) }
  })

/** A request whose body has been read. */
export const withText = (
  request: HttpServerRequest.HttpServerRequest,
  text: string,
): HttpServerRequest.HttpServerRequest =>
  Object.create(request, {
    text: { value: Effect.succeed(text) },
    headers: { value: { ...request.headers, "content-type": "application/json" } },
  }) as HttpServerRequest.HttpServerRequest
