/**
 * Groups and turns, found the slow way: over a whole conversation instead of one message at a time. Tests compare the
 * engine's results with these.
 */
import { Message } from "@memfold/core"

/** A call from its own position to the last one that belongs to it, both included. */
interface Span {
  readonly from: number
  readonly to: number
}

/** From each call to its answer; to the next user message when it died; to beyond the end while it is open. */
const spans = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<Span> => {
  const found: Array<Span> = []
  let start = 0
  while (start < messages.length) {
    let end = start + 1
    while (end < messages.length && messages[end]?.role !== "user") end++
    // What a user message itself carries neither calls nor answers.
    const first = messages[start]?.role === "user" ? start + 1 : start
    const results = messages
      .slice(first, end)
      .flatMap((message, position) =>
        Message.results(message).map((result) => ({ ...result, at: first + position })),
      )
    const calls = messages
      .slice(first, end)
      .flatMap((message, position) =>
        Message.calls(message).map((call) => ({ ...call, at: first + position })),
      )
    const answers = new Map<(typeof calls)[number], number>()
    for (const result of results) {
      const waiting = calls.filter((call) => call.at < result.at && !answers.has(call))
      const call =
        result.id === ""
          ? (waiting.find((one) => one.name === result.name) ?? waiting[0])
          : waiting.find((one) => one.id === result.id)
      if (call !== undefined) answers.set(call, result.at)
    }
    const unanswered = end === messages.length ? messages.length : end - 1
    for (const call of calls) found.push({ from: call.at, to: answers.get(call) ?? unanswered })
    start = end
  }
  return found
}

/**
 * The positions, `0` to the number of messages, at which no group of tool calls is cut.
 *
 * @example
 * ```ts
 * import { Message } from "@memfold/core"
 * import { boundaries } from "@memfold/testing/oracle"
 *
 * console.log(boundaries([Message.user("How are you?"), Message.assistant("Fine.")])) // [0, 1, 2]
 * ```
 */
export const boundaries = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<number> => {
  const cut = spans(messages)
  return Array.from({ length: messages.length + 1 }, (_, position) => position).filter((position) =>
    cut.every(({ from, to }) => position <= from || position > to),
  )
}

/** The nearest boundary at or before a position. */
export const boundaryBefore = (messages: ReadonlyArray<Message.Message>, position: number): number =>
  boundaries(messages).findLast((boundary) => boundary <= position) ?? 0

/** The starts of turns: the first user message, and each user message after an assistant's message. */
export const turnStarts = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<number> => {
  const users = messages.flatMap(({ role }, index) => (role === "user" ? [index] : []))
  return users.filter((index, position) => {
    const before = users[position - 1]
    return before === undefined || messages.slice(before, index).some(({ role }) => role === "assistant")
  })
}

/** Whether the newest turn is complete. */
export const turnComplete = (messages: ReadonlyArray<Message.Message>): boolean =>
  messages.at(-1)?.role === "assistant" && boundaries(messages).at(-1) === messages.length
