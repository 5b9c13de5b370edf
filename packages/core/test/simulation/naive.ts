/**
 * A session read the naive way: all of its events, from the start, with everything kept. It is written from the design
 * and shares nothing with the fold; what the two say is held against each other.
 */
import type { Event, EventCodec, Message, Summary } from "../../src/index.js"
import * as oracles from "../../../testing/src/oracle/groups.js"

interface NaiveSummary {
  readonly id: string
  readonly through: number
  readonly segments: ReadonlyArray<Summary.Segment>
}

/** A session since its start or its last clear. */
export interface Naive {
  readonly messages: ReadonlyArray<{ readonly seq: number; readonly message: Message.Message }>
  readonly active: NaiveSummary | null
  readonly running: Event.CompactionStarted | null
  /** The ranges that were dropped without a word. */
  readonly dropped: ReadonlyArray<{ readonly from: number; readonly to: number }>
  readonly pruned: ReadonlyArray<Event.PrunedOutput>
  /** The positions at which no group is cut. */
  readonly boundaries: ReadonlyArray<number>
  /** What must not be, at the event where it shows. */
  readonly problems: ReadonlyArray<{ readonly seq: number; readonly law: string; readonly detail: string }>
}

/** Reads a session. Events that count as never made are told by later ones. */
export const naive = (events: ReadonlyArray<EventCodec.Recorded>): Naive => {
  const voids = new Set(
    events.flatMap(({ event }) => (event._tag === "SummaryInvalidated" ? [event.seq] : [])),
  )
  const problems: Array<Naive["problems"][number]> = []
  let messages: Array<Naive["messages"][number]> = []
  let active: NaiveSummary | null = null
  let running: Event.CompactionStarted | null = null
  let dropped: Array<Naive["dropped"][number]> = []
  let pruned: Array<Event.PrunedOutput> = []
  /** The summary that has given way, until it is marked so. */
  let unmarked: { readonly summary: string; readonly by: string } | null = null

  for (const { event, seq, at } of events) {
    const wrong = (law: string, detail: string) => problems.push({ seq, law, detail })
    if (unmarked !== null && event._tag !== "SummarySuperseded") {
      wrong("L1", `summary ${unmarked.summary} is still active beside ${unmarked.by}`)
      unmarked = null
    }
    switch (event._tag) {
      case "MessageAppended":
        if (event.index !== messages.length) wrong("L12", `message ${event.index} follows ${messages.length}`)
        messages.push({ seq, message: event.message })
        break
      case "CompactionStarted": {
        const through: number = active?.through ?? 0
        if (running !== null && at < running.leaseUntil) {
          wrong("L7", `compaction ${event.compaction} starts while ${running.compaction} runs`)
        }
        if (event.from !== through) wrong("L3", `it starts at ${event.from}, coverage ends at ${through}`)
        running = event
        break
      }
      case "CompactionFailed":
      case "CompactionReleased":
        if (running?.compaction === event.compaction) running = null
        break
      case "ToolOutputsPruned":
        if (running?.compaction !== event.compaction) {
          wrong("L7", `compaction ${event.compaction} prunes and is not running`)
          break
        }
        if (!voids.has(seq)) pruned.push(...event.outputs)
        if (running.from === running.to) running = null
        break
      case "SummaryCommitted": {
        if (running?.compaction !== event.compaction) {
          wrong("L7", `compaction ${event.compaction} commits and is not running`)
          break
        }
        const planned: number = running.to
        running = null
        if (voids.has(seq)) break
        const through: number = active?.through ?? 0
        const { segments, carried } = event
        if (event.through <= through) wrong("L3", `coverage goes from ${through} to ${event.through}`)
        if (event.through > planned) wrong("L3", `it covers ${event.through}, planned was ${planned}`)
        if (event.through > messages.length) wrong("L3", `it covers ${event.through} of ${messages.length}`)
        if (segments.length === 0) dropped.push({ from: through, to: event.through })
        if (active !== null) unmarked = { summary: active.id, by: event.summary }
        const before: ReadonlyArray<Summary.Segment> = active?.segments ?? []
        active = {
          id: event.summary,
          through: event.through,
          segments: [...before.slice(0, carried), ...segments],
        }
        let end = 0
        for (const { from, to } of active.segments) {
          if (from !== end) wrong("L3", `a segment begins at ${from}, the one before ends at ${end}`)
          end = to
        }
        if (segments.length > 0 && end !== event.through) {
          wrong("L3", `its segments end at ${end}, it covers ${event.through}`)
        }
        break
      }
      case "SummarySuperseded":
        // What is taken back later was replaced all the same.
        if (unmarked === null ? !voids.has(seq - 1) : unmarked.summary !== event.summary) {
          wrong("L1", `${event.summary} is superseded by ${event.by}, which did not replace it`)
        }
        unmarked = null
        break
      case "SessionCleared":
        messages = []
        active = null
        running = null
        dropped = []
        pruned = []
        break
      case "DamagedSummary":
        wrong("decodable", event.detail)
        break
      case "UnknownEvent":
        wrong("decodable", `an event of the unknown type ${event.type}`)
        break
      case "SummaryInvalidated":
      case "CompactionsHeld":
      case "MessageRedacted":
      case "FactsLearned":
      case "FactRetired":
        break
    }
  }
  const last = events.at(-1)
  if (unmarked !== null && last !== undefined) {
    problems.push({
      seq: last.seq,
      law: "L1",
      detail: `summary ${unmarked.summary} is still active beside another`,
    })
  }
  // Dropped ranges that were read after all, when all was taken back, are told by the segments.
  const boundaries = oracles.boundaries(messages.map(({ message }) => message))
  return { messages, active, running, dropped, pruned, boundaries, problems }
}

/** The positions of the messages that are shown verbatim for ever: the pinned ones, each with its whole group. */
export const shownForEver = ({ messages, boundaries }: Naive): ReadonlySet<number> => {
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
