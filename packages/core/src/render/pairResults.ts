/**
 * Puts every tool result right after its call. Providers require that order, but conversations do not always have it
 * (law L5: no call without its result, and no result without its call).
 */
import type { Message, ToolCall, ToolResult } from "@memfold/message/Message"
import { withoutResults } from "./approvals.js"
import { type OpenCall, openCallOf, OpenCalls } from "@memfold/message/Structure"
import { type Entry, groupsOf } from "../session/SessionState.js"

const lateResult = (result: ToolResult): Message => ({
  role: "user",
  parts: [
    { type: "text", text: `(A tool result that no open call asked for)\n${result.output}` },
    ...(result.content ?? []).filter(({ type }) => type === "file"),
  ],
})

interface PairedCall extends OpenCall {
  readonly call: ToolCall
  /** How many calls there are before it. */
  readonly place: number
  /** A later message has a call with its id: whatever comes answers that one. */
  isReplaced: boolean
  answer: { readonly result: ToolResult; readonly message: Message; readonly source: number } | undefined
}

/** A message of a context, and the index of the message that it comes from; `null` for a note of the engine. */
export interface Sent {
  readonly message: Message
  readonly source: number | null
}

/** The messages of whole groups, in the order that providers require. */
export const pairResults = (entries: ReadonlyArray<Entry>): ReadonlyArray<Sent> =>
  groupsOf(entries).flatMap(knownGroup)

/** Most groups of a context were in the one before, too: they are paired once. */
const known = new WeakMap<
  Entry,
  { readonly entries: ReadonlyArray<Entry>; readonly sent: ReadonlyArray<Sent> }
>()

const knownGroup = (entries: ReadonlyArray<Entry>): ReadonlyArray<Sent> => {
  const [first] = entries
  if (first === undefined) return []
  const before = known.get(first)
  if (before?.entries.length === entries.length && before.entries.every((one, at) => one === entries[at]))
    return before.sent
  const sent = pairGroup(entries)
  known.set(first, { entries, sent })
  return sent
}

/**
 * The messages of a group that waits for results, in the order of a context: each result right behind its call. A call that can still be
 * answered has none. A context leaves such a group out, and who shows it puts it behind the context.
 *
 * @param messages - the messages that the layout of a context names as `open`
 *
 * @example
 * ```ts
 * import { Message, Render } from "@memfold/core"
 *
 * const calls = ["c1", "c2"].map((id) => Message.call([{ id, name: "search", arguments: "{}" }]))
 * const open = Render.openInOrder([...calls, Message.result({ id: "c1", output: "found" })])
 * console.log(open.map(({ role }) => role)) // ["assistant", "tool", "assistant"]
 * ```
 */
export const openInOrder = (messages: ReadonlyArray<Message>): ReadonlyArray<Message> =>
  pairGroup(
    messages.map((message, index) => ({ message, index })),
    true,
  ).map(({ message }) => message)

const hasToolParts = ({ parts }: Message): boolean =>
  parts.some((part) => part.type === "tool-call" || part.type === "tool-result")

/**
 * The messages of a group, in the order that providers require.
 *
 * @param isOpen - whether a call stays without a result that still can have one
 */
const pairGroup = (
  entries: ReadonlyArray<Pick<Entry, "message" | "index">>,
  isOpen = false,
): ReadonlyArray<Sent> => {
  if (entries.every(({ message }) => !hasToolParts(message))) {
    return entries.map(({ message, index }) => ({ message, source: index }))
  }

  const open = new OpenCalls<PairedCall>()
  /** The place of the newest call of an id that has a result: none comes for a call that this has passed by. */
  const answered = new Map<string, number>()
  const out: Array<Sent | PairedCall> = []
  for (const { message, index } of entries) {
    const others = message.parts.filter((part) => part.type !== "tool-result")
    for (const part of message.parts) {
      if (part.type !== "tool-result") continue
      const call = open.answer(part)
      if (call === undefined) out.push({ message: lateResult(part), source: index })
      else {
        call.answer = { result: part, message, source: index }
        answered.set(call.id, Math.max(answered.get(call.id) ?? -1, call.place))
      }
    }
    if (others.length > 0 || message.parts.length === 0) {
      // The other parts of a tool message cannot stay in it: a tool message may only have results.
      const role = message.role === "tool" ? "user" : message.role
      out.push({ message: { ...message, role, parts: others }, source: index })
    }
    const earlier = open.count
    for (const call of message.parts) {
      if (call.type !== "tool-call") continue
      const one: PairedCall = {
        ...openCallOf(call),
        call,
        place: open.count,
        isReplaced: false,
        answer: undefined,
      }
      for (const replaced of open.add(one, earlier)) replaced.isReplaced = true
      out.push(one)
    }
  }
  let without: ReturnType<typeof withoutResults> | undefined
  return out.flatMap((item) => {
    if (!("call" in item)) return item
    const { id, name, place, isReplaced, answer } = item
    if (answer === undefined && isOpen && !isReplaced && (answered.get(id) ?? -1) < place) return []
    const result: ToolResult = answer?.result ?? {
      type: "tool-result",
      id,
      name,
      output: (without ??= withoutResults(entries.map(({ message }) => message)))(id),
      isError: true,
    }
    const { role: _role, parts: _parts, ...rest } = answer?.message ?? { role: "tool", parts: [] }
    const parts = [result.id === id ? result : { ...result, id }]
    return { message: { ...rest, role: "tool", parts }, source: answer?.source ?? null }
  })
}
