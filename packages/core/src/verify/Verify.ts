/**
 * Verification: checks a stored log against the laws that can be checked in a log. It also checks that every event can
 * be decoded, and that versions and message indexes have no holes.
 *
 * The check reads the log once and keeps only the state and the batch ids, so it can check logs of any length.
 */
import { Clock, Effect, Either, Stream } from "effect"
import type {
  BranchSwitched,
  CompactionStarted,
  MessageAppended,
  SummaryCommitted,
  SummarySuperseded,
  ToolOutputsPruned,
} from "../event/Event.js"
import type { DamagedEvent, RecordedEvent } from "../event/EventCodec.js"
import { decode } from "../event/EventCodec.js"
import type { LogError, LogRecord, Service as EventLog } from "../log/EventLog.js"
import { records } from "../log/pages.js"
import { description } from "../projection/description.js"
import { earlierSnapshots } from "../projection/earlierSnapshots.js"
import type { Projection } from "../projection/Projection.js"
import { snapshot } from "../projection/Snapshot.js"
import { summaries } from "../projection/summaries.js"
import { storedIndex } from "../recall/storedIndex.js"
import { render } from "../render/Render.js"
import type { Service as VectorIndex } from "../recall/VectorIndex.js"
import { evolve, fold, requiresReplay } from "../session/evolve.js"
import { isFromWrongClock } from "../shell/Leases.js"
import { compare } from "../shell/projectionCheck.js"
import { tiles } from "../summary/Summary.js"
import type { SessionState } from "../session/SessionState.js"
import { boundaryBefore, empty } from "../session/SessionState.js"
import { keepTip } from "../session/switchBranch.js"
import { orphans } from "./orphans.js"
import { differingVectors } from "./storedVectors.js"

/**
 * The rule that a finding breaks: a law, or a rule for the form of the log.
 *
 * - `L1`: a session has exactly one active summary after the first commit
 * - `L2`: the tail is never compacted
 * - `L3`: coverage has no holes and never moves back, except by a revert, a clear or an invalidation
 * - `L4`: every message is either covered or uncovered
 * - `L5`: no boundary splits a group, and no context has a call without its result or a result without its call
 * - `L7`: at most one compaction runs at a time
 * - `L12`: a batch is applied once
 * - `decodable`: every event can be decoded
 * - `contiguous`: versions and message indexes have no holes
 * - `prunable`: a pruned tool output exists in an uncovered message
 * - `snapshot`: the snapshot is the folded state of the log
 * - `summaries`: the summary rows of the store follow from the log
 * - `description`: the owner and the title in the store follow from the log
 * - `index`: the full-text index of the store follows from the log
 * - `vectors`: the vectors of the session, if a vector index is given, follow from its messages
 * - `lease`: no running compaction has a lease that only a wrong clock can have set
 */
export type Rule =
  | "L1"
  | "L2"
  | "L3"
  | "L4"
  | "L5"
  | "L7"
  | "L12"
  | "decodable"
  | "contiguous"
  | "prunable"
  | "snapshot"
  | "summaries"
  | "description"
  | "index"
  | "vectors"
  | "lease"

/** A violation of a rule in a session's log. */
export interface Finding {
  readonly session: string
  /** The version of the event where the violation was found. */
  readonly version: number
  /** The rule that is broken. */
  readonly rule: Rule
  /** The violation in words. */
  readonly detail: string
}

/** What is verified besides the log. */
export interface VerifyOptions {
  /** The vector index of the sessions; without it, vectors are not looked at. */
  readonly vectorIndex?: VectorIndex | undefined
}

/** A finding, and the damaged summaries that had not been declared invalid by then. */
interface LogFinding {
  readonly finding: Finding
  readonly damaged: SessionState["damaged"]
}

interface Progress {
  readonly state: SessionState
  readonly version: number
  readonly batchId: string
  /** Whether no event was missing or damaged so far; otherwise the state has placeholders. */
  readonly whole: boolean
  /** The batch ids so far. All steps share one set, since copying it for each event would take quadratic time. */
  readonly batches: Set<string>
  readonly started: CompactionStarted | null
  /** The summary that a commit replaced, until it is marked superseded. */
  readonly unmarked: string | null
  /** Shared by all steps, too. */
  readonly findings: Array<LogFinding>
  /** The versions of events that later ones declare invalid. Their findings are resolved. */
  readonly invalidated: Set<number>
  /** The states before switches to another branch and before clears: mostly, a switch goes back to one of them. */
  readonly states: Map<number, SessionState>
}

