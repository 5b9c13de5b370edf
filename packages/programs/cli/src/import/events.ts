/**
 * Translates an old state into the events that the session's log would have if memfold had stored it from the start.
 * Pure.
 */
import {
  type Event,
  type EventCodec,
  type Message,
  Session,
  TokenCounter,
  Wording,
  type Summary,
} from "@memfold/core"
import { type Boundaries, boundariesOf } from "./boundaries.js"
import { type Piece, type Step, stepsOf } from "./steps.js"
import type { OldState, OldSummary } from "./OldState.js"
import { filled } from "./time.js"

/** An event, its time in the older program, in milliseconds since the epoch, and who imports it. */
export type TimedEvent = EventCodec.TimedEvent

/** The result of the import for one old summary. */
export interface ImportedSummary {
  readonly id: string
  readonly was: Session.SummaryStatus
  /** `active` if its text is in the active summary; otherwise its status, or `left-out`. */
  readonly is: Session.SummaryStatus | "left-out"
  /** The messages it covers; `null` if it was left out. */
  readonly range: { readonly from: number; readonly to: number } | null
  readonly time: number | null
  /** Differences from the old state, and the reason if it was left out. */
  readonly notes: ReadonlyArray<string>
}

/** The events of a session, the state they fold to, and the report on each summary. */
export interface Imported {
  readonly events: ReadonlyArray<TimedEvent>
  readonly state: Session.SessionState
  readonly summaries: ReadonlyArray<ImportedSummary>
}

export interface ImportOptions {
  readonly session: string
  /** The time to use if no neighbour has one either, in milliseconds since the epoch. */
  readonly now: number
  readonly counter: TokenCounter.Service
}

/** The strategy, reason and summarizer of imported compactions. */
const origin = "import"

const wording = Wording.conversationSummary

/** A step with its time and the number of messages before it. */
interface PlacedStep extends Step {
  readonly time: number
  readonly total: number
}

/**
 * How many messages there were when a summary was made: as it says, or by the times if every message has one; otherwise
 * 0, and the caller uses the smallest number possible.
 */
const thereAt = (messages: ReadonlyArray<Message.Message>, { total, time }: OldSummary): number => {
  if (total !== null) return total <= messages.length ? total : 0
  if (time === null || messages.some((message) => message.time === undefined)) return 0
  const later = messages.findIndex((message) => (message.time ?? 0) > time)
  return later === -1 ? messages.length : later
}

/** Moves the ends of pieces so they cut no group. A part of a group at the end stays uncovered. */
const whole = (pieces: ReadonlyArray<Piece>, boundaries: Boundaries): ReadonlyArray<Piece> => {
  const moved = pieces.map(({ summary, from, to }) => ({
    summary,
    from: boundaries.before(from),
    to: boundaries.before(to),
  }))
  return moved.slice(0, moved.findLastIndex(({ from, to }) => from < to) + 1)
}

/** The steps with their places, in order. Drops a step if nothing of its own summary is left. */
const placed = (
  steps: ReadonlyArray<Step>,
  messages: ReadonlyArray<Message.Message>,
  times: ReadonlyArray<number>,
  boundaries: Boundaries,
): ReadonlyArray<PlacedStep> => {
  let before = 0
  return steps.flatMap((step) => {
    const pieces = whole(step.pieces, boundaries)
    const end = pieces.at(-1)?.to ?? 0
    if (!pieces.some(({ summary }) => summary === step.summary)) return []
    const said = step.pieces.at(-1)?.to ?? 0
    before = Math.max(before, said, boundaries.seenAt(end), thereAt(messages, step.summary))
    return [{ summary: step.summary, pieces, time: step.summary.time ?? times[end - 1] ?? 0, total: before }]
  })
}

/** The whole text of a summary, with the part about a split turn. */
const textOf = ({ text, turnPrefix }: OldSummary): string =>
  [text, ...(turnPrefix === undefined ? [] : [turnPrefix])]
    .filter((one) => one.trim() !== "")
    .join(wording.beforeTurnPrefix)

