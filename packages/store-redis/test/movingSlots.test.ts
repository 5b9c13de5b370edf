/**
 * Slots of a cluster that are moved to another master while their sessions are written and read. For a while a
 * session's keys are split over two servers, which answer with `ASK` and `TRYAGAIN`; afterwards the old one answers with
 * `MOVED`. None of it may be heard of by whoever appends.
 */
import { EventLog, Memory, Message, Verify, Summarizer } from "@memfold/core"
import { Effect, Fiber, Stream } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { often } from "@memfold/harness/depth"
import { echo, pairs } from "@memfold/harness/engine"
import { isNoScript } from "../src/failures.js"
import { keysOf, make, type Options, type RedisEventLog } from "../src/index.js"
import {
  answered,
  type Cluster,
  counted,
  eventually,
  mastersFor,
  moveSlot,
  type Server,
  servers,
  slotOf,
} from "@memfold/harness/redisServers"
import { snapshotOf, summariesOf, summaryRows } from "@memfold/harness/logs"
import { all, logError, putSnapshot, records, row, tenant, withLog } from "./support.js"

const { cluster } = servers()
let three: Cluster
beforeAll(async () => {
  three = await cluster()
})

/** Ids of sessions whose keys all lie in one slot, and one of another slot. */
const names = (prefix: string): readonly [one: string, chat: string, late: string, elsewhere: string] => {
  const listOf = (session: string) => keysOf(prefix, session).sessions
  const numbered = Array.from({ length: 5_000 }, (_, number) => `s-${number}`)
  const [one = "", chat = "", late = ""] = numbered.filter((name) => listOf(name) === listOf("s-0"))
  return [one, chat, late, numbered.find((name) => listOf(name) !== listOf("s-0")) ?? ""]
}

/** A change of the owner. */
const described = (owner: string): EventLog.ProjectionChange => ({
  kind: "description",
  rows: [{ key: "", data: JSON.stringify({ owner, title: null }) }],
})

/** A batch that was acknowledged, and where. */
interface Acknowledged {
  readonly session: string
  readonly batchId: string
  readonly from: number
  readonly version: number
}

/**
 * Writers that compete for the end of a session until they are told to stop; each fails if an append does. Every fourth
 * batch has three records, and a summary row in place of the one before.
 */
const competing = (
  logs: ReadonlyArray<RedisEventLog>,
  session: string,
  acknowledged: Array<Acknowledged>,
  until: { readonly stopped: boolean },
) =>
  logs.map((log, writer) =>
    Effect.gen(function* () {
      for (let number = 0, expectedVersion = 0; !until.stopped;) {
        const batchId = `${session}-${writer}-${number}`
        const batch = records(number % 4 === 3 ? 3 : 1, JSON.stringify(batchId))
        const rows = summaryRows([row(expectedVersion + 1)])
        const projections = [{ kind: "summary", replace: true, rows }]
        const options =
          batch.length === 3 ? { expectedVersion, batchId, projections } : { expectedVersion, batchId }
        const outcome = yield* log.append(session, batch, options).pipe(
          Effect.map(({ fromVersion, version }): Acknowledged => ({
            session,
            batchId,
            from: fromVersion,
            version,
          })),
          Effect.catchTag("VersionConflict", ({ actualVersion }) => Effect.succeed(actualVersion)),
        )
        if (typeof outcome === "number") {
          expectedVersion = outcome
        } else {
          acknowledged.push(outcome)
          expectedVersion = outcome.version
          number++
        }
        yield* Effect.yieldNow()
      }
    }),
  )

/** Every batch stands where it was acknowledged to stand, once, and there is nothing else. */
const expectExactly = (log: EventLog.Service, session: string, acknowledged: ReadonlyArray<Acknowledged>) =>
  Effect.gen(function* () {
    const list = yield* all(EventLog.records(log, session))
    const said = acknowledged
      .filter((one) => one.session === session)
      .toSorted((one, other) => one.from - other.from)
      .flatMap(({ batchId, from, version }) =>
        Array.from({ length: version - from + 1 }, (_, at) => [from + at, batchId, JSON.stringify(batchId)]),
      )
    expect(said.length).toBeGreaterThan(0)
    expect(list.map(({ version, batchId, data }) => [version, batchId, data])).toEqual(said)
    expect(yield* EventLog.versionOf(log, session)).toBe(said.length)
    const last = acknowledged
      .filter((one) => one.session === session && one.version === one.from + 2)
      .reduce((last, { from }) => Math.max(last, from), 0)
    expect(yield* summariesOf(log, session)).toEqual([row(last)])
  })

