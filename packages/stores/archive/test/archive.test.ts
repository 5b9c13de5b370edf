/** Sessions that leave the store and come back, whatever ends in between. */
import { describe, expect, it } from "@effect/vitest"
import { onTestFinished, vi } from "vitest"
import { EventLog, InMemoryEventLog, Message, Repair, Verify } from "@memfold/core"
import { said } from "@memfold/harness/engine"
import { withRecords } from "@memfold/harness/logs"
import { Effect, Either, Exit, Stream, TestClock } from "effect"
import { statSync } from "node:fs"
import { join } from "node:path"
import {
  type Archive,
  ArchiveError,
  archiveSegments,
  archiveSession,
  behind,
  folderArchive,
  openArchive,
  restoreSession,
  retain,
  retainSegments,
  s3Archive,
  withArchive,
} from "../src/index.js"
import { bucketServer } from "./bucketServer.js"
import { fill, folder, linesOf, memoryOver } from "./support.js"

const bucket = await bucketServer()

const archives: ReadonlyArray<readonly [name: string, open: () => Promise<Archive>]> = [
  ["a folder", async () => folderArchive(folder())],
  ["a bucket", () => bucket.archive()],
]

it.each([
  ["name of a bucket", [undefined, {}, { bucket: 5 }, { bucket: " " }, { buckt: "chats" }]],
  [
    "`prefix`",
    [
      { bucket: "b", prefix: "cold/" },
      { bucket: "b", prefix: "/cold" },
      { bucket: "b", prefix: 5 },
    ],
  ],
  [
    "`region`",
    [
      { bucket: "b", region: "" },
      { bucket: "b", region: null },
    ],
  ],
  [
    "`endpoint`",
    [
      { bucket: "b", endpoint: "minio" },
      { bucket: "b", endpoint: "ftp://minio" },
      { bucket: "b", endpoint: "http://" },
    ],
  ],
  [
    "`timeout`",
    [
      { bucket: "b", timeout: "soon" },
      { bucket: "b", timeout: {} },
    ],
  ],
])("wrong options of a bucket are refused by name: %s", async (named, all) => {
  for (const wrong of all)
    await expect(s3Archive(wrong as never)).rejects.toMatchObject({
      _tag: "ArchiveError",
      message: expect.stringContaining(named),
    })
})

it.effect("what memfold keeps for itself stays in the store, since nobody brings it back", () =>
  Effect.gen(function* () {
    const log = yield* InMemoryEventLog.make
    const archive = folderArchive(folder())
    yield* fill(log, "memfold:user:ann")
    for (const moved of [
      Effect.asVoid(archiveSession(log, archive, "memfold:user:ann")),
      Effect.asVoid(archiveSegments(log, archive, "memfold:user:ann")),
    ])
      expect((yield* Effect.flip(moved)).message).toContain("it is what memfold keeps for itself")
    expect(yield* archive.list).toEqual([])
  }),
)

/** The archive with an accident: the first object that it keeps has one byte that is another. */
const damaging = (archive: Archive): Archive => ({
  ...archive,
  put: (key, bytes) => {
    const changed = Uint8Array.from(bytes)
    changed[changed.length >> 1] = 255 - (changed[changed.length >> 1] ?? 0)
    return archive.put(key, changed)
  },
})

