/**
 * Checks a stored log against the laws that can be seen in it: L1 to L5, L7 and L12, that every event can be
 * decoded, and that sequence numbers and message indices have no holes.
 *
 * It folds the log once and keeps the state and the commit ids, so logs of any length can be checked.
 */
import { Effect, Either, Option, Stream } from "effect"
import type {
  CompactionStarted,
  MessageAppended,
  SummaryCommitted,
  SummarySuperseded,
  ToolOutputsPruned,
} from "../event/Event.js"
import type { DamagedEvent, RecordedEvent } from "../event/EventCodec.js"
import { decode } from "../event/EventCodec.js"
import type { LogError, LogRecord, Service as EventLog, Snapshot } from "../log/EventLog.js"
import { render } from "../render/Render.js"
import { evolve, fold, requiresReplay } from "../session/evolve.js"
import { tiles } from "../summary/Summary.js"
import { foldVersion, take } from "../session/Snapshot.js"
import type { SessionState } from "../session/SessionState.js"
import { boundaryBefore, empty } from "../session/SessionState.js"
import { orphans } from "./orphans.js"

/** What a finding is about: a law of the design, or the form of the log itself. */
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

/** Something in a log that must not be there. */
export interface Finding {
  readonly session: string
  /** The event at which it shows. */
  readonly version: number
  readonly rule: Rule
  readonly detail: string
}

/** A finding, and the summaries that could not be used when it was made and had not been declared invalid yet. */
interface Found {
  readonly finding: Finding
  readonly damaged: SessionState["damaged"]
}

interface Progress {
  readonly state: SessionState
  readonly version: number
  readonly batchId: string
  /** Whether every event stood in its place and could be read; if not, the state is made up in part. */
  readonly whole: boolean
  /** Shared by all steps of one check: copying it at each event would make a check quadratic. */
  readonly commits: Set<string>
  readonly started: CompactionStarted | null
  /** The summary that a commit replaced and that has not been marked superseded yet. */
  readonly unmarked: string | null
  /** Shared likewise. */
  readonly findings: Array<Found>
  /** The events that later ones declare invalid: what was wrong with them has been dealt with. */
  readonly invalidated: Set<number>
}

type Problem = readonly [rule: Rule, detail: string]

/** A session may be written to while it is looked at; where it is begun anew meanwhile, there is nothing to say. */
const versionProblem = (end: number, before: number, after: number): ReadonlyArray<Problem> => {
  if (after < before || (before <= end && end <= after)) return []
  const version = end < before ? before : after
  return [["contiguous", `the store says that the session is at version ${version}, its log ends at ${end}`]]
}

/** The findings of one session; none when all is well. It may be in use meanwhile. */
export const session = (log: EventLog, name: string): Effect.Effect<ReadonlyArray<Finding>, LogError> =>
  Effect.gen(function* () {
    const before = yield* log.version(name)
    const snapshot = yield* log.loadSnapshot(name)
    let atSnapshot = null as Progress | null
    const start: Progress = {
      state: empty(name),
      version: 0,
      batchId: "",
      whole: true,
      commits: new Set(),
      started: null,
      unmarked: null,
      findings: [],
      invalidated: new Set(),
    }
    const end = yield* log.read(name).pipe(
      Stream.runFoldEffect(start, (progress, record) => {
        const decoded = decode(record)
        const next = step(progress, record, decoded)
        return Effect.tap(
          Either.isRight(decoded) && requiresReplay(progress.state, decoded.right)
            ? Effect.map(foldAnew(log, name, record.version), (state) => ({ ...next, state }))
            : Effect.succeed(next),
          (reached) =>
            Effect.sync(() => {
              if (Option.isSome(snapshot) && snapshot.value.version === record.version) atSnapshot = reached
            }),
        )
      }),
    )
    const after = yield* log.version(name)
    return [
      ...findings(end, end.version, versionProblem(end.version, before, after)),
      ...end.findings.filter((found) => !dealtWith(found, end)).map(({ finding }) => finding),
      ...findings(end, end.version, [...unmarkedProblem(end), ...contextProblems(end.state)]),
      // A snapshot may know what is missing in the log, and nothing tells what it should be.
      ...(Option.isSome(snapshot) && (atSnapshot ?? end).whole
        ? findings(end, snapshot.value.version, snapshotProblems(snapshot.value, atSnapshot?.state ?? null))
        : []),
    ]
  })

