/** The entity's end: what carries out looks, in a process that is a runner of the cluster. */
import { Dispatcher } from "@memfold/log"
import { Cause, Clock, Effect, Exit, Layer, Option, Schedule } from "effect"
import type { Line } from "./line.js"
import type { Settings } from "./Options.js"
import { LookMessage, Session } from "./Session.js"
import { type Cluster, looksIn } from "./storage.js"

/** Asks the storage again while it gives no answer. The look waits meanwhile. */
const insistently = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, never, R> =>
  Effect.orDie(Effect.retry(effect, Schedule.spaced("1 second")))

const failureOf = (session: string, cause: Cause.Cause<Dispatcher.LookFailed>): Dispatcher.LookFailed =>
  Option.getOrElse(
    Cause.failureOption(cause),
    () => new Dispatcher.LookFailed({ session, reason: "the look threw", final: false }),
  )

/** The entities of this process. They are taken out of the cluster when the layer's scope closes. */
export const entities = (
  handle: Parameters<Dispatcher.Queue["work"]>[0],
  line: Line,
  settings: Settings,
): Layer.Layer<never, never, Cluster> => {
  const { attempts, backOff, tidyInterval } = settings
  const looks = looksIn(settings)
  const look = (id: bigint, { session, time: asked, fill, attempt: before }: LookMessage) =>
    Effect.gen(function* () {
      const attempt = before + 1
      yield* insistently(looks.begin(id, new LookMessage({ session, fill, attempt, time: 0 })))
      if (attempt > attempts)
        return yield* new Dispatcher.LookFailed({
          session,
          reason: "every worker that looked was killed or stopped",
          final: true,
        })
      const exit = yield* Effect.exit(handle({ session, time: asked, fill }))
      if (Exit.isSuccess(exit)) return
      const failure = failureOf(session, exit.cause)
      if (failure.final || attempt >= attempts) return yield* failure
      const time = (yield* Clock.currentTimeMillis) + backOff * 2 ** before
      yield* insistently(looks.save(new LookMessage({ session, fill, attempt, time })))
    })
  const build = Effect.map(Effect.context<Cluster>(), (context) =>
    Session.of({
      look: ({ requestId, payload }) =>
        Effect.provide(line.run(payload.fill, look(requestId, payload)), context),
    }),
  )
  const tidying = looks.tidy.pipe(Effect.ignore, Effect.zipRight(Effect.sleep(tidyInterval)), Effect.forever)
  return Layer.merge(
    Session.toLayer(build, { disableFatalDefects: true, maxIdleTime: "10 seconds" }),
    Layer.scopedDiscard(Effect.forkScoped(tidying)),
  )
}
