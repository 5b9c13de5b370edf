/** Spans of the engine's operations. They are made only when somebody listens: a span costs as much as a small append. */
import { Effect, type Tracer } from "effect"

/**
 * The tracer of programs that have set none: it keeps spans, and nobody sees them. It is asked for at run time, because where
 * several copies of Effect are loaded, all have the tracer of the first one.
 */
let nobody: Tracer.Tracer | undefined

/** Makes a span around an effect if a tracer is set, with attributes such as the session. It takes no stack trace. */
export const span =
  (name: string, attributes: Readonly<Record<string, string>> = {}) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, Exclude<R, Tracer.ParentSpan>> =>
    Effect.tracerWith((tracer) =>
      tracer === (nobody ??= Effect.runSync(Effect.tracer))
        ? (effect as Effect.Effect<A, E, Exclude<R, Tracer.ParentSpan>>)
        : Effect.withSpan(effect, name, { attributes, captureStackTrace: false }),
    )