/** A snapshot of this fold is what the log folds to at its version (law L6). It costs no data when it is not. */
const snapshotProblems = (snapshot: Snapshot, state: SessionState | null): ReadonlyArray<Problem> => {
  if (snapshot.foldVersion !== foldVersion) return none
  return state !== null && take(state, snapshot.batchId).data === snapshot.data
    ? none
    : [
        [
          "snapshot",
          "the snapshot is not what the log folds to; it is ignored or made anew by memfold repair",
        ],
      ]
}

/**
 * Whether a finding is about what has been declared invalid since. So is what follows from a damaged summary: whoever
 * wrote it had it in memory, and went on from it.
 */
const dealtWith = ({ finding, damaged }: Found, { invalidated }: Progress): boolean =>
  invalidated.has(finding.version) ||
  ((finding.rule === "L1" || finding.rule === "L3") &&
    damaged.length > 0 &&
    damaged.every(({ version }) => invalidated.has(version)))

/** The state at an event that takes back an earlier one: without what was taken back. */
const foldAnew = (log: EventLog, name: string, toVersion: number): Effect.Effect<SessionState, LogError> =>
  log.read(name, { toVersion }).pipe(
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

const step = (
  progress: Progress,
  record: LogRecord,
  decoded: Either.Either<RecordedEvent, DamagedEvent>,
): Progress => {
  const sequence = sequenceProblems(progress, record)
  progress.commits.add(record.batchId)
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
      // One message more, whatever it said: what follows is checked in its own place.
      return record.type === "MessageAppended" ? { ...seen, state: withMissing(seen.state, 1, record) } : seen
    },
    onRight: (recorded) => {
      const { event } = recorded
      if (event._tag === "SummaryInvalidated") seen.invalidated.add(event.version)
      const before =
        event._tag === "MessageAppended" && event.index > seen.state.total
          ? {
              ...seen,
              whole: false,
              state: withMissing(seen.state, event.index - seen.state.total, record),
            }
          : seen
      const state = evolve(before.state, recorded)
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

/** A state with empty messages in place of so many that cannot be read; beyond reason, they are not made up. */
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
  ...(batchId !== progress.batchId && progress.commits.has(batchId)
    ? [["L12", `commit "${batchId}" was applied a second time`] as const]
    : []),
]

const none: ReadonlyArray<Problem> = []

/** The problems of one event, given what was before it and the state after it. */
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
    case "ToolOutputsPruned":
      return {
        problems: [...unmarkedProblem(before), ...pruneProblems(before.state, event)],
        unmarked: null,
      }
    case "SessionCleared":
    case "SummaryInvalidated":
    case "CompactionFailed":
    case "CompactionReleased":
      return { problems: unmarkedProblem(before), unmarked: null }
    case "CompactionPaused":
    case "FactsLearned":
    case "FactRemoved":
    case "MessageRedacted":
    case "UnknownEvent":
      return { problems: none, unmarked }
  }
}

const unmarkedProblem = ({ unmarked }: Progress): ReadonlyArray<Problem> =>
  unmarked === null ? none : [["L1", `summary ${unmarked} was replaced but never marked as superseded`]]

const messageProblems = ({ total }: SessionState, { index }: MessageAppended): ReadonlyArray<Problem> =>
  index === total ? none : [["contiguous", `message ${index} follows ${total} messages`]]

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
  // Less than planned is what could be finished before a summarizer failed.
  if (coveredTo > started.to)
    problems.push(["L3", `it covers up to ${coveredTo}, the plan was ${started.to}`])
  if (coveredTo <= state.total && cutsGroup(state, coveredTo))
    problems.push(["L5", `its end ${coveredTo} cuts a group`])
  const segments = after.summary?.segments ?? []
  // What was dropped without a word is covered by no segment.
  if (written.length > 0 && tiles(segments, 0) !== coveredTo) {
    problems.push(["L3", `its segments do not cover [0,${coveredTo}) without a hole`])
  }
  if (after.uncovered.length !== after.total - after.coveredTo) {
    problems.push([
      "L4",
      `${after.uncovered.length} raw messages in place of ${after.total - after.coveredTo}`,
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
