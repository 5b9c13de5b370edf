/**
 * Which outputs of tools are shortened in messages that stay raw (reference design 3). The log keeps them whole.
 *
 * It happens together with a compaction and never in between: contexts stay prefixes of each other, and provider
 * prompt caches keep hitting (law L13).
 */
import type { PrunedOutput } from "../event/Event.js"
import { results } from "../message/Message.js"
import type { SessionState } from "../session/SessionState.js"
import { clampToBoundary, withoutPinned } from "../session/SessionState.js"
import type { Keep } from "./Keep.js"
import type { PolicyInput } from "./PolicyInput.js"

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

/** A tool output to shorten. The compaction counts the tokens its message takes afterwards. */
export type PlannedPrune = Omit<PrunedOutput, "tokens">

/** The outputs that the rules shorten, in the messages from index `from` on. Where several rules fit, the last one applies. */
export const planPruning = (
  rules: ReadonlyArray<Prune>,
  state: SessionState,
  view: PolicyInput,
  from: number,
): ReadonlyArray<PlannedPrune> => {
  const before = rules.map((rule) => clampToBoundary(state, rule.keep.from(view)))
  return withoutPinned(state.uncovered.slice(from, Math.max(from, ...before))).flatMap((entry) => {
    const rule = rules.findLast((_rule, position) => entry.index < (before[position] ?? 0))
    if (rule === undefined || results(entry.message).length === 0) return []
    return entry.message.parts.flatMap((part, position) => {
      const cut = part.type === "tool-result" ? cutOf(part.output, rule) : null
      return cut === null ? [] : [{ index: entry.index, part: position, ...cut }]
    })
  })
}

/**
 * How an output is cut down by a rule; `null` where that would not make it shorter. Nor is less cut out than a note
 * may take: that is all there is between the ends of what was cut before.
 */
const cutOf = (output: string, rule: Prune): Omit<PlannedPrune, "index" | "part"> | null => {
  if (output.length <= rule.above) return null
  // Never between the two halves of a surrogate pair.
  const head = isHighSurrogate(output, rule.head - 1) ? rule.head - 1 : rule.head
  const splitsPair = rule.tail > 0 && isHighSurrogate(output, output.length - rule.tail - 1)
  const tail = splitsPair ? rule.tail - 1 : rule.tail
  const cut = output.length - head - tail
  if (cut <= note(rule.method, Number.MAX_SAFE_INTEGER).length) return null
  return { method: rule.method, originalLength: output.length, head, tail, note: note(rule.method, cut) }
}

const isHighSurrogate = (text: string, index: number): boolean => {
  const unit = text.charCodeAt(index)
  return unit >= 0xd800 && unit <= 0xdbff
}
