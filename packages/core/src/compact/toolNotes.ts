/**
 * What is noted down from tool calls word for word (reference design 3): no model is asked, so none can forget it.
 */
import type { Files } from "../event/Event.js"
import type { Message, ToolResult } from "../message/Message.js"
import { calls, results } from "../message/Message.js"
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
    return found.filter(({ result }) => result.isError === true)
  })
}

/** The failed tool calls as a section behind a summary; empty where none failed. The newest are kept. */
export const failureNotes = (
  messages: ReadonlyArray<Message>,
  { most, characters }: FailureNotes,
): string => {
  const failed = failuresIn(messages)
  if (failed.length === 0) return ""
  const left = Math.max(failed.length - most, 0)
  const lines = failed.slice(left).map(({ name, result }) => clipped(`${name}: ${result.output}`, characters))
  const more = left > 0 ? [`- and ${left} earlier`] : []
  return `\n\n**Tool failures:**\n${[...lines.map((line) => `- ${line}`), ...more].join("\n")}`
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
