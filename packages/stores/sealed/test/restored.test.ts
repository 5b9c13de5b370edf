/** An erasure, and a copy of everything that the store had written before it: restored, it opens with no key that is left. */
import { EventLog, Memory, Message, Summarizer, Verify } from "@memfold/core"
import { bytesOf } from "@memfold/harness/bytesOf"
import { postgresServers } from "@memfold/harness/postgresServers"
import { servers } from "@memfold/harness/redisServers"
import { layer as postgres } from "@memfold/store-postgres"
import { layer as redis } from "@memfold/store-redis"
import { layer as sqlite } from "@memfold/store-sqlite"
import { SlidingWindow } from "@memfold/strategy-sliding-window"
import { Effect, Either, Layer, Stream } from "effect"
import { execFileSync } from "node:child_process"
import * as fs from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { destroyKeys, erase, type Keyring, sealed } from "../src/index.js"
import { folders } from "./support.js"

const { newFolder, newKeyring } = folders()

const canary = "KANARIENVOGEL-4711"

const quoting = Layer.succeed(Summarizer.Summarizer, {
  name: "quoting",
  summarize: () => Effect.succeed({ text: `They spoke of ${canary}.` }),
} as unknown as Summarizer.Service)

type Log = Layer.Layer<EventLog.EventLog, EventLog.LogError>

const memoryOver = (log: Log) =>
  Memory.layer({
    strategy: SlidingWindow({ tailKeepSize: 2, contextSize: 8, compressionWindowSize: 4 }),
    compaction: { mode: "manual" },
  }).pipe(Layer.provide(quoting), Layer.provideMerge(log))

/**
 * Says the canary in every place that a session has: messages, a title, a summary, the index, a copy; also before there is an owner, and to a
 * group of the feed that gives its events up.
 */
const speak = (session: string, owner: string) =>
  Effect.gen(function* () {
    const memory = yield* Memory.Memory
    yield* memory.append(session, Message.user(`Before anybody is known: ${canary}`))
    yield* memory.describe(session, { owner, title: `About ${canary}` })
    for (let at = 0; at < 6; at++) {
      yield* memory.append(session, Message.user(`${at}: is ${canary} there?`))
      yield* memory.append(session, Message.assistant(`${at}: ${canary} is there.`))
    }
    yield* memory.compact(session)
    const found = yield* memory.recall(session, canary)
    yield* memory.fork(session, `${session}-copy`)
    yield* memory.fork(`${session}-copy`, `${session}-again`, { atVersion: 2 })
    const broken = () => Promise.reject(new Error(`It said ${canary}.`))
    yield* memory.consume("crm", broken, { follow: false, attempts: 1 })
    return `${found.messages.length} ${JSON.stringify((yield* memory.context(session)).messages)}`
  })

/** What whoever has the keyring is told of an erased session, and of another one. */
const told = (log: Log, keyring: Keyring) =>
  Effect.gen(function* () {
    const memory = yield* Memory.Memory
    const reads: ReadonlyArray<Effect.Effect<unknown, Error>> = [
      memory.context("chat"),
      memory.messages("chat"),
      memory.recall("chat", canary),
      memory.summaries("chat"),
      memory.append("chat", Message.user("And now?")),
    ]
    const answers = yield* Effect.forEach(reads, Effect.either)
    const sealedLog = yield* EventLog.EventLog
    const list = yield* Stream.runCollect(EventLog.sessions(sealedLog))
    const known = [...list].filter(({ session }) => !EventLog.isReserved(session))
    const verified = yield* Effect.forEach(known, ({ session }) =>
      Effect.map(Effect.either(Verify.session(sealedLog, session)), (report) => [
        session,
        Either.isLeft(report) ? report.left.refused : report.right,
      ]),
    )
    return {
      verified,
      answers: answers.map((one) => (Either.isLeft(one) ? one.left.message : "answered")),
      titles: known.map(({ session, title }) => [session, title]),
      other: JSON.stringify((yield* memory.context("other")).messages),
    }
  }).pipe(Effect.provide(memoryOver(sealed(log, keyring))), Effect.runPromise)

/** A store, all that it writes, and how it is stopped and started. */
interface Place {
  readonly log: Log
  readonly folder: string
  readonly stop: () => Promise<void>
  readonly start: () => Promise<void>
}

const ofRedis = servers()
const ofPostgres = postgresServers()

const places: Readonly<Record<string, () => Promise<Place>>> = {
  "a SQLite file with its write-ahead log": async () => {
    const folder = newFolder()
    const nothing = async () => undefined
    return { log: sqlite({ filename: join(folder, "chats.db") }), folder, stop: nothing, start: nothing }
  },
  "a Redis with its snapshot and its append-only file": async () => {
    const server = await ofRedis.server({ config: ["appendonly yes", "appendfsync always"] })
    const stop = async () => {
      await server.client.save()
      await server.kill()
    }
    const { folder, start } = server
    return { log: redis({ url: server.url, require: "everysec" }), folder, stop, start }
  },
  "a PostgreSQL with its write-ahead log": async () => {
    const { url, folder, stop, start } = await ofPostgres.server({})
    return { log: postgres({ url }), folder, stop, start }
  },
}

// The tool keeps owners: a server runs as a user of its own.
const copy = (from: string, to: string): void => void execFileSync("cp", ["-a", `${from}/.`, to])

it.each(Object.keys(places))("%s, restored from before an erasure", async (name) => {
  const { log, folder, stop, start } = await places[name]!()
  const keyring = newKeyring()
  const spoken = await Effect.zip(speak("chat", "ann"), speak("other", "ben")).pipe(
    Effect.provide(memoryOver(sealed(log, keyring))),
    Effect.runPromise,
  )
  for (const text of spoken) expect(text).toMatch(/^[1-9].*KANARIENVOGEL-4711/)
  const backup = newFolder()
  await stop()
  copy(folder, backup)
  expect(bytesOf(backup)).not.toContain(canary)
  expect(bytesOf(backup)).toContain("ben")
  await start()

  const receipt = await Effect.flatMap(EventLog.EventLog, (plain) =>
    Effect.zipLeft(
      erase(plain, keyring, { owner: "ann", actor: "dpo", reason: "asked for" }),
      destroyKeys(plain, keyring, "ann"),
    ),
  ).pipe(Effect.provide(log), Effect.runPromise)
  expect(receipt).toMatchObject({ owner: "ann", actor: "dpo" })
  const ofAnn = ["chat", "chat-again", "chat-copy"]
  expect(receipt.sessions.map(({ session }) => session).toSorted()).toEqual(ofAnn)
  // The owner's, and that of the session from before it had an owner.
  expect(receipt.keys).toHaveLength(2)
  expect(JSON.stringify(receipt)).not.toContain(canary)

  const expected = async () => {
    const { answers, titles, other, verified } = await told(log, keyring)
    for (const answer of answers) expect(answer).toMatch(/session "chat".*erased/s)
    const ofBen = ["other", "other-again", "other-copy"]
    expect(titles).toEqual([
      ...ofAnn.map((session) => [session, undefined]),
      ...ofBen.map((session) => [session, `About ${canary}`]),
    ])
    expect(verified).toEqual([
      ...ofAnn.map((session) => [session, "erased"]),
      ...ofBen.map((session) => [session, []]),
    ])
    expect(other).toContain(canary)
  }
  await expected()
  await stop()
  fs.rmSync(folder, { recursive: true })
  fs.mkdirSync(folder)
  copy(backup, folder)
  await start()
  await expected()
})
