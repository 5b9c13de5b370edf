/**
 * Pruning: which tool outputs are shortened in uncovered messages. The log keeps them whole.
 *
 * Outputs are only shortened together with a compaction. Between two compactions, each context is a prefix of the next
 * (law L13), so provider prompt caches keep hitting.
 */
import type { PrunedOutput } from "../event/Event.js"
import { results } from "@memfold/message/Message"
import { type SessionState, clampToBoundary, withoutPinned } from "../session/SessionState.js"
import type { Keep } from "./Keep.js"
import { checkArguments } from "../options/OptionGroup.js"
import { clear, trim } from "./parts.js"
import type { PolicyInput } from "./PolicyInput.js"

/** A rule that shortens long tool outputs in messages before the tail of `keep`. Make one with {@link softTrim} or {@link hardClear}. */
export interface Prune {
  /** How outputs are shortened; stored with each of them. */
  readonly method: PrunedOutput["method"]
  readonly keep: Keep
  /** Shortens outputs of more than this many characters. */
  readonly above: number
  /** How many characters of the start (`head`) and of the end (`tail`) stay. */
  readonly head: number
  readonly tail: number
}

/**
 * Keeps the start and the end of long outputs, with a note between them that says how much was cut.
 *
 * @param options - `keep`: which messages keep their outputs whole. `above`: shortens outputs of more than this many
 *   characters (4,000). `head`, `tail`: how many characters of the start and of the end stay (1,500 each). All three
 *   are 0 or more.
 * @throws InvalidOption: an argument is missing, or not allowed
 *
 * @example
 * ```ts
 * import { Keep, Prune } from "@memfold/core"
 *
 * export const prune = [Prune.softTrim({ keep: Keep.lastTurns(2), above: 8_000 })]
 * ```
 */
export const softTrim = (options: {
  readonly keep: Keep
  readonly above?: number
  readonly head?: number
  readonly tail?: number
}): Prune => {
  checkArguments("Prune.softTrim", { options: trim }, { options })
  const { keep, above = 4_000, head = 1_500, tail = 1_500 } = options
  return { method: "soft-trim", keep, above, head: Math.floor(head), tail: Math.floor(tail) }
}

/**
 * Replaces long outputs with a note that says how much was cut. An output that no model has answered yet is left to the
 * other rules: clearing it would lose what the model asked for.
 *
 * @param options - `keep`: which messages keep their outputs. `above`: replaces outputs of more than this many
 *   characters (200).
 * @throws InvalidOption: an argument is missing, or not allowed
 *
 * @example
 * ```ts
 * import { Keep, Prune } from "@memfold/core"
 *
 * export const prune = [
 *   Prune.softTrim({ keep: Keep.lastTurns(2) }),
 *   Prune.hardClear({ keep: Keep.lastTurns(10) }),
 * ]
 * ```
 */
export const hardClear = (options: { readonly keep: Keep; readonly above?: number }): Prune => {
  checkArguments("Prune.hardClear", { options: clear }, { options })
  const { keep, above = 200 } = options
  return { method: "hard-clear", keep, above, head: 0, tail: 0 }
}

/** The note in place of `cut` characters of an output. */
export const note = (method: Prune["method"], cut: number): string =>
  method === "hard-clear"
    ? `[Old tool output cleared: ${cut} characters]`
    : `\n[… ${cut} characters of tool output cut …]\n`

/** A tool output to shorten. The compaction adds the tokens that its message takes afterwards. */
export type PlannedPrune = Omit<PrunedOutput, "tokens">

/** The outputs that the rules shorten in the messages from index `from` on. If several rules match, the last one applies. */
export const planPruning = (
  rules: ReadonlyArray<Prune>,
  state: SessionState,
  input: PolicyInput,
  from: number,
): ReadonlyArray<PlannedPrune> => {
  const before = rules.map((rule) => clampToBoundary(state, rule.keep.from(input)))
  const shownTo = newestAnswer(state)
  return withoutPinned(state.uncovered.slice(from, Math.max(from, ...before))).flatMap((entry) => {
    const rule = rules.findLast(
      ({ method }, position) =>
        entry.index < (before[position] ?? 0) && (method !== "hard-clear" || entry.index < shownTo),
    )
    if (rule === undefined || results(entry.message).length === 0) return []
    return entry.message.parts.flatMap((part, position) => {
      const cut = part.type === "tool-result" ? cutOf(part.output, rule) : null
      return cut === null ? [] : [{ index: entry.index, part: position, ...cut }]
    })
  })
}

/** The index of the newest uncovered message of the assistant: its model has seen everything before it. */
const newestAnswer = ({ uncovered, coveredTo, total }: SessionState): number => {
  for (let index = total - 1; index >= coveredTo; index--) {
    if (uncovered.at(index)?.message.role === "assistant") return index
  }
  return coveredTo
}

/**
 * How a rule shortens an output; `null` if it would not become shorter. At least as many characters are cut as the
 * longest note has. Otherwise an output that was shortened before would be shortened again by its own note.
 */
const cutOf = (output: string, rule: Prune): Omit<PlannedPrune, "index" | "part"> | null => {
  if (output.length <= rule.above) return null
  // A cut never divides a surrogate pair.
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
