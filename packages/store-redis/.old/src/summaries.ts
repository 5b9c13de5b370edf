/**
 * The active summary beside the log: the rule that there is one at most, and its text for whoever looks into Redis.
 *
 * What a batch does to the summaries is worked out here, by core's own fold; the script that appends the batch holds it
 * against what is there. The log stays the truth, and nothing here is ever read by the engine.
 */
import type { EventLog } from "@memfold/core"
import { Event, EventCodec, Session, Summary, Wording } from "@memfold/core"
import { Effect, Either, Option, Schema, Stream } from "effect"
import { toStored } from "./stored.js"

/** A step of a batch, as the script understands it. */
export type Change =
  | readonly [what: "started", compaction: string, prunes: "0" | "1"]
  | readonly [what: "ended" | "pruned", compaction: string]
  | readonly [what: "committed", compaction: string, summary: string]
  | readonly [what: "superseded" | "active", summary: string]
  | readonly [what: "cleared"]

/** What a batch does, apart from its messages. */
export interface Changes {
  readonly list: ReadonlyArray<Change>
  /** How many messages it adds, or has behind its last clear. */
  readonly messages: number
  /** The fields of the hash `summary` afterwards; `null` when they stay as they are. */
  readonly projection: ReadonlyArray<string> | null
}

/** What a batch does that is refused anyway. */
export const nothing: Changes = { list: [], messages: 0, projection: null }

/** Of messages nothing but their number matters, so they are not decoded. */
const isMessage = ({ type, version }: EventLog.NewRecord): boolean =>
  type === "MessageAppended" && version <= Event.versions.MessageAppended

const matters: { readonly [Tag in Event.Event["_tag"]]: boolean } = {
  MessageAppended: false,
  CompactionStarted: true,
  SummaryCommitted: true,
  SummarySuperseded: true,
  SummaryInvalidated: true,
  ToolOutputsPruned: true,
  CompactionFailed: true,
  CompactionReleased: true,
  FactsLearned: false,
  FactRetired: false,
  CompactionsHeld: false,
  MessageRedacted: false,
  SessionCleared: true,
}
const followed: ReadonlySet<string> = new Set(
  Object.entries(matters).flatMap(([type, does]) => (does ? [type] : [])),
)

/** Whether a batch has more to it than messages; nearly all have not. */
export const concern = (records: ReadonlyArray<EventLog.NewRecord>): boolean =>
  records.some(({ type }) => followed.has(type))

export const messagesOf = (records: ReadonlyArray<EventLog.NewRecord>): number =>
  records.filter(isMessage).length

const withMessage = (state: Session.SessionState): Session.SessionState => ({
  ...state,
  total: state.total + 1,
})

/** In place of one that is not decoded. */
const someMessage: Event.MessageAppended = {
  _tag: "MessageAppended",
  index: 0,
  message: { role: "user", parts: [] },
  tokens: 0,
}

/** What a record says here. One that cannot be read, or is of a newer memfold, says nothing. */
const decode = (record: EventLog.LogRecord): Option.Option<EventCodec.Recorded> => {
  if (!isMessage(record))
    return followed.has(record.type) ? Either.getRight(EventCodec.decode(record)) : Option.none()
  const { session, seq, at } = record
  return Option.some({ session, seq, id: EventCodec.eventId(record), at, event: someMessage })
}

/** A session as the hashes `meta` and `summary` have it. */
export interface Stored {
  readonly commit: string
  readonly running: string
  readonly pruning: boolean
  readonly messages: number
  readonly summary: Readonly<Record<string, string>>
}

const decodeSegments = Schema.decodeUnknownOption(Schema.parseJson(Schema.Array(Summary.Segment)))

/** As much of a session's state as the next summary is held against; none if what is stored cannot be read. */
const stateOf = (session: string, stored: Stored): Option.Option<Session.SessionState> => {
  const base: Session.SessionState = {
    ...Session.empty(session),
    total: stored.messages,
    running:
      stored.running === ""
        ? null
        : { compaction: stored.running, from: 0, to: stored.pruning ? 0 : 1, leaseUntil: 0 },
  }
  const { id, through, segments } = stored.summary
  if (id === undefined) return Option.some(base)
  return Option.map(decodeSegments(segments), (segments) => ({
    ...base,
    through: Number(through),
    summary: {
      id,
      through: Number(through),
      total: 0,
      segments,
      files: { read: [], modified: [] },
      wording: { role: "system", heading: "", between: "", beforeTurnPrefix: "" },
      tokens: 0,
      at: 0,
    },
  }))
}

