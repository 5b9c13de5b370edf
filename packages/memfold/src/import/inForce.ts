/**
 * Which summaries an older program had in force, one step after the other.
 *
 * Memfold has one active summary, which reaches from the start without a hole. Older programs had tables in
 * which anything could stand: several active summaries for one stretch after the other, each newer one for
 * the whole conversation once more, ranges with holes in them. Here they are put in order; what cannot be
 * is left out, with the reason, and its messages stay raw.
 */
import type { Message } from "@memfold/core"
import type { OldState, OldSummary } from "./OldState.js"
import { contains, type Range, runEnd, union } from "./ranges.js"

/** What a summary stands for in the place it was given. */
export interface Piece {
  readonly summary: OldSummary
  readonly from: number
  readonly to: number
}

/** A summary came, and from then on these stood for the beginning of the conversation, without a hole. */
export interface Step {
  readonly summary: OldSummary
  readonly pieces: ReadonlyArray<Piece>
}

export interface Steps {
  readonly steps: ReadonlyArray<Step>
  /** Why a summary is in no step. */
  readonly leftOut: ReadonlyMap<OldSummary, string>
}

/** A summary in force, with all that its text speaks of. */
interface Held {
  readonly summary: OldSummary
  readonly covers: ReadonlyArray<Range>
}

const startOf = ({ covers }: Held): number => covers[0]?.from ?? Number.POSITIVE_INFINITY

const endOf = ({ pieces }: Step): number => pieces.at(-1)?.to ?? 0

/**
 * One after the other from the start on, up to the first hole. What is covered already is not covered
 * twice.
 */
const tile = (held: ReadonlyArray<Held>): ReadonlyArray<Piece> => {
  const pieces: Array<Piece> = []
  let end = 0
  for (const { summary, covers } of held.toSorted((one, other) => startOf(one) - startOf(other))) {
    const to = runEnd(covers, end)
    if (to > end) pieces.push({ summary, from: end, to })
    end = to
  }
  return pieces
}

/**
 * Leading system messages are shown verbatim whether covered or not; a summary that begins right behind
 * them begins at the start.
 */
const fromStart = (
  covers: ReadonlyArray<Range>,
  messages: ReadonlyArray<Message.Message>,
): ReadonlyArray<Range> => {
  const first = covers[0]?.from ?? 0
  return messages.slice(0, first).every(({ role }) => role === "system")
    ? union([{ from: 0, to: first }], covers)
    : covers
}

/**
 * What a newer summary takes the place of: those that were superseded, by whichever came next; and those
 * whose messages it speaks of itself. Of two that both begin at the start, the newer one holds. A
 * superseded one never took the place of one that is active still.
 */
const replacedBy = (newer: Held, older: ReadonlyArray<Held>): ReadonlyArray<Held> =>
  older.filter(
    (one) =>
      one.summary.status === "superseded" ||
      (newer.summary.status !== "superseded" &&
        (contains(newer.covers, one.covers) || (startOf(newer) === 0 && startOf(one) === 0))),
  )

/**
 * A rolling summary speaks of what it was merged from, too, whether or not it lists those messages once
 * more.
 */
const merged = (newer: Held, replaced: ReadonlyArray<Held>): Held =>
  startOf(newer) === 0
    ? newer
    : {
        ...newer,
        covers: union(
          newer.covers,
          ...replaced.filter((one) => one.summary.status === "superseded").map(({ covers }) => covers),
        ),
      }

/** The steps by which the summaries came into force, in the order of time. */
export const stepsOf = ({ messages, summaries }: OldState): Steps => {
  const leftOut = new Map<OldSummary, string>()
  const steps: Array<Step> = []
  const lastActive = summaries.findLastIndex(({ status }) => status === "active")
  let inForce: ReadonlyArray<Held> = []

  for (const [position, summary] of summaries.entries()) {
    const newer: Held = { summary, covers: fromStart(summary.covers, messages) }
    if (summary.text.trim() === "" && (summary.turnPrefix ?? "").trim() === "") {
      leftOut.set(summary, "it has no text")
    } else if (summary.covers.length === 0) {
      leftOut.set(summary, "it covers no message that is there")
    } else if (summary.status === "superseded" && lastActive !== -1 && position > lastActive) {
      leftOut.set(summary, "it was superseded, and by none that is there")
    } else {
      const replaced = replacedBy(newer, inForce)
      const held = merged(newer, replaced)
      const next = [...inForce.filter((one) => !replaced.includes(one)), held]
      const pieces = tile(next)
      const stands = pieces.some((piece) => piece.summary === summary)
      if (stands) steps.push({ summary, pieces })
      else leftOut.set(summary, whyNot(held, pieces))
      if (summary.status !== "invalid") inForce = next
    }
  }
  return withoutSteppingBack(steps, leftOut)
}

/** Why a summary has no place among the others. */
const whyNot = ({ covers }: Held, pieces: ReadonlyArray<Piece>): string => {
  const end = pieces.at(-1)?.to ?? 0
  return contains([{ from: 0, to: end }], covers)
    ? "its messages are covered by another one"
    : `message ${end} before it is in no summary`
}

/**
 * Coverage never moves back (law L3): what covers more than a newer one is left out, and so is an invalid
 * one that covers less than what was covered before it.
 */
const withoutSteppingBack = (steps: ReadonlyArray<Step>, leftOut: ReadonlyMap<OldSummary, string>): Steps => {
  const why = new Map(leftOut)
  const drop = (step: Step, reason: string): ReadonlyArray<Step> => {
    why.set(step.summary, reason)
    return []
  }
  let least = Number.POSITIVE_INFINITY
  const valid = steps
    .toReversed()
    .flatMap((step) => {
      if (step.summary.status === "invalid") return [step]
      if (endOf(step) > least) return drop(step, `it covers more than a newer one, which ends at ${least}`)
      least = endOf(step)
      return [step]
    })
    .toReversed()
  let coveredTo = 0
  const kept = valid.flatMap((step) => {
    if (step.summary.status !== "invalid") coveredTo = endOf(step)
    return endOf(step) < coveredTo
      ? drop(step, `it is invalid, and covers less than the ${coveredTo} messages that were covered then`)
      : [step]
  })
  // One that waited for a hole to be filled came into force with another.
  for (const { pieces } of kept) for (const { summary } of pieces) why.delete(summary)
  return { steps: kept, leftOut: why }
}