type Problem = readonly [rule: Rule, detail: string]

/**
 * Compares the end of the log with the store's versions before and after reading, since the session may be in use. If it
 * was deleted and started again meanwhile, nothing can be compared.
 */
const versionProblem = (end: number, before: number, after: number): ReadonlyArray<Problem> => {
  if (after < before || (before <= end && end <= after)) return []
  const version = end < before ? before : after
  return [["contiguous", `the store says that the session is at version ${version}, its log ends at ${end}`]]
}

/**
 * Verifies a session. Returns its findings; an empty list means that no rule is broken. The session may be in use.
 *
 * Fails with a `LogError` if the store cannot be read. A vector index that cannot be read is a finding.
 *
 * @param log - The store.
 * @param name - The id of the session.
 * @param options - What to verify besides the log.
 *
 * @example
 * ```ts
 * import { EventLog, Verify } from "@memfold/core"
 * import { Effect } from "effect"
 *
 * export const report = Effect.gen(function* () {
 *   const log = yield* EventLog.EventLog
 *   for (const finding of yield* Verify.session(log, "chat-1")) {
 *     console.log(`event ${finding.version}, ${finding.rule}: ${finding.detail}`)
 *   }
 * })
 * ```
 */
export const session = (
  log: EventLog,
  name: string,
  { vectorIndex }: VerifyOptions = {},
): Effect.Effect<ReadonlyArray<Finding>, LogError> =>
  Effect.gen(function* () {
    const before = (yield* log.head(name))?.version ?? 0
    const start: Progress = {
      state: empty(name),
      version: 0,
      batchId: "",
      whole: true,
      batches: new Set(),
      started: null,
      unmarked: null,
      findings: [],
      invalidated: new Set(),
      states: new Map(),
    }
    const end = yield* records(log, name).pipe(
      Stream.runFoldEffect(start, (progress, record) => {
        const decoded = decode(record)
        if (Either.isLeft(decoded) || !requiresReplay(progress.state, decoded.right, progress.states))
          return Effect.succeed(step(progress, record, decoded))
        return Effect.map(foldUpTo(log, name, record.version), (state) =>
          step(progress, record, decoded, state),
        )
      }),
    )
    const after = (yield* log.head(name))?.version ?? 0
    // The rows of a log that is damaged itself are not compared: repairing the log writes them again.
    const comparable = end.whole && end.state.damaged.length === 0
    const rows = comparable
      ? [
          ...(yield* Effect.forEach(projections, (one) => projectionFindings(log, name, one))).flat(),
          ...(vectorIndex === undefined ? [] : yield* vectorFindings(log, vectorIndex, end)),
        ]
      : []
    return [
      ...findings(end, end.version, versionProblem(end.version, before, after)),
      ...end.findings.filter((found) => !resolved(found, end)).map(({ finding }) => finding),
      ...findings(end, end.version, [
        ...unmarkedProblem(end),
        ...contextProblems(end.state),
        ...leaseProblems(end.state, yield* Clock.currentTimeMillis),
      ]),
      ...rows,
    ]
  })

/** A projection that is compared with the log: the rule that its rows break if they differ, and what a repair does. */
interface CheckedProjection {
  readonly rule: Rule
  // oxlint-disable-next-line typescript/no-explicit-any -- what a projection collects is its own affair
  readonly projection: Projection<any>
  readonly advice: string
}

/** The projections that are compared with the log, and repaired from it. */
export const projections: ReadonlyArray<CheckedProjection> = [
  { rule: "snapshot", projection: snapshot, advice: "memfold repair replaces it" },
  { rule: "snapshot", projection: earlierSnapshots, advice: "memfold repair drops it" },
  { rule: "summaries", projection: summaries, advice: "memfold repair writes the rows again" },
  { rule: "description", projection: description, advice: "memfold repair lists it as in the log" },
  {
    rule: "index",
    projection: storedIndex,
    advice: "memfold repair drops the index, and the next search builds it again",
  },
]

