/** What the texts of summaries must have in them: the summarizer of the simulation writes down what it has read. */
import { type NaiveSession, shownFormsTo } from "@memfold/testing/oracle"
import { marksIn, marksOf } from "./talk.js"
import { must } from "./violation.js"

/** Checks that each segment has every message it covers, and no other (law L4). */
export const checkSegments = (session: string, naive: NaiveSession): void => {
  const { active, dropped, messages, pruned } = naive
  const shown = shownFormsTo(naive, active?.coveredTo ?? 0)
  const cut = new Set(
    pruned.flatMap(({ index, part }) => marksOf(messages[index]?.message.parts[part] ?? null)),
  )
  for (const { from, to, text } of active?.segments ?? []) {
    const where = () => `the segment [${from},${to}) of ${session}`
    const has = new Set(marksIn(text))
    const covered = messages.slice(from, to).map(({ message }) => marksOf(message.parts))
    const all = new Set(covered.flat())
    const stranger = [...has].find((mark) => !all.has(mark))
    must(stranger === undefined, "L4", () => `${where()} has ${stranger} in it`)
    must(text.startsWith(`[${from},${to})`), "L4", () => `${where()} covers ${text}`)
    const isElsewhere = (index: number) =>
      shown.has(index) || dropped.some((range) => range.from <= index && index < range.to)
    const lost = covered
      .flatMap((marks, at) => (isElsewhere(from + at) ? [] : marks))
      .find((mark) => !has.has(mark) && !cut.has(mark))
    must(lost === undefined, "L4", () => `${where()} lost ${lost}`)
  }
}
