/**
 * The prefix of contexts, and what is bound to it.
 *
 * A provider that signs reasoning accepts it only behind the prefix that it was produced behind: the same messages before
 * it, word for word. This module says which events change the prefix ({@link changeOf}, the only place), and which
 * messages were produced behind the prefix that the session has when they are appended ({@link headsOf}).
 */
import { Match } from "effect"
import type { MessageAppended } from "../event/Event.js"
import { type AnyEvent, batchIdOf, type RecordedEvent } from "../event/EventCodec.js"
import { calls, isBound, type Message, results } from "@memfold/message/Message"
import * as Structure from "@memfold/message/Structure"
import type { PrefixState } from "./PrefixState.js"
import type { Entry, SessionState } from "./SessionState.js"

/**
 * The prefix of a context: hand it to the append of the answer, and memfold knows exactly what the answer was produced
 * behind. It is plain JSON.
 */
export interface Prefix {
  /** The version of the session that was rendered. */
  readonly version: number
  /** How many messages the session had, with those of a draft. */
  readonly total: number
  /** What stands in front of the messages and is not in the log: the cut of a cap, and recalled facts. Empty if nothing. */
  readonly head: string
}

type Change = (before: SessionState, after: SessionState) => boolean

const always = (): Change => () => true
const never = (): Change => () => false

/**
 * Whether an event changes what contexts have before a message that they had already shown. Then bound parts of all
 * messages so far are left out from this event on. A missing event is a compile error.
 */
const changeOf = Match.typeTags<AnyEvent>()({
  // Contexts grow by appending (law L13).
  MessageAppended: never,
  CompactionStarted: never,
  CompactionRenewed: never,
  // The commit of a compaction that lost its lock changes nothing, and some that providers write themselves change nothing
  // for them.
  SummaryCommitted: (): Change => (before, after) =>
    before.summary !== after.summary && !keepsPrefix(before, after),
  SummarySuperseded: never,
  SummaryInvalidated: always,
  CompactionPaused: never,
  ToolOutputsPruned:
    ({ outputs }): Change =>
    (before, after) =>
      outputs.some(({ index }) => before.uncovered.at(index)?.message !== after.uncovered.at(index)?.message),
  CompactionFailed: never,
  CompactionReleased: never,
  // Facts are not rendered from the log alone: the head of a context names them.
  FactsLearned: never,
  FactRemoved: never,
  FactEnded: never,
  FactRetracted: never,
  FactRedacted: never,
  FactConfirmed: never,
  FactReverted: never,
  FactsRebuilt: never,
  RebuildEnded: never,
  MessageRedacted: always,
  // What was produced behind a message that stays was produced behind the messages before it: `switchBranch` keeps it.
  BranchSwitched: never,
  // From here on, contexts are known to be without it.
  MessageSetAside: always,
  SessionCleared: always,
  SessionDescribed: never,
  SpendCharged: never,
  SpendCapReached: never,
  AuditNoted: never,
  DamagedSummary: never,
  // What came after it was produced behind it: see `boundPartsValid`.
  DamagedMessage: never,
  UnknownEvent: never,
})

/** The provider whose data is all that a summary says, if that provider accepts signed reasoning behind it. */
const keptBy = (summary: SessionState["summary"]): string | null => {
  const [first, ...others] = summary?.segments ?? []
  const says = others.length + (summary?.files.read.length ?? 0) + (summary?.files.modified.length ?? 0)
  return first?.providerData?.keepsReasoning === true && says === 0 ? first.providerData.provider : null
}

/** The role in the alternation of user and assistant: results come from the user's side. */
const side = ({ message: { role } }: Entry): Message["role"] => (role === "tool" ? "user" : role)

/**
 * Whether a commit leaves signed reasoning valid: a provider wrote the summary, and accepts it in place of the messages
 * that it covers. What is documented for it: no compaction of another kind came before; the system prompt and whatever
 * else stands in front stay the same, so nothing is pinned or said by the system but the system prompt; and the messages
 * that stay follow directly, with the other role.
 */