/** The findings in the stored rows of a projection. */
const projectionFindings = (
  log: EventLog,
  session: string,
  { rule, projection, advice }: CheckedProjection,
): Effect.Effect<ReadonlyArray<Finding>, LogError> =>
  Effect.map(compare(log, session, projection), (compared) =>
    (compared?.problems ?? []).map(({ version, detail }): Finding => ({
      session,
      version,
      rule,
      detail: `${detail}; ${advice}`,
    })),
  )

/** The findings in the vectors of a session. */
const vectorFindings = (
  log: EventLog,
  index: VectorIndex,
  { state, version: end }: Progress,
): Effect.Effect<ReadonlyArray<Finding>, LogError> =>
  differingVectors(log, index, state).pipe(
    Effect.map((differing) =>
      differing.map(({ version, problem }): Finding => ({
        session: state.session,
        version,
        rule: "vectors",
        detail: `${problem}; a repair drops the vectors of the session, and the next search makes them again`,
      })),
    ),
    Effect.catchTag("VectorIndexError", ({ message }) =>
      Effect.succeed([{ session: state.session, version: end, rule: "vectors" as const, detail: message }]),
    ),
  )

/** A lease that ends more than an hour from now: the process that set it has a clock that is ahead. */
const leaseProblems = ({ running }: SessionState, now: number): ReadonlyArray<Problem> => {
  if (running === null || !isFromWrongClock(running, now)) return none
  const [end, start] = [running.leaseUntil, running.leaseFrom].map((time) => new Date(time))
  const until = `until ${dateOf(end)}, set at ${dateOf(start)} by a clock that is ahead`
  return [
    [
      "lease",
      `compaction ${running.compaction} has the lock ${until}; another compaction takes it over once it has waited for the length of the lease, and memfold repair gives it back at once`,
    ],
  ]
}

/** A time as ISO text; a word if no calendar has it. */
const dateOf = (time: Date | undefined): string =>
  time === undefined || Number.isNaN(time.getTime()) ? "a time that no calendar has" : time.toISOString()

/**
 * Whether a finding is resolved: its event was declared invalid later. A finding that follows from damaged summaries is
 * resolved together with them: their writer had them in memory, and continued from them.
 */
const resolved = ({ finding, damaged }: LogFinding, { invalidated }: Progress): boolean =>
  invalidated.has(finding.version) ||
  ((finding.rule === "L1" || finding.rule === "L3") &&
    damaged.length > 0 &&
    damaged.every(({ version }) => invalidated.has(version)))

/** The state at an event that declares an earlier one invalid. The log is folded again without the invalid event. */
const foldUpTo = (log: EventLog, name: string, to: number): Effect.Effect<SessionState, LogError> =>
  records(log, name, { toVersion: to }).pipe(
    Stream.filterMap((record) => Either.getRight(decode(record))),
    Stream.runCollect,
    Effect.map((events) => fold(empty(name), [...events])),
  )

const findings = (
  { state }: Progress,
  version: number,
  problems: ReadonlyArray<Problem>,
): ReadonlyArray<Finding> =>
  problems.map(([rule, detail]) => ({ session: state.session, version, rule, detail }))

