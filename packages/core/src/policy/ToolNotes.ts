/**
 * Tool notes: failures and files, noted word for word from tool calls when they are compacted. No model writes them, so
 * none can leave them out.
 */
import { Predicate } from "effect"

/** Limits for noting failed tool calls in a turn prefix. The newest failures are kept. */
export interface FailureNotes {
  /** The most failures in one summary. */
  readonly maxFailures: number
  /** The most characters of one failure. */
  readonly maxCharacters: number
}

/** Tools that read or change files, depending on one of their arguments. */
export interface FileEditors {
  readonly tools: ReadonlyArray<string>
  /** The name of the argument that says what to do, such as `command`. */
  readonly argument: string
  /** The values of that argument that only read; every other value changes the file. */
  readonly reads: ReadonlyArray<string>
}

/**
 * Which tools read and write files, and which of their arguments have the path. In the names of tools, case, `_` and `-`
 * do not matter, and neither does a prefix such as `mcp__server__`.
 */
export interface FileNotes {
  /** The names of tools that read a file. */
  readonly readers: ReadonlyArray<string>
  /** The names of tools that create, change or delete a file. */
  readonly writers: ReadonlyArray<string>
  /** Tools that do both. */
  readonly editors?: ReadonlyArray<FileEditors>
  /** The names of tools that apply a patch. The headers of the patch name the changed files. */
  readonly patchers?: ReadonlyArray<string>
  /** The names of tools that run a command: a patch in it, as in `apply_patch <<'EOF'`, changes the files that its headers name. */
  readonly shells?: ReadonlyArray<string>
  /** The names of arguments that have a path or a list of paths; also in objects and lists inside the arguments. */
  readonly pathArguments: ReadonlyArray<string>
}

/**
 * The tool notes of a strategy. Kinds that are missing are not noted.
 *
 * @example
 * ```ts
 * import { ToolNotes } from "@memfold/core"
 *
 * export const toolNotes: ToolNotes.ToolNotes = {
 *   failures: { maxFailures: 8, maxCharacters: 240 },
 *   files: ToolNotes.commonFileTools,
 * }
 * ```
 */
export interface ToolNotes {
  /** Notes failed tool calls in turn prefixes. */
  readonly failures?: FailureNotes
  /** Notes the files that were read and changed. */
  readonly files?: FileNotes
}

/** The file tools of common coding agents. */
export const commonFileTools: Required<FileNotes> = {
  readers: [
    "read",
    "read_file",
    "read_text_file",
    "read_many_files",
    "read_multiple_files",
    "view",
    "view_file",
    "cat",
    "open",
    "open_file",
    "notebook_read",
  ],
  writers: [
    "write",
    "write_file",
    "write_to_file",
    "edit",
    "edit_file",
    "multi_edit",
    "notebook_edit",
    "edit_notebook_file",
    "insert_edit_into_file",
    "create",
    "create_file",
    "delete_file",
    "str_replace",
    "search_replace",
    "replace",
    "replace_in_file",
    "replace_string_in_file",
    "multi_replace_string_in_file",
  ],
  editors: [
    {
      tools: ["str_replace_based_edit_tool", "str_replace_editor", "text_editor", "edit_tool"],
      argument: "command",
      reads: ["view"],
    },
  ],
  patchers: ["apply_patch", "apply_diff"],
  shells: [
    "shell",
    "shell_command",
    "local_shell",
    "bash",
    "sh",
    "exec",
    "exec_command",
    "execute_command",
    "run_command",
    "run_shell_command",
    "run_terminal_cmd",
    "run_in_terminal",
    "terminal",
  ],
  pathArguments: [
    "path",
    "paths",
    "file_path",
    "filePath",
    "file_paths",
    "filePaths",
    "target_file",
    "absolute_path",
    "notebook_path",
    "filename",
    "file",
    "files",
  ],
}

/**
 * The common file tools and your own.
 *
 * @param own the tools and arguments to add
 *
 * @example
 * ```ts
 * import { ToolNotes } from "@memfold/core"
 *
 * const files = ToolNotes.withFileTools({ readers: ["fetch_source"], pathArguments: ["source"] })
 * ```
 */
export const withFileTools = (own: Partial<FileNotes>): Required<FileNotes> => ({
  readers: [...commonFileTools.readers, ...(own.readers ?? [])],
  writers: [...commonFileTools.writers, ...(own.writers ?? [])],
  editors: [...(own.editors ?? []), ...commonFileTools.editors],
  patchers: [...commonFileTools.patchers, ...(own.patchers ?? [])],
  shells: [...commonFileTools.shells, ...(own.shells ?? [])],
  pathArguments: [...commonFileTools.pathArguments, ...(own.pathArguments ?? [])],
})

