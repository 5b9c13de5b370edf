/** Results that come after the user has gone on: a tool that runs on a page, or a person, answers when it is done. */
import { Message } from "@memfold/message"

/** What follows the stored messages that stay. */
export interface LatePlaced {
  /** How many of the stored messages stay. */
  readonly keep: number
  /** What comes behind them: stored messages again, and the added ones. */
  readonly added: ReadonlyArray<Message.Message>
}

/** The place behind a call and what has been answered of its step. */
const behindStep = (messages: ReadonlyArray<Message.Message>, call: number): number => {
  const end = messages.findIndex((message, at) => at > call && message.role !== "tool")
  return end === -1 ? messages.length : end
}

/**
 * Added messages, with each result whose call the user went on from behind that call: where it stands last, no model would read it,
 * because the call has been closed as interrupted.
 *
 * @param stored - the newest stored messages, which stay unless a result belongs before their end
 * @param added - the messages that are to come behind them
 *
 * @example
 * ```ts
 * import { lateResults } from "@memfold/codec"
 * import { Message } from "@memfold/core"
 *
 * const call = Message.call([{ id: "c1", name: "ask", arguments: "{}" }])
 * const stored = [Message.user("Paint it."), call, Message.user("And be quick.")]
 * const { keep, added } = lateResults(stored, [Message.result({ id: "c1", output: "green" })])
 * console.log(keep, added.map(({ role }) => role)) // 2 ["tool", "user"]
 * ```
 */
export const lateResults = (
  stored: ReadonlyArray<Message.Message>,
  added: ReadonlyArray<Message.Message>,
): LatePlaced => {
  if (!added.some(({ role }) => role === "tool")) return { keep: stored.length, added }
  /** The messages in which open calls are. */
  const open = new Map<string, Message.Message>()
  const all: Array<Message.Message> = []
  let keep = stored.length
  for (const [at, message] of [...stored, ...added].entries()) {
    const results = at < stored.length ? [] : Message.results(message)
    /** The late results of each call's message. */
    const late = new Map<Message.Message, Array<Message.Part>>()
    for (const result of results) {
      const call = open.get(result.id)
      if (call !== undefined && all.slice(all.indexOf(call)).some(({ role }) => role === "user"))
        late.set(call, [...(late.get(call) ?? []), result])
    }
    for (const [call, parts] of late) {
      const place = behindStep(all, all.indexOf(call))
      keep = Math.min(keep, place)
      all.splice(place, 0, { ...message, parts })
    }
    const moved = new Set([...late.values()].flat())
    const parts = message.parts.filter((part) => !moved.has(part))
    if (moved.size === 0) all.push(message)
    else if (parts.length > 0) all.push({ ...message, parts })
    for (const { id } of Message.results(message)) open.delete(id)
    for (const { id } of Message.calls(message)) open.set(id, message)
  }
  const placed = { keep, added: all.slice(keep) }
  // What is stored again may have been late before.
  return keep < stored.length ? lateResults(stored.slice(0, keep), placed.added) : placed
}

/** Whether messages have a result whose call is not among them: it may be a late one. */
export const answersEarlier = (messages: ReadonlyArray<Message.Message>): boolean => {
  const calls = new Set<string>()
  return messages.some((message) => {
    for (const { id } of Message.calls(message)) calls.add(id)
    return Message.results(message).some(({ id }) => !calls.has(id))
  })
}

/**
 * How a session changes, for `rewrite` of a memory, when messages are added to it whose results may be late; see {@link lateResults}.
 *
 * @param added - the messages that are to come behind the stored ones
 */
export const withLateResults =
  (added: ReadonlyArray<Message.Message>) =>
  (stored: ReadonlyArray<Message.Message>): ReadonlyArray<Message.Message> => {
    const placed = lateResults(stored, added)
    return [...stored.slice(0, placed.keep), ...placed.added]
  }