/** The next record. `folded` is the state after it, if it does not follow from the state before it alone. */
const step = (
  progress: Progress,
  record: LogRecord,
  decoded: Either.Either<RecordedEvent, DamagedEvent>,
  folded: SessionState | null = null,
): Progress => {
  const sequence = sequenceProblems(progress, record)
  progress.batches.add(record.batchId)
  const inPlace = record.version === progress.version + 1 && Either.isRight(decoded)
  const seen = {
    ...progress,
    version: record.version,
    batchId: record.batchId,
    whole: progress.whole && inPlace,
  }
  const report = (problems: ReadonlyArray<Problem>) => {
    const { damaged } = seen.state
    const found = findings(seen, record.version, [...sequence, ...problems])
    seen.findings.push(...found.map((finding) => ({ finding, damaged })))
  }
  return Either.match(decoded, {
    onLeft: ({ detail }) => {
      report([["decodable", detail]])
      return seen
    },
    onRight: (recorded) => {
      const { event } = recorded
      if (event._tag === "SummaryInvalidated" || event._tag === "MessageSetAside")
        seen.invalidated.add(event.version)
      const before =
        event._tag === "MessageAppended" && event.index > seen.state.total
          ? {
              ...seen,
              whole: false,
              state: withMissing(seen.state, event.index - seen.state.total, record),
            }
          : seen
      keepTip(before.states, before.state, recorded)
      // Earlier states may have the commit: a switch to one of them folds the log anew.
      if (event._tag === "SummaryInvalidated") before.states.clear()
      const state = folded ?? evolve(before.state, recorded, { states: before.states })
      const checked = eventProblems(seen, recorded, state)
      report(checked.problems)
      return {
        ...before,
        state,
        started: event._tag === "CompactionStarted" ? event : seen.started,
        unmarked: checked.unmarked,
      }
    },
  })
}

/** A state with empty placeholders for missing messages; none for more than 100,000, since such an index is itself damaged. */
const withMissing = (
  state: SessionState,
  count: number,
  { session, version, time }: LogRecord,
): SessionState =>
  fold(
    state,
    Array.from({ length: count > 100_000 ? 0 : count }, (_, position) => ({
      session,
      version,
      id: "",
      time,
      event: {
        _tag: "MessageAppended" as const,
        index: state.total + position,
        message: { role: "assistant" as const, parts: [] },
        tokens: 0,
      },
    })),
  )

const sequenceProblems = (progress: Progress, { version, batchId }: LogRecord): ReadonlyArray<Problem> => [
  ...(version === progress.version + 1
    ? []
    : [["contiguous", `event ${version} follows event ${progress.version}`] as const]),
  ...(batchId !== progress.batchId && progress.batches.has(batchId)
    ? [["L12", `batch "${batchId}" was applied a second time`] as const]
    : []),
]

const none: ReadonlyArray<Problem> = []

/** The problems of an event, with the summary that is to be marked superseded next. */
const eventProblems = (
  before: Progress,
  { event, time }: RecordedEvent,
  after: SessionState,
): { readonly problems: ReadonlyArray<Problem>; readonly unmarked: string | null } => {
  const { unmarked } = before
  switch (event._tag) {
    case "MessageAppended":
      return {
        problems: [...unmarkedProblem(before), ...messageProblems(before.state, event)],
        unmarked: null,
      }
    case "CompactionStarted":
      return {
        problems: [...unmarkedProblem(before), ...startProblems(before.state, event, time)],
        unmarked: null,
      }
    case "SummaryCommitted":
      return {
        problems: [
          ...unmarkedProblem(before),
          ...commitProblems(before, event, after),
          ...contextProblems(after),
        ],
        unmarked: before.state.summary?.id ?? null,
      }
    case "SummarySuperseded":
      return { problems: supersedeProblems(before, event), unmarked: null }
    case "DamagedSummary":
      return { problems: [["decodable", event.detail]], unmarked: null }
    case "DamagedMessage":
      return { problems: [...unmarkedProblem(before), ["decodable", event.detail]], unmarked: null }
    case "ToolOutputsPruned":
      return {
        problems: [...unmarkedProblem(before), ...pruneProblems(before.state, event)],
        unmarked: null,
      }
    case "BranchSwitched":
      return {
        problems: [...unmarkedProblem(before), ...switchProblems(before.state, after, event)],
        unmarked: null,
      }
    case "SessionCleared":
    case "SummaryInvalidated":
    case "CompactionFailed":
    case "CompactionReleased":
    case "CompactionRenewed":
      return { problems: unmarkedProblem(before), unmarked: null }
    case "CompactionPaused":
    case "FactsLearned":
    case "FactRemoved":
    case "MessageRedacted":
    case "MessageSetAside":
    case "SessionDescribed":
    case "UnknownEvent":
      return { problems: none, unmarked }
  }
}

const unmarkedProblem = ({ unmarked }: Progress): ReadonlyArray<Problem> =>
  unmarked === null ? none : [["L1", `summary ${unmarked} was replaced but never marked as superseded`]]

