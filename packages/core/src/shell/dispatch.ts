/** What the engine says of a look that it dispatches: how full the context is, and whether the session is given up. */
import { marginOf, type Service as TokenCounter } from "@memfold/message/TokenCounter"
import type { Circumstances } from "../policy/decide.js"
import type { Strategy } from "../policy/Strategy.js"
import { contextTokens, type SessionState } from "../session/SessionState.js"

/** The limit of a context whose limit nobody states, in tokens: what the smaller windows of today's models take. */
const usualLimit = 128_000

/** How full the context of a session is: its tokens in proportion to its budget, or to the window of its strategy. */
export const fillOf = (
  state: SessionState | null,
  { contextLimit }: Strategy,
  { counter, circumstances }: { readonly counter: TokenCounter; readonly circumstances: Circumstances },
): number =>
  state === null
    ? 0
    : contextTokens(state, marginOf(counter)) / (circumstances.budget ?? contextLimit ?? usualLimit)

/**
 * After so many failed compactions in a row, no look is dispatched on account of them any more: about six hours, with the
 * default `backOff`. The session is a dead letter then, and the next message puts it into the queue again.
 */
export const mostFailures = 12

export const isGivenUp = (state: SessionState | null): boolean =>
  (state?.failures?.count ?? 0) >= mostFailures
