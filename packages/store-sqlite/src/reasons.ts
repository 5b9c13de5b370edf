/** The errors of SQLite and its driver in words: the problem and what to do. */

const reasons: ReadonlyArray<readonly [prefix: string, reason: (file: string, message: string) => string]> = [
  ["SQLITE_BUSY", (file) => `${file} is locked by another process; try again when that one is done`],
  ["SQLITE_LOCKED", (file) => `${file} is locked by another process; try again when that one is done`],
  ["SQLITE_READONLY", (file) => `${file} is read-only; make it and its folder writable`],
  ["SQLITE_FULL", (file) => `the disk is full at ${file}; make room and try again`],
  [
    "MEMFOLD_REPLACED",
    (file) =>
      `${file} was replaced, moved or removed while this process had it open, by a restored backup for example; what this operation wrote is not in the new file. Start the process again`,
  ],
  ["SQLITE_NOTADB", (file) => `${file} is not a SQLite database`],
  ["SQLITE_CORRUPT", (file) => `${file} is damaged; restore it from a backup, or try sqlite3's .recover`],
  ["SQLITE_CANTOPEN", (file) => `${file} cannot be opened; check that its folder exists and is writable`],
  ["SQLITE_IOERR", (file) => `the disk failed at ${file}`],
  // The other unique columns are only written under the lock, after a look.
  [
    "SQLITE_CONSTRAINT_UNIQUE",
    (file, message) =>
      `the change would leave two ${message.includes("summaries") ? "active summaries" : "rows with one mark"} in ${file}; nothing was written`,
  ],
]

/** What the drivers say themselves. */
const driverReasons: ReadonlyArray<readonly [problem: RegExp, reason: string]> = [
  [/^(?:The )?database (?:connection )?is not open/, "the file was closed; open it again"],
  // The native part cannot be loaded, which has nothing to do with the file.
  [
    /^Cannot find (?:package|module) 'better-sqlite3'/,
    "SQLite's driver, the package better-sqlite3, is not installed. Run `npm install better-sqlite3@12`, or use Node 22.16 or newer, which has SQLite in it",
  ],
  [
    /^Could not locate the bindings file/,
    "the native part of better-sqlite3 was not built when it was installed. Run `npm rebuild better-sqlite3`; with pnpm, allow the build first: `pnpm approve-builds`, or add better-sqlite3 to `allowBuilds` in pnpm-workspace.yaml and run `pnpm rebuild better-sqlite3`",
  ],
  [
    /NODE_MODULE_VERSION|ERR_DLOPEN_FAILED|invalid ELF header|not a valid Win32 application/,
    "better-sqlite3 was built for another Node or another system. Run `npm rebuild better-sqlite3`, or `pnpm rebuild better-sqlite3`",
  ],
]

/** The reason of what SQLite or its driver threw at work on a file. */
export const reasonOf =
  (file: string) =>
  (cause: unknown): string => {
    const { code, message } = (typeof cause === "object" && cause !== null ? cause : {}) as {
      readonly code?: unknown
      readonly message?: unknown
    }
    const driver = driverReasons.find(([problem]) => problem.test(String(message)))
    if (driver !== undefined) return driver[1]
    const known = reasons.find(([prefix]) => typeof code === "string" && code.startsWith(prefix))
    const words = typeof message === "string" ? message : "SQLite gave no reason"
    return known === undefined ? `${words} (${file})` : known[1](file, words)
  }
