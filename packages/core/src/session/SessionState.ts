/**
 * The state of a session, folded from its log.
 *
 * The state holds the data for the next decision and the next context: the uncovered messages, the pinned messages and the
 * active summary. Its size depends on tail and backlog, not on the length of the history.
 */
import type { BoundParts, Fact, FactEnded } from "../event/Event.js"
import type { Description } from "@memfold/log/Projections"
import type { Message, Origin } from "@memfold/message/Message"
import type { Files, Segment } from "../summary/Summary.js"
import * as Structure from "@memfold/message/Structure"
import type { Wording } from "../summary/Wording.js"
import { type Branch, firstBranch, type Gap, type LeftBranch } from "./branches.js"
import { noPrefix, type PrefixState } from "./PrefixState.js"
import { Sequence } from "./Sequence.js"

/** A message in the state, with its position and its size. */
export interface Entry {
  readonly index: number
  /** The version of the event that appended it. */
  readonly version: number
  readonly message: Message
  /** When it was appended, in milliseconds since the epoch. */
  readonly time: number
  /** The tokens of the message in a context, after pruning. */
  readonly tokens: number
  /** The tokens of the message as it was appended, if it was pruned since. */
  readonly appendedTokens?: number | undefined
  /** The tokens of all messages of the session up to this one, itself included. */
  readonly cumulativeTokens: number
  /** The index at which its group starts. */
  readonly group: number
  /** Whether the message is always shown verbatim. */
  readonly pinned: boolean
  /** Its bound parts, if it has any. */
  readonly bound?: BoundParts | undefined
}

/** The active summary; it covers the messages `[0, coveredTo)`. */
export interface Summary {
  readonly id: string
  /** The version of the event that committed it. */
  readonly version: number
  readonly coveredTo: number
  /** How many messages the session had when it was committed. */
  readonly total: number
  /** How many of its segments, from the first one, it keeps unchanged from the previous summary. */
  readonly carried: number
  readonly segments: ReadonlyArray<Segment>
  /** The positions of the segments that contexts show; all of them if absent. */
  readonly shown?: ReadonlyArray<number> | undefined
  /** The origin of each segment: the lowest of the messages that it rests on (law L18). */
  readonly origins: ReadonlyArray<Origin>
  /** The files that tools read and changed in the messages it covers. */
  readonly files: Files
  readonly wording: Wording
  /** Its tokens in a context, wording included. */
  readonly tokens: number
  /** When it was committed, in milliseconds since the epoch. */
  readonly time: number
}

/**
 * A compaction, as facts in front of a summary know it: what was known and asked then. Blocks that later compactions carry on stay
 * behind it.
 */
export interface FrontMoment {
  readonly time: number
  /** How many messages the session had, and how many of them the summary covered. */
  readonly total: number
  readonly coveredTo: number
  /** The start of the newest message from the user; `null` if the summary covered it. */
  readonly question: string | null
}

/** A message that cannot be read. */
export interface Unreadable {
  readonly index: number
  readonly version: number
}

/** The running compaction, which has the session's lock. It compacts the messages `[from, to)`. */
export interface Running {
  readonly compaction: string
  readonly from: number
  readonly to: number
  /**
   * When the lease was given or renewed, and when it ends; then others may take the lock. Both are in milliseconds since
   * the epoch, by the clock of the process that runs the compaction, which may be wrong: see `Leases`.
   */
  readonly leaseFrom: number
  readonly leaseUntil: number
}

/**
 * A fact that was learned, and what became of it.
 *
 * - `time`: when it was learned, in milliseconds since the epoch
 * - `ended`: when it was ended, and where that was said
 * - `notEnded`: ends that were said in a message, and that somebody has taken back
 * - `retracted`: it was never true
 * - `confirmed`: somebody has judged that it is true
 */
export interface KnownFact extends Fact {
  readonly time: number
  readonly ended?: Pick<FactEnded, "until" | "timeSource" | "source"> | undefined
  readonly notEnded?: ReadonlyArray<NonNullable<KnownFact["ended"]>> | undefined
  readonly retracted?: boolean | undefined
  readonly confirmed?: boolean | undefined
}

/** A message that a fact was redacted from, or that is redacted itself (`whole`). `event` is the version that appended it. */
export interface Redaction {
  readonly session: string
  readonly event: number
  readonly whole: boolean
}

/**
 * The failed compactions since the last success.
 *
 * - `count`: how many there were
 * - `reason`: the kind of the newest one
 * - `retryTime`, `retryMessages`: the next attempt is allowed at this time (milliseconds since the epoch), or as soon as
 *   the session has this many messages
 */
export interface Failures {
  readonly count: number
  readonly reason: string
  readonly retryTime: number
  readonly retryMessages: number
}

/**
 * What was spent on one day, in a log that counts it.
 *
 * - `day`: the newest day that something was spent on, in UTC, such as `2026-11-26`
 * - `heldTokens`, `heldDollars`: the most that calls under way may cost, and calls whose process was killed
 * - `reached`: when the cap of that day was reached first, in milliseconds since the epoch, and the cap; `null` if it was not
 */