for (const [name, open] of archives)
  describe(`an archive in ${name}`, () => {
    it.scoped("takes sessions, and gives them back as they were when they are opened", () =>
      Effect.gen(function* () {
        const archive = yield* Effect.promise(open)
        const log = yield* InMemoryEventLog.make
        const sessions = [`chat of ${name}`, `snö/☃ ${"long ".repeat(200)}`]
        for (const session of sessions) yield* fill(log, session)
        const context = yield* Effect.flatMap(memoryOver(log), (memory) => memory.context(sessions[0]!))
        for (const session of sessions) {
          const before = yield* linesOf(log, session)
          expect(yield* archiveSession(log, archive, session)).toMatchObject({
            outcome: "moved",
            events: before.length,
          })
          expect(yield* log.head(session)).toBeNull()
          expect(yield* linesOf(yield* behind(log, archive), session)).toEqual(before)
          expect(yield* log.head(session)).not.toBeNull()
          expect(yield* Verify.session(log, session)).toEqual([])
        }
        expect(yield* archive.list).toEqual([])
        yield* archiveSession(log, archive, sessions[0]!)
        const memory = yield* memoryOver(yield* behind(log, archive))
        expect(yield* memory.context(sessions[0]!)).toEqual(context)
        expect((yield* memory.append(sessions[0]!, Message.user("and on"))).from).toBe(13)
        expect((yield* memory.sessionsOf("ada")).sessions.map(({ session }) => session).toSorted()).toEqual(
          sessions.toSorted(),
        )
      }),
    )

    it.scoped(
      "keeps the session of another store with its id, and what is newer than a store from a backup",
      () =>
        Effect.gen(function* () {
          const archive = yield* Effect.promise(open)
          const [one, other, older] = yield* Effect.all([
            InMemoryEventLog.make,
            InMemoryEventLog.make,
            InMemoryEventLog.make,
          ])
          yield* fill(one, "chat")
          yield* fill(other, "chat", "bob", 4)
          const ofOne = yield* linesOf(one, "chat")
          const records = [...(yield* Stream.runCollect(EventLog.records(one, "chat")))]
          yield* older.append("chat", records.slice(0, 3) as never, { expectedVersion: 0, batchId: "backup" })
          yield* archiveSession(one, archive, "chat")
          for (const log of [other, older]) {
            const before = yield* linesOf(log, "chat")
            const refused = yield* Effect.flip(archiveSession(log, archive, "chat"))
            expect(refused.message).toContain("another session of this id")
            expect(yield* linesOf(log, "chat")).toEqual(before)
            expect(yield* log.head("memfold:archived:chat")).toBeNull()
          }
          yield* (yield* behind(other, archive)).delete("chat")
          expect(yield* linesOf(yield* behind(one, archive), "chat")).toEqual(ofOne)
          expect(yield* archive.list).toEqual([])
        }),
    )

    it.scoped("replaces what a process that was killed has left of the session itself", () =>
      Effect.gen(function* () {
        const archive = yield* Effect.promise(open)
        const log = yield* InMemoryEventLog.make
        yield* fill(log, "chat")
        yield* archiveSession(log, archive, "chat")
        const [key = ""] = yield* archive.list
        const left = yield* archive.get(key)
        yield* restoreSession(log, archive, "chat")
        yield* archive.put(key, left!)
        yield* Effect.flatMap(memoryOver(log), (memory) => memory.append("chat", Message.user("and on")))
        const before = yield* linesOf(log, "chat")
        expect((yield* archiveSession(log, archive, "chat")).outcome).toBe("moved")
        expect(yield* linesOf(yield* behind(log, archive), "chat")).toEqual(before)
      }),
    )

    it.scoped("keeps nothing of what is deleted, and all of what it could not keep stays in the store", () =>
      Effect.gen(function* () {
        const archive = yield* Effect.promise(open)
        const log = yield* InMemoryEventLog.make
        for (const session of ["one", "two", "three"])
          yield* fill(log, session, session === "three" ? "bob" : "ada")
        yield* archiveSession(log, archive, "one")
        yield* archiveSession(log, archive, "three")
        const before = yield* linesOf(log, "two")
        const failed = yield* Effect.flip(archiveSession(log, damaging(archive), "two"))
        expect(failed).toBeInstanceOf(ArchiveError)
        expect(yield* linesOf(log, "two")).toEqual(before)
        // After the mark of the failed move is old, whoever opens the session takes what is left of it away.
        yield* TestClock.adjust("1 hour")
        const whole = yield* behind(log, archive)
        const listed = yield* Effect.map(Stream.runCollect(EventLog.sessions(whole, "ada")), (all) =>
          [...all].map(({ session, title }) => [session, title]),
        )
        expect(listed.toSorted()).toEqual([
          ["one", "about one"],
          ["two", "about two"],
        ])
        const memory = yield* memoryOver(whole)
        expect(yield* memory.deleteOf("ada")).toBe(2)
        expect(yield* archive.list).toHaveLength(1)
        const exported = yield* Stream.runCollect(memory.eventsOf("bob"))
        expect(new Set([...exported].map(({ session }) => session))).toEqual(new Set(["three"]))
        expect(yield* memory.deleteOf("bob")).toBe(1)
        expect(yield* archive.list).toEqual([])
        expect(yield* log.list({ limit: 10 })).toEqual([])
      }),
    )

    it.scoped("loses nothing, whichever step is the last one of a process that is killed (L14)", () =>
      Effect.gen(function* () {
        const archive = yield* Effect.promise(open)
        let steps = 0
        for (let last = 0; last < 40; last++) {
          const log = yield* InMemoryEventLog.make
          yield* fill(log, "chat")
          const before = yield* linesOf(log, "chat")
          // There and back; the process is gone after so many writes.
          let left = last
          const write = <A, E>(run: Effect.Effect<A, E>): Effect.Effect<A, E> =>
            Effect.suspend(() => (left-- > 0 ? run : Effect.die("killed")))
          const dying: EventLog.Service = {
            ...log,
            append: (...args) => write(log.append(...args)),
            delete: (...args) => write(log.delete(...args)),
            projections: { ...log.projections, put: (...args) => write(log.projections.put(...args)) },
          }
          const kept: Archive = {
            ...archive,
            put: (...args) => write(archive.put(...args)),
            remove: (key) => write(archive.remove(key)),
          }
          const ended = yield* Effect.exit(
            Effect.zipRight(archiveSession(dying, kept, "chat"), restoreSession(dying, kept, "chat")),
          )
          // At once, and after the mark is old.
          if (last % 2 === 0) yield* TestClock.adjust("1 hour")
          const whole = yield* behind(log, archive)
          expect(yield* linesOf(whole, "chat")).toEqual(before)
          const memory = yield* memoryOver(whole)
          yield* memory.append("chat", said(1, 99))
          expect((yield* linesOf(whole, "chat")).slice(0, before.length)).toEqual(before)
          yield* TestClock.adjust("1 hour")
          // Text that is redacted is in no object that a killed process has left (L15).
          yield* memory.redact("chat", 3)
          expect(yield* archive.list).toEqual([])
          yield* TestClock.adjust("1 hour")
          yield* linesOf(whole, "chat")
          expect((yield* log.list({ limit: 9 })).map(({ session }) => session)).toEqual(["chat"])
          steps = last
          if (Exit.isSuccess(ended)) break
        }
        // Mark, object, deletion; each batch of the copy, its snapshot, the object, the mark.
        expect(steps).toBeGreaterThan(8)
      }),
    )
  })

