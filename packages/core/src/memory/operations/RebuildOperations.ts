/** Learning facts anew. */
import type { FactsDiff, LayersError } from "../../layers/MemoryLayers.js"
import type { RebuildFactsOptions, RebuiltFactsOptions } from "../facts.js"
import type { MemoryError } from "../MemoryOptions.js"
import type { Answer, Face } from "./Face.js"

/** Facts that are learned anew beside those in force: to be looked at, and then taken or dropped. */
export interface RebuildOperations<F extends Face> {
  /**
   * Learns the facts of an owner anew, batch by batch, from all turns that were learned from before, beside the facts in force: these
   * stay as they are until `takeFacts`. It takes the place of what was learned anew before.
   *
   * @param id - the owner, an id of the application; with `of: "session"`, a session that has no owner
   * @param options - `extractor`: that of the memory by default; `of`: what the id names
   * @returns what would come, go and change, with quotes
   * @throws LayersError: the memory layers or the extractor failed; nothing is kept then
   *
   * @example
   * ```ts
   * const { come, go, change } = await memory.rebuildFacts("ann")
   * for (const { text, sources } of come) console.log("+", text, sources?.[0]?.quote)
   * console.log("fewer", go.length, "others", change.length)
   * await memory.takeFacts("ann")
   * ```
   */
  rebuildFacts(id: string, options?: RebuildFactsOptions): Answer<F, FactsDiff, MemoryError | LayersError>
  /**
   * What would come, go and change if the facts that were learned anew were taken now.
   *
   * @param id - the owner; with `of: "session"`, a session that has none
   * @param options - `of`: what the id names
   * @returns `null` if none were learned anew, or they were taken or dropped
   * @throws LayersError: the memory layers failed
   *
   * @example
   * ```ts
   * console.log((await memory.diffFacts("ann"))?.go.length)
   * ```
   */
  diffFacts(id: string, options?: RebuiltFactsOptions): Answer<F, FactsDiff | null, MemoryError | LayersError>
  /**
   * Puts what was learned anew in the place of the facts in force. What somebody has ended, retracted or confirmed stays so, and what was
   * learned since stays. Taking that was cut off goes on when this is called again.
   *
   * @param id - the owner; with `of: "session"`, a session that has none
   * @param options - `of`: what the id names
   * @returns `false` if nothing was learned anew
   * @throws LayersError: the memory layers failed
   *
   * @example
   * ```ts
   * await memory.rebuildFacts("ann")
   * await memory.takeFacts("ann")
   * ```
   */
  takeFacts(id: string, options?: RebuiltFactsOptions): Answer<F, boolean, MemoryError | LayersError>
  /**
   * Drops what was learned anew: the facts in force stay.
   *
   * @param id - the owner; with `of: "session"`, a session that has none
   * @param options - `of`: what the id names
   * @returns `false` if nothing was learned anew
   * @throws LayersError: the memory layers failed
   *
   * @example
   * ```ts
   * await memory.rebuildFacts("ann")
   * await memory.dropFacts("ann")
   * ```
   */
  dropFacts(id: string, options?: RebuiltFactsOptions): Answer<F, boolean, MemoryError | LayersError>
}