export interface Spent {
  readonly day: string
  readonly tokens: number
  readonly dollars: number
  readonly heldTokens: number
  readonly heldDollars: number
  readonly reached: {
    readonly time: number
    readonly tokens?: number | undefined
    readonly dollars?: number | undefined
  } | null
}

/** What is counted message by message, up to some message of the conversation. */
export interface MessageCounts {
  /** The times of the first and of the last message, in milliseconds since the epoch; `null` without messages. */
  readonly startTime: number | null
  readonly lastMessageTime: number | null
  /** How many messages are from the assistant: each one stands for a call of a model. */
  readonly modelCalls: number
  /** The time of the newest message from the assistant, in milliseconds since the epoch; `null` if there is none. */
  readonly lastModelCallTime: number | null
  /** The open tool calls and the newest turn. */
  readonly structure: Structure.Structure
  /** Whether all messages so far are system messages. These leading system messages are pinned. */
  readonly preamble: boolean
  /** The tokens of all messages as they were appended, before any pruning. */
  readonly appendedTokens: number
  /** The message index of the newest message that is not from the assistant; -1 if there is none. */
  readonly lastPromptIndex: number
}

/** The counts of the covered messages, and the version at which the last one of them was appended. */
export interface CoveredCounts extends MessageCounts {
  readonly version: number
}

/** The state of one session at one version. */
export interface SessionState extends MessageCounts {
  readonly session: string
  /** The version of the last folded event. */
  readonly version: number
  /** How many messages there are since the start or the last clear. */
  readonly total: number
  /** The active summary covers the messages `[0, coveredTo)`; 0 without a summary. */
  readonly coveredTo: number
  /** How many turns start in `[0, coveredTo)`. */
  readonly compressedThroughRound: number
  /** When the last compaction committed a summary, in milliseconds since the epoch; `null` if none did. */
  readonly lastCompactionTime: number | null
  /** The uncovered messages, `[coveredTo, total)`. */
  readonly uncovered: Sequence<Entry>
  /** The message indexes in `[coveredTo, total)` at which a turn starts. */
  readonly turnStarts: Sequence<number>
  readonly pinned: ReadonlyArray<Entry>
  /** The tokens of all messages in `[0, coveredTo)`. */
  readonly coveredTokens: number
  readonly summary: Summary | null
  /** The compaction whose facts stand in front of the summary; `null` without a summary. */
  readonly front: FrontMoment | null
  /** How many summaries have been superseded. */
  readonly supersededCount: number
  /** Unusable commits that no event has marked as invalid yet. */
  readonly damaged: ReadonlyArray<{ readonly version: number; readonly summary: string | null }>
  /** The version of the newest event that declared a commit invalid; 0 if none has. A clear keeps it. */
  readonly invalidatedAt: number
  /** The messages of the branch in force that cannot be read, each with the version of its event. */
  readonly unreadable: ReadonlyArray<Unreadable>
  /** The versions of the unreadable messages, of all branches, of which an event says that the session goes on without them. */
  readonly setAside: ReadonlyArray<number>
  readonly running: Running | null
  /** The failures since the last successful compaction, if there are any. */
  readonly failures: Failures | null
  /** No automatic compaction runs before the session has this many messages: a compaction was taken back. */
  readonly pausedUntil: number
  /**
   * How many messages the session had at the last commit. If the newest prompt is older than that, the usage reported
   * with its answer is the size of a context that no longer exists.
   */
  readonly totalAtCommit: number
  /**
   * The size of a whole context in tokens as a provider last reported it, and the index of the message that reported it.
   * A commit changes the context, and resets this to `null`.
   */
  readonly reported: { readonly index: number; readonly tokens: number } | null
  /** Facts have been learned from the turns in `[0, learnedTo)`. */
  readonly learnedTo: number
  /** The owner and the title of the session. A clear keeps them. */
  readonly description: Description
  /** What was spent on the newest day; `null` in all logs but those that count it. */
  readonly spent: Spent | null
  /** How many times the session was cleared. Message indexes start at 0 again after each clear. */
  readonly clears: number
  /** The facts in this log as they were learned, oldest first: the newest thousand of each layer. `MemoryLayers.inTime` says when they are true. */
  readonly facts: ReadonlyArray<KnownFact>
  /** The messages that nothing new is learned from, see `FactRedacted`; `whole`: nothing at all. */
  readonly redactions: ReadonlyArray<Redaction>
  /** What bound parts such as signed reasoning depend on: the last change of the prefix, and the newest append. */
  readonly prefix: PrefixState
  /** The counts at the end of the covered messages: from there, the state of an earlier message can be computed again. */
  readonly covered: CoveredCounts
  readonly branch: Branch
  /** The branches that it has left, in the order in which it left them: the newest thousand. */
  readonly branches: ReadonlyArray<LeftBranch>
  /** Where the log has messages that are not on the branch, in the order of the log. */
  readonly gaps: ReadonlyArray<Gap>
}

