/** A memory as somebody uses it. */
import { type Effect, Stream } from "effect"
import { as, type Actor, CurrentActor } from "../../event/Actor.js"
import type { Service } from "../MemoryService.js"
import { callOperation, eachOperation, type OperationName } from "./table.js"

/**
 * The operations of a memory as done by an actor, whose name their events carry: for programs whose callers are known by each request.
 *
 * @param memory - the operations that there are to be
 * @param actorOf - who does what is done now; `null` leaves it to the fiber
 *
 * @example
 * ```ts
 * import { Memory } from "@memfold/core"
 *
 * export const ofAnn = ({ append, messages }: Memory.Service) =>
 *   Memory.actedBy({ append, messages }, () => ({ id: "ann", via: "web" }))
 * ```
 */
export const actedBy = <Name extends OperationName>(
  memory: Pick<Service, Name>,
  actorOf: () => Actor | null,
): Pick<Service, Name> =>
  eachOperation((name, { streams = false }) =>
    name in memory
      ? (...given) => {
          const actor = actorOf()
          const done = callOperation(memory, name, given)
          if (actor === null) return done
          return streams
            ? Stream.provideService(done as Stream.Stream<unknown>, CurrentActor, actor)
            : as(actor)(done as Effect.Effect<unknown>)
        }
      : undefined,
  )
