/** Answering for what is kept: erasing, holding, and telling who did what. */
import type { AuditReport } from "../../audit/audit.js"
import type { LayersError } from "../../layers/MemoryLayers.js"
import type { Held, Receipt } from "@memfold/log/EventLog"
import type { VectorIndexError } from "@memfold/log/VectorIndex"
import type { EraseOptions, NotSealed } from "../govern.js"
import type { MemoryError } from "../MemoryOptions.js"
import type { Answer, Face } from "./Face.js"

/** Erasures, holds, and the audit. */
export interface GovernanceOperations<F extends Face> {
  /**
   * Erases an owner from every copy of a sealed store, backups included: the keys are out of use at once, so contexts, searches and
   * exports of the sessions are refused, and lists show no title. After a time the keys are destroyed; until then, `restore` takes it
   * back. Facts that were learned about a project or workspace are deleted at once. It needs a store with `@memfold/sealed`.
   *
   * @param owner - the owner, an id of the application
   * @param options - `reason`: why; `after`: how long it can be taken back, 30 days by default, 0 for not at all
   * @returns the receipt: sessions with the digests of their sealed records, keys, who and why, and what it does not prove
   * @throws NotSealed: the store seals nothing
   * @throws Held: the owner or a session is held; nothing was erased
   * @throws LayersError: facts could not be deleted; erase again
   * @throws VectorIndexError: vectors could not be deleted; erase again
   *
   * @example
   * ```ts
   * const { sessions } = await memory.erase("ann", { reason: "asked for", after: "30 days" })
   * console.log(`${sessions.length} sessions are erased`)
   * ```
   */
  erase(
    owner: string,
    options: EraseOptions,
  ): Answer<F, Receipt, MemoryError | NotSealed | Held | LayersError | VectorIndexError>
  /**
   * Takes an erasure back whose keys are not destroyed yet.
   *
   * @param owner - the owner
   * @param options - `reason`: why
   * @returns how many keys are in use again; 0 if they are destroyed
   * @throws NotSealed: the store seals nothing
   *
   * @example
   * ```ts
   * console.log(await memory.restore("ann", { reason: "by mistake" }))
   * ```
   */
  restore(owner: string, options?: { readonly reason?: string }): Answer<F, number, MemoryError | NotSealed>
  /**
   * Holds a session: nothing erases, deletes, archives or redacts it until the hold ends. It needs a store with `@memfold/sealed`.
   *
   * @param session - the id of the session
   * @param reason - why, as refusals name it; `null` ends the hold
   * @throws NotSealed: the store seals nothing
   *
   * @example
   * ```ts
   * await memory.hold("chat-1", "case 17")
   * ```
   */
  hold(session: string, reason: string | null): Answer<F, void, MemoryError | NotSealed>
  /**
   * Holds an owner: nothing erases, deletes, archives or redacts one of the sessions until the hold ends.
   *
   * @param owner - the owner
   * @param reason - why, as refusals name it; `null` ends the hold
   * @throws NotSealed: the store seals nothing
   *
   * @example
   * ```ts
   * await memory.holdOf("ann", "case 17")
   * ```
   */
  holdOf(owner: string, reason: string | null): Answer<F, void, MemoryError | NotSealed>
  /**
   * Who did what with a session: appends by role, edits, redactions, reverts, summaries by which summarizer, and what the trail of the
   * session and of its owner has: exports, erasures, holds, and reads where the memory has `audit: { reads: true }`. It has no text of
   * the conversation, and still answers once the session is erased or deleted.
   *
   * @param session - the id of the session
   * @returns the entries with their actors, how often each was done, and whether the chains of the trails hold
   *
   * @example
   * ```ts
   * const { entries, trails } = await memory.audit("chat-1")
   * for (const { time, act, actor } of entries) console.log(new Date(time).toISOString(), act, actor?.id ?? "-")
   * console.log(trails.every(({ brokenAt }) => brokenAt === null))
   * ```
   */
  audit(session: string): Answer<F, AuditReport, MemoryError>
  /**
   * Who did what with an owner and with each session of the owner, as `audit` tells it.
   *
   * @param owner - the owner
   * @returns the entries, how often each was done, and the checks of the trails
   *
   * @example
   * ```ts
   * console.log((await memory.auditOf("ann")).totals)
   * ```
   */
  auditOf(owner: string): Answer<F, AuditReport, MemoryError>
}
