/**
 * Reading the body of a request. The platform would end the connection at a body that is too large or too slow, before anybody is told
 * why.
 */
import { HttpMethod, HttpServerRequest } from "@effect/platform"
import { toIncomingMessage } from "@effect/platform-node/NodeHttpServerRequest"
import { problem, type Problem } from "@memfold/client/api"
import { Effect } from "effect"
import type { IncomingMessage } from "node:http"

const tooLarge = (most: number): Problem =>
  problem(413, "TooLarge", `A body has at most ${most} bytes; append in several requests`)

const notJson = problem(415, "NotJson", "Send JSON, and say so: Content-Type: application/json")
const notText = problem(400, "NotUtf8", "The body is not UTF-8 text; send JSON in UTF-8")
/** How deep JSON may be: what is deeper would overflow the stack of whoever looks at it. */
const deepest = 500
const tooDeep = problem(
  400,
  "TooDeep",
  `The body has lists or objects in each other, more than ${deepest} deep`,
)
const broken = problem(400, "BrokenBody", "The body ended before its end")

/** Whether a text of JSON is deeper than is allowed. */
const isTooDeep = (text: string): boolean => {
  let [depth, inText] = [0, false]
  for (let at = 0; at < text.length; at++) {
    const one = text[at]
    if (inText && one === "\\") at++
    else if (one === '"') inText = !inText
    else if (inText) continue
    else if (one === "[" || one === "{") depth++
    else if (one === "]" || one === "}") depth--
    if (depth > deepest) return true
  }
  return false
}

/** The bytes of a body, up to so many. The rest is left unread. */
const bytesOf = (source: IncomingMessage, most: number): Effect.Effect<Buffer, Problem> =>
  Effect.async((resume) => {
    const chunks: Array<Buffer> = []
    let size = 0
    const stop = (): void => {
      source.off("data", onData).off("end", onEnd).off("close", onClose)
      // Whoever reads it no more must not fail because of it.
      source.on("error", () => undefined).pause()
    }
    const onData = (chunk: Buffer): void => {
      size += chunk.length
      chunks.push(chunk)
      if (size > most) {
        stop()
        resume(Effect.fail(tooLarge(most)))
      }
    }
    const onEnd = (): void => {
      stop()
      resume(Effect.succeed(Buffer.concat(chunks, size)))
    }
    const onClose = (): void => {
      stop()
      resume(Effect.fail(broken))
    }
    source.on("error", () => undefined)
    source.on("data", onData).once("end", onEnd).once("close", onClose)
    return Effect.sync(stop)
  })

/** The text of the body of a request: JSON in UTF-8, at most so many bytes. Empty without a body. */
const textOf = (request: HttpServerRequest.HttpServerRequest, most: number): Effect.Effect<string, Problem> =>
  Effect.gen(function* () {
    const { "content-length": length = "0", "content-type": type = "application/json" } = request.headers
    if (Number(length) > most) return yield* Effect.fail(tooLarge(most))
    // The platform interrupts handlers only, and a body that never comes has to be left.
    const bytes = yield* Effect.interruptible(bytesOf(toIncomingMessage(request), most))
    if (bytes.length === 0) return ""
    if (!/^\s*application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type)) return yield* Effect.fail(notJson)
    const text = yield* Effect.try({
      try: () => new TextDecoder("utf-8", { fatal: true }).decode(bytes),
      catch: () => notText,
    })
    return isTooDeep(text) ? yield* Effect.fail(tooDeep) : text
  })

/** Gives an application a request whose body is read already. */
export const withBody =
  (most: number) =>
  <A, E, R>(
    app: Effect.Effect<A, E, R>,
  ): Effect.Effect<A, E | Problem, R | HttpServerRequest.HttpServerRequest> =>
    Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      if (!HttpMethod.hasBody(request.method)) return yield* app
      const text = yield* textOf(request, most)
      const read = Object.create(request, {
        text: { value: Effect.succeed(text) },
        headers: { value: { ...request.headers, "content-type": "application/json" } },
      }) as HttpServerRequest.HttpServerRequest
      return yield* Effect.provideService(app, HttpServerRequest.HttpServerRequest, read)
    })