const kinds: ReadonlyArray<readonly [name: string, moves: number, options: Partial<Options>]> = [
  ["", often(3, 20), {}],
  [" and replicas are waited for", often(2, 20), { waitReplicas: { count: 1, timeout: "10 seconds" } }],
]

describe.each(kinds)("a slot that is moved while its sessions are in use%s", (_name, moves, kind) => {
  // However slow the machine is: no append is to fail.
  const patient = (prefix: string): Options => ({
    cluster: three.addresses,
    prefix,
    retryFor: "2 minutes",
    ...kind,
  })

  it(`${moves} times: every acknowledged append is there once and in its place, and none fails`, async () => {
    const prefix = tenant()
    const [one, chat, late, elsewhere] = names(prefix)
    const slot = await slotOf(three, keysOf(prefix, one).log)
    const sum = async (count: (node: Server) => Promise<number>) =>
      (await Promise.all(three.nodes.map(count))).reduce((total, one) => total + one, 0)
    const told = (error: string) => sum((node) => answered(node, error))
    const before = { ask: await told("ASK"), again: await told("TRYAGAIN") }

    await withLog(patient(prefix), (log) =>
      Effect.gen(function* () {
        const other = yield* make(patient(prefix))
        const engine = Memory.make({ strategy: pairs }).pipe(
          Effect.provideService(EventLog.EventLog, log),
          Effect.provideService(Summarizer.Summarizer, echo),
        )
        const memory = yield* engine
        const until = { stopped: false }
        const acknowledged: Array<Acknowledged> = []
        const writers = [
          ...competing([log, log, other], one, acknowledged, until),
          ...competing([other], elsewhere, acknowledged, until),
        ]
        const said: Array<string> = []
        const talker = Effect.gen(function* () {
          while (!until.stopped) {
            const text = `message ${said.length}`
            yield* memory.append(chat, Message.user(text))
            said.push(text)
            // Who never pauses leaves its compactions no moment in which nothing comes in between.
            if (said.length % 5 === 0) yield* memory.compact(chat, { which: "due" })
          }
        })
        /** So far a session was known to be, before somebody looked. */
        const known = () =>
          acknowledged.reduce(
            (far, { session, version }) => (session === one ? Math.max(far, version) : far),
            0,
          )
        let looks = 0
        const reader = Effect.gen(function* () {
          while (!until.stopped) {
            const least = known()
            const fromVersion = Math.max(1, least - 10)
            const seqs = (yield* all(EventLog.records(other, one, { fromVersion }))).map(
              ({ version }) => version,
            )
            expect(seqs).toEqual(seqs.map((_, at) => fromVersion + at))
            expect(fromVersion + seqs.length - 1).toBeGreaterThanOrEqual(least)
            expect(yield* EventLog.versionOf(other, one)).toBeGreaterThanOrEqual(least)
            const before = said.length
            const { messages } = yield* memory.context(chat)
            if (before > 0) expect(messages.length).toBeGreaterThan(0)
            if (looks++ % 5 === 0) {
              const listed = (yield* all(EventLog.sessions(other))).map(({ session }) => session)
              if (least > 0) expect(listed).toContain(one)
            }
          }
        })
        let heard = 0
        const listening = Stream.runForEach(other.changes(one), () => Effect.sync(() => heard++))
        yield* Effect.forkScoped(listening)

        const mine = () => acknowledged.filter(({ session }) => session === one).length + said.length
        const progress = async () =>
          mine() + (await sum((node) => counted(node, "evalsha", "rejected_calls")))
        const mover = Effect.gen(function* () {
          yield* Effect.promise(() => eventually("all write", async () => mine() > 50 && said.length > 5))
          for (let move = 0; move < moves; move++) {
            const [, ...others] = yield* Effect.promise(() => mastersFor(three, slot))
            yield* Effect.promise(() =>
              moveSlot(three, slot, others[move % others.length]!, {
                // With the keys as they are now, somebody goes through or is refused.
                moved: async () => {
                  const enough = (await progress()) + 1
                  await eventually("appends are tried meanwhile", async () => (await progress()) >= enough)
                },
              }),
            )
            const enough = { mine: mine() + 20, looks: looks + 2 }
            yield* Effect.promise(() =>
              eventually(
                "all goes on at the new master",
                async () => mine() >= enough.mine && looks >= enough.looks,
              ),
            )
            // Whoever listens hears of it from the new master, too.
            const before = heard
            yield* Effect.promise(() => eventually("a listener hears", async () => heard > before))
          }
          until.stopped = true
        })
        // The first that fails ends all of them.
        yield* Effect.all([mover, talker, reader, ...writers], { concurrency: "unbounded", discard: true })

        expect((yield* Effect.promise(() => told("ASK"))) - before.ask).toBeGreaterThan(0)
        expect((yield* Effect.promise(() => told("TRYAGAIN"))) - before.again).toBeGreaterThan(0)
        yield* expectExactly(log, one, acknowledged)
        yield* expectExactly(other, elsewhere, acknowledged)

        // What the engine keeps has come along: its events, and the state they come to.
        const fresh = yield* engine
        expect(yield* Verify.session(log, chat)).toEqual([])
        expect((yield* fresh.context(chat)).messages).toEqual((yield* memory.context(chat)).messages)
        const events = yield* all(EventLog.records(log, chat))
        const texts = events.flatMap(({ type, data }) =>
          type === "MessageAppended" ? (/message \d+/.exec(data)?.slice(0, 1) ?? []) : [],
        )
        expect(texts).toEqual(said)
        expect(events.map(({ type }) => type)).toContain("SummaryCommitted")
        const [owner] = yield* Effect.promise(() => mastersFor(three, slot))

        const last = (yield* all(EventLog.records(log, one, { reverse: true }))).at(0)
        yield* putSnapshot(log, one, { version: last?.version ?? 0, batchId: last?.batchId ?? "" }, "taken")
        expect(yield* snapshotOf(other, one)).toEqual({ key: "1", data: "taken" })
        const list = Effect.map(all(EventLog.sessions(other)), (infos) => infos.map(({ session }) => session))
        expect(yield* list).toEqual([one, chat, elsewhere].toSorted())
        yield* log.append(late, records(1), { expectedVersion: 0, batchId: "a" })
        for (const session of [one, chat]) expect(yield* log.delete(session)).toBe(true)
        expect(yield* list).toEqual([late, elsewhere].toSorted())
        expect(yield* log.delete(late)).toBe(true)
        // The deletions are listed until the servers have written their files anew.
        for (const session of [one, chat, late]) yield* log.finishRewrites!(session)
        const left = yield* Effect.promise(() => owner.client.call("CLUSTER", "GETKEYSINSLOT", slot, 100))
        // The feed of the bucket stays, and names none of them.
        const own = (left as Array<string>).filter((key) => key.startsWith(`${prefix}:`))
        expect(own.filter((key) => !/:(?:feed|numbers)$/.test(key))).toEqual([])
        for (const key of own.filter((one) => one.endsWith(":numbers"))) {
          const numbered = yield* Effect.promise(() => owner.client.call("HGETALL", key))
          expect(JSON.stringify(numbered)).not.toMatch(new RegExp([one, chat, late].join("|")))
        }
      }),
    )
  })

  it("for longer than retryFor: an error that names the session; nothing is written", async () => {
    const prefix = tenant()
    const [one] = names(prefix)
    const slot = await slotOf(three, keysOf(prefix, one).log)
    const [, to] = await mastersFor(three, slot)
    await withLog({ ...patient(prefix), retryFor: "300 millis" }, (log) =>
      Effect.gen(function* () {
        yield* log.append(one, records(2), { expectedVersion: 0, batchId: "a" })
        const append = log.append(one, records(1, '"SECRET"'), { expectedVersion: 2, batchId: "b" })
        const { log: stream, meta } = keysOf(prefix, one)
        let looked = 0
        const lookHalfway = Effect.gen(function* () {
          const error = yield* logError(append, "SECRET")
          // The client asks other servers in between, which do not know yet that the slot is moving.
          expect(error).toMatchObject({ operation: "append", session: one })
          expect(error.reason).toMatch(
            /(is moving|has moved) this session to another server; try again when it has settled$/,
          )
          expect((yield* all(EventLog.records(log, one))).map(({ batchId }) => batchId)).toEqual(["a", "a"])
          expect(yield* EventLog.versionOf(log, one)).toBe(2)
        })
        yield* Effect.promise(() =>
          moveSlot(three, slot, to!, {
            // Its head is on one server, and its records on the other.
            moved: async (key) => {
              if ((key === stream || key === meta) && ++looked === 1) await Effect.runPromise(lookHalfway)
            },
          }),
        )
        expect(looked).toBe(2)
        expect(yield* append).toEqual({ fromVersion: 3, version: 3, duplicate: false })
        expect(yield* append).toEqual({ fromVersion: 3, version: 3, duplicate: true })
        expect(yield* log.delete(one)).toBe(true)
      }),
    )
  })

  it("while a session begins and another is deleted", async () => {
    const prefix = tenant()
    const [one, , late] = names(prefix)
    const slot = await slotOf(three, keysOf(prefix, one).log)
    const [from, to] = await mastersFor(three, slot)
    await withLog(patient(prefix), (log) =>
      Effect.gen(function* () {
        const rows = [{ kind: "summary", rows: summaryRows([row(1)]) }, described("before")]
        yield* log.append(one, records(2), { expectedVersion: 0, batchId: "a", projections: rows })
        const both: Array<Fiber.RuntimeFiber<unknown, unknown>> = []
        const refusals = async () => {
          const counts = [from, to!].map((node) => counted(node, "evalsha", "rejected_calls"))
          return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0)
        }
        const enough = (yield* Effect.promise(refusals)) + 2
        yield* Effect.promise(() =>
          moveSlot(three, slot, to!, {
            moved: async () => {
              if (both.length > 0) return
              both.push(
                Effect.runFork(log.append(late, records(1), { expectedVersion: 0, batchId: "b" })),
                Effect.runFork(log.delete(one)),
              )
              await eventually("both are tried", async () => (await refusals()) >= enough)
            },
          }),
        )
        const [began, deleted] = yield* Effect.forEach(both, Fiber.join)
        expect(began).toEqual({ fromVersion: 1, version: 1, duplicate: false })
        expect(deleted).toBe(true)
        expect((yield* all(EventLog.sessions(log))).map(({ session }) => session)).toEqual([late])
        expect((yield* all(EventLog.records(log, late))).map(({ batchId }) => batchId)).toEqual(["b"])
        expect(yield* log.delete(late)).toBe(true)
      }),
    )
  })
})

