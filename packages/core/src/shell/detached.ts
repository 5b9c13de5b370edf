import { Context, Effect, FiberRef, HashMap, List, Tracer } from "effect"
import { as } from "../event/Actor.js"

/**
 * Work that outlives the request that started it. Its spans are linked to that request's span, where one is given, but
 * are not part of it, and its logs do not carry that request's annotations.
 */
export const detached = <A>(work: Effect.Effect<A>, request?: Tracer.AnySpan): Effect.Effect<A> =>
  (request === undefined ? work : Effect.linkSpans(work, request)).pipe(
    Effect.mapInputContext(
      (context: Context.Context<never>) =>
        Context.omit(Tracer.ParentSpan)(
          context as Context.Context<Tracer.ParentSpan>,
        ) as Context.Context<never>,
    ),
    // Nobody asked for it by name: what a request makes due is the work of the memory.
    as(null),
    Effect.locally(FiberRef.currentLogAnnotations, HashMap.empty()),
    Effect.locally(FiberRef.currentLogSpan, List.empty()),
  )
