/**
 * A replay as a person reads it: messages coming in, and what was compacted when and why.
 */
import { Message, type Outcome } from "@memfold/core"
import type { MessageStep } from "../replay/replay.js"
import { color, columns, count, oneLine, several } from "./terminal.js"

const roleColor = {
  system: color.magenta,
  user: color.green,
  assistant: color.blue,
  tool: color.yellow,
} as const

/** What a message says, in a few words. */
const gist = (message: Message.Message): string => {
  const calls = Message.calls(message).map((call) => `→ ${call.name}(${call.arguments})`)
  const results = Message.results(message).map(
    (result) => `${result.isError === true ? "✗" : "←"} ${result.name ?? ""} `,
  )
  return [...results, Message.text(message), ...calls].filter((part) => part !== "").join(" ")
}

/** One message on one line. */
export const messageLine = (index: number | string, message: Message.Message): string => {
  const time =
    message.at === undefined ? "" : new Date(message.at).toISOString().slice(5, 16).replace("T", " ")
  const left = `${String(index).padStart(5)}  ${time}${time === "" ? "" : "  "}`
  const role = message.role.padEnd(9)
  return `${color.dim(left)}${roleColor[message.role](role)}  ${oneLine(gist(message), columns() - left.length - role.length - 2)}`
}

const range = ({ from, to }: { readonly from: number; readonly to: number }): string => `[${from},${to})`

/** The last characters of an id, which are the ones that differ. */
const short = (id: string): string => id.slice(-6)

/** One compaction, on one or two lines. */
export const outcomeLines = (outcome: Outcome): ReadonlyArray<string> => {
  switch (outcome._tag) {
    case "Committed": {
      const { started, committed, supersedes } = outcome
      const parts = started.parts.map((part) => `${part.kind} ${range(part)}`).join(" + ")
      const badge = started.parts.some((part) => part.kind === "turn-prefix") ? "Split Turn" : "Compressed"
      const replaced = supersedes === null ? "" : `, supersedes …${short(supersedes)}`
      return [
        color.bold(
          `    ◆  ${badge}: ${parts}, reason ${started.reason}, ` +
            `${count(committed.tokensBefore)} → ${count(committed.tokensAfter)} tokens`,
        ),
        color.dim(
          `       summary …${short(committed.summary)} by ${committed.summarizer}, ` +
            `${several(committed.calls, "call")}${replaced}`,
        ),
      ]
    }
    case "Failed":
      return [
        color.red(
          `    ✗  compaction of ${range(outcome.started)} failed (${outcome.error.reason}); all stays raw`,
        ),
      ]
    case "Lost":
      return [
        color.yellow(
          `    ◇  compaction of ${range(outcome.started)} was overtaken; its result is thrown away`,
        ),
      ]
    case "Idle":
      return []
  }
}

/** How many of the messages around a compaction are shown; the ones between are counted. */
const shownAround = 3

/**
 * The lines of a replay, given step by step. Of a long quiet stretch, the first and the last messages are shown.
 */
export class Timeline {
  private quiet: Array<MessageStep> = []

  /** The lines that can be written now that this step is known. */
  add(step: MessageStep): ReadonlyArray<string> {
    this.quiet.push(step)
    if (step.outcomes.length === 0) return []
    return [...this.flush(), ...step.outcomes.flatMap(outcomeLines)]
  }

  /** The lines of what has come in since the last compaction. */
  flush(): ReadonlyArray<string> {
    const steps = this.quiet
    this.quiet = []
    const line = ({ index, message }: MessageStep) => messageLine(index, message)
    const hidden = steps.length - 2 * shownAround
    if (hidden <= 1) return steps.map(line)
    return [
      ...steps.slice(0, shownAround).map(line),
      color.dim(`    ⋮  ${several(hidden, "message")}`),
      ...steps.slice(-shownAround).map(line),
    ]
  }
}
