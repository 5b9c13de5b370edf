/** Who does something: each event may carry it. */
import { Context, Effect, Schema } from "effect"

/**
 * Who does something.
 *
 * - `id`: the person or the program, as the application names it; never a secret
 * - `via`: the token or the program that it came through, by its name
 * - `onBehalfOf`: for whom it was done, if for somebody else
 */
export const Actor = /* @__PURE__ */ Schema.Struct({
  id: Schema.String,
  via: Schema.optional(Schema.String),
  onBehalfOf: Schema.optional(Schema.String),
})
export type Actor = typeof Actor.Type

/** Who does what is done here; `null` if nobody has said so. What the memory does by itself has no actor. */
export class CurrentActor
  extends /* @__PURE__ */ Context.Reference<CurrentActor>()("@memfold/core/CurrentActor", {
    defaultValue: (): Actor | null => null,
  }) {}

/**
 * Says who does something: the events that it appends carry the actor, and the audit tells it.
 *
 * @example
 * ```ts
 * import { Audit, type Memory, Message } from "@memfold/core"
 *
 * export const said = (memory: Memory.Service) =>
 *   memory.append("chat-1", Message.user("Hello")).pipe(Audit.as({ id: "ann", via: "web" }))
 * ```
 */
export const as =
  (actor: Actor | null) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.provideService(effect, CurrentActor, actor)
