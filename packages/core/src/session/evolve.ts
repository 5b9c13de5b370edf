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
  FactRetired,
  FactsLearned,
  MessageAppended,
  SummaryCommitted,
  SummaryInvalidated,
  SummarySuperseded,
  ToolOutputsPruned,
} from "../event/Event.js"
import type { AnyEvent, Recorded } from "../event/EventCodec.js"
import * as Structure from "../message/Structure.js"
import { prune } from "./prune.js"
import type { Entry, SessionState } from "./SessionState.js"
import { empty, mostFacts, pinnedGroups } from "./SessionState.js"
import { fits, noFiles } from "../summary/Summary.js"

/** The sequence numbers of commits that later events invalidate. */
export type Invalidated = ReadonlySet<number>

const noneInvalidated: Invalidated = new Set()

/** The state after one more event. A commit among the invalidated ones is skipped: it only releases the lock. */
export const evolve = (
  state: SessionState,
  recorded: Recorded,
  invalidated: Invalidated = noneInvalidated,
): SessionState => ({
  ...(isCommit(recorded) && invalidated.has(recorded.seq) ? released : reducerOf(recorded.event))(
    state,
    recorded,
  ),
  version: recorded.seq,
})

/** Only what a compaction did can be invalidated, never a message. */
const isCommit = ({ event }: Recorded): boolean =>
  event._tag === "SummaryCommitted" || event._tag === "ToolOutputsPruned"

/** The state after all these events. A commit that one of them invalidates is never applied. */
export const fold = (state: SessionState, events: ReadonlyArray<Recorded>): SessionState => {
  const invalidated = new Set<number>()
  for (const { event, seq } of events) {
    if (event._tag === "SummaryInvalidated" && event.seq < seq) invalidated.add(event.seq)
  }
  let current = state
  for (const recorded of events) current = evolve(current, recorded, invalidated)
  return current
}

/**
 * Whether an event changes what is already in the state: it invalidates a commit, or erases a message. The state no
 * longer has the messages that the commit covered, so the session has to be folded from its start.
 */
export const rewinds = (state: SessionState, { event }: Recorded): boolean =>
  (event._tag === "MessageRedacted" || event._tag === "SummaryInvalidated") &&
  event.seq <= state.version &&
  !(event._tag === "SummaryInvalidated" && state.damaged.some(({ seq }) => seq === event.seq))

type Reducer = (state: SessionState, recorded: Recorded) => SessionState

/** An invalidated commit only releases the lock. */
const released: Reducer = (state, { event }) =>
  "compaction" in event && state.running?.compaction === event.compaction
    ? { ...state, running: null, failures: null }
    : state

/** Leaving an event out does not compile. */
const reducerOf = Match.typeTags<AnyEvent>()({
  MessageAppended:
    (event): Reducer =>
    (state, { at }) =>
      messageAppended(state, event, at),
  CompactionStarted:
    (event): Reducer =>
    (state) =>
      compactionStarted(state, event),
  SummaryCommitted:
    (event): Reducer =>
    (state, { at, seq }) =>
      summaryCommitted(state, event, { at, seq }),
  SummarySuperseded:
    (event): Reducer =>
    (state) =>
      summarySuperseded(state, event),
  SummaryInvalidated:
    (event): Reducer =>
    (state) =>
      summaryInvalidated(state, event),
  CompactionsHeld:
    ({ until }): Reducer =>
    (state) => ({ ...state, heldUntil: until }),
  ToolOutputsPruned:
    (event): Reducer =>
    (state) =>
      toolOutputsPruned(state, event),
  CompactionFailed:
    (event): Reducer =>
    (state) =>
      compactionFailed(state, event),
  CompactionReleased:
    (event): Reducer =>
    (state) =>
      compactionReleased(state, event),
  FactsLearned:
    (event): Reducer =>
    (state, { at }) =>
      factsLearned(state, event, at),
  FactRetired:
    (event): Reducer =>
    (state) =>
      factRetired(state, event),
  // Its words are gone from the events before this one.
  MessageRedacted: (): Reducer => (state) => state,
  SessionCleared:
    (): Reducer =>
    ({ session, clears }) => ({ ...empty(session), clears: clears + 1 }),
  DamagedSummary:
    (): Reducer =>
    (state, { seq }) =>
      damaged(state, { seq, summary: null }),
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
    appendedTokens: state.appendedTokens + tokens,
    askedAt,
    reported: current ? { index, tokens: (usage.input ?? 0) + usage.output } : state.reported,
  }
}