const keepsPrefix = (before: SessionState, after: SessionState): boolean => {
  const provider = keptBy(after.summary)
  if (provider === null || (before.summary !== null && keptBy(before.summary) !== provider)) return false
  const covered = before.uncovered.slice(before.coveredTo, after.coveredTo)
  const spoken = before.coveredTo > 0 ? 0 : covered.findIndex(({ message }) => message.role !== "system")
  const moved = [
    ...before.pinned.filter(({ message }) => message.role !== "system"),
    ...covered.slice(spoken),
  ]
  if (spoken === -1 || moved.some(({ message, pinned }) => pinned || message.role === "system")) return false
  const [last, next] = [covered.at(-1), after.uncovered.at(after.coveredTo)]
  if (last !== undefined && next !== undefined && (side(last) === side(next) || side(next) === "system"))
    return false
  // Behind a cap or recalled facts, the model was sent something else than what was compacted.
  return after.uncovered.slice().every(({ bound }) => (bound?.head ?? "") === "")
}

/** The prefix after an event that led from `before` to `after`; after a message, see {@link prefixWithMessage}. */
export const prefixAfter = (
  before: SessionState,
  after: SessionState,
  { event, version }: RecordedEvent,
): PrefixState => {
  const { prefix } = after
  if (!changeOf(event)(before, after)) {
    const swapped = event._tag === "SummaryCommitted" && before.summary !== after.summary
    return swapped ? { ...prefix, swappedAt: version, swappedTotal: after.total } : prefix
  }
  return { ...prefix, changedAt: version, validFrom: after.total, boundTo: 0 }
}

/** The prefix after a message. `prefix` is the prefix before the message; `structure` and `total` include the message. */
export const prefixWithMessage = (
  { prefix, structure, total }: Pick<SessionState, "prefix" | "structure" | "total">,
  { message, bound }: Pick<MessageAppended, "message" | "bound">,
  recorded: RecordedEvent,
): PrefixState => {
  const index = total - 1
  const batch = batchIdOf(recorded)
  const isNewest = prefix.batch === batch
  return {
    changedAt: prefix.changedAt,
    validFrom: prefix.validFrom,
    swappedAt: prefix.swappedAt,
    swappedTotal: prefix.swappedTotal,
    boundTo: bound?.head === undefined ? prefix.boundTo : total,
    batch: isNewest ? prefix.batch : batch,
    batchFrom: isNewest ? prefix.batchFrom : index,
    inputFrom: inputFromWith(prefix.inputFrom, structure, { index, message }),
  }
}

/** `inputFrom` with one more message; the structure is the structure with it. */
const inputFromWith = (
  before: number | null,
  structure: Structure.Structure,
  { index, message: { role } }: Pick<Entry, "index" | "message">,
): number | null => {
  if (role === "assistant" || Structure.waitsFrom(structure) !== null) return null
  return before ?? (role === "user" || role === "tool" ? index : null)
}

/** `inputFrom` of a state, as far as its uncovered messages tell. */
export const inputFromOf = ({ covered, uncovered }: SessionState): number | null => {
  let { structure } = covered
  let inputFrom: number | null = null
  for (const entry of uncovered) {
    structure = Structure.addMessage(structure, entry.index, entry.message).structure
    inputFrom = inputFromWith(inputFrom, structure, entry)
  }
  return inputFrom
}

/** What is known about the request that produced a batch of messages. */
export interface Origin {
  /** The prefix of the context that was sent, as `context` returned it. */
  readonly prefix?: Prefix | undefined
  /**
   * Without `prefix`: the head that the context had if it was rendered from this state. `undefined` if that cannot be
   * known, because recalled facts stand in front.
   */
  readonly head?: string | undefined
}

/**
 * The head behind which each message of a batch was produced, if it is the head of the session's current prefix. `undefined`
 * for messages without bound parts, messages produced behind another prefix, and messages that no model produced.
 *
 * With the prefix of the context that was sent, this is exact, also if that context had the first messages of the batch as its
 * draft. Without it, the batch counts as the answer to the newest
 * append. If that append came after the last change of the prefix, the batch was produced behind the current prefix. In
 * doubt it was not: after several inputs in a row, nobody knows which of them the model had seen.
 *
 * @param before the state that the batch is appended to
 * @param messages the batch
 */
