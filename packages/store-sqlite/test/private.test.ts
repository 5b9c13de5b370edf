/** Conversations are for the eyes of their owner: so are all files that have them. */
import { EventLog } from "@memfold/core"
import { Effect } from "effect"
import { chmodSync, statSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { backup } from "../src/index.js"
import { folder, openingFails, records, versionOf, withLog } from "./support.js"

const mode = (file: string) => (statSync(file).mode & 0o777).toString(8)

it("a new file, its companions and its backup are readable and writable for the owner alone", async () => {
  const path = folder()
  const filename = join(path, "chats.db")
  const to = join(path, "copy.db")
  await withLog({ filename }, (log) =>
    Effect.gen(function* () {
      yield* log.append("one", records(1), { expectedVersion: 0, batchId: "b" })
      expect(["", "-wal", "-shm"].map((end) => mode(filename + end))).toEqual(["600", "600", "600"])
      yield* backup({ filename, to })
    }),
  )
  expect(mode(to)).toBe("600")
})

it("a file that others may read stays so, its companions too", async () => {
  const filename = join(folder(), "chats.db")
  await withLog({ filename }, (log) => versionOf(log, "one"))
  chmodSync(filename, 0o660)
  await withLog({ filename }, (log) =>
    Effect.map(log.append("one", records(1), { expectedVersion: 0, batchId: "b" }), () =>
      expect(["", "-wal", "-shm"].map((end) => mode(filename + end))).toEqual(["660", "660", "660"]),
    ),
  )
})

it("a path with a NUL character is refused in words", async () => {
  const error = await openingFails({ filename: join(folder(), "chats\0.db") })
  expect(error).toBeInstanceOf(EventLog.LogError)
  expect(error.reason).toBe("a filename with a NUL character names no file")
})
