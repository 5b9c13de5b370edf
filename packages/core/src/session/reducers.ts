/** What each event makes of the state. */
import { Match } from "effect"
import type {
  CompactionFailed,
  CompactionReleased,
  CompactionRenewed,
  CompactionStarted,
  FactRedacted,
  FactsLearned,
  MessageAppended,
  MessageRedacted,
  SummaryCommitted,
  SummaryInvalidated,
  SummarySuperseded,
  ToolOutputsPruned,
} from "../event/Event.js"
import { type AnyEvent, type RecordedEvent, unreadable } from "../event/EventCodec.js"
import { gapsBefore } from "./branches.js"
import { countEntries, countMessage } from "./counts.js"
import { describedBy } from "./description.js"
import {
  withConfirmed,
  withEnd,
  withLearned,
  withoutFact,
  withRedactions,
  withRetraction,
  withReverted,
} from "./facts.js"
import { frontMoment } from "./frontMoment.js"
import * as Structure from "@memfold/message/Structure"
import { originsAfter } from "./originsAfter.js"
import { prefixWithMessage } from "./prefix.js"
import { prune } from "./prune.js"
import { capReached, charged } from "./spent.js"
import { withNewestPrompts } from "./systemPrompt.js"
import { type Entry, type SessionState, empty, pinnedGroups } from "./SessionState.js"
import { type States, switchBranch } from "./switchBranch.js"
import { fits, noFiles } from "../summary/Summary.js"

export type Reducer = (state: SessionState, recorded: RecordedEvent, states: States) => SessionState

/** An invalidated commit only releases the lock. */
export const released: Reducer = (state, { event }) =>
  "compaction" in event && state.running?.compaction === event.compaction
    ? { ...state, running: null, failures: null }
    : state

const messageAppended = (
  state: SessionState,
  event: Omit<MessageAppended, "_tag" | "index">,
  recorded: RecordedEvent,
): SessionState => {
  const { message, tokens, bound } = event
  const index = state.total
  const { structure, group, startsTurn } = Structure.addMessage(state.structure, index, message)
  const counts = countMessage(state, structure, { index, message, time: recorded.time, tokens })
  const unbound: Entry = {
    index,
    version: recorded.version,
    message,
    time: recorded.time,
    tokens,
    cumulativeTokens: (state.uncovered.last?.cumulativeTokens ?? state.coveredTokens) + tokens,
    group,
    pinned: counts.preamble || message.pinned === true,
  }
  const entry = bound === undefined ? unbound : { ...unbound, bound }
  const { usage } = message
  const current = usage?.input !== undefined && counts.lastPromptIndex >= state.totalAtCommit
  // Nearly all events are messages. To name each field, in the order of `empty`, takes a tenth of the time of a copy with some
  // fields replaced.
  return {
    session: state.session,
    version: recorded.version,
    total: index + 1,
    coveredTo: state.coveredTo,
    compressedThroughRound: state.compressedThroughRound,
    startTime: counts.startTime,
    lastMessageTime: counts.lastMessageTime,
    modelCalls: counts.modelCalls,
    lastModelCallTime: counts.lastModelCallTime,
    structure,
    preamble: counts.preamble,
    appendedTokens: counts.appendedTokens,
    lastPromptIndex: counts.lastPromptIndex,
    lastCompactionTime: state.lastCompactionTime,
    uncovered: state.uncovered.append(entry),
    turnStarts: startsTurn ? state.turnStarts.append(index) : state.turnStarts,
    pinned: state.pinned,
    coveredTokens: state.coveredTokens,
    summary: state.summary,
    front: state.front,
    supersededCount: state.supersededCount,
    damaged: state.damaged,
    invalidatedAt: state.invalidatedAt,
    unreadable: state.unreadable,
    setAside: state.setAside,
    running: state.running,
    failures: state.failures,
    pausedUntil: state.pausedUntil,
    totalAtCommit: state.totalAtCommit,
    reported: current ? { index, tokens: (usage.input ?? 0) + usage.output } : state.reported,
    learnedTo: state.learnedTo,
    description: state.description,
    spent: state.spent,
    clears: state.clears,
    facts: state.facts,
    redactions: state.redactions,
    prefix: prefixWithMessage({ prefix: state.prefix, structure, total: index + 1 }, event, recorded),
    covered: state.covered,
    branch: state.branch,
    branches: state.branches,
    gaps: state.gaps,
  }
}

