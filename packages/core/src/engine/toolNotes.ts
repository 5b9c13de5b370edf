/**
 * Tool notes: failures and files taken from tool calls word for word. No model writes them, so none can leave them out.
 */
import { lookOf, oneLine } from "../summary/marks.js"
import type { Files } from "../summary/Summary.js"
import {
  type Message,
  type ToolCall,
  type ToolResult,
  calls,
  failed,
  results,
} from "@memfold/message/Message"
import { OpenCalls } from "@memfold/message/Structure"
import { type FailureNotes, type FileNotes, touchedFiles } from "../policy/ToolNotes.js"

/** The text on one line, cut to this many characters. */
const clipped = (text: string, characters: number): string => {
  const line = oneLine(text)
  return line.length <= characters ? line : `${line.slice(0, characters - 1).toWellFormed()}…`
}

/** The failed results with their calls. Ids get reused, so each result's own call has to be found. */
const failuresIn = (
  messages: ReadonlyArray<Message>,
): ReadonlyArray<{ readonly result: ToolResult; readonly call: ToolCall | undefined }> => {
  let open = new OpenCalls<ToolCall>()
  return messages.flatMap((message) => {
    // A user message gives up open calls, here as in `Structure`.
    if (message.role === "user") open = new OpenCalls()
    const found = results(message).map((result) => ({ result, call: open.answer(result) }))
    open.addAll(calls(message))
    return found.filter(({ result }) => failed(result))
  })
}

/** The noted failures, one line each, and how many earlier ones are left out. */
interface NotedFailures {
  readonly lines: ReadonlyArray<string>
  readonly earlier: number
}

const nothing: NotedFailures = { lines: [], earlier: 0 }

const heading = "\n\n**Tool failures:**\n"
const earlierLine = /^- and (\d+) earlier$/u

/**
 * Divides a summary into its text and the section of failures at its end. The section is carried over word for word: a
 * summarizer would reword it, or leave it out.
 */
export const splitNotes = (summary: string): { readonly text: string; readonly failures: NotedFailures } => {
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
 * The section of failed tool calls at the end of a summary: first the failed calls of `before`, then the failed calls in the
 * messages. The newest
 * are kept. Empty where none failed.
 */
export const failureNotes = (
  messages: ReadonlyArray<Message>,
  { maxFailures: most, maxCharacters: characters }: FailureNotes,
  before: NotedFailures = nothing,
): string => {
  const found = failuresIn(messages).map(({ call, result }) =>
    clipped(`${result.name ?? call?.name ?? "tool"}: ${result.output}`, characters),
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

/** The tags around the lists. No path has one: it would end its list, and what follows read as text of the summary. */
const listTag = /<\/?\s*(?:read|modified)-files\b/

/** Each path once, at its newest place. */
const distinct = (paths: ReadonlyArray<string>): ReadonlyArray<string> =>
  [...new Set(paths.toReversed())].toReversed()

/**
 * The files in `before`, and the files that the tool calls in these messages read and changed. Failed calls do not count.
 */
export const filesOf = (before: Files, messages: ReadonlyArray<Message>, notes: FileNotes): Files => {
  const named = messages
    .flatMap(calls)
    .map((call) => ({ call, ...touchedFiles(call, notes) }))
    .filter(({ read, modified }) => read.length + modified.length > 0)
  // Whether a call failed is told by its output, which may be long.
  const failures = new Set(named.length === 0 ? [] : failuresIn(messages).map(({ call }) => call))
  const touched = named.filter(({ call }) => !failures.has(call))
  const paths = (kind: "read" | "modified") =>
    touched
      .flatMap((files) => files[kind])
      .map((path) => clipped(path, 300))
      .filter((path) => !listTag.test(lookOf(path)))
  const modified = distinct([...before.modified, ...paths("modified")])
  const changed = new Set(modified)
  const read = distinct([...before.read, ...paths("read")]).filter((path) => !changed.has(path))
  return { read: read.slice(-mostFiles), modified: modified.slice(-mostFiles) }
}
