/**
 * Derives which summaries of an older program were active, step by step.
 *
 * Memfold has one active summary, which covers messages from the start without a hole. The tables of older programs may
 * have several active summaries of consecutive ranges, newer ones that each cover the whole conversation again, and
 * ranges with holes. This module orders them. A summary that does not fit is left out with the reason, and its messages
 * stay uncovered.
 */
import type { Message } from "@memfold/core"
import type { OldState, OldSummary } from "./OldState.js"
import { contains, type Range, runEnd, union } from "./ranges.js"

/** The range that a summary covers in a step. */
export interface Piece {
  readonly summary: OldSummary
  readonly from: number
  readonly to: number
}

/** A new summary, and the pieces that cover the start of the conversation from then on, without a hole. */
export interface Step {
  readonly summary: OldSummary
  readonly pieces: ReadonlyArray<Piece>
}

export interface Steps {
  readonly steps: ReadonlyArray<Step>
  /** Why a summary is in no step. */
  readonly leftOut: ReadonlyMap<OldSummary, string>
}

/** An active summary, with all messages that its text covers. */
interface Held {
  readonly summary: OldSummary
  readonly covers: ReadonlyArray<Range>
}

const startOf = ({ covers }: Held): number => covers[0]?.from ?? Number.POSITIVE_INFINITY

const endOf = ({ pieces }: Step): number => pieces.at(-1)?.to ?? 0

/** Orders summaries from the start up to the first hole. Nothing is covered twice. */
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
 * Extends a summary that begins right after the leading system messages to the start. These messages are pinned, so
 * they are shown verbatim anyway.
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
 * Whether a newer summary replaces an older one: if the older one is superseded, or if the newer one covers its messages.
 * If both begin at the start, the newer one replaces the older. A superseded summary never replaces an active one.
 */
const replacedBy = (newer: Held, older: ReadonlyArray<Held>): ReadonlyArray<Held> =>
  older.filter(
    (one) =>
      one.summary.status === "superseded" ||
      (newer.summary.status !== "superseded" &&
        (contains(newer.covers, one.covers) || (startOf(newer) === 0 && startOf(one) === 0))),
  )

/** Adds the messages of the summaries that a rolling summary was merged from; it may not list them itself. */
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

/** The steps in which the summaries became active, by time. */
export const stepsOf = ({ messages, summaries }: OldState): Steps => {
  const leftOut = new Map<OldSummary, string>()
  const steps: Array<Step> = []
  const lastActive = summaries.findLastIndex(({ status }) => status === "active")
  let active: ReadonlyArray<Held> = []

  for (const [position, summary] of summaries.entries()) {
    const newer: Held = { summary, covers: fromStart(summary.covers, messages) }
    if (summary.damaged !== undefined) {
      leftOut.set(summary, `${summary.damaged}; its messages are summarized anew when that is due`)
    } else if (summary.text.trim() === "" && (summary.turnPrefix ?? "").trim() === "") {
      leftOut.set(summary, "it has no text")
    } else if (summary.covers.length === 0) {
      leftOut.set(summary, "it covers no message that is there")
    } else if (summary.status === "superseded" && lastActive !== -1 && position > lastActive) {
      leftOut.set(summary, "it was superseded, and by none that is there")
    } else {
      const replaced = replacedBy(newer, active)
      const held = merged(newer, replaced)
      const next = [...active.filter((one) => !replaced.includes(one)), held]
      const pieces = tile(next)
      const stands = pieces.some((piece) => piece.summary === summary)
      if (stands) steps.push({ summary, pieces })
      else leftOut.set(summary, whyNot(held, pieces))
      if (summary.status !== "invalid") active = next
    }
  }
  return withoutSteppingBack(steps, leftOut)
}

/** The reason why a summary does not fit. */
const whyNot = ({ covers }: Held, pieces: ReadonlyArray<Piece>): string => {
  const end = pieces.at(-1)?.to ?? 0
  return contains([{ from: 0, to: end }], covers)
    ? "its messages are covered by another one"
    : `message ${end} before it is in no summary`
}

/**
 * Coverage never moves back (law L3). So a summary that covers more than a newer summary is left out, and so is an invalid
 * summary that covers less than the summary before it.
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
  // A summary after a hole becomes active together with the summary that fills the hole.
  for (const { pieces } of kept) for (const { summary } of pieces) why.delete(summary)
  return { steps: kept, leftOut: why }
}