describe("a session that is archived", () => {
  it("is whole again if it is archived anew after its way back was cut off at any append", () =>
    Effect.gen(function* () {
      for (let left = 0, wasCutOff = true; wasCutOff; left++) {
        const log = yield* InMemoryEventLog.make
        yield* fill(log, "s")
        const before = yield* linesOf(log, "s")
        const archive = folderArchive(folder())
        yield* archiveSession(log, archive, "s")
        let appends = 0
        const ending: EventLog.Service = {
          ...log,
          append: (session, ...given) =>
            session === "s" && appends++ >= left
              ? new EventLog.LogError({ operation: "append", session, reason: "the process was killed" })
              : log.append(session, ...given),
        }
        wasCutOff = Exit.isFailure(yield* Effect.exit(restoreSession(ending, archive, "s")))
        yield* archiveSession(log, archive, "s")
        yield* restoreSession(log, archive, "s")
        expect({ left, lines: yield* linesOf(log, "s") }).toEqual({ left, lines: before })
      }
    }).pipe(Effect.runPromise))

  it.scoped("stays in the store if somebody speaks while it is moved", () =>
    Effect.gen(function* () {
      const archive = folderArchive(folder())
      const log = yield* InMemoryEventLog.make
      yield* fill(log, "chat")
      const whole = yield* behind(log, archive)
      const memory = yield* memoryOver(whole)
      const busy: Archive = {
        ...archive,
        put: (...args) =>
          Effect.zipLeft(archive.put(...args), Effect.orDie(memory.append("chat", Message.user("wait")))),
      }
      expect(yield* archiveSession(log, busy, "chat")).toMatchObject({ outcome: "active" })
      expect(yield* archive.list).toEqual([])
      expect((yield* memory.messages("chat")).messages.at(-1)).toMatchObject({ parts: [{ text: "wait" }] })
      expect(yield* archiveSession(log, archive, "nobody")).toMatchObject({ outcome: "gone" })
    }),
  )

  it.scoped("is asked for by other processes that have it in their caches", () =>
    Effect.gen(function* () {
      const archive = folderArchive(folder())
      const log = yield* InMemoryEventLog.make
      yield* fill(log, "chat")
      const memory = yield* memoryOver(yield* behind(log, archive))
      const before = yield* memory.state("chat")
      yield* archiveSession(log, archive, "chat")
      expect(yield* memory.state("chat")).toEqual(before)
      yield* archiveSession(log, archive, "chat")
      yield* memory.append("chat", Message.user("on"))
      expect((yield* memory.state("chat")).total).toBe(before.total + 1)
      expect(yield* Verify.session(log, "chat")).toEqual([])
    }),
  )

  it.scoped("may have a damaged message that a repair has set aside", () =>
    Effect.gen(function* () {
      const archive = folderArchive(folder())
      const stored = yield* InMemoryEventLog.make
      yield* fill(stored, "chat")
      const log = withRecords(stored, (records) =>
        records.map((record) => (record.version === 2 ? { ...record, data: "{" } : record)),
      )
      expect(yield* Effect.flip(archiveSession(log, archive, "chat"))).toHaveProperty(
        "reason",
        expect.stringContaining("event 2 is damaged"),
      )
      yield* Repair.repair(log, "chat")
      const before = yield* linesOf(log, "chat")
      expect(yield* archiveSession(log, archive, "chat")).toMatchObject({ outcome: "moved" })
      expect(yield* linesOf(yield* behind(log, archive), "chat")).toEqual(before)
    }),
  )

  it.scoped("is said to be lost or damaged, and nothing begins in its place", () =>
    Effect.gen(function* () {
      const archive = folderArchive(folder())
      const log = yield* InMemoryEventLog.make
      yield* fill(log, "chat")
      yield* archiveSession(log, archive, "chat")
      yield* TestClock.adjust("1 hour")
      const [key] = yield* archive.list
      const bytes = yield* archive.get(key!)
      const whole = yield* behind(log, archive)
      const opened = Effect.map(whole.head("chat"), (head) => head?.version)
      yield* archive.put(key!, bytes!.slice(0, -20))
      expect((yield* Effect.flip(opened)).message).toMatch(/archive failed at get/)
      yield* archive.remove(key!)
      expect((yield* Effect.flip(opened)).message).toMatch(/the archive has lost it/)
      yield* archive.put(key!, bytes!)
      expect(yield* opened).toBe(yield* EventLog.versionOf(log, "chat"))
    }),
  )
})

