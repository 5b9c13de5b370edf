/**
 * What really happened: every record that the log took, in the order it took them. The answers of engines are compared
 * with it. Each time the log has taken something, the laws that show in it are checked.
 */
import { Effect, Either, Option, Stream } from "effect"
import { snapshotOf, versionIn } from "@memfold/harness/logs"
import { isDeepStrictEqual } from "node:util"
import { EventCodec, EventLog, type Message, Render, Session, type Strategy } from "../../src/index.js"
import * as Snapshot from "../../src/projection/Snapshot.js"
import {
  compactionFindings,
  contextFinding,
  prefixFinding,
  type NaiveSession,
  readSession,
  stateFinding,
} from "@memfold/testing/oracle"
import { checkSegments } from "./segments.js"
import { marksIn, marksOf } from "./talk.js"
import { failOn, must, Violation } from "./violation.js"
import type { Process, World } from "./world.js"
import { requiresReplay } from "../../src/session/evolve.js"

/** The messages of an append, under the commit id its client gave. Where they stand is known once they do. */
export interface Batch {
  readonly batchId: string
  readonly session: string
  readonly messages: ReadonlyArray<Message.Message>
  readonly applied: Array<{
    readonly incarnation: number
    readonly from: number
    readonly to: number
    readonly version: number
    readonly step: number
  }>
}

/** A session from its first event to its deletion. */
export interface Truth {
  readonly session: string
  /** How often it was deleted before. */
  readonly incarnation: number
  /** How often its records were rewritten. */
  generation: number
  records: Array<EventLog.LogRecord>
  events: Array<EventCodec.RecordedEvent>
  /** The state at each version, from 0 on. */
  states: Array<Session.SessionState>
  /** How far the summary reached at each version, when it was the newest. */
  readonly coveredTo: Array<number>
  /** When each event was written, in the run's time. */
  readonly written: Array<number>
  naive: NaiveSession
  /** The contexts that were rendered, by version. */
  readonly contexts: Map<number, Render.Context>
  readonly commits: Set<string>
  /** The marks of messages that were redacted. */
  readonly forgotten: Set<string>
  /** Snapshots that were saved and may still be lying about. */
  snapshots: Array<EventLog.ProjectionRow>
}

/** A moment, to ask later what has happened since. */
export interface Moment {
  readonly step: number
  readonly time: number
  readonly incarnation: number
  readonly generation: number
  readonly version: number
}

/** What the log took. */
export interface TakenBatch {
  readonly process: Process
  readonly session: string
  readonly records: ReadonlyArray<EventLog.NewRecord>
  readonly batchId: string
  readonly rewritten: ReadonlyArray<EventLog.RewrittenRecord> | null
  readonly appended: EventLog.AppendResult
}

const begun = (session: string, incarnation: number): Truth => ({
  session,
  incarnation,
  generation: 0,
  records: [],
  events: [],
  states: [Session.empty(session)],
  coveredTo: [0],
  written: [],
  naive: readSession([]),
  contexts: new Map(),
  commits: new Set(),
  forgotten: new Set(),
  snapshots: [],
})

/** Whether two states say the same, however they came about. */
export const sameState = (one: Session.SessionState, other: Session.SessionState): boolean => {
  const plain = (state: Session.SessionState) => ({
    ...state,
    uncovered: state.uncovered.slice(),
    turnStarts: state.turnStarts.slice(),
  })
  return isDeepStrictEqual(plain(one), plain(other))
}

const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

export class History {
  private readonly truths = new Map<string, Truth>()
  /** The lives of sessions that a deletion ended. */
  private readonly ended: Array<Truth> = []
  readonly batches = new Map<string, Batch>()
  /** Which process a compaction belongs to, and what had gone wrong there by then. */
  readonly owners = new Map<string, { readonly process: Process; readonly faults: number }>()
  /** The process that wrote to a session last. */
  readonly writers = new Map<string, Process>()
  readonly deletions: Array<{ readonly session: string; readonly step: number; readonly process: Process }> =
    []
  readonly redactions: Array<{
    readonly session: string
    readonly step: number
    readonly marks: ReadonlyArray<string>
  }> = []
  private readonly counted = new Map<string, number>()