export const headsOf = (
  before: SessionState,
  messages: ReadonlyArray<Message>,
  origin: Origin,
): ReadonlyArray<string | undefined> => {
  // The context that the model saw had so many messages of the batch as its draft.
  const drafted = origin.prefix === undefined ? 0 : Math.max(origin.prefix.total - before.total, 0)
  let head = drafted > 0 ? undefined : startsBehind(before, messages[0]?.role, origin)
  let { structure } = before
  return messages.map((message, position) => {
    if (drafted > 0 && position === drafted)
      head = startsBehind({ ...before, structure, total: before.total + position }, message.role, origin)
    // A context shows a batch as it is, and so as the model saw it, only if its tool calls and results are in order. A
    // part that is left out makes the later ones of the batch invalid too: it was before them.
    const waiting = toolCalls(structure)
    const leavesOut = leavesOutItems(structure, message)
    structure = Structure.addMessage(structure, before.total + position, message).structure
    const inOrder = waiting.length === 0 ? results(message).length === 0 : answersInOrder(waiting, message)
    const answerable = calls(message).length === 0 || structure.open !== null
    if (!inOrder || !answerable || leavesOut) head = undefined
    if (message.role === "system" && (!before.preamble || position > 0)) head = undefined
    if (!message.parts.some(isBound)) return undefined
    // No model produced it, so nobody can say what it is bound to.
    if (message.role !== "assistant") head = undefined
    return head
  })
}

/** The open tool calls, which tool results answer. */
const toolCalls = ({ open }: Structure.Structure): ReadonlyArray<Structure.OpenCall> =>
  open?.calls.filter(({ item }) => item === undefined) ?? []

/** Whether contexts leave out an item that the model saw: an answer without its call, or a call that a user closes. */
const leavesOutItems = ({ open }: Structure.Structure, message: Message): boolean => {
  const { alone, closed } = Structure.pairMessage(open?.calls ?? [], message)
  return closed.some(({ item }) => item !== undefined) || alone.some(({ type }) => type === "opaque")
}

/** Whether a message in an open group has nothing but results, in the order of their calls. */
const answersInOrder = (open: ReadonlyArray<Structure.OpenCall>, { role, parts }: Message): boolean =>
  role === "tool" &&
  parts.length <= open.length &&
  parts.every(
    (part, position) => part.type === "tool-result" && part.id !== "" && part.id === open[position]?.id,
  )

const startsBehind = (
  { prefix: now, structure, total, lastPromptIndex, version }: SessionState,
  role: Message["role"] | undefined,
  { prefix, head }: Origin,
): string | undefined => {
  // A context leaves the open group out, so what answers it was not produced behind it.
  if (Structure.waitsFrom(structure) !== null) return undefined
  if (prefix !== undefined) {
    const current = prefix.version >= now.changedAt && prefix.version <= version && prefix.total === total
    // What stood in front of the messages when it was sent is not in what has been compacted since.
    const compacted = prefix.version < now.swappedAt && prefix.head !== ""
    return current && !compacted ? prefix.head : undefined
  }
  const sinceChange =
    (now.changedAt === 0 || total > now.validFrom) && (now.swappedAt === 0 || total > now.swappedTotal)
  const sawAllInputs = now.inputFrom === null || now.inputFrom >= now.batchFrom
  // An answer after an answer was perhaps requested before it.
  const hasInput = role !== "assistant" || total === 0 || lastPromptIndex === total - 1
  return sinceChange && sawAllInputs && hasInput ? head : undefined
}

/**
 * Whether the bound parts of a message are valid in a context with this head. None are while a commit is damaged: the
 * messages after it may have been produced behind its summary. Nor are those after a message that cannot be read.
 */
export const boundPartsValid = (
  { prefix: { validFrom }, damaged, unreadable, setAside, coveredTo }: SessionState,
  { index, bound }: Entry,
  head: string,
): boolean =>
  index >= validFrom &&
  bound?.head === head &&
  damaged.length === 0 &&
  !unreadable.some((one) => !setAside.includes(one.version) && one.index >= coveredTo && one.index < index)