describe("a place", () => {
  it("is a folder or a bucket; files are private", async () => {
    const place = folder()
    const opened = await Effect.runPromise(openArchive(place))
    await Effect.runPromise(opened.put("ab/cd.jsonl.gz", new Uint8Array([1])))
    expect(statSync(join(place, "ab", "cd.jsonl.gz")).mode & 0o777).toBe(0o600)
    expect(await Effect.runPromise(opened.list)).toEqual(["ab/cd.jsonl.gz"])
    expect((await Effect.runPromise(openArchive(bucket.url))).name).toBe("s3://chats/cold")
    for (const whole of ["s3://chats", "s3://chats/"])
      expect((await Effect.runPromise(openArchive(whole))).name).toBe("s3://chats")
    for (const same of ["s3://chats/k%C3%BChl", "S3://chats/kühl/"])
      expect((await Effect.runPromise(openArchive(same))).name).toBe("s3://chats/kühl")
  })

  it.each([
    ["a folder, or s3://", ["", " ", "ftp://host/x", "file:///cold", "GS://chats"]],
    [
      "s3://BUCKET/PREFIX, with",
      [
        "s3://",
        "s3:///x",
        "s3://[x/",
        "s3://b:x/y",
        "s3://b:1/y",
        "s3://b/%",
        "s3://b#x",
        "s3://chats?endpoint=http://x&key=1",
      ],
    ],
    ["AWS_ACCESS_KEY_ID", ["s3://key:secret@chats/cold", "s3://key@chats"]],
    ["`region`", ["s3://chats?region="]],
    ["`endpoint`", ["s3://chats?endpoint=", "s3://chats?endpoint=minio"]],
  ])("is refused that is none, with what to do: %s", async (named, all) => {
    for (const wrong of all) {
      const refused = await Effect.runPromise(Effect.flip(openArchive(wrong)))
      expect(refused.message).toContain(named)
      expect(refused.message).not.toContain("secret")
    }
  })

  it("that is a bucket takes what is signed with its secret, and nothing else", async () => {
    const bytes = new Uint8Array([1, 2, 3])
    const kept = await bucket.archive()
    // Keys with letters that a signature has to encode.
    const keys = ["signed/a.gz", "signed/snö ☃+&=*'(1).gz"]
    for (const key of keys) await Effect.runPromise(kept.put(key, bytes))
    for (const key of keys) expect(await Effect.runPromise(kept.get(key))).toEqual(bytes)
    expect((await Effect.runPromise(kept.list)).toSorted()).toEqual(keys.toSorted())
    const wrong = [
      [{ accessKeyId: "ANOTHERKEY" }, "InvalidAccessKeyId"],
      [{ secretAccessKey: "ANOTHERSECRET" }, "SignatureDoesNotMatch"],
    ] as const
    for (const [given, code] of wrong) {
      const forged = await bucket.archive(given)
      for (const refused of [
        forged.put("a", bytes),
        forged.get(keys[0]!),
        forged.remove(keys[0]!),
        forged.list,
      ]) {
        const { message } = await Effect.runPromise(Effect.flip<unknown, ArchiveError, never>(refused))
        expect(message).toContain(`the bucket answered ${code}`)
        expect(message).not.toMatch(/ANOTHER/)
      }
    }
    expect((await fetch(`${bucket.endpoint}/chats/cold/signed/a.gz`)).status).toBe(403)
    for (const key of keys) await Effect.runPromise(kept.remove(key))
    expect(await Effect.runPromise(kept.list)).toEqual([])
  })
})

