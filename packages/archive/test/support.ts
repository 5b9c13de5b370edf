/** Sessions, archives and servers for the tests. */
import { afterAll, onTestFinished } from "vitest"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { EventLog, Memory, Message } from "@memfold/core"
import { echoing, pairs, said } from "@memfold/harness/engine"
import { freePort } from "@memfold/harness/ports"
import { Effect, Stream } from "effect"
import S3rver from "s3rver"
import { recordLine, s3Archive } from "../src/index.js"

/** A folder that is removed when the test has ended. */
export const folder = (): string => {
  const made = mkdtempSync(join(tmpdir(), "memfold-archive-"))
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  return made
}

/** A server of S3, which knows one key, and an archive in a bucket of it. The SDK of AWS signs the requests. */
export const bucketServer = async () => {
  const port = await freePort()
  const directory = mkdtempSync(join(tmpdir(), "memfold-s3-"))
  const server = new S3rver({
    port,
    address: "127.0.0.1",
    silent: true,
    directory,
    configureBuckets: [{ name: "chats", configs: [] }],
  })
  await server.run()
  afterAll(async () => {
    await server.close()
    rmSync(directory, { recursive: true, force: true })
  })
  const archive = (accessKeyId = "S3RVER") =>
    s3Archive({
      bucket: "chats",
      prefix: "cold",
      endpoint: `http://127.0.0.1:${port}`,
      region: "us-east-1",
      client: { credentials: { accessKeyId, secretAccessKey: "S3RVER" }, maxAttempts: 1 },
    })
  return { archive, url: `s3://chats/cold?endpoint=http://127.0.0.1:${port}&region=us-east-1` }
}

/** All records of a session, as lines. */
export const linesOf = (log: EventLog.Service, session: string) =>
  Effect.map(Stream.runCollect(EventLog.records(log, session)), (records) => [...records].map(recordLine))

/** Fills a session with messages, compactions, an owner and a title. */
export const fill = (log: EventLog.Service, session: string, owner = "ada", count = 12) =>
  Effect.gen(function* () {
    const memory = yield* Memory.make({ strategy: pairs, compaction: { mode: "inline" } })
    for (let at = 0; at < count; at += 2) yield* memory.append(session, said(2, at), { owner })
    yield* memory.describe(session, { title: `about ${session.slice(0, 20)}` })
    yield* memory.append(session, Message.user("the last word"))
  }).pipe(Effect.scoped, Effect.provideService(EventLog.EventLog, log), Effect.provide(echoing))

/** A memory over a log. */
export const memoryOver = (log: EventLog.Service) =>
  Memory.make({ strategy: pairs, compaction: { mode: "manual" } }).pipe(
    Effect.provideService(EventLog.EventLog, log),
    Effect.provide(echoing),
  )
