/**
 * What is noted down from tool calls word for word (reference design 3): no model is asked, so none can forget it.
 */
import type { Files } from "../summary/Summary.js"
import type { Message, ToolResult } from "../message/Message.js"
import { calls, failed, results } from "../message/Message.js"
import { answered } from "../message/Structure.js"
import type { FailureNotes, FileNotes } from "../policy/Notes.js"

/** On one line, and no longer than so many characters. */
const clipped = (text: string, characters: number): string => {
  const line = text.replace(/\s+/gu, " ").trim()
  return line.length <= characters ? line : `${line.slice(0, characters - 1).toWellFormed()}…`
}

/** The failed results, each with the name of the tool: ids get reused, so the call it answers has to be found. */
const failuresIn = (
  messages: ReadonlyArray<Message>,
): ReadonlyArray<{ readonly result: ToolResult; readonly name: string }> => {
  const open: Array<{ readonly id: string; readonly name: string }> = []
  return messages.flatMap((message) => {
    // It gives up what is open, as everywhere.
    if (message.role === "user") open.length = 0
    const found = results(message).map((result) => {
      const at = answered(open, result)
      const [asked] = at === -1 ? [] : open.splice(at, 1)
      return { result, name: result.name ?? asked?.name ?? "tool" }
    })
    open.push(...calls(message))
    return found.filter(({ result }) => failed(result))
  })
}

/** Failures noted down, a line each, and how many there were before those. */
interface Noted {
  readonly lines: ReadonlyArray<string>
  readonly earlier: number
}

const nothing: Noted = { lines: [], earlier: 0 }

const heading = "\n\n**Tool failures:**\n"
const earlierLine = /^- and (\d+) earlier$/u

/**
 * A summary without the section of failures behind it, and what that says. It goes on as it is: a summarizer would put
 * it in other words, or leave it out.
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
 * The failed tool calls as a section behind a summary, after those noted down before; empty where none failed. The
 * newest are kept.
 */
export const failureNotes = (
  messages: ReadonlyArray<Message>,
  { most, characters }: FailureNotes,
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

/** So many paths of each kind are listed, so that a summary stays bounded; the newest are kept. */
const mostFiles = 200

/** The paths in the arguments of a call; what is no JSON names none. */
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

/** Each path once, in its newest place. */
const distinct = (paths: ReadonlyArray<string>): ReadonlyArray<string> =>
  [...new Set(paths.toReversed())].toReversed()

/** The files known before, and those that these messages' calls read and changed. */
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
