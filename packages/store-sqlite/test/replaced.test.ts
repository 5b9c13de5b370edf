/** Another file in the place of the one that is open: what would go to nobody is refused. */
import { Effect, Either } from "effect"
import {
  cpSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
  statSync,
} from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { backup } from "../src/index.js"
import { folder, integrity, records, versionOf, withLog } from "./support.js"

/** What may happen to a file and what belongs to it, with a backup beside it. */
const accidents: Readonly<Record<string, (file: string, backup: string) => void>> = {
  "a backup is moved into its place": (file, backup) => renameSync(backup, file),
  "a backup is copied into its place, after it was removed": (file, backup) => {
    for (const end of ["", "-wal", "-shm"]) rmSync(`${file}${end}`, { force: true })
    cpSync(backup, file)
  },
  "a backup is copied over it, and its write-ahead log is removed": (file, backup) => {
    for (const end of ["-wal", "-shm"]) rmSync(`${file}${end}`, { force: true })
    cpSync(backup, file)
  },
  "a backup is written over it": (file, backup) => writeFileSync(file, readFileSync(backup)),
  "a link to a backup is put into its place": (file, backup) => {
    unlinkSync(file)
    symlinkSync(backup, file)
  },
  "it is removed": (file) => rmSync(file),
  "it is moved away": (file) => renameSync(file, `${file}.old`),
  "its folder is moved away, and another one is made": (file, backup) => {
    const place = join(file, "..")
    renameSync(place, `${place}.old`)
    mkdirSync(place)
    cpSync(backup.replace(place, `${place}.old`), file)
  },
}

describe("a file that is open", () => {
  it.each(Object.entries(accidents))("refuses to write and to read when %s", async (_name, accident) => {
    const place = join(folder(), "data")
    mkdirSync(place)
    const filename = join(place, "chats.db")
    const beside = join(place, "backup.db")
    await withLog({ filename }, (log) =>
      Effect.gen(function* () {
        yield* log.append("s", records(2), { expectedVersion: 0, batchId: "a" })
        yield* backup({ filename, to: beside })
        yield* log.append("s", records(1), { expectedVersion: 2, batchId: "b" })
        accident(filename, beside)
        const refused: ReadonlyArray<Either.Either<unknown, Error>> = [
          yield* Effect.either(log.append("s", records(1), { expectedVersion: 3, batchId: "c" })),
          yield* Effect.either(log.append("new", records(1), { expectedVersion: 0, batchId: "d" })),
          yield* Effect.either(log.head("s")),
          yield* Effect.either(log.delete("s")),
        ]
        // Nothing of the old file is left where the new one would take it for its own.
        expect(statSync(`${filename}-wal`, { throwIfNoEntry: false })?.size ?? 0).toBe(0)
        for (const one of refused)
          expect(Either.getOrNull(Either.flip(one))?.message).toContain("was replaced, moved or removed")
      }),
    )
  })

  it("has what the backup has when it is opened again", async () => {
    for (const accident of Object.values(accidents).slice(0, 5)) {
      const place = join(folder(), "data")
      mkdirSync(place)
      const filename = join(place, "chats.db")
      await withLog({ filename }, (log) =>
        Effect.gen(function* () {
          yield* log.append("s", records(200), { expectedVersion: 0, batchId: "a" })
          yield* backup({ filename, to: join(place, "backup.db") })
          yield* log.append("s", records(400), { expectedVersion: 200, batchId: "b" })
          accident(filename, join(place, "backup.db"))
          yield* Effect.flip(log.append("t", records(1), { expectedVersion: 0, batchId: "c" }))
        }),
      )
      await withLog({ filename }, (log) =>
        Effect.gen(function* () {
          expect(yield* versionOf(log, "s")).toBe(200)
          yield* log.append("s", records(1), { expectedVersion: 200, batchId: "d" })
        }),
      )
      expect(integrity(filename)).toBe("ok")
    }
  })

  const copies = {
    "a copy of what it was is written over it": (file: string, copy: string) => {
      writeFileSync(file, readFileSync(copy))
      return 200
    },
    "it is cut off": (file: string) => {
      truncateSync(file, 2 ** 16)
      return null
    },
  }
  it.each(Object.entries(copies))("takes nothing when, behind a checkpoint, %s", async (_name, accident) => {
    const filename = join(folder(), "chats.db")
    await withLog({ filename }, (log) => log.append("s", records(200), { expectedVersion: 0, batchId: "a" }))
    cpSync(filename, `${filename}.copy`)
    let left: number | null = null
    await withLog({ filename }, (log) =>
      Effect.gen(function* () {
        // Enough for a checkpoint, and some that the log alone has.
        const data = JSON.stringify("x".repeat(2_000))
        for (let version = 200; version < 2_200; version += 50)
          yield* log.append("s", records(50, data), { expectedVersion: version, batchId: `${version}` })
        left = accident(filename, `${filename}.copy`)
        for (const session of ["s", "t"])
          expect(
            yield* Effect.flip(log.append(session, records(1), { expectedVersion: 0, batchId: "c" })),
          ).toMatchObject({ reason: expect.stringContaining("was replaced") })
      }),
    )
    if (left === null) return
    expect(await withLog({ filename }, (log) => versionOf(log, "s"))).toBe(left)
    expect(integrity(filename)).toBe("ok")
  })

  it("goes on when its path is reached by another name, or another process works on it", async () => {
    const place = folder()
    const filename = join(place, "chats.db")
    symlinkSync(place, `${place}.link`)
    await withLog({ filename: join(`${place}.link`, "chats.db") }, (log) =>
      Effect.gen(function* () {
        yield* log.append("s", records(1), { expectedVersion: 0, batchId: "a" })
        yield* Effect.promise(() =>
          withLog({ filename }, (other) =>
            other.append("s", records(1), { expectedVersion: 1, batchId: "b" }),
          ),
        )
        yield* log.append("s", records(1), { expectedVersion: 2, batchId: "c" })
        expect(yield* versionOf(log, "s")).toBe(3)
      }),
    )
    rmSync(`${place}.link`)
  })
})
