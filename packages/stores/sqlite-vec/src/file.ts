/** The file with the vectors: opened when it is first needed, and closed with the scope. */
import Sqlite from "better-sqlite3"
import { closeSync, existsSync, lstatSync, openSync, statSync } from "node:fs"
import { dirname } from "node:path"
import * as SqliteVec from "sqlite-vec"

/** The `application_id` of a file with vectors. */
const applicationId = 0x6d66_7663

/** The `user_version` of the tables below. */
const schemaVersion = 1

/**
 * Sessions and pieces. The vectors of pieces are in a table of `vec0` for each number of dimensions, under the pieces' ids.
 * There, the vectors of a session are together, so a search reads no other vectors.
 */
const tables = `
CREATE TABLE sessions (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  space TEXT NOT NULL,
  dimensions INTEGER,
  version INTEGER NOT NULL,
  event TEXT NOT NULL
) STRICT;
CREATE TABLE pieces (
  id INTEGER PRIMARY KEY,
  session INTEGER NOT NULL,
  version INTEGER NOT NULL,
  message INTEGER NOT NULL,
  digest INTEGER NOT NULL,
  piece_offset INTEGER NOT NULL
) STRICT;
CREATE INDEX pieces_of_message ON pieces (session, version);
PRAGMA application_id = ${applicationId};
PRAGMA user_version = ${schemaVersion};`

/** What is wrong with a file, in words that say what to do. */
export class Refused extends Error {}

/** The name of the table of vectors with a number of dimensions. */
export const tableOf = (dimensions: number): string => `vectors_${dimensions}`

/** A vector is found by its session. Space is taken for 32 vectors of a session at a time. */
const vectorTable = (dimensions: number): string =>
  `CREATE VIRTUAL TABLE IF NOT EXISTS ${tableOf(dimensions)} USING vec0(
    session INTEGER PARTITION KEY, message INTEGER,
    embedding FLOAT[${dimensions}] distance_metric=cosine, chunk_size=32)`

/** Makes the table of vectors with a number of dimensions, if there is none. */
export const makeVectorTable = (database: Sqlite.Database, dimensions: number): void => {
  database.exec(vectorTable(dimensions))
}

/** Only the user may read the file: vectors tell much of the texts that they are made from. */
const createPrivate = (filename: string): void => {
  try {
    closeSync(openSync(filename, "wx", 0o600))
  } catch {
    // Another process created it meanwhile, or nobody can: SQLite says what is wrong.
  }
}

const check = (filename: string): void => {
  if (filename.trim() === "" || filename.includes("\0")) throw new Refused("the filename names no file")
  if (!existsSync(filename)) {
    if (!existsSync(dirname(filename)))
      throw new Refused(`${filename} is in a folder that does not exist; create the folder`)
    // SQLite would create the file that the link names, for others to read.
    if (lstatSync(filename, { throwIfNoEntry: false }) !== undefined)
      throw new Refused(
        `${filename} is a link to a file that does not exist; create that file, or remove the link`,
      )
    createPrivate(filename)
  } else if (!statSync(filename).isFile()) throw new Refused(`${filename} is not a file`)
}

const numberOf = (database: Sqlite.Database, sql: string): number =>
  Number(database.prepare(sql).pluck().get())

/** Checks whose file it is, and creates the tables in an empty one. */
const prepare = (database: Sqlite.Database, filename: string): void => {
  const owner = numberOf(database, "PRAGMA application_id")
  if (owner === applicationId) {
    const version = numberOf(database, "PRAGMA user_version")
    if (version !== schemaVersion)
      throw new Refused(
        `${filename} has the tables of another version of @memfold/sqlite-vec; delete the file, and it is made again`,
      )
    return
  }
  if (owner !== 0 || numberOf(database, "SELECT count(*) FROM sqlite_master") > 0)
    throw new Refused(`${filename} is a database of another program; choose another file`)
  database.exec(tables)
}

/**
 * Opens a file, and creates it if it does not exist. It throws what SQLite throws, or why the file is refused.
 *
 * The journal is a file that ends with each transaction, and deleted rows are overwritten: what was forgotten is in neither.
 * A write-ahead log would keep it for as long as another process reads.
 */
export const openFile = (filename: string): Sqlite.Database => {
  if (filename !== ":memory:") check(filename)
  // Whoever waits for a lock waits outside: the driver would hold the event loop.
  const database = new Sqlite(filename, { timeout: 0 })
  try {
    SqliteVec.load(database)
    database.pragma("secure_delete = ON")
    database.pragma("synchronous = NORMAL")
    database.transaction(() => prepare(database, filename)).immediate()
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** Whether there is something to open: reading what nobody wrote creates no file. */
export const isThere = (filename: string): boolean => filename === ":memory:" || existsSync(filename)
