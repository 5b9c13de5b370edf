/**
 * What is noted down from tool calls word for word (reference design 3): no model is asked, so none can forget it.
 */
import type { Files } from "../event/Event.js"
import type { Message } from "../message/Message.js"
import { calls, results } from "../message/Message.js"
import type { FailureNotes, FileNotes } from "../policy/Notes.js"

/** On one line, and no longer than so many characters. */
const clipped = (text: string, characters: number): string => {
  const line = text.replace(/\s+/gu, " ").trim()
  return line.length <= characters ? line : `${line.slice(0, characters - 1).toWellFormed()}…`
}

/** The failed tool calls as a section behind a summary; empty where none failed. The newest are kept. */
export const failureNotes = (
  messages: ReadonlyArray<Message>,
  { most, characters }: FailureNotes,
): string => {
  const names = new Map(messages.flatMap(calls).map(({ id, name }) => [id, name]))
  const failed = messages.flatMap(results).filter((result) => result.isError === true)
  if (failed.length === 0) return ""
  const left = failed.length - most
  const lines = failed
    .slice(-most)
    .map((result) =>
      clipped(`${result.name ?? names.get(result.id) ?? "tool"}: ${result.output}`, characters),
    )
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

/** The newest place of each path counts. */
const listed = (paths: ReadonlyArray<string>): ReadonlyArray<string> =>
  [...new Set(paths.toReversed())].slice(0, mostFiles).toReversed()

/** The files known before, and those that these messages' calls read and changed. */
export const filesOf = (
  before: Files,
  messages: ReadonlyArray<Message>,
  { readers, writers, pathArguments }: FileNotes,
): Files => {
  const paths = (tools: ReadonlyArray<string>) =>
    messages
      .flatMap(calls)
      .filter(({ name }) => tools.includes(name.toLowerCase()))
      .flatMap((call) => pathsOf(call.arguments, pathArguments))
  const modified = listed([...before.modified, ...paths(writers)])
  const read = listed([...before.read, ...paths(readers)]).filter((path) => !modified.includes(path))
  return { read, modified }
}