it.each<readonly [store: unknown, archive: unknown, words: string]>([
  [undefined, "./cold", '"store" must be the URL of a store, or a layer'],
  [Effect.runSync(InMemoryEventLog.make), "./cold", '"store" must be'],
  ["memory:", undefined, '"archive" must be a folder, s3://BUCKET/PREFIX, or an archive'],
  ["memory:", {}, '"archive" must be'],
])("a store with an archive is no %s with %s", (store, archive, words) => {
  expect(() => withArchive(store as "memory:", archive as string)).toThrow(words)
  for (const nowhere of [undefined, "", " "])
    expect(() => folderArchive(nowhere as string)).toThrow('"folder" must be the path of a folder')
})

describe("a log with an archive behind it", () => {
  it.scoped(
    "is refused by all that moves sessions there, which would take from the archive what it has written",
    () =>
      Effect.gen(function* () {
        const archive = folderArchive(folder())
        const store = yield* InMemoryEventLog.make
        yield* fill(store, "s")
        yield* TestClock.adjust("100 days")
        const before = yield* linesOf(store, "s")
        const log = yield* behind(store, archive)
        const rules = [{ do: "archive", idle: "90 days" }] as const
        const moves: Readonly<Record<string, Effect.Effect<unknown, Error>>> = {
          archiveSession: archiveSession(log, archive, "s"),
          archiveSegments: archiveSegments(log, archive, "s", { keepVersions: 1, size: 2 }),
          retain: Stream.runDrain(retain(log, { rules, archive, dryRun: false })),
          retainSegments: Stream.runDrain(retainSegments(log, archive, { keepVersions: 1, size: 2 })),
        }
        for (const [name, move] of Object.entries(moves))
          expect([name, (yield* Effect.flip(move)).message]).toEqual([
            name,
            expect.stringContaining("give the log of the store itself"),
          ])
        expect(yield* archive.list).toEqual([])
        expect(yield* linesOf(store, "s")).toEqual(before)
      }),
  )

  it.scoped("brings back the session that is forked to, and says that it exists", () =>
    Effect.gen(function* () {
      const archive = folderArchive(folder())
      const store = yield* InMemoryEventLog.make
      for (const session of ["s", "other"]) yield* fill(store, session)
      const before = yield* linesOf(store, "s")
      yield* archiveSession(store, archive, "s")
      const memory = yield* memoryOver(yield* behind(store, archive))
      expect((yield* Effect.flip(memory.fork("other", "s"))).message).toMatch(/"s" exists already/)
      expect(yield* linesOf(store, "s")).toEqual(before)
    }),
  )
})

