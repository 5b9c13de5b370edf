/**
 * What is noted down from tool calls when they are compacted, word for word and without a model (reference design
 * 3): the failures of a split turn, and the files that were read and changed.
 */

/** At most so many failures, each of at most so many characters. */
export interface FailureNotes {
  readonly maxFailures: number
  readonly maxCharacters: number
}

/** Which tools touch files, and the arguments that name them. */
export interface FileNotes {
  readonly readers: ReadonlyArray<string>
  readonly writers: ReadonlyArray<string>
  readonly pathArguments: ReadonlyArray<string>
}

export interface ToolNotes {
  readonly failures?: FailureNotes
  readonly files?: FileNotes
}

/** The tools of common coding agents. */
export const commonFileTools: FileNotes = {
  readers: ["read", "read_file", "view", "view_file", "cat", "open", "open_file"],
  writers: ["write", "write_file", "edit", "edit_file", "multi_edit", "create", "create_file", "str_replace"],
  pathArguments: ["path", "file_path", "filePath", "filename", "file"],
}
