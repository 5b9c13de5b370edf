/** What goes wrong with files: each time a typed error in one line, and a file that is as it was. */
import { EventLog } from "@memfold/core"
import { Duration, Effect, Either } from "effect"
import { execFileSync, spawn } from "node:child_process"
import { createHash } from "node:crypto"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"
import type { Options } from "../src/index.js"
import { make } from "../src/index.js"
import { child, start } from "@memfold/harness/children"
import { fill, readOnly, recordsOf } from "@memfold/harness/stored"
import { driverPath, openDriver, withDriver, lockProgram } from "@memfold/harness/sqlite"
import {
  bundled,
  folder,
  integrity,
  openingFails,
  putSnapshot,
  records,
  versionOf,
  withLog,
} from "./support.js"

const script = bundled("fill")

/**
 * The files of a folder with the hashes of their contents. What SQLite puts beside a WAL database that is open
 * does not count: its index in shared memory, and a write-ahead log with nothing in it.
 */
const contents = (path: string) =>
  readdirSync(path)
    .map((name) => {
      const file = join(path, name)
      const stat = statSync(file)
      const hash = stat.isFile() ? createHash("sha256").update(readFileSync(file)).digest("hex") : "no file"
      return { name, size: stat.size, hash }
    })
    .filter(({ name, size }) => !name.endsWith("-shm") && !(name.endsWith("-wal") && size === 0))

/** Tries to open the file `name` in a folder: a `LogError` of one line that names it, and nothing changed. */
const refusal = async (path: string, name: string, options: Partial<Options> = {}): Promise<string> => {
  const filename = join(path, name)
  const before = contents(path)
  const error = await openingFails({ filename, busyTimeout: "50 millis", ...options })
  expect(error).toBeInstanceOf(EventLog.LogError)
  expect(error.operation).toBe("open")
  expect(error.message).not.toContain("\n")
  expect(error.reason).toContain(filename)
  expect(contents(path)).toEqual(before)
  return error.reason.replace(filename, name)
}

/** A file with a session `one` of some records, closed. */
const written = async (count = 3): Promise<readonly [path: string, name: string, file: string]> => {
  const path = folder()
  const file = join(path, "chats.db")
  await withLog({ filename: file }, (log) =>
    log.append("one", records(count), { expectedVersion: 0, batchId: "first" }),
  )
  return [path, "chats.db", file]
}

