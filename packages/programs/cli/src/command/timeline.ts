/** Prints a replay: the messages, and each compaction with its reason. */
import { type Event, Message, type CompactionOutcome } from "@memfold/core"
import type { MessageStep } from "../replay/replay.js"
import { color, columns, count, oneLine, several, span, withoutMiddle } from "../terminal/terminal.js"

const roleColor = {
  system: color.magenta,
  user: color.green,
  assistant: color.blue,
  tool: color.yellow,
} as const

/** Of longer tool outputs, only the length is shown, in characters. */
const foldedAbove = 400

const folded = (message: Message.Message): string => {
  const hidden = Message.results(message)
    .map(({ output }) => output.length)
    .filter((length) => length > foldedAbove)
    .reduce((sum, length) => sum + length, 0)
  return hidden === 0 ? "" : `  ▸ ${several(hidden, "character")}`
}

/** A message in short: its text, calls and results. */
const gist = (message: Message.Message): string => {
  const calls = Message.calls(message).map((call) => `→ ${call.name}(${call.arguments})`)
  const results = Message.results(message).map(
    (result) => `${result.isError === true ? "✗" : "←"} ${result.name ?? ""} `,
  )
  return [...results, Message.text(message), ...calls].filter((part) => part !== "").join(" ")
}

export const messageLine = (index: number | string, message: Message.Message, badges = ""): string => {
  const time =
    message.time === undefined ? "" : new Date(message.time).toISOString().slice(5, 16).replace("T", " ")
  const left = `${String(index).padStart(5)}  ${time}${time === "" ? "" : "  "}`
  const role = message.role.padEnd(9)
  const more = `${badges === "" ? "" : `  ◆ ${badges}`}${folded(message)}`
  const room = columns() - left.length - role.length - 2 - more.length
  return `${color.dim(left)}${roleColor[message.role](role)}  ${oneLine(gist(message), room)}${color.dim(more)}`
}

/** The last characters of an id, which tell ids apart. */
export const short = (id: string): string => id.slice(-6)

/** A badge for shortened outputs: `Pruned 3 outputs`. */
const prunedBadge = (pruned: Event.ToolOutputsPruned): string =>
  `Pruned ${several(pruned.outputs.length, "output")}`

const prunedRange = ({ outputs }: Event.ToolOutputsPruned): string => {
  const indices = outputs.map(({ index }) => index)
  return span({ from: Math.min(...indices), to: Math.max(...indices) + 1 })
}

const badgeWords = { compressionTriggered: "Compressed", isSplitTurn: "Split Turn", pruned: "Pruned" }

/** The badges of a message in a context, from what the context says about it: the first one behind a summary, and a shortened output. */
export const badgesOf = ({ metadata }: Message.Message): string => {
  const said = (metadata?.["memfold"] ?? {}) as Readonly<Record<string, unknown>>
  return Object.entries(badgeWords)
    .flatMap(([field, word]) => (said[field] === true ? [word] : []))
    .join(" · ")
}

/** The badges of a compaction: `Compressed`, `Split Turn`, `Pruned …`. */
const badges = ({
  started,
  pruned,
}: Extract<CompactionOutcome, { readonly _tag: "Committed" }>): ReadonlyArray<string> => [
  "Compressed",
  ...(started.parts.some((part) => part.kind === "turn-prefix") ? ["Split Turn"] : []),
  ...(pruned === null ? [] : [prunedBadge(pruned)]),
]

/** One compaction, on one or two lines. */
export const outcomeLines = (outcome: CompactionOutcome): ReadonlyArray<string> => {
  switch (outcome._tag) {
    case "Committed": {
      const { started, committed, supersedes } = outcome
      const parts = started.parts.map((part) => `${part.kind} ${span(part)}`).join(" + ")
      const replaced = supersedes === null ? "" : `, supersedes …${short(supersedes)}`
      return [
        color.bold(
          `    ◆  ${badges(outcome).join(" · ")}: ${parts}, reason ${started.reason}, ` +
            `${count(committed.tokensBefore)} → ${count(committed.tokensAfter)} tokens`,
        ),
        color.dim(
          `       summary …${short(committed.summary)} by ${committed.summarizer}, ` +
            `${several(committed.calls, "call")}${replaced}`,
        ),
      ]
    }
    case "Pruned": {
      const { started, pruned } = outcome
      const where = prunedRange(pruned)
      return [
        color.bold(`    ◆  ${prunedBadge(pruned)}: tools in messages ${where}, reason ${started.reason}`),
      ]
    }
    case "Failed":
      return [
        color.red(
          `    ✗  compaction of messages ${span(outcome.started)} failed (${outcome.error.reason}); the messages stay verbatim`,
        ),
      ]
    case "Lost":
      return [
        color.yellow(
          `    ◇  compaction of messages ${span(outcome.started)} was overtaken by another one; its result is discarded`,
        ),
      ]
    case "Idle":
      return []
  }
}

/** How many messages are shown before and after a compaction; the others are only counted. */
const shownAround = 3

/**
 * The lines of a replay, step by step. Of a long stretch without compactions, only the first and the last messages are
 * shown.
 */
export class Timeline {
  private quiet: Array<MessageStep> = []

  /** Adds a step. Returns the lines that can be printed now. */
  add(step: MessageStep): ReadonlyArray<string> {
    this.quiet.push(step)
    if (step.outcomes.length === 0) return []
    return [...this.flush(), ...step.outcomes.flatMap(outcomeLines)]
  }

  /** The lines of the messages since the last compaction. */
  flush(): ReadonlyArray<string> {
    const steps = this.quiet
    this.quiet = []
    return withoutMiddle(
      steps.map(({ index, message }) => messageLine(index, message)),
      shownAround,
    )
  }
}
