/** The port of what finds facts: it is shown rounds that have ended, and says what is worth remembering of them. */
import type { Event, MemoryLayers, Session } from "@memfold/core"
import type { Effect } from "effect"

/** The rounds to look through, and the facts in force before them. */
export interface Material extends MemoryLayers.Rounds {
  readonly known: ReadonlyArray<Session.KnownFact>
}

/**
 * A fact as it was found. One with the layer and `key` of a known fact takes its place; one that says the same as a
 * known fact is not learned again. `from` and `to` are the messages it was said in, where they are known more
 * closely than the whole range.
 */
export interface NewFact extends Pick<Event.Fact, "layer" | "kind" | "text"> {
  readonly key?: string | undefined
  readonly from?: number | undefined
  readonly to?: number | undefined
}

/**
 * Finds facts. It may be called again for the same rounds, when its answer got lost; a failure costs these facts
 * and nothing else (law L8). An extractor of your own is an object with these two fields.
 *
 * @example
 * ```ts
 * import { Message } from "@memfold/core"
 * import type { Extractor } from "@memfold/layers"
 * import { Effect } from "effect"
 *
 * const tickets: Extractor = {
 *   name: "tickets",
 *   extract: ({ messages }) =>
 *     Effect.sync(() =>
 *       messages
 *         .flatMap((message) => Message.text(message).match(/\bTICKET-\d{1,9}\b/g) ?? [])
 *         .map((ticket) => ({ layer: "scope", kind: "ticket", text: `Worked on ${ticket}`, key: ticket })),
 *     ),
 * }
 * ```
 */
export interface Extractor {
  /** For logs and error texts. */
  readonly name: string
  readonly extract: (material: Material) => Effect.Effect<ReadonlyArray<NewFact>, MemoryLayers.LayersError>
}

/**
 * The kinds that are recalled whatever the question is: who the user is, and what they asked for once and for all.
 */
export const standingKinds: ReadonlyArray<string> = ["profile", "instruction"]
