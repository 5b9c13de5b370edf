/**
 * Tool notes: failures and files taken from tool calls word for word. No model writes them, so none can leave them out.
 */
import type { Files } from "../summary/Summary.js"
import type { Message, ToolResult } from "../message/Message.js"
import { calls, failed, results } from "../message/Message.js"
import { answeredCall } from "../message/Structure.js"
import type { FailureNotes, FileNotes } from "../policy/ToolNotes.js"

/** The text on one line, cut to this many characters. */
const clipped = (text: string, characters: number): string => {
  const line = text.replace(/\s+/gu, " ").trim()
  return line.length <= characters ? line : `${line.slice(0, characters - 1).toWellFormed()}…`
}

/** The failed results with the names of their tools. Ids get reused, so each result's own call has to be found. */
const failuresIn = (
  messages: ReadonlyArray<Message>,
): ReadonlyArray<{ readonly result: ToolResult; readonly name: string }> => {
  const open: Array<{ readonly id: string; readonly name: string }> = []
  return messages.flatMap((message) => {
    // A user message gives up open calls, here as in `Structure`.
    if (message.role === "user") open.length = 0
    const found = results(message).map((result) => {
      const at = answeredCall(open, result)
      const [asked] = at === -1 ? [] : open.splice(at, 1)
      return { result, name: result.name ?? asked?.name ?? "tool" }
    })
    open.push(...calls(message))
    return found.filter(({ result }) => failed(result))
  })
}

/** The noted failures, one line each, and how many earlier ones are left out. */
interface Noted {
  readonly lines: ReadonlyArray<string>
  readonly earlier: number
}

const nothing: Noted = { lines: [], earlier: 0 }

const heading = "\n\n**Tool failures:**\n"
const earlierLine = /^- and (\d+) earlier$/u

/**
 * Divides a summary into its text and the section of failures at its end. The section is carried over word for word: a
 * summarizer would reword it, or leave it out.
 */
export const splitNotes = (summary: string): { readonly text: string; readonly failures: Noted } => {
  const at = summary.lastIndexOf(heading)
  const lines = at === -1 ? [] : summary.slice(at + heading.length).split("\n")
  if (lines.length === 0 || lines.some((line) => !line.startsWith("- "))) {
    return { text: summary, failures: nothing }
  }
  const earlier = earlierLine.exec(lines.at(-1) ?? "")?.[1]
  const own = earlier === undefined ? lines : lines.slice(0, -1)
  return {
    text: summary.slice(0, at),
    failures: { lines: own.map((line) => line.slice(2)), earlier: Number(earlier ?? 0) },
  }
}

/**
 * The section of failed tool calls at the end of a summary: those of `before`, then those in the messages. The newest
 * are kept. Empty where none failed.
 */
export const failureNotes = (
  messages: ReadonlyArray<Message>,
  { maxFailures: most, maxCharacters: characters }: FailureNotes,
  before: Noted = nothing,
): string => {
  const found = failuresIn(messages).map(({ name, result }) =>
    clipped(`${name}: ${result.output}`, characters),
  )
  const all = [...before.lines, ...found]
  const left = Math.max(all.length - most, 0)
  const earlier = before.earlier + left
  if (all.length + earlier === 0) return ""
  const more = earlier > 0 ? [`- and ${earlier} earlier`] : []
  return heading + [...all.slice(left).map((line) => `- ${line}`), ...more].join("\n")
}

/** The most paths of each kind in a summary, to keep it bounded. The newest are kept. */
const mostFiles = 200

/** The paths in the arguments of a call; none if they are not JSON. */
const pathsOf = (text: string, names: ReadonlyArray<string>): ReadonlyArray<string> => {
  let given: unknown
  try {
    given = JSON.parse(text)
  } catch {
    return []
  }
  if (typeof given !== "object" || given === null) return []
  return names
    .map((name): unknown => (given as Readonly<Record<string, unknown>>)[name])
    .filter((path): path is string => typeof path === "string" && path.trim() !== "")
    .map((path) => clipped(path, 300))
}

/** Each path once, at its newest place. */
const distinct = (paths: ReadonlyArray<string>): ReadonlyArray<string> =>
  [...new Set(paths.toReversed())].toReversed()

/** The files in `before`, and those that the tool calls in these messages read and changed. */
export const filesOf = (
  before: Files,
  messages: ReadonlyArray<Message>,
  { readers, writers, pathArguments }: FileNotes,
): Files => {
  const paths = (tools: ReadonlyArray<string>) => {
    const names = new Set(tools.map((tool) => tool.toLowerCase()))
    return messages
      .flatMap(calls)
      .filter(({ name }) => names.has(name.toLowerCase()))
      .flatMap((call) => pathsOf(call.arguments, pathArguments))
  }
  const modified = distinct([...before.modified, ...paths(writers)])
  const changed = new Set(modified)
  const read = distinct([...before.read, ...paths(readers)]).filter((path) => !changed.has(path))
  return { read: read.slice(-mostFiles), modified: modified.slice(-mostFiles) }
}
