/**
 * Branches of a conversation. An edit goes on from an earlier place; what was said behind that place stays in the log, on a
 * branch that the conversation has left. The messages of the branch in force have ascending versions, so they are the log
 * without its gaps.
 */

/**
 * A branch: a way through the conversation from its first message on.
 *
 * - `id`: the version of the event that began it; 0 for the branch that a conversation begins with
 * - `parent`: the id of the branch that it left; `null` for the first one
 * - `from`: the message index at which it left its parent
 */
export interface Branch {
  readonly id: number
  readonly parent: number | null
  readonly from: number
}

/**
 * A branch that the conversation has left.
 *
 * - `version`: the version of the last event before it was left; the state at this version is the state to return to
 * - `total`: how many messages it has, from the first message of the conversation on
 * - `time`: when it was left, in milliseconds since the epoch
 */
export interface LeftBranch extends Branch {
  readonly version: number
  readonly total: number
  readonly time: number
}

/** The versions `[from, to]` of the log: their messages are not on the branch in force. */
export interface Gap {
  readonly from: number
  readonly to: number
}

/** The branch that every conversation begins with. */
export const firstBranch: Branch = { id: 0, parent: null, from: 0 }

/** The gaps of a conversation that begins behind a version: a clear left everything before. */
export const gapsBefore = (version: number): ReadonlyArray<Gap> => [{ from: 1, to: version }]

/** The version behind which the conversation begins: the last clear, or 0. */
export const beginningOf = ([first]: ReadonlyArray<Gap>): number => (first?.from === 1 ? first.to : 0)

/** Whether a clear at a version is in force, and was not taken back. */
export const isCleared = (gaps: ReadonlyArray<Gap>, version: number): boolean => version <= beginningOf(gaps)

/**
 * Whether a message that was appended at a version is on the branch with these gaps.
 *
 * @param gaps the gaps of a state
 * @param version the version of the event that appended the message
 *
 * @example
 * ```ts
 * import { Session } from "@memfold/core"
 *
 * const isInForce = ({ gaps }: Session.SessionState, version: number) => Session.isOnBranch(gaps, version)
 * ```
 */
export const isOnBranch = (gaps: ReadonlyArray<Gap>, version: number): boolean => {
  // The newest gaps are looked at first: mostly, the newest messages are read.
  for (let at = gaps.length - 1; at >= 0; at--) {
    const { from, to } = gaps[at]!
    if (version > to) return true
    if (version >= from) return false
  }
  return true
}

/** The first version whose message can be on one branch and not on the other; `Infinity` if there is none. */
export const divergence = (one: ReadonlyArray<Gap>, other: ReadonlyArray<Gap>): number => {
  for (let at = 0; ; at++) {
    const [first, second] = [one[at], other[at]]
    if (first === undefined || second === undefined)
      return first?.from ?? second?.from ?? Number.POSITIVE_INFINITY
    if (first.from !== second.from) return Math.min(first.from, second.from)
    if (first.to !== second.to) return Math.min(first.to, second.to) + 1
  }
}

/** The gaps of a branch that goes on behind a version, at a version `to`: what is in between is left. */
export const gapsBehind = (gaps: ReadonlyArray<Gap>, version: number, to: number): ReadonlyArray<Gap> => [
  ...gaps.filter(({ from }) => from <= version),
  { from: version + 1, to },
]

/** The ranges of versions, within `[from, to]`, that can have messages of the branch with these gaps. */
export const rangesBetween = (gaps: ReadonlyArray<Gap>, from: number, to: number): ReadonlyArray<Gap> => {
  const ranges: Array<Gap> = []
  let next = from
  for (const gap of gaps) {
    if (gap.to < next) continue
    if (gap.from > to) break
    if (gap.from > next) ranges.push({ from: next, to: gap.from - 1 })
    next = gap.to + 1
  }
  if (next <= to) ranges.push({ from: next, to })
  return ranges
}
