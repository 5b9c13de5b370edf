/** What is known of a session and of an owner, and the way back. */
import type { LayersError } from "../../layers/MemoryLayers.js"
import type { GuardRefused } from "../../guard/Guard.js"
import type { FactInTime } from "../../layers/inTime.js"
import type { FactsOptions, RemoveFactOptions } from "../facts.js"
import type { MemoryError } from "../MemoryOptions.js"
import type { Answer, Face } from "./Face.js"

/** Facts of memory layers: reading them at any time, and changing them. */
export interface FactOperations<F extends Face> {
  /**
   * The facts of a session, about its user and its scope, that are true now. In background mode, they appear soon after their turn.
   *
   * @param session - the id of the session
   * @param options - `at`: facts that are true at another time, in milliseconds since the epoch, or `null` for all with their times;
   *   `asOfVersion`: as they were known at a version of the session
   * @returns the facts, with their quotes; empty without memory layers
   * @throws LayersError: the memory layers failed
   *
   * @example
   * ```ts
   * for (const { layer, text, sources } of await memory.facts("chat-1")) console.log(layer, text, sources?.[0]?.quote)
   * ```
   */
  facts(
    session: string,
    options?: FactsOptions,
  ): Answer<F, ReadonlyArray<FactInTime>, MemoryError | LayersError>
  /**
   * The facts about an owner, from all sessions of theirs.
   *
   * @param owner - the owner, an id of the application
   * @param options - as in `facts`; `asOfVersion` is a version of the log with the facts about the owner
   * @returns the facts, with their quotes; empty without memory layers. A memory with declared `facts` answers with an object of them,
   *   typed by their schemas
   * @throws LayersError: the memory layers failed
   *
   * @example
   * ```ts
   * const then = await memory.factsOf("ann", { at: Date.UTC(2025, 0, 1) })
   * for (const { predicate, value } of then) console.log(predicate, value)
   * ```
   */
  factsOf(owner: string, options?: FactsOptions): Answer<F, F["ownedFacts"], MemoryError | LayersError>
  /**
   * Removes a fact that is wrong, over, or must not be known. It is no longer recalled into contexts. To erase the message that it was
   * learned from too, `redact` that.
   *
   * @param session - the id of the session
   * @param fact - the id of the fact, as `facts` returns it
   * @param options - `as`: `"retracted"` (default: it was never true), `"ended"` (it was true until `until`, now by default) or
   *   `"redacted"` (it is erased from the log); `reason`: a text that is kept in the log
   * @returns `false` if the session has no such fact, or there are no memory layers
   * @throws LayersError: the memory layers failed
   * @throws GuardRefused: the guard of the memory refused the reason
   *
   * @example
   * ```ts
   * const wrong = (await memory.facts("chat-1")).find(({ text }) => text.includes("Graz"))
   * if (wrong !== undefined) await memory.removeFact("chat-1", wrong.id, { as: "ended", reason: "moved" })
   * ```
   */
  removeFact(
    session: string,
    fact: string,
    options?: RemoveFactOptions,
  ): Answer<F, boolean, MemoryError | LayersError | GuardRefused>
  /**
   * Notes that somebody has judged a fact to be true. It is not left out of contexts for being old.
   *
   * @param session - the id of the session
   * @param fact - the id of the fact
   * @returns `false` if there is none, or it was confirmed before
   * @throws LayersError: the memory layers failed
   *
   * @example
   * ```ts
   * const [fact] = await memory.facts("chat-1")
   * if (fact !== undefined) await memory.confirmFact("chat-1", fact.id)
   * ```
   */
  confirmFact(session: string, fact: string): Answer<F, boolean, MemoryError | LayersError>
  /**
   * Takes back the newest end or retraction of a fact.
   *
   * @param session - the id of the session
   * @param fact - the id of the fact
   * @returns `false` if there is none
   * @throws LayersError: the memory layers failed
   *
   * @example
   * ```ts
   * const [fact] = await memory.facts("chat-1")
   * if (fact !== undefined && (await memory.removeFact("chat-1", fact.id))) await memory.revertFact("chat-1", fact.id)
   * ```
   */
  revertFact(session: string, fact: string): Answer<F, boolean, MemoryError | LayersError>
}
