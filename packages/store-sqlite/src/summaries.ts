/**
 * The table `summaries`: every summary of every session and what has become of it, for whoever reads the file with
 * SQL (reference design 3, and the queries of design 4).
 *
 * It follows the log within the transaction of each append, and says what core's `Session.summariesOf` says. The log
 * stays the truth: nothing here is ever read by the engine, and a session that cannot be followed is made anew.
 */
import type { SqlError } from "@effect/sql/SqlError"
import type { EventLog } from "@memfold/core"
import { Event, EventCodec, Session, Summary, Wording } from "@memfold/core"
import { Chunk, Effect, Either, Option, Schema, Stream } from "effect"
import { integer, recordOf, type Row, type Run, text } from "./Row.js"

/** How far a session is, for the sake of its next summary; kept in its row of `sessions`. */
export interface Progress {
  /** The compaction that may commit. */
  readonly running: string | null
  /** Whether that one covers nothing, and came to prune. */
  readonly pruning: boolean
  /** How many messages there are since the start or the last clear. */
  readonly messages: number
}

/** A session of which nothing is known yet. */
export const start: Progress = { running: null, pruning: false, messages: 0 }

/** The progress that a row of `sessions` says. */
export const progressOf = (row: Row): Progress => ({
  running: row["running"] === null ? null : text(row, "running"),
  pruning: integer(row, "pruning") === 1,
  messages: integer(row, "messages"),
})

/** A progress for the columns `running`, `pruning` and `messages`. */
export const columnsOf = ({ running, pruning, messages }: Progress): ReadonlyArray<unknown> => [
  running,
  pruning ? 1 : 0,
  messages,
]

/** An event that changes the table, and how many messages there were before it. */
export interface Change {
  readonly recorded: EventCodec.Recorded
  readonly messages: number
}

/** A session as the tables name it. */
export interface Owner {
  readonly id: number
  readonly name: string
}

/** Whether an event matters here. Of messages nothing but their number does: they are neither decoded nor fetched. */
const matters: { readonly [Tag in Event.Event["_tag"]]: boolean } = {
  MessageAppended: false,
  CompactionStarted: true,
  SummaryCommitted: true,
  SummarySuperseded: false,
  SummaryInvalidated: true,
  ToolOutputsPruned: true,
  CompactionFailed: true,
  CompactionReleased: true,
  FactsLearned: false,
  FactRetired: false,
  CompactionsHeld: false,
  // What it is about has been rewritten, and the rows were made anew with that.
  MessageRedacted: false,
  SessionCleared: true,
}
const followed: ReadonlySet<string> = new Set(
  Object.entries(matters).flatMap(([type, does]) => (does ? [type] : [])),
)

/** The type of nearly all events. */
export const messageType: Event.Event["_tag"] = "MessageAppended"

/** Whether it is a message, of a form that counts here. */
export const isMessage = ({ type, version }: EventLog.NewRecord): boolean =>
  type === messageType && version <= Event.versions.MessageAppended

const withMessage = (progress: Progress): Progress => ({ ...progress, messages: progress.messages + 1 })

/** What a record says, if it says anything here. One that cannot be decoded is passed over. */
const decode = (record: EventLog.LogRecord): Option.Option<EventCodec.Recorded> =>
  followed.has(record.type) ? Either.getRight(EventCodec.decode(record)) : Option.none()

/** As much of a session's state as these events have to do with; `running` covers something, or nothing. */
const stateOf = ({ running, pruning, messages }: Progress, session: string): Session.SessionState => ({
  ...Session.empty(session),
  total: messages,
  running: running === null ? null : { compaction: running, from: 0, to: pruning ? 0 : 1, leaseUntil: 0 },
})

/** Which compaction runs is for the fold to say (law L7). */
const advance = (progress: Progress, recorded: EventCodec.Recorded): Progress => {
  if (recorded.event._tag === "MessageAppended") return withMessage(progress)
  const { running, total } = Session.evolve(stateOf(progress, recorded.session), recorded)
  return {
    running: running?.compaction ?? null,
    pruning: running !== null && running.from === running.to,
    messages: total,
  }
}

/** Whether an event changes the table. A commit does while its compaction is the running one. */
const changes = ({ running }: Progress, { event }: EventCodec.Recorded): boolean => {
  switch (event._tag) {
    case "SummaryCommitted":
      return running === event.compaction
    case "DamagedSummary":
    case "SummaryInvalidated":
    case "SessionCleared":
      return true
    default:
      return false
  }
}

/** Where a batch goes: behind the first `version` events of a session. */
export interface Place {
  readonly session: string
  readonly version: number
  readonly commit: string
}

