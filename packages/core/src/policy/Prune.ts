/**
 * Which outputs of tools are shortened in messages that stay raw (reference design 3). The log keeps them whole.
 *
 * It happens together with a compaction and never in between: contexts stay prefixes of each other, and provider
 * prompt caches keep hitting (law L13).
 */
import type { PrunedOutput } from "../event/Event.js"
import type { Keep } from "./Keep.js"

/** One rule: outputs longer than `above` characters, in messages older than `keep` keeps, are cut down. */
export interface Prune {
  readonly method: PrunedOutput["method"]
  /** The newest messages, whose outputs stay whole. */
  readonly keep: Keep
  readonly above: number
  /** How many characters of its beginning and of its end are left. */
  readonly head: number
  readonly tail: number
}

/** Amounts of characters are whole numbers; what is none counts as none. */
const whole = (amount: number): number => (amount > 0 ? Math.floor(amount) : 0)

/**
 * Leaves the two ends of long outputs, and says how much is missing between them.
 *
 * - `keep`: whose outputs stay whole
 * - `above` (4,000 characters), `head` (1,500) and `tail` (1,500): as in OpenClaw, which the reference names
 */
export const softTrim = (options: {
  readonly keep: Keep
  readonly above?: number
  readonly head?: number
  readonly tail?: number
}): Prune => {
  const { above, head, tail, ...rest } = { above: 4_000, head: 1_500, tail: 1_500, ...options }
  return { method: "soft-trim", above: whole(above), head: whole(head), tail: whole(tail), ...rest }
}

/** Leaves a note in place of outputs longer than `above` characters (200). */
export const hardClear = (options: { readonly keep: Keep; readonly above?: number }): Prune => ({
  method: "hard-clear",
  above: 200,
  ...options,
  head: 0,
  tail: 0,
})

/** What stands in a context where something was cut out. */
export const note = (method: Prune["method"], cut: number): string =>
  method === "hard-clear"
    ? `[Old tool output cleared: ${cut} characters]`
    : `\n[… ${cut} characters of tool output cut …]\n`
