/**
 * The files of a keyring: a folder for each holder, in which every change is a file with the next number. Of two processes that change the
 * keys of a holder at once, one writes the number, and the other decides again.
 */
import { Schema } from "effect"
import { createHash, randomBytes } from "node:crypto"
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import type { KeyInfo } from "./Keyring.js"
import { Unreadable } from "./Root.js"

/** A key in a file; `wrapped` is `null` once it is destroyed. */
export interface StoredKey extends KeyInfo {
  readonly wrapped: string | null
}

/** The keys of a holder. */
export interface Stored {
  readonly holder: string
  readonly root: string
  readonly hold: string | null
  readonly keys: ReadonlyArray<StoredKey>
}

/** The folder of a holder. */
export const placeOf = (holder: string): string =>
  createHash("sha256").update(holder).digest("hex").slice(0, 32)

/** The id of a new key of a holder. */
export const newId = (holder: string): string => `${placeOf(holder)}-${randomBytes(6).toString("hex")}`

/** The place that the id of a key names; `null` if it is no id of this keyring. */
export const placeIn = (id: string): string | null => /^([0-9a-f]{32})-[0-9a-f]{12}$/.exec(id)?.[1] ?? null

/** The places of all holders. */
export const placesIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder).filter((name) => /^[0-9a-f]{32}$/.test(name))

/** The folder with a file for each holder whose keys are to be destroyed at a time. */
const dueFolder = "due"

/** Notes that keys of a holder are to be destroyed at a time: before they are revoked, so that no kill leaves them forgotten. */
export const noteDue = (folder: string, place: string, due: number): void => {
  mkdirSync(join(folder, dueFolder), { recursive: true, mode: 0o700 })
  writeFileSync(join(folder, dueFolder, `${due}-${place}`), "", { mode: 0o600, flush: true })
}

/** What is noted for a time that has come: the places of holders. */
export const dueBy = (
  folder: string,
  now: number,
): ReadonlyArray<{ readonly name: string; readonly place: string }> =>
  namesIn(join(folder, dueFolder)).flatMap((name) => {
    const [, time, place] = /^(\d+)-([0-9a-f]{32})$/.exec(name) ?? []
    return place !== undefined && Number(time) <= now ? [{ name, place }] : []
  })

/** Takes a note away. */
export const dueDone = (folder: string, name: string): void =>
  rmSync(join(folder, dueFolder, name), { force: true })

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === "ENOENT"

/** The names in a folder; of one that is not there, none. */
const namesIn = (folder: string): ReadonlyArray<string> => {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

const numberOf = (name: string): number => (/^\d+\.json$/.test(name) ? Number.parseInt(name, 10) : 0)

/** The names of the files of a holder, the newest keys first; drafts come last. */
const filesIn = (folder: string): ReadonlyArray<string> =>
  namesIn(folder)
    .filter((name) => numberOf(name) > 0 || name.startsWith("draft-"))
    .toSorted((one, other) => numberOf(other) - numberOf(one))

/** What is in the folder of a holder. */
export interface Found {
  /** The number of the newest keys; 0 if there are none. */
  readonly number: number
  readonly stored: Stored | null
  /** When the file of the newest keys was written, and which one it is; `""` if there are none. */
  readonly mark: string
  /** Files that a killed process has left: earlier keys, and keys that were not written to their end. */
  readonly left: ReadonlyArray<string>
}

/** What tells a file from another one under its name; `""` if there is none. */
const markOf = (path: string): string => {
  const found = statSync(path, { throwIfNoEntry: false })
  return found === undefined ? "" : `${found.ino} ${found.mtimeMs}`
}

const pathOf = (folder: string, number: number): string => join(folder, `${number}.json`)

/**
 * Whether no newer keys were written since some were found. Files go away once a newer one is there, the oldest first: while one is there,
 * and none with the next number, it is the newest.
 */
export const isNewest = (folder: string, { number, mark }: Found): boolean =>
  number > 0 && !existsSync(pathOf(folder, number + 1)) && markOf(pathOf(folder, number)) === mark

const Time = Schema.NullOr(Schema.Number)

const isStored = Schema.is(
  Schema.Struct({
    holder: Schema.String,
    root: Schema.String,
    hold: Schema.NullOr(Schema.String),
    keys: Schema.Array(
      Schema.Struct({
        id: Schema.String,
        made: Schema.Number,
        revoked: Time,
        due: Time,
        destroyed: Time,
        wrapped: Schema.NullOr(Schema.String),
      }).pipe(Schema.filter(({ destroyed, wrapped }) => (destroyed === null) === (wrapped !== null))),
    ),
  }),
)

/** The keys in a file. */
const keysIn = (path: string): Stored => {
  const text = readFileSync(path, "utf8")
  try {
    const stored: unknown = JSON.parse(text)
    if (isStored(stored)) return stored
  } catch {
    // It is damaged.
  }
  throw new Unreadable(
    `${path} is damaged: put it back from a backup of the keys, or remove its folder, and nobody reads what they have sealed`,
  )
}

/** The newest keys of a holder. */
export const readKeys = (folder: string): Found => {
  for (let tried = ""; ;) {
    const files = filesIn(folder)
    const [newest = ""] = files
    const number = numberOf(newest)
    if (number === 0) return { number, stored: null, mark: "", left: files }
    try {
      // Before it is read: of a file that is changed meanwhile, the mark is another one.
      const mark = markOf(join(folder, newest))
      const stored = keysIn(join(folder, newest))
      return { number, stored, mark, left: files.slice(1) }
    } catch (error) {
      // Another process has written the next one meanwhile, and removes this one, or has overwritten it.
      if (!isMissing(error) && newest === tried) throw error
      tried = newest
    }
  }
}

/** Overwrites a file and removes it: its place on the disk has no wrapped key. */
const shred = (path: string): void => {
  try {
    writeFileSync(path, Buffer.alloc(statSync(path).size))
    rmSync(path)
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}

/**
 * Removes what a killed process has left, the oldest keys first. A draft of a process that lives is written again; it is not overwritten,
 * since the newest keys may be the file itself under another name.
 */
export const shredLeft = (folder: string, left: ReadonlyArray<string>): void => {
  for (const name of left.toReversed())
    if (numberOf(name) > 0) shred(join(folder, name))
    else rmSync(join(folder, name), { force: true })
}

/** Writes the keys of a holder under the next number. `false` if another process has written it, or taken the draft for a left one. */
export const writeKeys = (folder: string, number: number, stored: Stored): boolean => {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const draft = join(folder, `draft-${randomBytes(6).toString("hex")}`)
  writeFileSync(draft, JSON.stringify(stored), { mode: 0o600, flush: true })
  try {
    linkSync(draft, pathOf(folder, number))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST" && !isMissing(error)) throw error
    return false
  } finally {
    rmSync(draft, { force: true })
  }
  shredLeft(
    folder,
    filesIn(folder).filter((name) => numberOf(name) > 0 && numberOf(name) < number),
  )
  return true
}