/** Where a session is after a batch, and what the batch changes in the table; nearly always, nothing. */
export const follow = (
  before: Progress,
  records: ReadonlyArray<EventLog.NewRecord>,
  { session, version, commit }: Place,
): { readonly progress: Progress; readonly changes: ReadonlyArray<Change> } => {
  let progress = before
  const found: Array<Change> = []
  for (const [position, record] of records.entries()) {
    if (isMessage(record)) {
      progress = withMessage(progress)
      continue
    }
    const decoded = decode({ ...record, session, seq: version + 1 + position, commit })
    if (Option.isNone(decoded)) continue
    if (changes(progress, decoded.value)) {
      found.push({ recorded: decoded.value, messages: progress.messages })
    }
    progress = advance(progress, decoded.value)
  }
  return { progress, changes: found }
}

/**
 * Makes the changes of a batch. `false` if that takes more than the rows there are: a summary was invalidated or
 * cannot be used, or somebody else wrote to the table. Then the session is to be made anew, see {@link rebuild}.
 */
export const apply = (
  run: Run,
  owner: Owner,
  list: ReadonlyArray<Change>,
): Effect.Effect<boolean, SqlError> => Effect.every(list, (change) => applyOne(run, owner, change))

const applyOne = (run: Run, owner: Owner, { recorded, messages }: Change) =>
  Effect.gen(function* () {
    const { event, seq } = recorded
    if (event._tag !== "SummaryCommitted" && event._tag !== "SessionCleared") return false

    const [active] = yield* run(
      "SELECT seq, carried, compact_up_to_index, segments FROM summaries WHERE session = ? AND is_active = 1",
      [owner.id],
    )
    const segments = active === undefined ? Option.some([]) : decodeSegments(active["segments"])
    if (Option.isNone(segments)) return false
    if (event._tag === "SessionCleared") {
      if (active !== undefined) yield* supersede(run, owner, active, segments.value, null)
      return true
    }
    const before = active === undefined ? null : summaryOf(active, segments.value, event)
    const progress = { running: event.compaction, pruning: false, messages }
    const summary = committed(stateOf(progress, owner.name), before, recorded)
    if (summary === null) return false

    if (active !== undefined) yield* supersede(run, owner, active, segments.value, summary.id)
    yield* insert(
      run,
      owner,
      {
        ...summary,
        seq,
        status: "active",
        supersededBy: null,
        total: messages,
        text: Wording.body(summary.wording, summary),
      },
      active === undefined || event.carried === 0
        ? nothingCarried
        : { carried: event.carried, buildsOn: integer(active, "seq") },
    )
    return true
  })

const decodeSegments = Schema.decodeUnknownOption(Schema.parseJson(Schema.Array(Summary.Segment)))

/** As much of the active summary as the next one is held against: what it covers. */
const summaryOf = (
  row: Row,
  segments: ReadonlyArray<Summary.Segment>,
  { wording }: Event.SummaryCommitted,
): Session.Summary => ({
  id: "",
  through: integer(row, "compact_up_to_index"),
  total: 0,
  segments,
  files: { read: [], modified: [] },
  wording,
  tokens: 0,
  at: 0,
})

/** What a summary took over from the one before it: its first segments. */
interface Carried {
  readonly carried: number
  /** The event that committed the one before it. */
  readonly buildsOn: number | null
}

const nothingCarried: Carried = { carried: 0, buildsOn: null }

/**
 * Whether a text grows by what it takes over each time, as one in blocks does; the history before a turn prefix is
 * taken over, too, but is written anew when the turn is done.
 */
const pilesUp = (segments: ReadonlyArray<Summary.Segment>, carried: number): boolean =>
  segments.slice(0, carried).some(({ kind }) => kind === "block")

/** What a summary has written itself, for the column of a superseded one that went on from another. */
const ownText = (segments: ReadonlyArray<Summary.Segment>, carried: number): string =>
  segments
    .slice(carried)
    .map(({ text }) => text.toWellFormed())
    .join("\n\n")

/** The summary that a commit makes, `null` if it cannot be used: that too is for the fold to say. */
const committed = (
  state: Session.SessionState,
  before: Session.Summary | null,
  recorded: EventCodec.Recorded,
): Session.Summary | null => {
  const { damaged, summary } = Session.evolve(
    { ...state, through: before?.through ?? 0, summary: before },
    recorded,
  )
  return damaged.length === 0 ? summary : null
}

/**
 * What may be carried over is kept with the active summary alone, and so is the text of what was: with many blocks it
 * would pile up.
 */
const supersede = (
  run: Run,
  { id }: Owner,
  active: Row,
  segments: ReadonlyArray<Summary.Segment>,
  by: string | null,
) => {
  const carried = integer(active, "carried")
  return run(
    `UPDATE summaries SET status = 'superseded', is_active = 0, superseded_by = ?, segments = NULL,
       summary_text = coalesce(?, summary_text)
     WHERE session = ? AND is_active = 1`,
    [by, pilesUp(segments, carried) ? ownText(segments, carried) : null, id],
  )
}