  constructor(
    private readonly world: World,
    private readonly log: EventLog.Service,
    private readonly strategies: ReadonlyMap<string, Strategy.Strategy>,
  ) {}

  count(what: string, times = 1): void {
    this.counted.set(what, (this.counted.get(what) ?? 0) + times)
  }

  get counts(): ReadonlyMap<string, number> {
    return this.counted
  }

  of(session: string): Truth {
    const known = this.truths.get(session) ?? begun(session, 0)
    this.truths.set(session, known)
    return known
  }

  /** The sessions that are there. */
  get sessions(): ReadonlyArray<Truth> {
    return [...this.truths.values()].filter(({ records }) => records.length > 0)
  }

  moment(session: string): Moment {
    const { incarnation, generation, records } = this.of(session)
    return { step: this.world.steps, time: this.world.now, incarnation, generation, version: records.length }
  }

  /** The newest life of a session that has an event at its version, if any has. */
  lifeOf(session: string, { version, id }: EventCodec.RecordedEvent): Truth | undefined {
    const before = this.ended.filter((life) => life.session === session)
    return [...before, this.of(session)].findLast(({ events }) => events[version - 1]?.id === id)
  }

  /** The log deleted a session. */
  deleted(process: Process, session: string): void {
    const life = this.of(session)
    this.ended.push(life)
    this.truths.set(session, begun(session, life.incarnation + 1))
    this.deletions.push({ session, process, step: this.world.steps })
    this.count("deletions")
  }

  /** The log took records. */
  taken({ process, session, records, batchId, rewritten, appended }: TakenBatch): void {
    const truth = this.of(session)
    const from = truth.records.length + 1
    this.writers.set(session, process)
    must(
      appended.fromVersion === from && appended.version === from + records.length - 1,
      "L12",
      () =>
        `the log of ${session} took events ${appended.fromVersion} to ${appended.version} where ${from} was next`,
    )
    if (rewritten !== null) this.rewrite(truth, rewritten, records)
    const tail = records.map((record, at) => tidy({ ...record, session, version: from + at, batchId }))
    must(!truth.commits.has(batchId), "L12", () => `commit ${batchId} is applied to ${session} a second time`)
    truth.commits.add(batchId)
    truth.records.push(...tail)
    const events = tail.map((record) =>
      Either.getOrElse(EventCodec.decode(record), ({ message }) => {
        throw new Violation("decodable", message)
      }),
    )
    truth.events.push(...events)
    for (const _ of events) truth.written.push(this.world.now)
    this.messages(truth, events, batchId)
    this.fold(truth, from)
    // A fork is written in one batch: the compactions in it belong to its source.
    const copied = from === 1 && batchId.startsWith("fork-")
    const read = readSession(truth.events)
    failOn(read.problems[0], () => session)
    this.coverage(truth, read, events)
    this.takenOver(truth, process, events)
    truth.naive = read
    for (const { event, version } of events) {
      this.count(event._tag)
      if (event._tag === "CompactionStarted" && !copied) {
        this.owners.set(event.compaction, { process, faults: process.faults })
        this.plan(truth, version)
      }
      if (event._tag === "SummaryCommitted" && !copied) {
        must(
          read.boundaries.includes(event.coveredTo),
          "L5",
          () => `the summary ${event.summary} ends at ${event.coveredTo}, within a group`,
        )
      }
      // A copy of a log says what was redacted in the original: it must be so in the copy.
      if (event._tag === "MessageRedacted")
        for (const mark of this.marksAt(truth, event.version)) truth.forgotten.add(mark)
    }
    this.agree(truth)
    this.context(truth, from - 1)
    this.redacted(truth, rewritten === null ? tail : truth.records)
    this.world.trace(
      () => `${process.name}: ${session} ${from}: ${events.map(({ event }) => summarized(event)).join(", ")}`,
    )
  }