describe("a process without the archive", () => {
  it.scopedLive("starts no second conversation under the id of an archived one", () =>
    Effect.gen(function* () {
      const archive = folderArchive(folder())
      const log = yield* InMemoryEventLog.make
      yield* fill(log, "s")
      yield* fill(log, "other")
      const before = yield* linesOf(log, "s")
      const memory = yield* memoryOver(log)
      yield* memory.state("s")
      yield* archiveSession(log, archive, "s")
      // One memory has the session in its cache, and one does not.
      for (const without of [memory, yield* memoryOver(log)]) {
        const writes: ReadonlyArray<Effect.Effect<unknown, unknown>> = [
          without.append("s", Message.user("hello?")),
          without.append("s", Message.user("hello?"), { idempotencyKey: "k" }),
          without.describe("s", { title: "another" }),
          without.rewrite("s", () => [Message.user("hello?")]),
          without.fork("other", "s"),
        ]
        for (const write of writes) {
          const refused = yield* Effect.either(write)
          expect(String(Either.getOrNull(Either.flip(refused)))).toContain("is in an archive")
        }
      }
      const both = yield* behind(log, archive)
      yield* Effect.flatMap(memoryOver(both), (own) => own.append("s", Message.user("there you are")))
      expect((yield* linesOf(log, "s")).slice(0, before.length)).toEqual(before)
    }),
  )

  it("that is a bucket says why nothing comes of a request that had no answer", async () => {
    vi.stubEnv("AWS_EC2_METADATA_DISABLED", "true")
    for (const name of ["AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"]) vi.stubEnv(name, "/dev/null")
    for (const name of [
      "AWS_ACCESS_KEY_ID",
      "AWS_SECRET_ACCESS_KEY",
      "AWS_PROFILE",
      "AWS_REGION",
      "AWS_DEFAULT_REGION",
    ])
      vi.stubEnv(name, undefined)
    onTestFinished(() => void vi.unstubAllEnvs())
    const [region, endpoint] = ["eu-central-1", "http://127.0.0.1:1"]
    const credentials = { accessKeyId: "key", secretAccessKey: "secret" }
    for (const [given, client, reason] of [
      [{}, { credentials }, "needs the name of its region"],
      [{ region: "eu central" }, { credentials }, "needs the name of its region"],
      [{ region }, {}, "finds no credentials; set AWS_ACCESS_KEY_ID"],
      [{ region, endpoint }, { credentials }, "cannot be reached (ECONNREFUSED)"],
    ] as const) {
      const archive = await s3Archive({ bucket: "chats", ...given, client: { maxAttempts: 1, ...client } })
      expect((await Effect.runPromise(Effect.flip(archive.list))).message).toContain(reason)
    }
  })
})