describe("a session whose slot is moved", () => {
  it("gets another owner meanwhile", async () => {
    const prefix = tenant()
    const [one, late] = names(prefix)
    const { log: stream } = keysOf(prefix, one)
    const slot = await slotOf(three, stream)
    const [, to] = await mastersFor(three, slot)
    await withLog({ cluster: three.addresses, prefix, retryFor: "2 minutes" }, (log) =>
      Effect.gen(function* () {
        for (const session of [one, late])
          yield* log.append(session, records(1), {
            expectedVersion: 0,
            batchId: "a",
            projections: [described("before")],
          })
        const again = async () => {
          const counts = await Promise.all(three.nodes.map((node) => answered(node, "TRYAGAIN")))
          return counts.reduce((sum, count) => sum + count, 0)
        }
        const enough = (yield* Effect.promise(again)) + 1
        let put: Fiber.RuntimeFiber<unknown, unknown> | undefined
        yield* Effect.promise(() =>
          moveSlot(three, slot, to!, {
            moved: async () => {
              put ??= Effect.runFork(
                log.projections.put(one, { version: 1, batchId: "a" }, [described("after")]),
              )
              // An attempt that has ended by now has failed, as is seen below.
              const ended = () => Effect.runSync(Fiber.poll(put!))._tag === "Some"
              await eventually("it is tried", async () => ended() || (await again()) >= enough)
            },
          }),
        )
        yield* Fiber.join(put!)
        const owned = (owner: string) =>
          Effect.map(log.list({ owner, limit: 9 }), (infos) => infos.map(({ session }) => session))
        expect(yield* owned("before")).toEqual([late])
        expect(yield* owned("after")).toEqual([one])
        for (const session of [one, late]) expect(yield* log.delete(session)).toBe(true)
      }),
    )
  })
})