  /** The log took a snapshot, or was asked to. */
  snapshotSaved(session: string): void {
    const truth = this.of(session)
    const stored = Effect.runSync(snapshotOf(this.log, session))
    if (stored === null) return
    this.redacted(truth, [])
    const version = versionIn(stored)
    const state = truth.states[version]
    const restored = Option.getOrNull(Snapshot.stateIn(session, stored))?.state
    must(
      restored !== undefined && state !== undefined && sameState(restored, state),
      "L6",
      () => `the snapshot of ${session} at ${version} is not the fold of its log`,
      () => ({ restored, state }),
    )
    if (truth.snapshots.at(-1)?.data !== stored.data) truth.snapshots.push(stored)
  }

  /** The whole log of a session, as it is stored. */
  private read(session: string): ReadonlyArray<EventLog.LogRecord> {
    return [...Effect.runSync(Stream.runCollect(EventLog.records(this.log, session)))].map(tidy)
  }

  /** What was stored before is what is stored now (law L10). */
  unchanged(truth: Truth): void {
    must(
      same(this.read(truth.session), truth.records),
      "L10",
      () => `the log of ${truth.session} is not what was written to it`,
    )
  }

  private marksAt({ records }: Truth, seq: number): ReadonlyArray<string> {
    return marksIn(records[seq - 1]?.data ?? "")
  }

  /** Records were rewritten, for a redaction and for nothing else. */
  private rewrite(
    truth: Truth,
    rewritten: ReadonlyArray<EventLog.RewrittenRecord>,
    records: ReadonlyArray<EventLog.NewRecord>,
  ): void {
    const { session } = truth
    must(
      records.some(({ type }) => type === "MessageRedacted"),
      "L10",
      () => `records of ${session} are rewritten, and no redaction says so`,
    )
    const changes = new Map(rewritten.map((change) => [change.version, change]))
    const before = truth.records
    const marks = records.flatMap(({ type, data }) =>
      type === "MessageRedacted"
        ? this.marksAt(truth, (JSON.parse(data) as { readonly version: number }).version)
        : [],
    )
    for (const mark of marks) truth.forgotten.add(mark)
    this.redactions.push({ session, step: this.world.steps, marks })
    truth.records = before.map((record) => {
      const change = changes.get(record.version)
      return change === undefined ? record : tidy({ ...record, ...change })
    })
    must(
      same(this.read(session).slice(0, before.length), truth.records),
      "L10",
      () => `a redaction changed more of ${session} than it said`,
    )
    truth.generation++
    truth.snapshots = []
    truth.contexts.clear()
    truth.events = truth.records.map((record) => Either.getOrThrow(EventCodec.decode(record)))
    truth.states = [Session.empty(session)]
    this.fold(truth, 1)
    truth.naive = readSession(truth.events)
  }

  /** Messages come from clients, each once, all of a batch together; or they are copied by a fork. */
  private messages(truth: Truth, events: ReadonlyArray<EventCodec.RecordedEvent>, commit: string): void {
    const appended = events.flatMap(({ event }) => (event._tag === "MessageAppended" ? [event] : []))
    if (appended.length === 0) return
    const batch = this.batches.get(commit)
    if (batch === undefined) {
      const isFork = events[0]?.version === 1 && commit.startsWith("fork-")
      must(isFork, "L12", () => `${truth.session} got messages that no client appended, in commit ${commit}`)
      this.count("forks")
      return
    }
    const { session, incarnation } = truth
    must(
      batch.session === session && batch.applied.every((one) => one.incarnation !== incarnation),
      "L12",
      () => `the batch ${commit} is applied to ${session}, and was appended once to ${batch.session}`,
    )
    const bare = ({ pinned: _pinned, ...message }: Message.Message) => message
    must(
      isDeepStrictEqual(
        appended.map(({ message }) => bare(message)),
        batch.messages.map(bare),
      ),
      "L12",
      () => `the batch ${commit} of ${session} is not stored as it was appended`,
      () => ({ stored: appended.map(({ message }) => bare(message)), said: batch.messages.map(bare) }),
    )
    const from = appended[0]?.index ?? 0
    const version = events.at(-1)?.version ?? 0
    batch.applied.push({ incarnation, from, to: from + appended.length, version, step: this.world.steps })
    this.count("messages", appended.length)
  }