const compactionStarted = (
  state: SessionState,
  { compaction, from, to, leaseUntil }: CompactionStarted,
): SessionState => ({ ...state, running: { compaction, from, to, leaseUntil } })

const summaryCommitted = (
  state: SessionState,
  committed: SummaryCommitted,
  { at, seq }: Pick<Recorded, "at" | "seq">,
): SessionState => {
  if (state.running?.compaction !== committed.compaction) return state
  const { through, carried } = committed
  const before = state.summary?.segments ?? []
  if (through < state.through || through > state.total || !fits(before, committed)) {
    return damaged(state, { seq, summary: committed.summary })
  }
  const covered = state.raw.slice(state.through, through)
  const roundStarts = state.roundStarts.dropBefore(state.roundStarts.firstWhere((start) => start >= through))
  return {
    ...state,
    through,
    compressedThroughRound: state.compressedThroughRound + state.roundStarts.length - roundStarts.length,
    compactedAt: at,
    raw: state.raw.dropBefore(through),
    roundStarts,
    pinned: [...state.pinned, ...pinnedGroups(covered)],
    coveredTokens: covered.at(-1)?.cumulative ?? state.coveredTokens,
    summary: {
      id: committed.summary,
      seq,
      through,
      total: state.total,
      carried,
      segments: [...before.slice(0, carried), ...committed.segments],
      files: committed.files ?? noFiles,
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

/** A commit that cannot be used: nothing is covered by it, and the messages it stood for stay raw. */
const damaged = (state: SessionState, commit: SessionState["damaged"][number]): SessionState => ({
  ...state,
  running: null,
  failures: null,
  damaged: [...state.damaged, commit],
})

const summaryInvalidated = (state: SessionState, { seq }: SummaryInvalidated): SessionState => ({
  ...state,
  damaged: state.damaged.filter((commit) => commit.seq !== seq),
  committedTotal: state.total,
  reported: null,
})

const toolOutputsPruned = (state: SessionState, pruned: ToolOutputsPruned): SessionState => {
  const { running } = state
  if (running?.compaction !== pruned.compaction) return state
  return {
    ...state,
    raw: prune(state.raw, pruned.outputs),
    // One that covers nothing came for the sake of this alone.
    ...(running.from === running.to ? { running: null, failures: null } : {}),
    committedTotal: state.total,
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
          retryAt: failed.retryAt,
          retryTotal: failed.retryTotal,
        },
      }

const compactionReleased = (state: SessionState, { compaction }: CompactionReleased): SessionState =>
  state.running?.compaction === compaction ? { ...state, running: null } : state

const factsLearned = (
  state: SessionState,
  { facts, to, session }: FactsLearned,
  at: number,
): SessionState => {
  const replaced = (older: SessionState["facts"][number]) =>
    facts.some(
      ({ id, key, layer }) =>
        id === older.id || (key !== undefined && key === older.key && layer === older.layer),
    )
  const learnedThrough = session === undefined ? Math.max(state.learnedThrough, to) : state.learnedThrough
  if (facts.length === 0) return { ...state, learnedThrough }
  const all = [...state.facts.filter((older) => !replaced(older)), ...facts.map((fact) => ({ ...fact, at }))]
  return { ...state, learnedThrough, facts: all.length <= mostFacts ? all : newestOfEach(all) }
}

/** The newest facts of each layer: many digests must not push out what the user is called. */
const newestOfEach = (facts: SessionState["facts"]): SessionState["facts"] => {
  const newest = (layer: SessionState["facts"][number]["layer"]) =>
    facts.filter((fact) => fact.layer === layer).slice(-mostFacts)
  const kept = new Set([...newest("user"), ...newest("scope")])
  return facts.filter((fact) => kept.has(fact))
}

const factRetired = (state: SessionState, { fact }: FactRetired): SessionState => ({
  ...state,
  facts: state.facts.filter(({ id }) => id !== fact),
})