describe("files that are not memfold's", () => {
  it.each([
    ["a text file", "Dear diary,\n".repeat(500)],
    ["a short text file", "hello"],
    ["random bytes", Uint8Array.from({ length: 8_192 }, (_, index) => (index * 7919 + 13) % 251)],
  ])("%s", async (_what, bytes) => {
    const path = folder()
    writeFileSync(join(path, "notes.txt"), bytes)
    expect(await refusal(path, "notes.txt")).toBe("notes.txt is not a SQLite database")
    expect(await refusal(path, "notes.txt", { readonly: true })).toBe("notes.txt is not a SQLite database")
  })

  it("an empty file is a new one", async () => {
    const file = join(folder(), "chats.db")
    writeFileSync(file, "")
    const appended = await withLog({ filename: file }, (log) =>
      log.append("one", records(1), { expectedVersion: 0, batchId: "first" }),
    )
    expect(appended.version).toBe(1)
  })

  it.each(["delete", "wal"])("another program's database in journal mode %s", async (mode) => {
    const path = folder()
    const file = join(path, "photos.db")
    withDriver(file, (driver) => {
      driver.pragma(`journal_mode = ${mode}`)
      driver.exec("CREATE TABLE photos (name TEXT); INSERT INTO photos VALUES ('cat')")
    })
    const reason = "photos.db is a database of another program; choose another file"
    expect(await refusal(path, "photos.db")).toBe(reason)
    expect(await refusal(path, "photos.db", { create: false })).toBe(reason)
    expect(withDriver(file, (driver) => driver.pragma("journal_mode", { simple: true }))).toBe(mode)
  })

  it("another program's database without a table yet, but with its mark", async () => {
    const path = folder()
    withDriver(join(path, "maps.db"), (driver) => driver.pragma("application_id = 1196437808"))
    expect(await refusal(path, "maps.db")).toBe(
      "maps.db is a database of another program; choose another file",
    )
  })

  it("another program's database while it is at work", async () => {
    const path = folder()
    const file = join(path, "photos.db")
    const driver = openDriver(file)
    driver.pragma("journal_mode = WAL")
    driver.exec("CREATE TABLE photos (name TEXT)")
    expect(await refusal(path, "photos.db")).toContain("another program")
    driver.exec("INSERT INTO photos VALUES ('cat')")
    expect(driver.prepare("SELECT name FROM photos").all()).toEqual([{ name: "cat" }])
  })

  it("a newer memfold's", async () => {
    const path = folder()
    const [name, file] = ["chats.db", join(path, "chats.db")]
    await fill(`sqlite:${file}`)
    const records = await withLog({ filename: file }, recordsOf)
    withDriver(file, (driver) =>
      driver.exec("PRAGMA user_version = 8; ALTER TABLE events ADD COLUMN later TEXT"),
    )
    expect(await refusal(path, name)).toBe(
      "chats.db has schema 8, this memfold knows schema 6; update memfold, or read it with memfold export",
    )
    // It can be read: what this version reads stands in all later ones.
    expect(await withLog({ filename: file, readonly: true }, readOnly)).toEqual({
      records,
      problems: [],
      refused: Array(5).fill("it is open to be read, and takes no writes"),
    })
  })

  it("an older memfold's", async () => {
    const [path, name, file] = await written()
    withDriver(file, (driver) => driver.pragma("user_version = 0"))
    expect(await refusal(path, name)).toBe(
      "chats.db has schema 0, this memfold knows schema 6; start a new file, and import into it what memfold export reads of this one",
    )
    expect(await withLog({ filename: file, readonly: true }, (log) => versionOf(log, "one"))).toBe(3)
  })
})

describe("files that are broken", () => {
  it.each([10, 100, 1_000, 4_096, 8_192])("cut to %d bytes", async (length) => {
    const [path, name, file] = await written(50)
    truncateSync(file, length)
    expect(await refusal(path, name)).toMatch(/is not a SQLite database|is damaged; restore it from a backup/)
  })

  it("a page overwritten is found by the read that needs it, and other sessions stay readable", async () => {
    const [, , file] = await written()
    await withLog({ filename: file }, (log) =>
      log.append("two", records(400, JSON.stringify("x".repeat(200))), {
        expectedVersion: 0,
        batchId: "second",
      }),
    )
    const [table] = withDriver(file, (driver) =>
      driver
        .prepare("SELECT rootpage FROM sqlite_master WHERE name = 'sqlite_autoindex_projections_1'")
        .all(),
    )
    const bytes = readFileSync(file)
    bytes.fill(0xff, (Number(table?.["rootpage"]) - 1) * 4_096, Number(table?.["rootpage"]) * 4_096)
    writeFileSync(file, bytes)
    await withLog({ filename: file }, (log) =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(log.projections.get("one", "snapshot"))
        expect(error.message).toBe(
          `The event log failed at projections.get of session "one": ${file} is damaged; restore it from a backup, or try sqlite3's .recover`,
        )
        expect(yield* versionOf(log, "two")).toBe(400)
      }),
    )
  })
})