/** The segments of pieces: several blocks, one history, or a history and a turn prefix. */
const segmentsOf = (
  pieces: ReadonlyArray<Piece>,
  blocks: ReadonlySet<OldSummary>,
  { turnBefore }: Boundaries,
): ReadonlyArray<Summary.Segment> =>
  pieces.flatMap(({ summary, from, to }): ReadonlyArray<Summary.Segment> => {
    const { text, turnPrefix } = summary
    if (blocks.has(summary)) return [{ kind: "block", from, to, text: textOf(summary) }]
    if (turnPrefix === undefined) return [{ kind: "history", from, to, text }]
    const turn = turnBefore(to) ?? from
    return text.trim() === "" || turn <= from
      ? [{ kind: "turn-prefix", from, to, text: textOf(summary) }]
      : [
          { kind: "history", from, to: turn, text },
          { kind: "turn-prefix", from: turn, to, text: turnPrefix },
        ]
  })

/** The ranges that a step newly covers, with the kinds of their segments. */
const partsOf = (
  segments: ReadonlyArray<Summary.Segment>,
  coveredTo: number,
): ReadonlyArray<Event.PlannedPart> =>
  segments
    .filter(({ to }) => to > coveredTo)
    .map(({ kind, from, to }) => ({ kind, from: Math.max(from, coveredTo), to }))

const same = (one: Summary.Segment, other: Summary.Segment | undefined): boolean =>
  other !== undefined &&
  one.kind === other.kind &&
  one.from === other.from &&
  one.to === other.to &&
  one.text === other.text

/** Collects events and folds each of them at once. */
class Writer {
  readonly events: Array<TimedEvent> = []
  state: Session.SessionState

  constructor(readonly options: ImportOptions) {
    this.state = Session.empty(options.session)
  }

  private push(time: number, event: Event.Event): void {
    this.events.push({ time, event })
    this.state = this.evolved(this.state, this.events.length)
  }

  /** The state after the event at a version. Events whose versions are in `voids` count as never committed. */
  private evolved(state: Session.SessionState, version: number, voids?: ReadonlySet<number>) {
    const { session } = this.options
    const one = this.events[version - 1]
    return one === undefined
      ? state
      : Session.evolve(state, { session, version, id: "", ...one }, { invalidated: voids })
  }

  message(message: Message.Message, at: number): void {
    const tokens = TokenCounter.ofMessage(this.options.counter, message)
    this.push(at, { _tag: "MessageAppended", index: this.state.total, message, tokens })
  }

  /** Writes the events that commit a summary. An invalid summary is invalidated at once. */
  commit({ summary, time }: PlacedStep, all: ReadonlyArray<Summary.Segment>): void {
    const before = this.state
    const { id, status, writtenBy } = summary
    const versionBefore = this.events.length
    const old = before.summary?.segments ?? []
    const firstOther = all.findIndex((segment, position) => !same(segment, old[position]))
    const carried = firstOther === -1 ? all.length : firstOther
    const to = all.at(-1)?.to ?? 0
    const parts = partsOf(all, before.coveredTo)
    const prefix = parts.at(-1)?.kind === "turn-prefix" ? parts.at(-1) : undefined
    const compaction = `${origin}-${id}`
    this.push(time, {
      _tag: "CompactionStarted",
      compaction,
      strategy: origin,
      reason: origin,
      from: before.coveredTo,
      to,
      tailFrom: prefix?.from ?? to,
      parts,
      leaseUntil: time,
    })
    const text = Wording.write(wording, { segments: all })
    const committed: Event.SummaryCommitted = {
      _tag: "SummaryCommitted",
      compaction,
      summary: id,
      coveredTo: to,
      carried,
      segments: all.slice(carried),
      wording,
      // What another program had read when it wrote this is not known: a provider's own compaction counts as much.
      ...(writtenBy === undefined ? { origin: "tool" as const } : {}),
      summarizer: writtenBy?.summarizer ?? origin,
      calls: writtenBy?.calls ?? 0,
      tokens: this.options.counter.count(text) + TokenCounter.messageOverhead,
      tokensBefore: Session.contextTokens({ ...before, reported: null }),
      tokensAfter: 0,
    }
    const version = this.events.length + 1
    this.push(time, committed)
    // The size after the compaction is known only when the event is folded.
    this.events[version - 1] = {
      time,
      event: { ...committed, tokensAfter: Session.contextTokens(this.state) },
    }
    if (before.summary !== null) {
      this.push(time, { _tag: "SummarySuperseded", summary: before.summary.id, by: id })
    }
    if (status !== "invalid") return
    this.push(time, { _tag: "SummaryInvalidated", version, summary: id, reason: origin })
    const voids = new Set([version])
    this.state = before
    for (let next = versionBefore + 1; next <= this.events.length; next++) {
      this.state = this.evolved(this.state, next, voids)
    }
  }
}

