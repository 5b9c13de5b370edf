/**
 * Tool notes: failures and files, noted word for word from tool calls when they are compacted. No model writes them, so
 * none can leave them out.
 */

/** Limits for noting failed tool calls in a turn prefix. The newest failures are kept. */
export interface FailureNotes {
  /** The most failures in one summary. */
  readonly maxFailures: number
  /** The most characters of one failure. */
  readonly maxCharacters: number
}

/** Which tools read and write files, and which of their arguments have the path. Case does not matter in tool names. */
export interface FileNotes {
  /** The names of tools that read a file. */
  readonly readers: ReadonlyArray<string>
  /** The names of tools that create or change a file. */
  readonly writers: ReadonlyArray<string>
  /** The names of top-level arguments that have a path. */
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
export const commonFileTools: FileNotes = {
  readers: ["read", "read_file", "view", "view_file", "cat", "open", "open_file"],
  writers: ["write", "write_file", "edit", "edit_file", "multi_edit", "create", "create_file", "str_replace"],
  pathArguments: ["path", "file_path", "filePath", "filename", "file"],
}