/** The name of a tool without the prefix of its server, and without what differs between spellings. */
const plainName = (name: string): string =>
  (name.split(/__|[.:/]/u).at(-1) ?? name).toLowerCase().replace(/[-_\s]/gu, "")

/** The plain names of each list: a compaction asks for every call that it covers. */
const plainNames = new WeakMap<ReadonlyArray<string>, ReadonlySet<string>>()

const includes = (names: ReadonlyArray<string> | undefined, name: string): boolean => {
  if (names === undefined) return false
  const plain = plainNames.get(names) ?? new Set(names.map(plainName))
  plainNames.set(names, plain)
  return plain.has(name)
}

/** How deep in the arguments paths are looked for: an operation in an object, or a list of edits. */
const deepest = 2

/** The values in an argument, down to the deepest that are looked at. */
const inside = (value: unknown, depth = 0): ReadonlyArray<unknown> =>
  depth > deepest || typeof value !== "object" || value === null
    ? [value]
    : [
        value,
        ...Object.entries(value).flatMap(([key, one]) => (key === "__proto__" ? [] : inside(one, depth + 1))),
      ]

const pathsIn = (given: unknown, names: ReadonlyArray<string>): ReadonlyArray<string> =>
  inside(given)
    .filter(Predicate.isRecord)
    .flatMap((values) => names.flatMap((name): unknown => (Object.hasOwn(values, name) ? values[name] : [])))
    .filter((path): path is string => typeof path === "string" && path.trim() !== "")

/** The headers of a patch, as agents write them and as a unified diff has them. */
const patchHeader =
  /^(?:\*\*\* (?:Update File|Add File|Delete File|Move to): |\+\+\+ (?:b\/)?(?!\/dev\/null))(?<path>[^\t\r\n]+)/gmu

const patchedIn = (texts: ReadonlyArray<unknown>): ReadonlyArray<string> =>
  texts
    .filter((text) => typeof text === "string")
    .flatMap((text) => [...text.matchAll(patchHeader)].map((match) => match.groups?.["path"] ?? ""))

/** The files of the patches within commands. Other headers in a command may be of a text that it only prints. */
const patchedByCommand = (texts: ReadonlyArray<unknown>): ReadonlyArray<string> =>
  patchedIn(
    texts
      .filter((text) => typeof text === "string")
      .flatMap((text) => text.match(/^\*\*\* Begin Patch$.*?(?:^\*\*\* End Patch$|(?![^]))/gmsu) ?? []),
  )

/** The paths that a tool call reads and changes, as its arguments name them. */
export interface TouchedFiles {
  readonly read: ReadonlyArray<string>
  readonly modified: ReadonlyArray<string>
}

/**
 * The files that a tool call reads and changes, from its name and its arguments. Whether the call succeeded is not
 * looked at.
 *
 * @param call the tool call
 * @param notes the file tools; the common ones by default
 *
 * @example
 * ```ts
 * import { ToolNotes } from "@memfold/core"
 *
 * const { modified } = ToolNotes.touchedFiles({ name: "MultiEdit", arguments: '{"file_path":"a.ts","edits":[]}' })
 * console.log(modified) // [ "a.ts" ]
 * ```
 */
export const touchedFiles = (
  call: { readonly name: string; readonly arguments: string },
  { readers, writers, editors = [], patchers, shells, pathArguments }: FileNotes = commonFileTools,
): TouchedFiles => {
  const name = plainName(call.name)
  const editor = editors.find(({ tools }) => includes(tools, name))
  const patches = includes(patchers, name)
  const reads = includes(readers, name)
  const runs = includes(shells, name)
  if (editor === undefined && !patches && !reads && !runs && !includes(writers, name))
    return { read: [], modified: [] }
  let given: unknown
  try {
    given = JSON.parse(call.arguments)
  } catch {
    // Some agents send a patch as it is, not in JSON.
    const modified = patches ? patchedIn([call.arguments]) : runs ? patchedByCommand([call.arguments]) : []
    return { read: [], modified }
  }
  if (runs && !patches) return { read: [], modified: patchedByCommand(inside(given)) }
  const paths = pathsIn(given, pathArguments)
  if (editor !== undefined) {
    const asked = Predicate.isRecord(given) ? given[editor.argument] : undefined
    return typeof asked === "string" && editor.reads.includes(asked)
      ? { read: paths, modified: [] }
      : { read: [], modified: paths }
  }
  if (patches) return { read: [], modified: [...paths, ...patchedIn(inside(given))] }
  return reads ? { read: paths, modified: [] } : { read: [], modified: paths }
}
