/** What a context has to show, told from the log alone. */
import { type Message, orphans, type Render, type Session, Wording } from "../../src/index.js"
import { type Naive, shownForEver } from "./naive.js"
import { marksIn, marksOf, marksOfMessage } from "./talk.js"
import { must } from "./violation.js"

const headings = Object.values(Wording.presets).map(({ heading }) => heading)

/** Messages begin with a mark; what begins with a heading is a summary. */
const isSummary = ({ parts: [first] }: Message.Message): boolean =>
  first?.type === "text" && headings.some((heading) => first.text.startsWith(heading))

/** Holds an uncapped context of a session against what its log says (laws L4 and L5). */
export const checkContext = (read: Naive, state: Session.SessionState, context: Render.Context): void => {
  const { session } = state
  const { messages, active, pruned, boundaries } = read
  const openFrom = boundaries.at(-1) ?? 0
  const through = active?.through ?? 0
  const shown = shownForEver(read)

  const broken = orphans(context.messages)
  must(broken.length === 0, "L5", () => `${broken[0]} (session ${session})`)

  const places = Array.from({ length: messages.length }, () => 0)
  for (const { section, from, to } of context.layout) {
    for (let index = from; index < to; index++) if (section !== "pinned" || index >= through) places[index]!++
  }
  const misplaced = places.findIndex((count) => count !== 1)
  must(
    misplaced === -1,
    "L4",
    () => `the layout of ${session} has message ${misplaced} ${places[misplaced]} times`,
  )

  const results = new Set(messages.flatMap(({ message }) => marksOfMessage(message).results))
  const cut = new Set(
    pruned.flatMap(({ index, part }) => marksOf(messages[index]?.message.parts[part] ?? null)),
  )
  const expected = messages.flatMap(({ message }, index) =>
    (index < through ? shown.has(index) : index < openFrom) ? marksOfMessage(message).all : [],
  )
  const found = context.messages
    .filter((message) => !isSummary(message))
    .flatMap((message) => marksOfMessage(message).all)
  const said = (marks: ReadonlyArray<string>) => marks.filter((mark) => !results.has(mark)).join(" ")
  must(
    said(found) === said(expected),
    "L4",
    () => `${session} shows ${said(found)} in place of ${said(expected)}`,
    () => context.messages,
  )
  const answers = (marks: ReadonlyArray<string>) =>
    marks
      .filter((mark) => results.has(mark) && !cut.has(mark))
      .toSorted()
      .join(" ")
  must(
    answers(found) === answers(expected),
    "L4",
    () => `${session} shows the results ${answers(found)} in place of ${answers(expected)}`,
  )

  const summaries = context.messages.filter(isSummary).length
  const { read: files = [], modified = [] } = state.summary?.files ?? {}
  const written = (active?.segments.length ?? 0) + files.length + modified.length > 0
  must(summaries === (written ? 1 : 0), "L1", () => `${session} shows ${summaries} summaries`)
  for (const { from, to, text } of active?.segments ?? []) {
    const covered = messages.slice(from, to)
    const has = new Set(marksIn(text))
    const all = new Set(covered.flatMap(({ message }) => marksOfMessage(message).all))
    const stranger = [...has].find((mark) => !all.has(mark))
    must(
      stranger === undefined,
      "L4",
      () => `the segment [${from},${to}) of ${session} has ${stranger} in it`,
    )
    must(
      text.startsWith(`[${from},${to})`),
      "L4",
      () => `the segment [${from},${to}) of ${session} covers ${text}`,
    )
    const lost = covered.flatMap(({ message }, at) => {
      const index = from + at
      const dropped = read.dropped.some((range) => range.from <= index && index < range.to)
      return dropped || shown.has(index)
        ? []
        : marksOfMessage(message).all.filter((mark) => !has.has(mark) && !cut.has(mark))
    })
    must(lost.length === 0, "L4", () => `the segment [${from},${to}) of ${session} lost ${lost[0]}`)
  }
}

/** An earlier context is a prefix of a later one (law L13). */
export const checkPrefix = (session: string, earlier: Render.Context, later: Render.Context): void => {
  const at = earlier.messages.findIndex(
    (message, position) =>
      message !== later.messages[position] &&
      JSON.stringify(message) !== JSON.stringify(later.messages[position]),
  )
  must(at === -1, "L13", () => `message ${at} of the context of ${session} changed without a compaction`)
}
