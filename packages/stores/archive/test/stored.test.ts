/** Archived sessions of released versions. */
import { Effect, Either } from "effect"
import { copyFileSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { make } from "@memfold/store-sqlite"
import { recordsOf, storedFile, storedVersions, writeStored } from "@memfold/harness/stored"
import { describe, expect, it } from "vitest"
import { sourceOf } from "../src/index.js"
import { decode, encode, readSession } from "../src/stored.js"
import { folder } from "./support.js"

/** Runs work on the stored file of a version. */
const onStored = <A, E>(version: string, work: Parameters<typeof withLog<A, E>>[1]): Promise<A> => {
  const file = join(folder(), "chats.db")
  copyFileSync(storedFile(version, "sqlite.db"), file)
  return withLog(file, work)
}

const withLog = <A, E>(
  filename: string,
  work: (log: Parameters<typeof recordsOf>[0]) => Effect.Effect<A, E>,
): Promise<A> => Effect.runPromise(Effect.scoped(Effect.flatMap(make({ filename }), work)))

describe.each(storedVersions)("an archived session of memfold %s", (version) => {
  it("is read back as it was", async () => {
    await writeStored(version, "archived.jsonl.gz", () =>
      onStored(version, (log) => Effect.flatMap(readSession(sourceOf(log), "support"), encode)),
    )
    const found = await Effect.runPromise(decode(readFileSync(storedFile(version, "archived.jsonl.gz"))))
    const { session, records } = Either.getOrThrow(found)
    const stored = await onStored(version, recordsOf)
    expect(session).toBe("support")
    expect(records).toEqual(stored.filter((record) => record.session === "support"))
  })
})