describe("places where there is no file", () => {
  it("a missing folder", async () => {
    const path = folder()
    expect(await refusal(path, "nowhere/chats.db")).toBe(
      "nowhere/chats.db is in a folder that does not exist; create the folder",
    )
  })

  it("a folder", async () => {
    const path = folder()
    mkdirSync(join(path, "chats.db"))
    expect(await refusal(path, "chats.db")).toBe("chats.db is not a file")
  })

  it("a file below a file", async () => {
    const path = folder()
    writeFileSync(join(path, "notes.txt"), "hello")
    expect(await refusal(path, "notes.txt/chats.db")).toContain("cannot be opened")
  })

  it.each([{ create: false }, { readonly: true }, { create: true, readonly: true }])(
    "none yet, with %o",
    async (options) => {
      expect(await refusal(folder(), "chats.db", options)).toBe("chats.db does not exist")
    },
  )

  it("a link to nowhere", async () => {
    const path = folder()
    symlinkSync(join(path, "nowhere.db"), join(path, "chats.db"))
    const error = await openingFails({ filename: join(path, "chats.db") })
    expect(error.reason).toBe(
      `${join(path, "chats.db")} is a link to a file that does not exist; create that file, or remove the link`,
    )
    expect(existsSync(join(path, "nowhere.db"))).toBe(false)
  })

  it("no name", async () => {
    const error = await openingFails({ filename: " " })
    expect(error.reason).toBe("an empty filename names no file")
  })
})

describe("files that are not to be written", () => {
  it("mode 0444, even for root", async () => {
    const [path, name, file] = await written()
    chmodSync(file, 0o444)
    expect(await refusal(path, name)).toBe("chats.db is read-only; make it writable")
    const version = await withLog({ filename: file, readonly: true }, (log) => versionOf(log, "one"))
    expect(version).toBe(3)
  })

  it("opened for looking only: reads work, writes are errors, the file stays as it was", async () => {
    const [path, , file] = await written()
    const before = contents(path)
    await withLog({ filename: file, readonly: true }, (log) =>
      Effect.gen(function* () {
        expect(yield* versionOf(log, "one")).toBe(3)
        const attempts: ReadonlyArray<Effect.Effect<unknown, { readonly message: string }>> = [
          log.append("one", records(1), { expectedVersion: 3, batchId: "second" }),
          log.append("new", records(1), { expectedVersion: 0, batchId: "third" }),
          putSnapshot(log, "one", "{}"),
          log.delete("one"),
        ]
        for (const attempt of attempts) {
          const error = yield* Effect.flip(attempt)
          expect(error).toBeInstanceOf(EventLog.LogError)
          expect(error.message).toContain("it is open to be read, and takes no writes")
        }
        expect(yield* versionOf(log, "one")).toBe(3)
      }),
    )
    expect(contents(path)).toEqual(before)
  })

  it("opened for looking only while another one writes: what is committed is seen", async () => {
    const [, , file] = await written()
    await withLog({ filename: file }, (writer) =>
      Effect.gen(function* () {
        const reader = yield* make({ filename: file, readonly: true })
        yield* writer.append("one", records(2), { expectedVersion: 3, batchId: "second" })
        expect(yield* versionOf(reader, "one")).toBe(5)
      }),
    )
  })

  it("a new file, opened for looking only", async () => {
    const path = folder()
    writeFileSync(join(path, "chats.db"), "")
    expect(await refusal(path, "chats.db", { readonly: true })).toBe(
      "chats.db is empty; open it for writing once",
    )
  })
})

describe("files of another user", () => {
  const nobody = 65_534

  /** What a process of another user comes to that opens a file and appends to it. */
  const tried = async (file: string) => {
    const [line] = await child(
      spawn(process.execPath, [script("fill"), file], {
        stdio: ["pipe", "pipe", "ignore"],
        uid: nobody,
        gid: nobody,
      }),
    ).end()
    return line === undefined ? undefined : (JSON.parse(line) as { readonly message: string })
  }

  const cases = [
    ["a file that is the owner's alone", 0o755, 0o600, /cannot be opened|is read-only/],
    ["a file that others can only read", 0o755, 0o644, /is read-only; make it and its folder writable/],
    ["a folder that others cannot enter", 0o700, 0o666, /cannot be opened|does not exist/],
    ["a folder that others cannot write to", 0o755, 0o666, /cannot be opened|is read-only/],
  ] as const

  it.each(cases)("%s", async (_what, folderMode, fileMode, reason) => {
    const root = process.getuid?.() === 0
    const [path, , file] = await written()
    chmodSync(path, folderMode)
    chmodSync(file, fileMode)
    const before = contents(path)
    const outcome = root ? await tried(file) : undefined
    // Only root can be another user, and that one may not get at the program at all.
    if (outcome !== undefined) expect(outcome.message).toMatch(reason)
    expect(contents(path)).toEqual(before)
    chmodSync(path, 0o755)
    chmodSync(file, 0o644)
    expect(await withLog({ filename: file }, (log) => versionOf(log, "one"))).toBe(3)
  })
})