const fieldsOf = (summary: Session.Summary, seq: number): ReadonlyArray<string> =>
  [
    ["id", toStored(summary.id)],
    ["seq", String(seq)],
    ["at", String(summary.at)],
    ["through", String(summary.through)],
    ["total", String(summary.total)],
    ["tokens", String(summary.tokens)],
    // Half a character is none in what other programs read.
    ["text", Wording.body(summary.wording, summary).toWellFormed()],
    ["segments", JSON.stringify(summary.segments)],
  ].flat()

/**
 * What a batch does to a session. `null` if that takes more than what is stored: it takes back a summary, or one
 * cannot be used; then the log itself has to be gone through, see {@link rebuild}.
 */
export const follow = (
  stored: Stored,
  records: ReadonlyArray<EventLog.NewRecord>,
  place: { readonly session: string; readonly version: number; readonly commit: string },
): Changes | null => {
  const before = stateOf(place.session, stored)
  if (Option.isNone(before)) return null
  let state = before.value
  let messages = 0
  let projection: ReadonlyArray<string> | null = null
  const list: Array<Change> = []
  for (const [position, record] of records.entries()) {
    const seq = place.version + 1 + position
    if (isMessage(record)) {
      messages++
      state = withMessage(state)
      continue
    }
    const recorded = decode({ ...record, session: place.session, seq, commit: place.commit })
    if (Option.isNone(recorded)) continue
    const { event } = recorded.value
    const after = event._tag === "SummarySuperseded" ? state : Session.evolve(state, recorded.value)
    if (after.damaged.length > 0) return null
    switch (event._tag) {
      case "CompactionStarted":
        list.push(["started", toStored(event.compaction), event.from === event.to ? "1" : "0"])
        break
      case "CompactionFailed":
      case "CompactionReleased":
        list.push(["ended", toStored(event.compaction)])
        break
      case "ToolOutputsPruned":
        list.push(["pruned", toStored(event.compaction)])
        break
      case "SummarySuperseded":
        list.push(["superseded", toStored(event.summary)])
        break
      case "SummaryCommitted":
        list.push(["committed", toStored(event.compaction), toStored(event.summary)])
        if (after.summary !== null && after.summary !== state.summary)
          projection = fieldsOf(after.summary, seq)
        break
      case "SessionCleared":
        list.push(["cleared"])
        messages = 0
        projection = []
        break
      case "DamagedSummary":
      case "SummaryInvalidated":
        return null
      default:
        break
    }
    state = after
  }
  return { list, messages, projection }
}

/** What a whole log comes to, from its records: for batches that take back, and for logs that are rewritten. */
export const rebuild = <E>(records: Stream.Stream<EventLog.LogRecord, E>): Effect.Effect<Changes, E> =>
  Effect.gen(function* () {
    let state = Session.empty("")
    // They may be asked for twice.
    const events = Stream.suspend(() => {
      state = Session.empty("")
      return records.pipe(
        Stream.filterMap(decode),
        Stream.tap((recorded) => Effect.sync(() => void (state = advance(state, recorded)))),
      )
    })
    const all = yield* Session.summariesOf(events)
    const active = all.findLast(({ status }) => status === "active")
    const { running } = state
    return {
      list: [
        ["cleared"],
        ...(running === null
          ? []
          : [["started", toStored(running.compaction), running.from === running.to ? "1" : "0"] as const]),
        ["active", active === undefined ? "" : toStored(active.id)],
      ],
      messages: state.total,
      projection: active === undefined ? [] : fieldsOf(active, active.seq),
    }
  })

/** Which compaction runs, and how many messages there are; the summaries are left to core's `summariesOf`. */
const advance = (state: Session.SessionState, recorded: EventCodec.Recorded): Session.SessionState => {
  if (recorded.event._tag === "MessageAppended") return withMessage(state)
  const { running, total } = Session.evolve(
    { ...Session.empty(""), total: state.total, running: state.running },
    recorded,
  )
  return { ...Session.empty(""), running, total }
}
