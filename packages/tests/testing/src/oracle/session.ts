/**
 * The naive model of a session: all of its events are read from the first one, and everything is kept. It is written
 * from the design and shares no code with the fold, so each can be checked against the other.
 */
import { type Event, type EventCodec, Message, type Session, type Summary, type Wording } from "@memfold/core"
import { canonical } from "../law/Law.js"
import * as groups from "./groups.js"

/** Something that breaks a law, and the law it breaks. */
export interface Finding {
  readonly law: string
  readonly detail: string
}

/** A summary as the log has it. */
export interface NaiveSummary {
  readonly id: string
  readonly coveredTo: number
  readonly segments: ReadonlyArray<Summary.Segment>
  readonly files: NonNullable<Event.SummaryCommitted["files"]>
  readonly wording: Wording.Wording
}

/** A session since its start or its last clear. */
export interface NaiveSession {
  /** The number of events. */
  readonly version: number
  /** Each message as it stands in the log, with the position of its event. */
  readonly messages: ReadonlyArray<{ readonly version: number; readonly message: Message.Message }>
  readonly active: NaiveSummary | null
  readonly running: Event.CompactionStarted | null
  /** The ranges that a summary covers without a text. */
  readonly dropped: ReadonlyArray<{ readonly from: number; readonly to: number }>
  readonly pruned: ReadonlyArray<Event.PrunedOutput>
  /** The message indices at which no group is cut. */
  readonly boundaries: ReadonlyArray<number>
  /** Laws that the events themselves break, each at the event where it shows. */
  readonly problems: ReadonlyArray<Finding & { readonly version: number }>
}

/** The part of a session that a switch to another branch goes back to. */
interface Conversation extends Pick<NaiveSession, "messages" | "active" | "dropped" | "pruned"> {
  /** How many of the messages it had: the list goes on growing. */
  readonly count: number
}

/** How far the summary reaches after these events: the coverage of the last valid summary of the conversation. */
const coverageAfter = (events: ReadonlyArray<EventCodec.RecordedEvent>): number => {
  const voids = new Set(
    events.map(({ event }) => (event._tag === "SummaryInvalidated" ? event.version : null)),
  )
  const ends = [0]
  for (const { event, version } of events) {
    let end = ends.at(-1)!
    if (event._tag === "SummaryCommitted" && !voids.has(version)) end = event.coveredTo
    else if (event._tag === "SessionCleared") end = 0
    else if (event._tag === "BranchSwitched") end = ends[event.version] ?? end
    ends.push(end)
  }
  return ends.at(-1)!
}

/** The events that change nothing of what is read here. A new type of event is read below, or is named here. */
type UnreadEvent =
  | "SummaryInvalidated"
  | "CompactionPaused"
  | "MessageRedacted"
  | "MessageSetAside"
  | "SessionDescribed"
  | "FactsLearned"
  | "FactRemoved"
  | "FactEnded"
  | "FactRetracted"
  | "FactRedacted"
  | "FactConfirmed"
  | "FactReverted"
  | "FactsRebuilt"
  | "RebuildEnded"
  | "SpendCharged"
  | "SpendCapReached"
  | "AuditNoted"