describe("files that somebody else holds", () => {
  const lock = async (file: string, sql: string, millis: number) => {
    const holder = start(lockProgram, driverPath, file, sql, String(millis))
    expect(await holder.line()).toBe("locked")
    return holder
  }

  it("a writer that does not let go: appends fail, reads work, and all is well when it has ended", async () => {
    const [, , file] = await written()
    const holder = await lock(file, "BEGIN EXCLUSIVE", 60_000)
    await withLog({ filename: file, busyTimeout: "50 millis" }, (log) =>
      Effect.gen(function* () {
        const append = log.append("one", records(1), { expectedVersion: 3, batchId: "second" })
        const error = yield* Effect.flip(append)
        expect(error.message).toBe(
          `The event log failed at append of session "one": ${file} is locked by another process; try again when that one is done`,
        )
        expect(yield* versionOf(log, "one")).toBe(3)
        holder.kill()
        yield* Effect.promise(holder.end)
        expect(yield* append).toEqual({ fromVersion: 4, version: 4, duplicate: false })
      }),
    )
  })

  it("a writer that lets go in time is waited for", async () => {
    const [, , file] = await written()
    await lock(file, "BEGIN EXCLUSIVE", 200)
    const appended = await withLog({ filename: file }, (log) =>
      log.append("one", records(1), { expectedVersion: 3, batchId: "second" }),
    )
    expect(appended.version).toBe(4)
  })

  it("a new file that another process holds", async () => {
    const path = folder()
    const file = join(path, "chats.db")
    const holder = await lock(file, "BEGIN EXCLUSIVE", 60_000)
    expect(await refusal(path, "chats.db")).toBe(
      "chats.db is locked by another process; try again when that one is done",
    )
    holder.kill()
    await holder.end()
    expect(await withLog({ filename: file }, (log) => versionOf(log, "one"))).toBe(0)
  })

  // SQLite itself does not wait here: it refuses to go from reading the file to writing to it.
  it("a new file that another process is about to write to is waited for", async () => {
    const file = join(folder(), "chats.db")
    writeFileSync(file, "")
    await lock(file, "BEGIN IMMEDIATE", 200)
    expect(await withLog({ filename: file }, (log) => versionOf(log, "one"))).toBe(0)
  })

  it("waits for ever, if asked to", async () => {
    const [, , file] = await written()
    await lock(file, "BEGIN EXCLUSIVE", 200)
    const appended = await withLog({ filename: file, busyTimeout: Duration.infinity }, (log) =>
      log.append("one", records(1), { expectedVersion: 3, batchId: "second" }),
    )
    expect(appended.version).toBe(4)
  })
})

