/** The extractor port: from turns that have ended to facts worth remembering. */
import type { Event, MemoryLayers } from "@memfold/core"
import type { Effect } from "effect"
import type { Declarations } from "./Fact.js"

/** The turns to read, the facts that are true before them, and the facts that are wanted. Results of tools are empty unless asked for. */
export interface Material extends MemoryLayers.CompletedTurns {
  readonly known: ReadonlyArray<MemoryLayers.FactInTime>
  /** The facts that the application has declared; `null` if it takes any. */
  readonly declared: Declarations | null
}

/**
 * A fact as an extractor finds it, about the user unless it says a `layer`. It is taken only if each quote stands in a message that was
 * read, byte for byte (in NFC). A fact about the user needs the user's own words.
 *
 * - `quote`: what was said, word for word; the value may say it in other words
 * - `kind`: a word for what it is; `fact` by default
 * - `subject`: whom it is about; the user by default
 * - `predicate`, `value`: what is said, in any JSON; by default the kind and the text
 * - `text`: the fact as a line for a context; by default the predicate and the value
 * - `key`: the subject has one value of it at a time: it ends a known fact of the same layer, subject and key
 * - `validFrom`, `validUntil`: when it is true if that was said, in milliseconds since the epoch
 * - `ended`: a known fact is no longer true: the one of this subject, predicate and, if there is one, value
 * - `from`, `to`: the message indexes `[from, to)` it comes from, in which its quotes stand
 */
export interface NewFact extends Partial<
  Pick<
    Event.Fact,
    "layer" | "kind" | "text" | "key" | "subject" | "predicate" | "value" | "validFrom" | "validUntil"
  >
> {
  readonly quote: string | ReadonlyArray<string>
  readonly ended?: boolean | undefined
  readonly from?: number | undefined
  readonly to?: number | undefined
}

/** What an extractor has found, and the tokens that it took, if it knows them. */
export interface Found {
  readonly facts: ReadonlyArray<NewFact>
  readonly usage?: MemoryLayers.Learned["usage"] | undefined
}

/**
 * Finds facts. It may be called again for the same turns, after a crash for example. If it fails, these facts are
 * missing and everything else goes on. Your own extractor is an object with a name and a function; `functionExtractor` makes one of a
 * plain function.
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
 *         .map((ticket) => ({ layer: "scope", predicate: "ticket", value: ticket, quote: ticket })),
 *     ),
 * }
 * ```
 */
export interface Extractor {
  /** For logs and error texts, and in the facts that it finds. */
  readonly name: string
  /** Changes when it may find other facts; `"1"` by default. */
  readonly version?: string | undefined
  /** Whether it costs nothing, so that `spend` does not count it; `false` by default. */
  readonly isFree?: boolean
  /** When it is asked unless the layers say so: at each turn (default), or in one batch before turns are compacted. */
  readonly learnAt?: "turn" | "compaction" | undefined
  readonly extract: (
    material: Material,
  ) => Effect.Effect<Found | ReadonlyArray<NewFact>, MemoryLayers.LayersError>
}

/** An extractor as facts name it. */
export const byOf = ({ name, version = "1" }: Pick<Extractor, "name" | "version">): Event.FoundBy => ({
  extractor: name,
  version,
})

/** The kinds recalled for every question: who the user is, and their standing instructions. */
export const standingKinds: ReadonlyArray<string> = ["profile", "instruction"]