/** Reads a session from its first event. An event that a later one declares invalid has no effect. */
export const readSession = (events: ReadonlyArray<EventCodec.RecordedEvent>): NaiveSession => {
  const voids = new Set(
    events.flatMap(({ event }) => (event._tag === "SummaryInvalidated" ? [event.version] : [])),
  )
  const problems: Array<NaiveSession["problems"][number]> = []
  let messages: Array<NaiveSession["messages"][number]> = []
  let active: NaiveSummary | null = null
  let running: Event.CompactionStarted | null = null
  let dropped: Array<NaiveSession["dropped"][number]> = []
  let pruned: Array<Event.PrunedOutput> = []
  /** The summary that was replaced, until an event marks it as superseded. */
  let unmarked: { readonly summary: string; readonly by: string } | null = null

  /** The conversation at each version: what a switch goes back to. */
  const past: Array<Conversation> = []
  for (const { event, version, time } of events) {
    past.push({ messages, count: messages.length, active, dropped: [...dropped], pruned: [...pruned] })
    const wrong = (law: string, detail: string) => problems.push({ version, law, detail })
    if (unmarked !== null && event._tag !== "SummarySuperseded") {
      wrong("L1", `summary ${unmarked.summary} is still active beside ${unmarked.by}`)
      unmarked = null
    }
    switch (event._tag) {
      case "MessageAppended":
        if (event.index !== messages.length) wrong("L12", `message ${event.index} follows ${messages.length}`)
        messages.push({ version, message: event.message })
        break
      case "CompactionStarted": {
        // As it was then: a summary may be declared invalid after others have followed it.
        const coveredTo = coverageAfter(events.slice(0, version - 1))
        if (running !== null && time < running.leaseUntil) {
          wrong("L7", `compaction ${event.compaction} starts while ${running.compaction} runs`)
        }
        if (event.from !== coveredTo) wrong("L3", `it starts at ${event.from}, coverage ends at ${coveredTo}`)
        running = event
        break
      }
      case "CompactionRenewed":
        if (running !== null && running.compaction === event.compaction) {
          const still: Event.CompactionStarted = running
          running = { ...still, leaseUntil: event.leaseUntil }
        }
        break
      case "CompactionFailed":
      case "CompactionReleased":
        if (running?.compaction === event.compaction) running = null
        break
      case "ToolOutputsPruned":
        if (running?.compaction !== event.compaction) {
          wrong("L7", `compaction ${event.compaction} prunes and is not running`)
          break
        }
        if (!voids.has(version)) pruned.push(...event.outputs)
        if (running.from === running.to) running = null
        break
      case "SummaryCommitted": {
        if (running?.compaction !== event.compaction) {
          wrong("L7", `compaction ${event.compaction} commits and is not running`)
          break
        }
        const planned: number = running.to
        running = null
        if (voids.has(version)) break
        const coveredTo: number = active?.coveredTo ?? 0
        const { segments, carried } = event
        if (event.coveredTo <= coveredTo) wrong("L3", `coverage goes from ${coveredTo} to ${event.coveredTo}`)
        if (event.coveredTo > planned) wrong("L3", `it covers ${event.coveredTo}, planned was ${planned}`)
        if (event.coveredTo > messages.length)
          wrong("L3", `it covers ${event.coveredTo} of ${messages.length}`)
        if (segments.length === 0) dropped.push({ from: coveredTo, to: event.coveredTo })
        if (active !== null) unmarked = { summary: active.id, by: event.summary }
        const before: ReadonlyArray<Summary.Segment> = active?.segments ?? []
        active = {
          id: event.summary,
          coveredTo: event.coveredTo,
          segments: [...before.slice(0, carried), ...segments],
          files: event.files ?? { read: [], modified: [] },
          wording: event.wording,
        }
        let end = 0
        for (const { from, to } of active.segments) {
          if (from !== end) wrong("L3", `a segment begins at ${from}, the one before ends at ${end}`)
          end = to
        }
        if (segments.length > 0 && end !== event.coveredTo) {
          wrong("L3", `its segments end at ${end}, it covers ${event.coveredTo}`)
        }
        break
      }
      case "SummarySuperseded":
        // A summary that is declared invalid later was replaced all the same.
        if (unmarked === null ? !voids.has(version - 1) : unmarked.summary !== event.summary) {
          wrong("L1", `${event.summary} is superseded by ${event.by}, which did not replace it`)
        }
        unmarked = null
        break
      case "BranchSwitched": {
        const before = past[event.version]
        const covered: number = before?.active?.coveredTo ?? 0
        if (before === undefined || event.index > before.count || covered > event.index) {
          wrong("L3", `it goes back to message ${event.index} at event ${event.version}`)
          break
        }
        const runsTo: number = running === null ? 0 : (running as Event.CompactionStarted).to
        const goesOn = event.version === version - 1 && runsTo <= event.index
        messages = before.messages.slice(0, event.index)
        active = before.active
        running = goesOn ? running : null
        dropped = [...before.dropped]
        pruned = before.pruned.filter((cut) => cut.index < event.index)
        break
      }
      case "SessionCleared":
        messages = []
        active = null
        running = null
        dropped = []
        pruned = []
        break
      case "DamagedMessage":
      case "DamagedSummary":
        if (event._tag === "DamagedMessage")
          messages.push({ version, message: { role: "assistant", parts: [] } })
        wrong("decodable", event.detail)
        break
      case "UnknownEvent":
        wrong("decodable", `an event of the unknown type ${event.type}`)
        break
      default:
        event._tag satisfies UnreadEvent
    }
  }
  const last = events.at(-1)
  if (unmarked !== null && last !== undefined) {
    problems.push({
      version: last.version,
      law: "L1",
      detail: `summary ${unmarked.summary} is still active beside another`,
    })
  }
  const boundaries = groups.boundaries(messages.map(({ message }) => message))
  return { version: events.length, messages, active, running, dropped, pruned, boundaries, problems }
}

/** The indices of the messages that are always shown verbatim: pinned ones and leading system messages, in whole groups. */
const alwaysShown = ({ messages, boundaries }: NaiveSession): ReadonlySet<number> => {
  const preamble = messages.findIndex(({ message }) => message.role !== "system")
  const isPinned = (index: number) =>
    messages[index]?.message.pinned === true || preamble === -1 || index < preamble
  const shown = new Set<number>()
  boundaries.slice(1).forEach((to, position) => {
    const group = Array.from({ length: to - boundaries[position]! }, (_, at) => boundaries[position]! + at)
    if (group.some(isPinned)) for (const index of group) shown.add(index)
  })
  return shown
}