const messageUnreadable = (state: SessionState, _event: unknown, recorded: RecordedEvent): SessionState => ({
  ...messageAppended(state, { message: unreadable, tokens: 0 }, recorded),
  unreadable: [...state.unreadable, { index: state.total, version: recorded.version }],
})

/** A cleared session is as an empty one, but for its owner and title. */
const cleared = (
  { session, clears, description, invalidatedAt, setAside }: SessionState,
  version: number,
): SessionState => {
  const before = empty(session)
  return {
    ...before,
    clears: clears + 1,
    description,
    invalidatedAt,
    setAside,
    covered: { ...before.covered, version },
    branch: { ...before.branch, id: version },
    gaps: gapsBefore(version),
  }
}

const compactionStarted = (
  state: SessionState,
  { compaction, from, to, leaseUntil }: CompactionStarted,
  { time: leaseFrom }: RecordedEvent,
): SessionState => ({ ...state, running: { compaction, from, to, leaseFrom, leaseUntil } })

const compactionRenewed = (
  state: SessionState,
  { compaction, leaseUntil }: CompactionRenewed,
  { time: leaseFrom }: RecordedEvent,
): SessionState =>
  state.running?.compaction === compaction
    ? { ...state, running: { ...state.running, leaseFrom, leaseUntil } }
    : state

const summaryCommitted = (
  state: SessionState,
  committed: SummaryCommitted,
  { time, version }: RecordedEvent,
): SessionState => {
  if (state.running?.compaction !== committed.compaction) return state
  const { coveredTo, carried } = committed
  const before = state.summary?.segments ?? []
  if (coveredTo < state.coveredTo || coveredTo > state.total || !fits(before, committed)) {
    return damaged(state, { version, summary: committed.summary })
  }
  const covered = state.uncovered.slice(state.coveredTo, coveredTo)
  const turnStarts = state.turnStarts.dropBefore(state.turnStarts.firstWhere((start) => start >= coveredTo))
  return {
    ...state,
    coveredTo,
    compressedThroughRound: state.compressedThroughRound + state.turnStarts.length - turnStarts.length,
    lastCompactionTime: time,
    uncovered: state.uncovered.dropBefore(coveredTo),
    turnStarts,
    pinned: withNewestPrompts([...state.pinned, ...pinnedGroups(covered)], covered),
    coveredTokens: covered.at(-1)?.cumulativeTokens ?? state.coveredTokens,
    summary: {
      id: committed.summary,
      version,
      coveredTo,
      total: state.total,
      carried,
      segments: [...before.slice(0, carried), ...committed.segments],
      ...(committed.shown === undefined ? {} : { shown: committed.shown }),
      origins: originsAfter(state, committed, covered),
      files: committed.files ?? noFiles,
      wording: committed.wording,
      tokens: committed.tokens,
      time,
    },
    front: frontMoment(state, committed, time),
    running: null,
    failures: null,
    totalAtCommit: state.total,
    reported: null,
    covered: countEntries(state.covered, covered),
  }
}

const summarySuperseded = (state: SessionState, { by }: SummarySuperseded): SessionState =>
  state.summary?.id === by ? { ...state, supersededCount: state.supersededCount + 1 } : state

/** An unusable commit: it covers nothing, and its messages stay uncovered. */
const damaged = (state: SessionState, commit: SessionState["damaged"][number]): SessionState => ({
  ...state,
  running: null,
  failures: null,
  damaged: [...state.damaged, commit],
})

const summaryInvalidated = (
  state: SessionState,
  { version }: SummaryInvalidated,
  { version: invalidatedAt }: RecordedEvent,
): SessionState => ({
  ...state,
  invalidatedAt,
  damaged: state.damaged.filter((commit) => commit.version !== version),
  totalAtCommit: state.total,
  reported: null,
})