describe("a slot that nobody serves (-CLUSTERDOWN)", () => {
  it("is waited for, within bounds", async () => {
    const prefix = tenant()
    const slot = await slotOf(three, keysOf(prefix, "s").log)
    const [owner] = await mastersFor(three, slot)
    // Of a pipeline the client itself repeats nothing.
    const waitReplicas = { count: 1, timeout: "10 seconds" } as const
    const options = { cluster: three.addresses, prefix, waitReplicas }
    await withLog({ ...options, retryFor: "2 minutes" }, (log) =>
      Effect.gen(function* () {
        const impatient = yield* make({ ...options, retryFor: "300 millis" })
        yield* log.append("s", records(1), { expectedVersion: 0, batchId: "a" })
        yield* Effect.promise(() => owner.client.call("CLUSTER", "DELSLOTS", slot))
        const fiber = yield* Effect.fork(log.append("s", records(2), { expectedVersion: 1, batchId: "b" }))
        const error = yield* logError(
          impatient.append("s", records(2), { expectedVersion: 1, batchId: "c" }),
        ).pipe(Effect.ensuring(Effect.promise(() => owner.client.call("CLUSTER", "ADDSLOTS", slot))))
        expect(error).toMatchObject({ operation: "append", session: "s" })
        // The client asks other servers in between, which still redirect it to the owner.
        expect(error.reason).toMatch(
          /does not serve this part of its data: a master is|has moved this session/,
        )
        expect(yield* Effect.promise(() => answered(owner, "CLUSTERDOWN"))).toBeGreaterThan(0)
        expect(yield* Fiber.join(fiber)).toEqual({ fromVersion: 2, version: 3, duplicate: false })
        expect((yield* all(EventLog.records(impatient, "s"))).map(({ batchId }) => batchId)).toEqual([
          "a",
          "b",
          "b",
        ])
      }),
    )
  })
})