const insert = (run: Run, { id, name }: Owner, record: Session.SummaryRecord, from: Carried) => {
  const active = record.status === "active"
  const partly = record.status === "superseded" && pilesUp(record.segments, from.carried)
  const prefixes = record.segments.filter(({ kind }) => kind === "turn-prefix")
  return run(
    `INSERT INTO summaries
       (summary_id, thread_id, summary_text, compact_up_to_index, compacted_at, is_split_turn, split_turn_prefix,
        is_active, created_at, status, superseded_by, session, seq, at, tokens, segments, carried, builds_on)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, datetime(CAST(? AS INTEGER) / 1000, 'unixepoch'), ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      record.id,
      name,
      // Half a character is none in a file that other programs read.
      partly ? ownText(record.segments, from.carried) : record.text.toWellFormed(),
      record.through,
      record.total,
      prefixes.length === 0 ? 0 : 1,
      prefixes.length === 0 ? null : prefixes.map(({ text }) => text.toWellFormed()).join("\n\n"),
      active ? 1 : 0,
      record.at,
      record.status,
      record.supersededBy,
      id,
      record.seq,
      record.at,
      record.tokens,
      active ? JSON.stringify(record.segments) : null,
      from.carried,
      from.buildsOn,
    ],
  )
}

/** In place of one that is not fetched. */
const someMessage: Event.MessageAppended = {
  _tag: "MessageAppended",
  index: 0,
  message: { role: "user", parts: [] },
  tokens: 0,
}

/** How many rows one statement takes from the file at a time. */
const pageSize = 512

const eventsOf = (run: Run, { id, name }: Owner): Stream.Stream<EventCodec.Recorded, SqlError> =>
  Stream.paginateChunkEffect(0, (after) =>
    run(
      `SELECT seq, commit_id, at, type, version, CASE type WHEN ? THEN '' ELSE data END AS data, checksum FROM events
       WHERE session = ? AND seq > ? AND type IN (?${", ?".repeat(followed.size)})
       ORDER BY seq LIMIT ${pageSize}`,
      [messageType, id, after, messageType, ...followed],
    ).pipe(
      Effect.map((rows) => {
        const records = rows.map((row) => recordOf(name, row))
        const last = records.at(-1)
        const next = last === undefined || records.length < pageSize ? Option.none() : Option.some(last.seq)
        return [Chunk.unsafeFromArray(records), next] as const
      }),
    ),
  ).pipe(
    Stream.filterMap((record) => {
      if (!isMessage(record)) return decode(record)
      const { session, seq, at } = record
      return Option.some({ session, seq, id: EventCodec.eventId(record), at, event: someMessage })
    }),
  )

/** What a usable summary has in common with the one that it superseded: the very segments, not equal ones. */
const carriedBy = (record: Session.SummaryRecord, before: Session.SummaryRecord | null): Carried => {
  if (record.status === "invalid" || before === null) return nothingCarried
  const differs = record.segments.findIndex((segment, position) => segment !== before.segments[position])
  const carried = differs === -1 ? record.segments.length : differs
  return carried === 0 ? nothingCarried : { carried, buildsOn: before.seq }
}

/** Makes the rows of a session anew from its events. */
export const rebuild = (run: Run, owner: Owner): Effect.Effect<void, SqlError> =>
  Effect.gen(function* () {
    let progress = start
    // They may be asked for twice.
    const events = Stream.suspend(() => {
      progress = start
      return Stream.map(eventsOf(run, owner), (recorded) => {
        progress = advance(progress, recorded)
        return recorded
      })
    })
    const records = yield* Session.summariesOf(events)
    yield* run("DELETE FROM summaries WHERE session = ?", [owner.id])
    let before: Session.SummaryRecord | null = null
    for (const record of records) {
      yield* insert(run, owner, record, carriedBy(record, before))
      if (record.status !== "invalid") before = record
    }
    yield* run(
      "UPDATE sessions SET running = ?, pruning = ?, messages = ?, projected = version WHERE id = ?",
      [...columnsOf(progress), owner.id],
    )
  })

/** Makes the rows of every session anew that they do not follow: after a schema step, those of all of them. */
export const catchUp = (run: Run): Effect.Effect<void, SqlError> =>
  Effect.gen(function* () {
    for (let after = 0, more = true; more;) {
      const rows = yield* run(
        `SELECT id, name FROM sessions WHERE id > ? AND projected <> version ORDER BY id LIMIT ${pageSize}`,
        [after],
      )
      const owners = rows.map((row): Owner => ({ id: integer(row, "id"), name: text(row, "name") }))
      yield* Effect.forEach(owners, (owner) => rebuild(run, owner), { discard: true })
      after = owners.at(-1)?.id ?? after
      more = owners.length === pageSize
    }
  })