const messageProblems = ({ total }: SessionState, { index }: MessageAppended): ReadonlyArray<Problem> =>
  index === total ? none : [["contiguous", `message ${index} follows ${total} messages`]]

/** A switch to a state that the log does not have, or that covers more than stays, changes nothing. */
const switchProblems = (
  before: SessionState,
  after: SessionState,
  { version, index }: BranchSwitched,
): ReadonlyArray<Problem> =>
  after.branch.id === before.branch.id
    ? [["L3", `it goes back to message ${index} at event ${version}, which is not there, or covered then`]]
    : none

const cutsGroup = (state: SessionState, boundary: number): boolean =>
  boundaryBefore(state, boundary) !== boundary

const startProblems = (
  state: SessionState,
  started: CompactionStarted,
  at: number,
): ReadonlyArray<Problem> => {
  const { from, to, tailFrom, parts } = started
  const problems: Array<Problem> = []
  const { running } = state
  if (running !== null && at < running.leaseUntil) {
    problems.push(["L7", `compaction ${running.compaction} was still running`])
  }
  if (from !== state.coveredTo)
    problems.push(["L3", `it starts at ${from}, coverage ends at ${state.coveredTo}`])
  if (to > state.total) problems.push(["L3", `it reaches to ${to} of ${state.total} messages`])
  if (cutsGroup(state, to)) problems.push(["L5", `its end ${to} cuts a group`])
  if (to > tailFrom && parts.at(-1)?.kind !== "turn-prefix") {
    problems.push(["L2", `it reaches to ${to}, the tail begins at ${tailFrom}`])
  }
  if (tiles(parts, from) !== to)
    problems.push(["L3", `its parts do not cover [${from},${to}) without a hole`])
  return problems
}

const commitProblems = (
  { state, started }: Progress,
  { compaction, coveredTo, segments: written }: SummaryCommitted,
  after: SessionState,
): ReadonlyArray<Problem> => {
  if (state.running?.compaction !== compaction || started === null) {
    return [["L7", `compaction ${compaction} committed without being the running one`]]
  }
  const problems: Array<Problem> = []
  if (coveredTo < state.coveredTo)
    problems.push(["L3", `coverage moves back from ${state.coveredTo} to ${coveredTo}`])
  // A summary may cover less than planned, if a summarizer failed midway, but never more.
  if (coveredTo > started.to)
    problems.push(["L3", `it covers up to ${coveredTo}, the plan was ${started.to}`])
  if (coveredTo <= state.total && cutsGroup(state, coveredTo))
    problems.push(["L5", `its end ${coveredTo} cuts a group`])
  const segments = after.summary?.segments ?? []
  // With summary mode `drop`, no segment covers the dropped messages.
  if (written.length > 0 && tiles(segments, 0) !== coveredTo) {
    problems.push(["L3", `its segments do not cover [0,${coveredTo}) without a hole`])
  }
  if (after.uncovered.length !== after.total - after.coveredTo) {
    problems.push([
      "L4",
      `${after.uncovered.length} uncovered messages instead of ${after.total - after.coveredTo}`,
    ])
  }
  return problems
}

const pruneProblems = (
  { running, uncovered }: SessionState,
  { compaction, outputs }: ToolOutputsPruned,
): ReadonlyArray<Problem> => {
  if (running?.compaction !== compaction) {
    return [["L7", `compaction ${compaction} pruned outputs without being the running one`]]
  }
  const missing = outputs.filter(
    ({ index, part }) => uncovered.at(index)?.message.parts[part]?.type !== "tool-result",
  )
  return missing.map(
    ({ index }) => ["prunable", `message ${index} has no such tool output to prune`] as const,
  )
}

const supersedeProblems = ({ state, unmarked }: Progress, event: SummarySuperseded): ReadonlyArray<Problem> =>
  event.summary === unmarked && event.by === state.summary?.id
    ? none
    : [["L1", `summary ${event.summary} was superseded by ${event.by}, which did not replace it`]]

const contextProblems = (state: SessionState): ReadonlyArray<Problem> =>
  orphans(render(state).messages).map((detail) => ["L5", detail] as const)
