/** The extractor port: from turns that have ended to facts worth remembering. */
import type { Event, MemoryLayers, Session } from "@memfold/core"
import type { Effect } from "effect"

/** The turns to read, and the facts active before them. */
export interface Material extends MemoryLayers.CompletedTurns {
  readonly known: ReadonlyArray<Session.KnownFact>
}

/**
 * A fact as an extractor finds it. It replaces a known fact of the same layer and `key`; a fact equal to a known one
 * is not learned again. `from` and `to` are the message indexes `[from, to)` it comes from; by default the whole range
 * that was read.
 */
export interface NewFact extends Pick<Event.Fact, "layer" | "kind" | "text"> {
  readonly key?: string | undefined
  readonly from?: number | undefined
  readonly to?: number | undefined
}

/**
 * Finds facts. It may be called again for the same turns, after a crash for example. If it fails, these facts are
 * missing and everything else goes on. Your own extractor is an object with these two fields.
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
  /** Whether it costs nothing, so that `spend` does not count it; `false` by default. */
  readonly isFree?: boolean
  readonly extract: (material: Material) => Effect.Effect<ReadonlyArray<NewFact>, MemoryLayers.LayersError>
}

/**
 * The kinds recalled for every question: who the user is, and their standing instructions.
 */
export const standingKinds: ReadonlyArray<string> = ["profile", "instruction"]