describe("a full disk", () => {
  it("is an error of that append alone; there is room again, there is no error", async ({ skip }) => {
    const disk = folder()
    try {
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=480k", "tmpfs", disk], { stdio: "ignore" })
    } catch {
      skip("a small disk can only be mounted as root, on Linux")
    }
    onTestFinished(() => void execFileSync("umount", ["--lazy", disk]))
    const file = join(disk, "chats.db")
    const ballast = join(disk, "ballast")
    writeFileSync(ballast, new Uint8Array(100_000))
    await withLog({ filename: file }, (log) =>
      Effect.gen(function* () {
        const append = (version: number) =>
          log.append("one", records(1, JSON.stringify("x".repeat(4_000))), {
            expectedVersion: version,
            batchId: `c${version}`,
          })
        let version = 0
        let result = yield* Effect.either(append(version))
        while (Either.isRight(result)) {
          version = result.right.version
          result = yield* Effect.either(append(version))
        }
        expect(version).toBeGreaterThan(5)
        expect(result.left.message).toBe(
          `The event log failed at append of session "one": the disk is full at ${file}; make room and try again`,
        )
        expect(yield* versionOf(log, "one")).toBe(version)

        rmSync(ballast)
        expect((yield* append(version)).version).toBe(version + 1)
      }),
    )
    expect(integrity(file)).toBe("ok")
  })

  it("stores the appends that fit, of many appends written together", async ({ skip }) => {
    const disk = folder()
    try {
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=500k", "tmpfs", disk], { stdio: "ignore" })
    } catch {
      skip("a small disk can only be mounted as root, on Linux")
    }
    onTestFinished(() => void execFileSync("umount", ["--lazy", disk]))
    const file = join(disk, "chats.db")
    await withLog({ filename: file }, (log) =>
      Effect.gen(function* () {
        const append = (session: string, length: number) =>
          Effect.either(
            log.append(session, records(1, JSON.stringify("x".repeat(length))), {
              expectedVersion: 0,
              batchId: "c",
            }),
          )
        const [large, ...small] = yield* Effect.all(
          [append("large", 600_000), ...[1, 2, 3, 4].map((number) => append(`s${number}`, 100))],
          { concurrency: "unbounded" },
        )
        expect(Either.isLeft(large!)).toBe(true)
        expect(small.every(Either.isRight)).toBe(true)
        expect(yield* versionOf(log, "large")).toBe(0)
        for (const number of [1, 2, 3, 4]) expect(yield* versionOf(log, `s${number}`)).toBe(1)
      }),
    )
    expect(integrity(file)).toBe("ok")
  })

  it("for a new file is an error of its opening", async ({ skip }) => {
    const disk = folder()
    try {
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=16k", "tmpfs", disk], { stdio: "ignore" })
    } catch {
      skip("a small disk can only be mounted as root, on Linux")
    }
    onTestFinished(() => void execFileSync("umount", ["--lazy", disk]))
    const error = await openingFails({ filename: join(disk, "chats.db") })
    expect(error).toBeInstanceOf(EventLog.LogError)
    expect(error.reason).toMatch(/^the disk (is full|failed) at/)
  })

  it("a limit on the size of files is an error, and what was acknowledged is there", async ({ skip }) => {
    if (!existsSync("/bin/bash")) skip("the limit is set with bash")
    const file = join(folder(), "chats.db")
    const limited = child(
      spawn(
        "/bin/bash",
        ["-c", 'ulimit -f 300 && exec "$@"', "bash", process.execPath, script("fill"), file],
        {
          stdio: ["pipe", "pipe", "inherit"],
        },
      ),
    )
    const [line] = await limited.end()
    const { version, tag, message } = JSON.parse(line ?? "null")
    expect(tag).toBe("LogError")
    expect(message).toBe(`The event log failed at append of session "one": the disk failed at ${file}`)
    expect(version).toBeGreaterThan(5)
    expect(integrity(file)).toBe("ok")
    expect(await withLog({ filename: file }, (log) => versionOf(log, "one"))).toBe(version)
  })
})

describe("after closing", () => {
  it("every operation is an error, not a defect", async () => {
    const [, , file] = await written()
    const log = await withLog({ filename: file }, Effect.succeed)
    const attempts: ReadonlyArray<Effect.Effect<unknown, { readonly message: string }>> = [
      versionOf(log, "one"),
      log.append("one", records(1), { expectedVersion: 3, batchId: "second" }),
    ]
    for (const attempt of attempts) {
      const error = await Effect.runPromise(Effect.flip(attempt))
      expect(error).toBeInstanceOf(EventLog.LogError)
      expect(error.message).toContain("the file was closed; open it again")
    }
  })
})
