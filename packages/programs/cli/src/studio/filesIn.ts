/** The files that operands name: files themselves, and the transcripts of folders. */
import { Effect } from "effect"
import { readdir, stat } from "node:fs/promises"
import { extname, join } from "node:path"

/** What transcripts end with. */
const endings: ReadonlySet<string> = new Set([".json", ".jsonl", ".ndjson", ".traj"])

const mostFiles = 1_000

/** Folders that have no transcripts. */
const isLeftAlone = (name: string): boolean => name === "node_modules" || name.startsWith(".")

/** Files to read, and what is not read, a line each. */
export interface FoundFiles {
  readonly files: ReadonlyArray<string>
  readonly unread: ReadonlyArray<string>
}

/** The transcripts of a folder and of the folders in it, in the order of their names. */
const inFolder = async (folder: string): Promise<FoundFiles> => {
  const files: Array<string> = []
  const unread: Array<string> = []
  let others = 0
  const walk = async (path: string): Promise<void> => {
    for (const entry of (await readdir(path, { withFileTypes: true })).toSorted((one, other) =>
      one.name < other.name ? -1 : 1,
    )) {
      const inside = join(path, entry.name)
      // A link may lead back to where it is.
      if (entry.isDirectory() && !isLeftAlone(entry.name)) await walk(inside)
      else if (entry.isFile() && endings.has(extname(entry.name))) files.push(inside)
      else if (entry.isFile()) others++
    }
  }
  await walk(folder)
  if (others > 0) unread.push(`${folder}: ${others} of its files are of other kinds, and left alone`)
  if (files.length === 0) unread.push(`${folder}: there is no transcript (${[...endings].join(", ")})`)
  if (files.length > mostFiles)
    unread.push(`${folder}: the first ${mostFiles} of ${files.length} transcripts are opened`)
  return { files: files.slice(0, mostFiles), unread }
}

/** The files that operands name. A file is taken whatever it is called; reading it says what is wrong with it. */
export const filesIn = (operands: ReadonlyArray<string>): Effect.Effect<FoundFiles> =>
  Effect.map(
    Effect.forEach(operands, (operand) =>
      Effect.promise(async (): Promise<FoundFiles> => {
        try {
          return (await stat(operand)).isDirectory()
            ? await inFolder(operand)
            : { files: [operand], unread: [] }
        } catch {
          // The reader says why.
          return { files: [operand], unread: [] }
        }
      }),
    ),
    (found) => ({
      files: found.flatMap(({ files }) => files),
      unread: found.flatMap(({ unread }) => unread),
    }),
  )