const toolOutputsPruned = (state: SessionState, pruned: ToolOutputsPruned): SessionState => {
  const { running } = state
  if (running?.compaction !== pruned.compaction) return state
  return {
    ...state,
    uncovered: prune(state.uncovered, pruned.outputs),
    // A compaction that covers nothing only prunes, and ends here.
    ...(running.from === running.to ? { running: null, failures: null } : {}),
    totalAtCommit: state.total,
    reported: null,
  }
}

const compactionFailed = (state: SessionState, failed: CompactionFailed): SessionState =>
  state.running?.compaction !== failed.compaction
    ? state
    : {
        ...state,
        running: null,
        failures: {
          count: (state.failures?.count ?? 0) + 1,
          reason: failed.reason,
          retryTime: failed.retryTime,
          retryMessages: failed.retryMessages,
        },
      }

const compactionReleased = (state: SessionState, { compaction }: CompactionReleased): SessionState =>
  state.running?.compaction === compaction ? { ...state, running: null } : state

const factsLearned = (state: SessionState, event: FactsLearned, { time }: RecordedEvent): SessionState => ({
  ...state,
  learnedTo: event.session === undefined ? Math.max(state.learnedTo, event.to) : state.learnedTo,
  facts: withLearned(state.facts, event, time),
})

const factRedacted = (state: SessionState, event: FactRedacted): SessionState => ({
  ...state,
  facts: withoutFact(state.facts, event),
  redactions: withRedactions(state.redactions, event),
})

/** The redaction has already erased the text from the earlier events. */
const messageRedacted = (state: SessionState, { version }: MessageRedacted): SessionState => ({
  ...state,
  redactions: withRedactions(state.redactions, {
    fact: "",
    places: [{ session: state.session, event: version }],
  }),
})

/** A reducer by its event, where the event is looked up by its tag. */
const on =
  <E>(reduce: (state: SessionState, event: E, recorded: RecordedEvent, states: States) => SessionState) =>
  (event: E): Reducer =>
  (state, recorded, states) =>
    reduce(state, event, recorded, states)

const onFacts = <E>(change: (facts: SessionState["facts"], event: E) => SessionState["facts"]) =>
  on<E>((state, event) => ({ ...state, facts: change(state.facts, event) }))

const unchanged = (): Reducer => (state) => state

/** The reducer of each event. A missing event is a compile error. */
export const reducerOf = Match.typeTags<AnyEvent>()({
  MessageAppended: on(messageAppended),
  CompactionStarted: on(compactionStarted),
  CompactionRenewed: on(compactionRenewed),
  SummaryCommitted: on(summaryCommitted),
  SummarySuperseded: on(summarySuperseded),
  SummaryInvalidated: on(summaryInvalidated),
  CompactionPaused: on((state, { until }) => ({ ...state, pausedUntil: until })),
  ToolOutputsPruned: on(toolOutputsPruned),
  CompactionFailed: on(compactionFailed),
  CompactionReleased: on(compactionReleased),
  FactsLearned: on(factsLearned),
  FactRemoved: onFacts(withoutFact),
  FactEnded: onFacts(withEnd),
  FactRetracted: onFacts(withRetraction),
  FactRedacted: on(factRedacted),
  FactConfirmed: onFacts(withConfirmed),
  FactReverted: onFacts(withReverted),
  // What was learned anew is no fact before it is taken.
  FactsRebuilt: unchanged,
  RebuildEnded: unchanged,
  MessageRedacted: on(messageRedacted),
  BranchSwitched: on(switchBranch),
  MessageSetAside: on((state, { version }) => ({ ...state, setAside: [...state.setAside, version] })),
  SessionCleared: on((state, _event, { version }) => cleared(state, version)),
  SessionDescribed: on((state, event) => ({ ...state, description: describedBy(state.description, event) })),
  SpendCharged: on((state, event) => ({ ...state, spent: charged(state.spent, event) })),
  SpendCapReached: on((state, event, { time }) => ({
    ...state,
    spent: capReached(state.spent, event, time),
  })),
  AuditNoted: unchanged,
  DamagedSummary: on((state, _event, { version }) => damaged(state, { version, summary: null })),
  DamagedMessage: on(messageUnreadable),
  UnknownEvent: unchanged,
})
