/** The active summary beside the log: it says what core says, and there is never a second (law L1). */
import {
  CurrentSummarizer,
  type Event,
  EventCodec,
  EventLog,
  Memory,
  Session,
  TokenCounter,
} from "@memfold/core"
import { Effect, Either, Layer, Logger, Stream } from "effect"
import * as fc from "fast-check"
import { beforeAll, describe, expect, it, vi } from "vitest"
import { often } from "../../core/test/depth.js"
import { chat, conversation, strategy } from "../../testing/src/arbitrary/index.js"
import { disorder, recorded } from "../../testing/src/arbitrary/event.js"
import { echo, quarter } from "../../testing/src/fakes/index.js"
import { appended, committed, failed, started } from "../../testing/src/given/events.js"
import { keysOf } from "../src/index.js"
import { fromStored } from "../src/stored.js"
import { type Server, servers } from "./servers.js"
import { logError, tenant, withLog } from "./support.js"

const { server } = servers()
vi.setConfig({ testTimeout: often(300_000, 900_000) })

let one: Server
beforeAll(async () => {
  one = await server()
})

const noon = Date.UTC(2026, 0, 31, 12, 0, 0)

const record = (event: EventCodec.AnyEvent, at = noon): EventLog.NewRecord => {
  if (event._tag === "UnknownEvent") return { ...event, at, data: "{}" }
  if (event._tag === "DamagedSummary") return { type: "SummaryCommitted", version: 1, at, data: "{" }
  return { at, ...EventCodec.encode(event) }
}

let commits = 0
/** Appends one batch at the end of a session. */
const append = (log: EventLog.Service, session: string, list: ReadonlyArray<EventLog.NewRecord>) =>
  Effect.flatMap(log.version(session), (expected) =>
    log.append(session, list as [EventLog.NewRecord], { expected, commit: `c${++commits}` }),
  )

/** What is stored of a session's summaries, against what core says of its log. */
const expectFollowed = (log: EventLog.Service, prefix: string, session: string) =>
  Effect.gen(function* () {
    const events = log.read(session).pipe(Stream.filterMap((one) => Either.getRight(EventCodec.decode(one))))
    const active = (yield* Session.summariesOf(events)).findLast(({ status }) => status === "active")
    const keys = keysOf(prefix, session)
    const [stored, meta] = yield* Effect.promise(() =>
      Promise.all([one.client.hgetall(keys.summary), one.client.hgetall(keys.meta)]),
    )
    const { id, ...fields } = stored
    expect(id === undefined ? undefined : fromStored(id)).toBe(active?.id)
    expect(fromStored(meta["active"] ?? "")).toBe(active?.id ?? "")
    if (active !== undefined) {
      expect(fields).toEqual({
        seq: String(active.seq),
        at: String(active.at),
        through: String(active.through),
        total: String(active.total),
        tokens: String(active.tokens),
        text: active.text.toWellFormed(),
        segments: JSON.stringify(active.segments),
      })
    }
    return active === undefined ? 0 : 1
  })

/** A compaction up to `to`, from the summary before it if there is one. */
const compaction = (name: number, to: number, more: Partial<Event.SummaryCommitted> = {}) =>
  [
    started(to, { compaction: `k${name}` }),
    committed(to, {
      compaction: `k${name}`,
      summary: `s${name}`,
      segments: [{ kind: "history", from: 0, to, text: `summary ${name}` }],
      ...more,
    }),
  ] as const

const superseded = (summary: string, by: string) => ({ _tag: "SummarySuperseded", summary, by }) as const

