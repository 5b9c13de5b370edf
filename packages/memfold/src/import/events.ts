/**
 * An old state as the events of a session: what would be in its log, had it been kept with memfold from the
 * start. Pure.
 */
import { type Event, type Message, Session, TokenCounter, Wording, type Summary } from "@memfold/core"
import { type Boundaries, boundariesOf } from "./boundaries.js"
import { type Piece, type Step, stepsOf } from "./inForce.js"
import type { OldState, OldSummary } from "./OldState.js"
import { filled } from "./time.js"

/** An event, and the time it happened at in the older program, in milliseconds since the epoch. */
export interface TimedEvent {
  readonly time: number
  readonly event: Event.Event
}

/** What became of an old summary. */
export interface ImportedSummary {
  readonly id: string
  readonly was: Session.SummaryStatus
  /** Whether its text is in the active summary now, or why not. */
  readonly is: Session.SummaryStatus | "left-out"
  /** The messages it stands for; `null` where it was left out. */
  readonly range: { readonly from: number; readonly to: number } | null
  readonly time: number | null
  /** Whatever is not as the old state had it. */
  readonly notes: ReadonlyArray<string>
}

/** The events of a session, the state they fold to, and what became of each summary. */
export interface Imported {
  readonly events: ReadonlyArray<TimedEvent>
  readonly state: Session.SessionState
  readonly summaries: ReadonlyArray<ImportedSummary>
}

export interface ImportOptions {
  readonly session: string
  /** The time of what has none, when nothing near it has one, in milliseconds since the epoch. */
  readonly now: number
  readonly counter: TokenCounter.Service
}

/** What an import gives as strategy, reason and summarizer of what another program did. */
const origin = "import"

const wording = Wording.conversationSummary

/** A step in its place: when, after how many messages, and what its pieces cover. */
interface PlacedStep extends Step {
  readonly time: number
  readonly total: number
}

/**
 * The messages that were there when a summary was made: as it says, or as the times tell where every
 * message has one; otherwise as few as can be.
 */
const thereAt = (messages: ReadonlyArray<Message.Message>, { total, time }: OldSummary): number => {
  if (total !== null) return total <= messages.length ? total : 0
  if (time === null || messages.some((message) => message.time === undefined)) return 0
  const later = messages.findIndex((message) => (message.time ?? 0) > time)
  return later === -1 ? messages.length : later
}

/** Pieces whose ends cut no group. What is nothing but a part of a group at the end stays raw. */
const whole = (pieces: ReadonlyArray<Piece>, boundaries: Boundaries): ReadonlyArray<Piece> => {
  const moved = pieces.map(({ summary, from, to }) => ({
    summary,
    from: boundaries.before(from),
    to: boundaries.before(to),
  }))
  return moved.slice(0, moved.findLastIndex(({ from, to }) => from < to) + 1)
}

/** Every step in its place, in order; without those of whose own summary nothing is left. */
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

/** The text of a summary that stays in one piece, a split turn's included. */
const textOf = ({ text, turnPrefix }: OldSummary): string =>
  [text, ...(turnPrefix === undefined ? [] : [turnPrefix])]
    .filter((one) => one.trim() !== "")
    .join(wording.beforeTurnPrefix)

/** The segments of pieces: blocks where there are several, a history, or a history and a turn's beginning. */
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

/** What a step covers that was raw before, with the kinds of the segments it goes to. */
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

/** Collects events and folds them as it goes. */
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

  /** The state after the event at a sequence number, which counts as never made if it is void. */
  private evolved(state: Session.SessionState, version: number, voids?: ReadonlySet<number>) {
    const { session } = this.options
    const one = this.events[version - 1]
    return one === undefined ? state : Session.evolve(state, { session, version, id: "", ...one }, voids)
  }

  message(message: Message.Message, at: number): void {
    const tokens = TokenCounter.ofMessage(this.options.counter, message)
    this.push(at, { _tag: "MessageAppended", index: this.state.total, message, tokens })
  }

  /** A summary comes into force; one that is invalid goes again at once. */
  commit({ summary, time }: PlacedStep, all: ReadonlyArray<Summary.Segment>): void {
    const before = this.state
    const { id, status, writtenBy } = summary
    const beforeSeq = this.events.length
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
      summarizer: writtenBy?.summarizer ?? origin,
      calls: writtenBy?.calls ?? 0,
      tokens: this.options.counter.count(text) + TokenCounter.messageOverhead,
      tokensBefore: Session.contextTokens({ ...before, reported: null }),
      tokensAfter: 0,
    }
    const version = this.events.length + 1
    this.push(time, committed)
    // What it takes afterwards is known once it is folded in.
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
    for (let next = beforeSeq + 1; next <= this.events.length; next++) {
      this.state = this.evolved(this.state, next, voids)
    }
  }
}

/** Ids of their own, since the log tells summaries apart by them. */
const withIds = (summaries: ReadonlyArray<OldSummary>): ReadonlyArray<OldSummary> => {
  const taken = new Set<string>()
  return summaries.map((summary, position) => {
    const id = summary.id === "" || taken.has(summary.id) ? `${origin}-${position + 1}` : summary.id
    taken.add(id)
    return id === summary.id ? summary : { ...summary, id }
  })
}

/**
 * The events of an old state: its messages, and after those that were there when it was made, each summary
 * that has a place among the others, with the old times. The session goes on from there.
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

/** What became of a summary. */
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
      ? [`message ${meant.to} is not in it; what follows stays raw`]
      : []),
    ...(meant !== undefined && to < meant.to
      ? [`it ends at ${to} in place of ${meant.to}, which would cut a group of tool calls`]
      : []),
    ...(was === "active" && is === "superseded" ? ["a newer one took its place"] : []),
    ...(was === "superseded" && is === "active" ? ["nothing that is there took its place"] : []),
  ]
  return { id, was, is, range: { from, to }, time, notes }
}