  /** The states from an event on. */
  private fold(truth: Truth, from: number): void {
    for (const recorded of truth.events.slice(from - 1)) {
      const before = truth.states[recorded.version - 1]!
      const again = requiresReplay(before, recorded)
      truth.states[recorded.version] = again
        ? Session.fold(Session.empty(truth.session), truth.events.slice(0, recorded.version))
        : Session.evolve(before, recorded)
    }
  }

  /**
   * Who takes a lock over has waited for its lease: until its end, or for its length since it was given or renewed. A
   * client may ask for less, and a clock that jumped measures nothing.
   */
  private takenOver(truth: Truth, process: Process, events: ReadonlyArray<EventCodec.RecordedEvent>): void {
    const [first, second] = events
    const { running } = truth.states[(first?.version ?? 1) - 1] ?? Session.empty(truth.session)
    if (first?.event._tag !== "CompactionReleased" || second?.event._tag !== "CompactionStarted") return
    if (running === null || process.takesOver.has(truth.session)) return
    const given = truth.events.findLast(
      ({ event, version }) =>
        version < first.version &&
        (event._tag === "CompactionStarted" || event._tag === "CompactionRenewed") &&
        event.compaction === running.compaction,
    )
    const since = truth.written[(given?.version ?? 1) - 1] ?? 0
    if (process.jumped >= since) return
    this.count("locks taken over")
    const waited = this.world.now - since
    must(
      process.time() >= running.leaseUntil || waited >= running.leaseUntil - running.leaseFrom,
      "L7",
      () => `${process.name} takes the lock of ${running.compaction} over after ${waited} ms`,
    )
  }

  /** Coverage never moves back by itself. */
  private coverage(truth: Truth, now: NaiveSession, events: ReadonlyArray<EventCodec.RecordedEvent>): void {
    const coveredTo = now.active?.coveredTo ?? 0
    const before = truth.naive.active?.coveredTo ?? 0
    const meant = events.some(({ event }) => ["SummaryInvalidated", "SessionCleared"].includes(event._tag))
    must(
      coveredTo >= before || meant,
      "L3",
      () => `the coverage of ${truth.session} moves from ${before} to ${coveredTo}`,
    )
    for (const { version } of events) truth.coveredTo[version] = coveredTo
  }

  /** What a compaction took the lock for leaves the tail alone, and cuts no group. */
  private plan(truth: Truth, seq: number): void {
    const recorded = truth.events[seq - 1]!
    const { event: started } = recorded
    if (started._tag !== "CompactionStarted") return
    const strategy = this.strategies.get(started.strategy)
    if (strategy === undefined) throw new Violation("L10", `no strategy is called ${started.strategy}`)
    const state = truth.states[seq - 1]!
    const { failures, pausedUntil, total } = state
    /** How long it should have waited. No pause is longer than an hour: beyond that, the clocks disagree. */
    const early =
      failures === null || total >= failures.retryMessages ? 0 : failures.retryTime - recorded.time
    const tooEarly = (early > 0 && early <= 3_600_000) || total < pausedUntil
    must(
      started.reason === "demand" || !tooEarly,
      "L9",
      () => `the compaction ${started.compaction} begins before its time`,
    )
    const messages = truth.naive.messages.map(({ message }) => message)
    const [finding] = compactionFindings(strategy, state, recorded.time, messages, started)
    failOn(finding, () => truth.session)
  }

