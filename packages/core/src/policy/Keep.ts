/**
 * What stays: where the tail begins. The tail is never compacted (law L2); the engine moves its start back to
 * the nearest group boundary, so that a tail may be longer than asked for, never shorter.
 */
import type { PolicyInput } from "./PolicyInput.js"

/** Says where the tail begins, as a message index. */
export interface Keep {
  readonly describe: string
  readonly from: (view: PolicyInput) => number
}

/** The newest `count` messages. */
export const lastMessages = (count: number): Keep => ({
  describe: `the last ${count} messages`,
  from: (view) => view.total - count,
})

/** The newest messages that together take at most `tokens` tokens. */
export const lastTokens = (tokens: number): Keep => ({
  describe: `the last ${tokens} tokens`,
  from: (view) => view.startOfLastTokens(tokens),
})

/** The newest `count` complete rounds, and the one that is not complete yet; everything while there are fewer. */
export const lastTurns = (count: number): Keep => ({
  describe: `the last ${count} rounds`,
  from: (view) => Math.min(view.turnStart(view.completeTurns - count), view.openTurn),
})

/** The newest round, from its user message on, or what is left of it when its beginning is in the summary. */
export const currentTurn: Keep = {
  describe: "the current round",
  from: (view) => view.currentTurn,
}

/** Whatever any of them keeps. */
export const all = (...keeps: ReadonlyArray<Keep>): Keep => ({
  describe: keeps.map((keep) => keep.describe).join(" and "),
  from: (view) => Math.min(view.total, ...keeps.map((keep) => keep.from(view))),
})
