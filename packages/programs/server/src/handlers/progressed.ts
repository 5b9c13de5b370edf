/** Work that takes long: a client may ask for lines of JSON that say how far it is, and at last for the answer. */
import { HttpServerRequest, type HttpServerResponse } from "@effect/platform"
import { Duration, Effect, Fiber, Schedule, Schema, Stream } from "effect"
import { jsonLines, jsonLinesType } from "../exported.js"
import { timedOut } from "../guard.js"
import { problemFor } from "../TenantMemory.js"
import { logFailure, type Serving } from "./operation.js"

/** Notes how many messages are done. */
export type Tell = (done: number) => void

/** How often a client hears how far the work is, the first time at once. */
const between = Duration.millis(250)

/**
 * Does the work and returns its answer; or, if the client accepts lines, a response with how far it is until the answer comes. The work
 * ends where the client leaves, and after the longest time that a request may take.
 *
 * @param of - how many messages there are
 */
export const progressed = <A, I, E, R>(
  { timeout }: Pick<Serving, "timeout">,
  tenant: string | null,
  answer: Schema.Schema<A, I>,
  of: number,
  work: (tell: Tell) => Effect.Effect<A, E, R>,
): Effect.Effect<A | HttpServerResponse.HttpServerResponse, E, R | HttpServerRequest.HttpServerRequest> =>
  Effect.gen(function* () {
    const { headers } = yield* HttpServerRequest.HttpServerRequest
    if (headers["accept"]?.includes(jsonLinesType) !== true) return yield* work(() => undefined)
    const context = yield* Effect.context<R>()
    let done = 0
    const begun = work((now) => (done = Math.max(done, now))).pipe(
      Effect.timeoutFail({ duration: timeout, onTimeout: () => timedOut }),
      Effect.tapError(logFailure),
      Effect.provide(context),
      Effect.forkScoped,
    )
    const told = Stream.repeatEffectWithSchedule(
      Effect.sync(() => ({ progress: { done, of } })),
      Schedule.spaced(between),
    )
    const lines = Effect.map(begun, (fiber) =>
      Stream.concat(
        Stream.interruptWhen(told, Fiber.await(fiber)),
        Stream.fromEffect(
          Effect.map(Effect.flatMap(Fiber.join(fiber), Schema.encode(answer)), (found) => ({
            answer: found,
          })),
        ),
      ),
    )
    return jsonLines<unknown, unknown>(Stream.unwrapScoped(lines), (error) => problemFor(tenant, error))
  })