describe("a second active summary (L1)", () => {
  it("is refused by the script, unless the batch supersedes or clears the first", async () => {
    const prefix = tenant()
    await withLog({ url: one.url, prefix }, (log) =>
      Effect.gen(function* () {
        const add = (...events: ReadonlyArray<Event.Event>) =>
          append(
            log,
            "s",
            events.map((event) => record(event)),
          )
        yield* add(...appended(chat(9)), ...compaction(1, 2))
        yield* expectFollowed(log, prefix, "s")
        const before = yield* log.version("s")
        const error = yield* logError(add(...compaction(2, 4)))
        expect(error.message).toBe(
          'The event log failed at append of session "s": the batch would make a second summary active beside "s1"; supersede or invalidate that one in the same batch',
        )
        expect((yield* logError(add(...compaction(2, 4), superseded("s0", "s2")))).reason).toBe(error.reason)
        expect(yield* log.version("s")).toBe(before)
        expect(yield* expectFollowed(log, prefix, "s")).toBe(1)

        yield* add(...compaction(2, 4), superseded("s1", "s2"))
        // One whose compaction is not the running one changes nothing, and is no second.
        yield* add(committed(6, { compaction: "k9", summary: "s9" }))
        // One that cannot be used is none either.
        yield* add(...compaction(3, 99))
        yield* expectFollowed(log, prefix, "s")
        yield* add({ _tag: "SessionCleared" }, ...appended(chat(9)), ...compaction(4, 2))
        expect(yield* expectFollowed(log, prefix, "s")).toBe(1)
        yield* add({ _tag: "SessionCleared" })
        expect(yield* expectFollowed(log, prefix, "s")).toBe(0)
      }),
    )
  })

  it("is none when the first was taken back: what it had replaced is active again", async () => {
    const prefix = tenant()
    await withLog({ url: one.url, prefix }, (log) =>
      Effect.gen(function* () {
        const add = (...events: ReadonlyArray<Event.Event>) =>
          append(
            log,
            "s",
            events.map((event) => record(event)),
          )
        yield* add(...appended(chat(9)), ...compaction(1, 2))
        const { version } = yield* add(...compaction(2, 4), superseded("s1", "s2"))
        yield* add({ _tag: "SummaryInvalidated", seq: version - 1, summary: "s2", reason: "reverted" })
        expect(yield* expectFollowed(log, prefix, "s")).toBe(1)
        yield* logError(add(...compaction(3, 6), superseded("s2", "s3")))
        yield* add(...compaction(3, 6), superseded("s1", "s3"))
        expect(yield* expectFollowed(log, prefix, "s")).toBe(1)
      }),
    )
  })
})

describe("a batch that was worked out before the log got to its version", () => {
  it("is worked out again", async () => {
    const prefix = tenant()
    await withLog({ url: one.url, prefix }, (log) =>
      Effect.gen(function* () {
        const batch = (...events: ReadonlyArray<Event.Event>) =>
          events.map((event) => record(event)) as unknown as [EventLog.NewRecord]
        // The first of them looks at the session before the second has written to it.
        yield* Effect.all(
          [
            log.append("s", batch(...compaction(1, 2)), { expected: 3, commit: "b" }),
            log.append("s", batch(...appended(chat(3))), { expected: 0, commit: "a" }),
          ],
          { concurrency: "unbounded" },
        )
        expect(yield* log.version("s")).toBe(5)
        expect(yield* expectFollowed(log, prefix, "s")).toBe(1)
      }),
    )
  })
})

