/**
 * The fold: one pure, total reducer per event.
 *
 * Total means that no log can make it throw. A commit of a compaction that is not the running one changes
 * nothing but the version: the fold itself throws the late finisher's result away.
 */
import { Match } from "effect"
import type {
  CompactionFailed,
  CompactionReleased,
  CompactionStarted,
  Event,
  MessageAppended,
  SummaryCommitted,
  SummarySuperseded,
} from "../event/Event.js"
import type { Recorded, UnknownEvent } from "../event/EventCodec.js"
import * as Structure from "../message/Structure.js"
import type { Entry, SessionState } from "./SessionState.js"
import { empty, pinnedGroups } from "./SessionState.js"

/** The state after one more event. */
export const evolve = (state: SessionState, recorded: Recorded): SessionState => ({
  ...reducerOf(recorded.event)(state, recorded.at),
  version: recorded.seq,
})

/** The state after all of them. */
export const fold = (state: SessionState, events: Iterable<Recorded>): SessionState => {
  let current = state
  for (const event of events) current = evolve(current, event)
  return current
}

type Reducer = (state: SessionState, at: number) => SessionState

/** Leaving an event out does not compile. */
const reducerOf = Match.typeTags<Event | UnknownEvent>()({
  MessageAppended:
    (event): Reducer =>
    (state, at) =>
      messageAppended(state, event, at),
  CompactionStarted:
    (event): Reducer =>
    (state) =>
      compactionStarted(state, event),
  SummaryCommitted:
    (event): Reducer =>
    (state, at) =>
      summaryCommitted(state, event, at),
  SummarySuperseded:
    (event): Reducer =>
    (state) =>
      summarySuperseded(state, event),
  CompactionFailed:
    (event): Reducer =>
    (state) =>
      compactionFailed(state, event),
  CompactionReleased:
    (event): Reducer =>
    (state) =>
      compactionReleased(state, event),
  SessionCleared:
    (): Reducer =>
    ({ session }) =>
      empty(session),
  UnknownEvent: (): Reducer => (state) => state,
})

const messageAppended = (
  state: SessionState,
  { message, tokens }: MessageAppended,
  at: number,
): SessionState => {
  const index = state.total
  const { structure, group, startsRound } = Structure.place(state.structure, index, message)
  const preamble = state.preamble && message.role === "system"
  const entry: Entry = {
    index,
    message,
    tokens,
    cumulative: (state.raw.last?.cumulative ?? state.coveredTokens) + tokens,
    group,
    pinned: preamble || message.pinned === true,
  }
  const said = message.at ?? at
  const askedAt = message.role === "assistant" ? state.askedAt : index
  const { usage } = message
  const current = usage?.input !== undefined && askedAt >= state.committedTotal
  return {
    ...state,
    total: index + 1,
    startedAt: state.startedAt ?? said,
    lastMessageAt: said,
    raw: state.raw.append(entry),
    roundStarts: startsRound ? state.roundStarts.append(index) : state.roundStarts,
    structure,
    preamble,
    askedAt,
    reported: current ? { index, tokens: (usage.input ?? 0) + usage.output } : state.reported,
  }
}

const compactionStarted = (
  state: SessionState,
  { compaction, from, to, leaseUntil }: CompactionStarted,
): SessionState => ({ ...state, running: { compaction, from, to, leaseUntil } })

const summaryCommitted = (state: SessionState, committed: SummaryCommitted, at: number): SessionState => {
  if (state.running?.compaction !== committed.compaction) return state
  const { through } = committed
  if (through < state.through || through > state.total) return { ...state, running: null }
  const covered = state.raw.slice(state.through, through)
  return {
    ...state,
    through,
    compactedAt: at,
    raw: state.raw.dropBefore(through),
    roundStarts: state.roundStarts.dropBefore(state.roundStarts.firstWhere((start) => start >= through)),
    pinned: [...state.pinned, ...pinnedGroups(covered)],
    coveredTokens: covered.at(-1)?.cumulative ?? state.coveredTokens,
    summary: {
      id: committed.summary,
      through,
      segments: [...(state.summary?.segments.slice(0, committed.carried) ?? []), ...committed.segments],
      wording: committed.wording,
      tokens: committed.tokens,
      at,
    },
    running: null,
    failures: null,
    committedTotal: state.total,
    reported: null,
  }
}

const summarySuperseded = (state: SessionState, { by }: SummarySuperseded): SessionState =>
  state.summary?.id === by ? { ...state, superseded: state.superseded + 1 } : state

const compactionFailed = (state: SessionState, failed: CompactionFailed): SessionState =>
  state.running?.compaction !== failed.compaction
    ? state
    : {
        ...state,
        running: null,
        failures: {
          count: (state.failures?.count ?? 0) + 1,
          reason: failed.reason,
          retryAt: failed.retryAt,
          retryTotal: failed.retryTotal,
        },
      }

const compactionReleased = (state: SessionState, { compaction }: CompactionReleased): SessionState =>
  state.running?.compaction === compaction ? { ...state, running: null } : state