/** Makes the ids unique: the log identifies summaries by them. */
const withIds = (summaries: ReadonlyArray<OldSummary>): ReadonlyArray<OldSummary> => {
  const taken = new Set<string>()
  return summaries.map((summary, position) => {
    const id = summary.id === "" || taken.has(summary.id) ? `${origin}-${position + 1}` : summary.id
    taken.add(id)
    return id === summary.id ? summary : { ...summary, id }
  })
}

/**
 * The events of an old state: its messages, and each summary after the messages that existed when it was made, with the
 * old times. The session continues from there.
 */
export const eventsOf = (old: OldState, options: ImportOptions): Imported => {
  const { messages } = old
  const summaries = withIds(old.summaries)
  const boundaries = boundariesOf(messages)
  const times = filled(
    messages.map(({ time }) => (time === undefined ? undefined : Math.trunc(time))),
    options.now,
  )
  const { steps, leftOut } = stepsOf({ messages, summaries })
  const inPlace = placed(steps, messages, times, boundaries)
  const blocks = new Set(
    inPlace.flatMap(({ summary, pieces }) => {
      if (pieces.length < 2) return []
      return summary.status === "invalid" ? [summary] : pieces.map((piece) => piece.summary)
    }),
  )
  const writer = new Writer(options)
  const messagesTo = (end: number) => {
    for (const message of messages.slice(writer.state.total, end)) {
      writer.message(message, times[writer.state.total] ?? options.now)
    }
  }
  for (const step of inPlace) {
    messagesTo(step.total)
    writer.commit(step, segmentsOf(step.pieces, blocks, boundaries))
  }
  messagesTo(messages.length)
  return {
    events: writer.events,
    state: writer.state,
    summaries: summaries.map((summary) => reportOf(summary, inPlace, steps, leftOut)),
  }
}

const reportOf = (
  summary: OldSummary,
  inPlace: ReadonlyArray<PlacedStep>,
  steps: ReadonlyArray<Step>,
  leftOut: ReadonlyMap<OldSummary, string>,
): ImportedSummary => {
  const { id, status: was, time } = summary
  const pieceIn = (step: Step | undefined) => step?.pieces.find((piece) => piece.summary === summary)
  const last = inPlace.findLast((step) => step.summary.status !== "invalid")
  const own = inPlace.findLast((step) => pieceIn(step) !== undefined)
  const range = pieceIn(last) ?? pieceIn(own)
  if (range === undefined) {
    const why = leftOut.get(summary) ?? "its messages are in the middle of a group of tool calls"
    return { id, was, is: "left-out", range: null, time, notes: [why] }
  }
  const is = pieceIn(last) === undefined ? (was === "invalid" ? "invalid" : "superseded") : "active"
  const { from, to } = range
  const meant = pieceIn(steps.findLast((step) => pieceIn(step) !== undefined))
  const end = Math.max(...summary.covers.map((one) => one.to))
  const first = summary.covers[0]?.from ?? 0
  const notes = [
    ...(from > first ? [`the messages before ${from} are covered by another one`] : []),
    ...(meant !== undefined && meant.to < end
      ? [`message ${meant.to} is not in it; the messages from there on stay uncovered`]
      : []),
    ...(meant !== undefined && to < meant.to
      ? [`it ends at ${to} instead of ${meant.to}, which would cut a group of tool calls`]
      : []),
    ...(was === "active" && is === "superseded" ? ["a newer one took its place"] : []),
    ...(was === "superseded" && is === "active" ? ["nothing that is there took its place"] : []),
  ]
  return { id, was, is, range: { from, to }, time, notes }
}
