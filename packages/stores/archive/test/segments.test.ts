/** Old parts of sessions that live on: moved, read by every reader, redacted, erased, and what a killed process leaves. */
import { describe, expect, it } from "@effect/vitest"
import { EventLog, InMemoryEventLog, Message, Verify } from "@memfold/core"
import { said } from "@memfold/harness/engine"
import { fileRoot, folderKeyring, sealLog } from "@memfold/sealed"
import * as SqliteEventLog from "@memfold/store-sqlite"
import { Effect, Exit, Stream } from "effect"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import {
  type Archive,
  archiveSegments,
  archiveSession,
  behind,
  bringBack,
  folderArchive,
  retainSegments,
} from "../src/index.js"
import { bucketServer } from "./bucketServer.js"
import { fill, folder, linesOf, memoryOver } from "./support.js"

const bucket = await bucketServer()

const inMemory = InMemoryEventLog.make
const inFile = Effect.suspend(() => SqliteEventLog.make({ filename: join(folder(), "chats.db") }))

/** As small as can be: everything that may move does, in segments of four events. */
const small = { keepVersions: 1, size: 4 }

/** A session with a snapshot, of which the old part can move. */
const filled = (log: EventLog.Service, session = "chat", owner = "ada") =>
  Effect.gen(function* () {
    yield* fill(log, session, owner, 24)
    const head = yield* log.head(session)
    const memory = yield* memoryOver(log)
    yield* memory.compact(session)
    yield* memory.append(session, said(2, 50))
    // A log in memory has no snapshots of its own.
    if ((yield* log.projections.get(session, "snapshot")).length === 0) yield* snapshot(log, session)
    expect(head?.version).toBeGreaterThan(12)
  })

const snapshot = (log: EventLog.Service, session: string) =>
  Effect.gen(function* () {
    const rows = yield* Verify.repair(log, session)
    return rows
  })

const texts = (archive: Archive) =>
  Effect.gen(function* () {
    const keys = yield* archive.list
    const objects = yield* Effect.forEach(keys, archive.get)
    return objects.map((bytes) => gunzipSync(bytes!).toString()).join("\n")
  })