  /** The fold and the naive model agree. */
  private agree({ session, naive, states, events }: Truth): void {
    const state = states.at(-1)!
    failOn(stateFinding(naive, state), () => session)
    if (events.length % 8 !== 0) return
    const again = Session.fold(Session.empty(session), events)
    must(
      sameState(again, state),
      "L6",
      () => `the fold of ${session} from its start is another than the one event by event`,
      () => ({ again, state }),
    )
  }

  /** Checks the context of the newest version against the context of the version before the batch. */
  private context(truth: Truth, before: number): void {
    const state = truth.states.at(-1)!
    const context = Render.render(state)
    failOn(
      contextFinding(state, context),
      () => truth.session,
      () => context.messages,
    )
    checkSegments(truth.session, truth.naive)
    const earlier = truth.contexts.get(before)
    const changed = truth.events
      .slice(before)
      .some(({ event }) =>
        [
          "SummaryCommitted",
          "ToolOutputsPruned",
          "SummaryInvalidated",
          "SessionCleared",
          "MessageRedacted",
        ].includes(event._tag),
      )
    if (earlier !== undefined && !changed) failOn(prefixFinding(earlier, context), () => truth.session)
    truth.contexts.set(state.version, context)
  }

  /** Redacted text is in no record and in no snapshot. */
  private redacted(truth: Truth, records: ReadonlyArray<EventLog.LogRecord>): void {
    if (truth.forgotten.size === 0) return
    const { session, forgotten } = truth
    for (const { version, type, data } of records) {
      const found = marksIn(data).find((mark) => forgotten.has(mark))
      must(
        found === undefined,
        "L15",
        () => `${found} was redacted from ${session}; event ${version} (${type}) has it`,
      )
    }
    for (const kind of ["snapshot", "summary", "index"]) {
      const rows = Effect.runSync(this.log.projections.get(session, kind))
      const found = marksIn(JSON.stringify(rows)).find((mark) => forgotten.has(mark))
      must(
        found === undefined,
        "L15",
        () => `${found} was redacted from ${session}; its rows of kind ${kind} have it`,
      )
    }
  }

  /** Ends the run if an answer, asked for after a redaction, has what was redacted. */
  forgottenIn(truth: Truth, what: string, answer: unknown, since: Moment): void {
    if (truth.forgotten.size === 0 || truth.incarnation !== since.incarnation) return
    const gone = new Set(
      this.redactions
        .filter(({ session, step }) => session === truth.session && step < since.step)
        .flatMap(({ marks }) => marks)
        .filter((mark) => truth.forgotten.has(mark)),
    )
    const found = marksOf(answer).find((mark) => gone.has(mark))
    must(found === undefined, "L15", () => `${found} was redacted from ${truth.session}; ${what} has it`)
  }
}

/** Records in one form, to compare them. */
const tidy = ({
  session,
  version: seq,
  batchId,
  time,
  type,
  schemaVersion: version,
  data,
  checksum,
}: EventLog.LogRecord): EventLog.LogRecord => ({
  session,
  version: seq,
  batchId,
  time,
  type,
  schemaVersion: version,
  data,
  ...(checksum === undefined ? {} : { checksum }),
})

/** An event in a few words. */
const summarized = (event: EventCodec.AnyEvent): string => {
  switch (event._tag) {
    case "MessageAppended":
      return `${event.index} ${event.message.role}${event.message.pinned === true ? " pinned" : ""}`
    case "CompactionStarted":
      return `started ${event.compaction.slice(-6)} [${event.from},${event.to}) for ${event.reason}`
    case "SummaryCommitted":
      return `committed ${event.compaction.slice(-6)} to ${event.coveredTo}`
    case "CompactionFailed":
      return `failed ${event.compaction.slice(-6)} (${event.reason})`
    case "CompactionRenewed":
      return `renewed ${event.compaction.slice(-6)}`
    case "CompactionReleased":
      return `released ${event.compaction.slice(-6)}`
    case "SummaryInvalidated":
      return `invalidated ${event.version} (${event.reason})`
    case "MessageRedacted":
      return `redacted ${event.version}`
    default:
      return event._tag
  }
}