describe("a script that the new master has not got", () => {
  it("is sent in full, even where the client has used up its redirections on the way", () => {
    const noScript = "NOSCRIPT No matching script. Please use EVAL."
    expect(isNoScript(new Error(noScript))).toBe(true)
    expect(isNoScript(new Error(`Too many Cluster redirections. Last error: ReplyError: ${noScript}`))).toBe(
      true,
    )
    expect(isNoScript(new Error("Too many Cluster redirections. Last error: ReplyError: MOVED 1 h:1"))).toBe(
      false,
    )
  })
})

describe("who listens to a session whose slot is moved", () => {
  it("hears of it again, though the server that the client asks does not know yet who has it", async () => {
    const prefix = tenant()
    const slot = await slotOf(three, keysOf(prefix, "s").log)
    const [, to] = await mastersFor(three, slot)
    await withLog({ cluster: three.addresses, prefix, retryFor: "2 minutes" }, (log) =>
      Effect.gen(function* () {
        let heard = 0
        yield* Effect.forkScoped(Stream.runForEach(log.changes("s"), () => Effect.sync(() => heard++)))
        yield* Effect.promise(() => eventually("it listens", async () => heard > 0))
        const asked = async () => {
          const counts = await Promise.all(three.nodes.map((node) => counted(node, "cluster|slots")))
          return counts.reduce((sum, count) => sum + count, 0)
        }
        yield* Effect.promise(() =>
          moveSlot(three, slot, to!, {
            // The old owner ends the subscription. The client asks one of six servers who has the slot now; one knows.
            released: async (tell) => {
              const before = await asked()
              await tell()
              await eventually("it asks", async () => (await asked()) > before)
            },
          }),
        )
        const before = heard
        let expectedVersion = 0
        const write = Effect.gen(function* () {
          const { version } = yield* log.append("s", records(1), {
            expectedVersion,
            batchId: `c${expectedVersion}`,
          })
          expectedVersion = version
        })
        yield* Effect.promise(() =>
          eventually("it is heard again", async () => {
            await Effect.runPromise(write)
            return heard > before
          }),
        )
      }),
    )
  })
})
