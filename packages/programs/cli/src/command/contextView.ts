/** Prints a context: the layout, then the messages. */
import { Message, type Render, TokenCounter } from "@memfold/core"
import { badgesOf, messageLine } from "./timeline.js"
import { clean, color, columns, count, percent, span, table, withoutMiddle } from "../terminal/terminal.js"

export const meaning: Readonly<Record<Render.SectionName, string>> = {
  pinned: "always shown verbatim",
  "user-memory": "facts about the user",
  "scope-memory": "facts about the scope",
  "session-memory": "a block that fits the message behind it",
  summary: "the active summary",
  material: "what tools, documents and pages said, summarized apart",
  uncovered: "uncovered messages, verbatim",
  recalled: "earlier messages that fit the message to answer",
  current: "the message to answer",
  gap: "left out by the strategy's cap",
  unreadable: "damaged where they are stored; left out",
  "left-out": "refused here by the provider, or of a lower origin than is asked for; left out",
  open: "tool calls that wait for results, and what follows; left out until then",
}

/** Why a limit is reached before the counts that are shown reach it. */
const marginNote = `limits add ${percent(TokenCounter.estimateMargin - 1, 0)} to what is estimated`

export const layoutTable = ({ layout, tokens }: Render.Context): string =>
  [
    table(
      ["section", "messages", "tokens", ""],
      layout.map(({ section, from, to, tokens: taken, origin }) => [
        section,
        span({ from, to }),
        count(taken),
        { text: meaning[section] + (origin === undefined ? "" : `; origin: ${origin}`), paint: color.dim },
      ]),
      ["left", "left", "right"],
    ),
    `${count(tokens)} tokens in total; ${marginNote}`,
  ].join("\n")

/** The lines of a summary, indented. Long summaries are cut after 40 lines. */
const summaryLines = (message: Message.Message): ReadonlyArray<string> => {
  const lines = Message.text(message).split("\n")
  const shown = lines.slice(0, 40).map((line) => color.cyan(`       ${clean(line.slice(0, columns() * 2))}`))
  return lines.length > 40 ? [...shown, color.dim(`       … ${lines.length - 40} more lines`)] : shown
}

const aroundGap = 4

/** The messages of a context, one per line, without the middle of a long run. The summary keeps its lines. */
export const contextLines = ({ messages, layout }: Render.Context): ReadonlyArray<string> => {
  const pinned = layout
    .filter((one) => one.section === "pinned")
    .reduce((sum, one) => sum + one.to - one.from, 0)
  const summary = layout.some((one) => one.section === "summary" && one.tokens > 0) ? 1 : 0
  const head = messages.slice(0, pinned).map((message) => messageLine("pin", message))
  const said = messages.slice(pinned, pinned + summary).flatMap(summaryLines)
  const rest = messages.slice(pinned + summary).map((message) => messageLine("", message, badgesOf(message)))
  return [...head, ...said, ...withoutMiddle(rest, aroundGap)]
}
