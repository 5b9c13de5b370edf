/** Spans of the engine's operations. They are made only when somebody listens: a span costs as much as a small append. */
import { Context, DefaultServices, Effect, Tracer } from "effect"

/** The tracer of programs that have set none. It keeps spans, and nobody sees them. */
const nobody = Context.get(DefaultServices.liveServices, Tracer.Tracer)

/** Makes a span around an effect if a tracer is set, with the session as an attribute. It takes no stack trace. */
export const span =
  (name: string, session?: string) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, Exclude<R, Tracer.ParentSpan>> =>
    Effect.withFiberRuntime((fiber) =>
      fiber.currentTracer === nobody
        ? (effect as Effect.Effect<A, E, Exclude<R, Tracer.ParentSpan>>)
        : Effect.withSpan(effect, name, {
            ...(session === undefined ? {} : { attributes: { session } }),
            captureStackTrace: false,
          }),
    )