/** Whether two system messages are forms of one prompt: two thirds of the longer text are the same, at both ends. */
const isSamePrompt = (one: Message.Message, other: Message.Message): boolean => {
  if (one.role !== "system" || other.role !== "system") return false
  if ([one, other].some(({ parts }) => parts.some(({ type }) => type !== "text"))) return false
  const [a, b] = [one, other].map((message) => [...Message.text(message).trim()].join("")) as [string, string]
  if (a === "" || b === "") return false
  const least = Math.min(a.length, b.length)
  const start = Array.from({ length: least }, (_, at) => a[at] === b[at])
  const head = start.includes(false) ? start.indexOf(false) : least
  const ends = Array.from({ length: least - head }, (_, at) => a[a.length - 1 - at] === b[b.length - 1 - at])
  const tail = ends.includes(false) ? ends.indexOf(false) : least - head
  return 3 * (head + tail) >= 2 * Math.max(a.length, b.length)
}

/** The forms of each covered message that is always shown: of a system prompt, the newest one is shown, and stands at the end. */
const formsTo = (read: NaiveSession, coveredTo: number): ReadonlyArray<ReadonlyArray<number>> => {
  const forms = [...alwaysShown(read)].filter((index) => index < coveredTo).map((index) => [index])
  const messageAt = (index: number) => read.messages[index]!.message
  for (let index = 0; index < coveredTo; index++) {
    if (messageAt(index).role !== "system" || forms.some((form) => form.at(-1) === index)) continue
    const form = forms.find((one) => {
      const newest = one.at(-1)!
      return (
        newest < index &&
        messageAt(newest).pinned !== true &&
        isSamePrompt(messageAt(newest), messageAt(index))
      )
    })
    form?.push(index)
  }
  return forms
}

/** The indices of the covered messages that are always shown, with the newest form of each system prompt. */
const pinnedTo = (read: NaiveSession, coveredTo: number): ReadonlyArray<number> =>
  formsTo(read, coveredTo).map((form) => form.at(-1)!)

/** The indices of the covered messages that no summary needs: those always shown, and every form of a system prompt that is. */
export const shownFormsTo = (read: NaiveSession, coveredTo: number): ReadonlySet<number> =>
  new Set(formsTo(read, coveredTo).flat())

/** An output after a pruning: its two ends with the note between them. A short output stays whole. */
const cutOutput = (output: string, { head, tail, note }: Event.PrunedOutput): string =>
  output !== "" && head + tail >= output.length
    ? output
    : `${output.slice(0, head)}${note}${output.slice(output.length - tail)}`

/** A cut takes the content away, except for files beside a trimmed text. */
const cutResult = (
  { content, ...result }: Message.ToolResult,
  cut: Event.PrunedOutput,
): Message.ToolResult => {
  const output = cutOutput(result.output, cut)
  const files = (content ?? []).filter(({ type }) => type === "file" && cut.method === "soft-trim")
  return {
    ...result,
    output,
    ...(files.length === 0 ? {} : { content: [{ type: "text", text: output }, ...files] }),
  }
}

/** What a message says after all prunings, in the order they were made. */
const partsAfterPruning = (
  { messages, pruned }: NaiveSession,
  index: number,
): ReadonlyArray<Message.Part> => {
  const { parts } = messages[index]!.message
  const cuts = pruned.filter((cut) => cut.index === index)
  if (cuts.length === 0) return parts
  return parts.map((part, position) => {
    if (part.type !== "tool-result") return part
    const mine = cuts.filter((cut) => cut.part === position)
    return mine.reduce(cutResult, part)
  })
}

/** The first difference between what the events say and a state that was folded from them (laws L4 and L6). */
export const stateFinding = (read: NaiveSession, state: Session.SessionState): Finding | null => {
  const { active, messages, running, boundaries } = read
  const { session, summary, uncovered, pinned, structure } = state
  const coveredTo = active?.coveredTo ?? 0
  const openFrom = boundaries.at(-1) ?? 0
  const expected = {
    version: read.version,
    total: messages.length,
    coveredTo,
    raw: [coveredTo, messages.length],
    openFrom,
    pinned: pinnedTo(read, coveredTo),
    summary: active,
    running: running?.compaction,
  }
  const found = {
    version: state.version,
    total: state.total,
    coveredTo: state.coveredTo,
    raw: [uncovered.from, uncovered.to],
    openFrom: structure.open?.from ?? state.total,
    pinned: pinned.map(({ index }) => index),
    summary: summary && {
      id: summary.id,
      coveredTo: summary.coveredTo,
      segments: summary.segments,
      files: summary.files,
      wording: summary.wording,
    },
    running: state.running?.compaction,
  }
  const [one, other] = [canonical(found), canonical(expected)]
  if (one !== other) {
    return { law: "L6", detail: `the fold of ${session} is ${one}, its log says ${other}` }
  }
  for (const { index, message } of [...pinned, ...uncovered.slice()]) {
    const parts = partsAfterPruning(read, index)
    const same = message.parts === parts || canonical(message.parts) === canonical(parts)
    if (!same || message.role !== messages[index]!.message.role) {
      return { law: "L4", detail: `message ${index} of ${session} is not the appended message` }
    }
  }
  return null
}
