/**
 * Verification: checks a stored log against the laws that can be checked in a log. It also checks that every event can
 * be decoded, and that versions and message indexes have no holes.
 *
 * The check reads the log once and keeps only the state and the batch ids, so it can check logs of any length.
 */
import { Clock, Effect, Either, Stream } from "effect"
import { type DamagedEvent, type RecordedEvent, decode } from "../event/EventCodec.js"
import type { LogError, LogRecord, Service as EventLog } from "@memfold/log/EventLog"
import { records } from "@memfold/log/pages"
import { description } from "../projection/description.js"
import { earlierSnapshots } from "../projection/earlierSnapshots.js"
import type { Projection } from "../projection/Projection.js"
import { snapshot } from "../projection/Snapshot.js"
import { summaries } from "../projection/summaries.js"
import { storedIndex } from "../recall/storedIndex.js"
import type { Service as VectorIndex } from "@memfold/log/VectorIndex"
import { evolve, fold, requiresReplay } from "../session/evolve.js"
import { isFromWrongClock } from "../shell/Leases.js"
import { compare } from "../shell/projectionCheck.js"
import { type SessionState, empty } from "../session/SessionState.js"
import { keepTip } from "../session/switchBranch.js"
import {
  type Before,
  contextProblems,
  eventProblems,
  none,
  type Problem,
  type Rule,
  unmarkedProblem,
} from "./eventProblems.js"
import { differingVectors } from "./storedVectors.js"

/** A violation of a rule in a session's log. */
export interface Finding {
  readonly session: string
  /** The version of the event where the violation was found. */
  readonly version: number
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

interface Progress extends Before {
  readonly version: number
  readonly batchId: string
  /** Whether no event was missing or damaged so far; otherwise the state has placeholders. */
  readonly whole: boolean
  /** The batch ids so far. All steps share one set, since copying it for each event would take quadratic time. */
  readonly batches: Set<string>
  /** Shared by all steps, too. */
  readonly findings: Array<LogFinding>
  /** The versions of events that later ones declare invalid. Their findings are resolved. */
  readonly invalidated: Set<number>
  /** The states before switches to another branch and before clears: mostly, a switch goes back to one of them. */
  readonly states: Map<number, SessionState>
}

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
