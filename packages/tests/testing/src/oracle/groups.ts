/**
 * Groups and turns, found the slow way: over a whole conversation instead of one message at a time. Tests compare the
 * engine's results with these.
 */
import { Item, Message } from "@memfold/core"

/** The positions of a call and of the last message that belongs to it, both included. */
interface Span {
  readonly from: number
  readonly to: number
}

/** An item of a provider that is one half of a pair, with its message. */
interface Half {
  readonly part: Message.Opaque
  readonly at: number
}

const half = ({
  part,
}: Half): {
  readonly type: string
  readonly ids: (names: ReadonlyArray<string>) => ReadonlyArray<unknown>
} => {
  const data = part.data as Readonly<Record<string, unknown>>
  return { type: String(data["type"]), ids: (names) => names.flatMap((name) => data[name] ?? []) }
}

/** A half without its other half: a call with who would answer it, and where it is closed; or an answer. */
export type Alone = Half & { readonly by?: "client" | "provider"; readonly closedAt?: number }

/** Which result answers which tool call, among messages with no user message between them. */
const toolPairs = (messages: ReadonlyArray<Message.Message>) => {
  const results = messages.flatMap((message, at) =>
    Message.results(message).map((result) => ({ ...result, at })),
  )
  const calls = messages.flatMap((message, at) => Message.calls(message).map((call) => ({ ...call, at })))
  const answers = new Map<(typeof calls)[number], number>()
  const late: Array<number> = []
  /** Where a call with the same id takes the place of an open one. */
  const replacedAt = (call: (typeof calls)[number]): number | undefined =>
    call.id === ""
      ? undefined
      : calls.find(
          (one) =>
            one.at > call.at &&
            one.id === call.id &&
            one.name === call.name &&
            (answers.get(call) ?? Number.POSITIVE_INFINITY) > one.at,
        )?.at
  for (const result of results) {
    const waiting = calls.filter(
      (call) => call.at < result.at && !answers.has(call) && (replacedAt(call) ?? result.at) >= result.at,
    )
    const call =
      result.id === ""
        ? (waiting.find((one) => one.name === result.name) ?? waiting[0])
        : waiting.find((one) => one.id === result.id)
    if (call === undefined) late.push(result.at)
    else answers.set(call, result.at)
  }
  return { calls, answers, late, replacedAt }
}

/** The items of messages with no user message between them: which call each answer answers; the others are alone. */
export const itemPairs = (
  messages: ReadonlyArray<Message.Message>,
): {
  readonly pairs: ReadonlyArray<readonly [call: Half, answer: Half]>
  readonly alone: ReadonlyArray<Alone>
} => {
  const { late } = toolPairs(messages)
  // A late result, and what a tool message has besides results, are shown as messages of the user.
  const closings = messages.flatMap(({ role, parts }, at) =>
    late.includes(at) ||
    (role === "tool" && (parts.length === 0 || parts.some(({ type }) => type !== "tool-result")))
      ? [at]
      : [],
  )
  const halves = messages.flatMap(({ role, parts }, at) =>
    role === "user" ? [] : parts.flatMap((part) => (part.type === "opaque" ? [{ part, at }] : [])),
  )
  const calls = halves.filter((one) => {
    const { call } = Item.itemOf(one.part) ?? {}
    return call !== undefined && half(one).ids(call.ids).length > 0
  })
  const pairs: Array<readonly [Half, Half]> = []
  /** A call in a later message that takes the place of an open one: it has the same type and id. */
  const replacedBy = (call: Half): Half | undefined => {
    const idOf = (one: Half) => half(one).ids(Item.itemOf(one.part)?.call?.ids ?? [])[0]
    const answer = pairs.find(([one]) => one === call)?.[1]
    return calls.find(
      (one) =>
        one.at > call.at &&
        half(one).type === half(call).type &&
        idOf(one) === idOf(call) &&
        (answer === undefined || halves.indexOf(one) < halves.indexOf(answer)),
    )
  }
  const alone: Array<Alone> = []
  for (const answer of halves) {
    const said = Item.itemOf(answer.part)?.answer
    const ids = said === undefined ? [] : half(answer).ids(said.ids)
    if (said === undefined || ids.length === 0) continue
    const call = calls.find(
      (one) =>
        halves.indexOf(one) < halves.indexOf(answer) &&
        !closings.some((at) => one.at < at && at <= answer.at) &&
        !pairs.some(([taken]) => taken === one) &&
        halves.indexOf(replacedBy(one) ?? answer) >= halves.indexOf(answer) &&
        said.calls.includes(half(one).type) &&
        half(one).ids(Item.itemOf(one.part)?.call?.ids ?? [])[0] === ids[0],
    )
    if (call === undefined) alone.push(answer)
    else pairs.push([call, answer])
  }
  for (const call of calls) {
    if (pairs.some(([one]) => one === call)) continue
    const { by = "client" } = Item.itemOf(call.part)?.call ?? {}
    const ends = [closings.find((at) => at > call.at), replacedBy(call)?.at].filter((at) => at !== undefined)
    const closedAt = ends.length === 0 ? undefined : Math.min(...ends)
    alone.push({ ...call, by, ...(closedAt === undefined ? {} : { closedAt }) })
  }
  return { pairs, alone }
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
    const between = messages.slice(first, end)
    const { calls, answers, replacedAt } = toolPairs(between)
    const unanswered = end === messages.length ? messages.length : end - 1
    const span = (from: number, to: number | undefined) =>
      found.push({ from: first + from, to: to === undefined ? unanswered : first + to })
    for (const call of calls) span(call.at, answers.get(call) ?? replacedAt(call))
    const { pairs, alone } = itemPairs(between)
    for (const [call, answer] of pairs) span(call.at, answer.at)
    for (const { at, by, closedAt } of alone) if (by !== undefined) span(at, closedAt)
    start = end
  }
  return found
}

/**
 * The positions, `0` to the number of messages, at which no group of calls is cut.
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