/** The most left branches in the state; older ones remain in the log only. */
export const mostBranches = 1_000

/** The most facts of one layer in the state; older ones remain in the log only. */
export const mostFacts = 1_000

/** The counts of no messages. */
const noMessages: MessageCounts = {
  startTime: null,
  lastMessageTime: null,
  modelCalls: 0,
  lastModelCallTime: null,
  structure: Structure.empty,
  preamble: true,
  appendedTokens: 0,
  lastPromptIndex: -1,
}

/**
 * The state of a session without events.
 *
 * @param session the id of the session
 */
export const empty = (session: string): SessionState => ({
  session,
  version: 0,
  total: 0,
  coveredTo: 0,
  compressedThroughRound: 0,
  ...noMessages,
  lastCompactionTime: null,
  uncovered: Sequence.of(),
  turnStarts: Sequence.of(),
  pinned: [],
  coveredTokens: 0,
  summary: null,
  front: null,
  supersededCount: 0,
  damaged: [],
  invalidatedAt: 0,
  unreadable: [],
  setAside: [],
  running: null,
  failures: null,
  pausedUntil: 0,
  totalAtCommit: 0,
  reported: null,
  learnedTo: 0,
  description: { owner: null, title: null },
  spent: null,
  clears: 0,
  facts: [],
  redactions: [],
  prefix: noPrefix,
  covered: { ...noMessages, version: 0 },
  branch: firstBranch,
  branches: [],
  gaps: [],
})

/**
 * The tokens of the uncovered messages in `[from, to)`, in constant time.
 *
 * @param from a message index, at least `coveredTo`
 * @param to a message index from `from` to `total`
 */
export const tokensBetween = (state: SessionState, from: number, to: number): number =>
  cumulativeBefore(state, to) - cumulativeBefore(state, from)

const cumulativeBefore = (state: SessionState, index: number): number =>
  state.uncovered.at(index - 1)?.cumulativeTokens ?? state.coveredTokens

/**
 * The tokens of the next context. With a context size reported by the provider: that size plus the messages after it.
 * Otherwise: the sum of the pinned messages, the summary and the uncovered messages.
 *
 * @param margin what counted tokens are multiplied by, for a comparison with a limit; 1 by default
 *
 * @example
 * ```ts
 * import { type EventLog, Session } from "@memfold/core"
 * import { Effect } from "effect"
 *
 * const tokensOf = (log: EventLog.Service, session: string) =>
 *   Effect.map(Session.make(log).load(session), Session.contextTokens)
 * ```
 */
export const contextTokens = (state: SessionState, margin = 1): number =>
  state.reported === null
    ? Math.ceil(
        margin *
          (state.pinned.reduce((sum, entry) => sum + entry.tokens, 0) +
            (state.summary?.tokens ?? 0) +
            tokensBetween(state, state.coveredTo, state.total)),
      )
    : state.reported.tokens + Math.ceil(margin * tokensBetween(state, state.reported.index + 1, state.total))

/** The nearest boundary at or before `index` that cuts no group; a group with open calls reaches to the last message. */
export const boundaryBefore = (state: SessionState, index: number): number =>
  index >= state.total
    ? (state.structure.open?.from ?? state.total)
    : (state.uncovered.at(index)?.group ?? index)

/** The nearest boundary at or after `index` that cuts no group. */
export const boundaryAfter = (state: SessionState, index: number): number => {
  let boundary = index
  while (boundary < state.total && boundaryBefore(state, boundary) !== boundary) boundary++
  return boundary
}

/**
 * A message index that a policy asked for, clamped to the uncovered messages and moved back to the nearest boundary
 * that cuts no group. `NaN` counts as the start.
 */
export const clampToBoundary = (state: SessionState, index: number): number => {
  const asked = Number.isNaN(index) ? state.coveredTo : Math.floor(index)
  return Math.max(
    boundaryBefore(state, Math.min(Math.max(asked, state.coveredTo), state.total)),
    state.coveredTo,
  )
}

/** Entries, group by group. */
export const groupsOf = (entries: ReadonlyArray<Entry>): ReadonlyArray<ReadonlyArray<Entry>> => {
  const groups: Array<Array<Entry>> = []
  for (const entry of entries) {
    const last = groups.at(-1)
    if (last?.[0]?.group === entry.group) last.push(entry)
    else groups.push([entry])
  }
  return groups
}

/** The pinned entries, each with its whole group: a part of a group would be a call without its result. */
export const pinnedGroups = (entries: ReadonlyArray<Entry>): ReadonlyArray<Entry> => {
  const groups = new Set(entries.filter((entry) => entry.pinned).map((entry) => entry.group))
  return groups.size === 0 ? [] : entries.filter((entry) => groups.has(entry.group))
}

/** The entries, without the entries of {@link pinnedGroups}, which contexts show verbatim. */
export const withoutPinned = (entries: ReadonlyArray<Entry>): ReadonlyArray<Entry> => {
  const shown = new Set(pinnedGroups(entries))
  return shown.size === 0 ? entries : entries.filter((entry) => !shown.has(entry))
}