describe("the summary says what core says of the log", () => {
  const happening = fc.record({
    what: fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom("say", "compact") },
      { weight: 1, arbitrary: fc.constantFrom("start", "commit", "fail", "prune", "clear", "invalidate") },
    ),
    one: fc.nat({ max: 99 }),
    other: fc.nat({ max: 99 }),
  })

  /** A log in which commits can be used, as a rule, and name what they supersede. */
  const lifelike: typeof disorder = fc.array(happening, { maxLength: 30, size: "max" }).map((happenings) => {
    const events: Array<Event.Event> = []
    const commit = (one: number, other: number, compaction: string) => {
      const { total, through, summary } = Session.fold(Session.empty("s"), recorded(events))
      const before = summary?.segments ?? []
      const carried = one % (before.length + 1)
      const to = through + (other % (total - through + 1))
      const kind = other % 3 === 0 ? "turn-prefix" : "block"
      const id = `s${one % 5}\ud83d`
      const made = committed(to, {
        compaction,
        summary: id,
        carried,
        segments: [{ kind, from: before[carried - 1]?.to ?? 0, to, text: `${one} ${other} \ud83d` }],
        tokens: other,
      })
      return summary === null ? [made] : [made, superseded(summary.id, id)]
    }
    for (const { what, one, other } of happenings) {
      const compaction = `k${one % 2}`
      if (what === "say") events.push(...appended(chat(1 + (one % 4))))
      if (what === "start" || what === "compact") {
        events.push(started(other, { compaction, from: other % 4 === 0 ? other : 0 }))
      }
      if (what === "prune") events.push({ _tag: "ToolOutputsPruned", compaction, outputs: [] })
      if (what === "commit" || what === "compact") events.push(...commit(one, other, compaction))
      if (what === "fail") events.push(failed({ compaction }))
      if (what === "clear") events.push({ _tag: "SessionCleared" })
      if (what === "invalidate") {
        const commits = recorded(events).filter(({ event }) => event._tag === "SummaryCommitted")
        const seq = commits[other % Math.max(commits.length, 1)]?.seq ?? other
        events.push({ _tag: "SummaryInvalidated", seq, summary: null, reason: "damaged" })
      }
    }
    return recorded(events)
  })

  it("for events in any order and batches, but for the batches that are refused", async () => {
    const prefix = tenant()
    const logs = fc.record({
      events: fc.oneof(disorder, lifelike),
      sizes: fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 3 }),
      damaged: fc.array(fc.nat({ max: 39 }), { maxLength: 3 }),
    })
    let active = 0
    await withLog({ url: one.url, prefix }, (log) =>
      Effect.promise(() =>
        fc.assert(
          fc.asyncProperty(logs, ({ events, sizes, damaged }) =>
            Effect.gen(function* () {
              yield* log.delete("s")
              const list = events.map(({ event, at }, position) => {
                const whole = record(event, at)
                const broken = whole.type === "SummaryCommitted" && damaged.includes(position)
                return broken ? { ...whole, data: whole.data.slice(1) } : whole
              })
              for (let from = 0, batch = 0; from < list.length; batch++) {
                let to = from + sizes[batch % sizes.length]!
                // A commit and what it supersedes belong together.
                if (list[to]?.type === "SummarySuperseded") to++
                yield* append(log, "s", list.slice(from, to)).pipe(
                  Effect.catchIf(
                    (error) => error._tag === "LogError" && error.reason.includes("second summary"),
                    () => Effect.void,
                  ),
                )
                from = to
              }
              active += yield* expectFollowed(log, prefix, "s")
            }).pipe(Effect.runPromise),
          ),
          { numRuns: often(150, 500), seed: 7 },
        ),
      ),
    )
    expect(active).toBeGreaterThan(20)
  })

  it("for what memories write: any strategy, with clears, reverts and redactions; none of it is refused", async () => {
    const prefix = tenant()
    const runs = fc.record({
      strategy,
      messages: fc.oneof(conversation, fc.constant(chat(64))),
      steps: fc.array(
        fc.oneof(
          { weight: 8, arbitrary: fc.constantFrom("settle", "compact") },
          fc.constantFrom("clear", "nothing", "revert", "recompact", "redact", "fork"),
        ),
        { minLength: 8, maxLength: 16 },
      ),
    })
    let active = 0
    await withLog({ url: one.url, prefix }, (log) =>
      Effect.promise(() =>
        fc.assert(
          fc.asyncProperty(runs, ({ strategy, messages, steps }) =>
            Effect.gen(function* () {
              yield* log.delete("s")
              yield* log.delete("f")
              const memory = yield* Memory.make({
                strategy,
                compaction: "manual",
                summarizerRetries: 0,
                backOff: 0,
              })
              for (const [position, step] of steps.entries()) {
                yield* memory.append("s", messages.slice(position * 4, position * 4 + 4))
                if (step === "settle") yield* memory.settle("s")
                if (step === "compact") yield* memory.compact("s")
                if (step === "clear") yield* memory.clear("s")
                if (step === "revert") yield* memory.revert("s", { hold: 0 })
                if (step === "recompact") yield* memory.recompact("s")
                if (step === "redact") yield* Effect.ignore(memory.redact("s", position))
                if (step === "fork") {
                  yield* log.delete("f")
                  yield* memory.fork("s", "f")
                  yield* expectFollowed(log, prefix, "f")
                }
                active += yield* expectFollowed(log, prefix, "s")
              }
            }).pipe(
              Effect.provide(
                Layer.mergeAll(
                  Layer.succeed(EventLog.EventLog, log),
                  Layer.succeed(CurrentSummarizer, echo()),
                  Layer.succeed(TokenCounter.TokenCounter, quarter),
                  Logger.remove(Logger.defaultLogger),
                ),
              ),
              Effect.scoped,
              Effect.runPromise,
            ),
          ),
          // The same each time, because how many summaries there are is counted below.
          { numRuns: often(40, 150), seed: 7 },
        ),
      ),
    )
    expect(active).toBeGreaterThan(50)
  })
})
