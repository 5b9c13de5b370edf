/** Messages that cannot be read where they are stored: the session goes on without them, and says so. */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Either, Logger, type Scope, Stream } from "effect"
import * as fc from "fast-check"
import { often } from "@memfold/harness/depth"
import { echo, pairs, said } from "@memfold/harness/engine"
import { withProjections, withRecords } from "@memfold/harness/logs"
import {
  EventLog,
  InMemoryEventLog,
  Memory,
  Message,
  Origin,
  type Render,
  Repair,
  Session,
  type Strategy,
  Summarizer,
  Verify,
} from "../index.js"

/** A log whose records can be damaged. It keeps no snapshots, which would have the messages as they were. */
const damageable = Effect.map(InMemoryEventLog.make, (real) => {
  const broken = new Set<number>()
  const records = withRecords(real, (all) =>
    all.map((record) => (broken.has(record.version) ? { ...record, data: '{"text":"secret' } : record)),
  )
  const log = withProjections(records, {
    get: (session, kind, filter) =>
      kind.endsWith("snapshot") ? Effect.succeed([]) : real.projections.get(session, kind, filter),
  })
  return { log, broken }
})

const engine = (
  log: EventLog.Service,
  summarizer: Summarizer.Service = echo,
  trust: Strategy.Trust = "together",
) =>
  Memory.make({ strategy: pairs, trust, compaction: { mode: "manual" } }).pipe(
    Effect.provideService(EventLog.EventLog, log),
    Effect.provideService(Summarizer.Summarizer, summarizer),
  )

const texts = (messages: ReadonlyArray<Message.Message>) => messages.map((message) => Message.text(message))

const [call, result] = [
  Message.call([{ id: "1", name: "t", arguments: "{}" }]),
  Message.result({ id: "1", output: "x" }),
]

describe("a message that cannot be read", () => {
  it.scoped("is left out of contexts, which name it, and appends go on", () =>
    Effect.gen(function* () {
      const { log, broken } = yield* damageable
      yield* (yield* engine(log)).append("s", said(4))
      broken.add(2)
      const memory = yield* engine(log)
      const before = yield* memory.context("s")
      expect(texts(before.messages)).toEqual(texts(said(4)).filter((_, index) => index !== 1))
      expect(before.layout).toContainEqual({ section: "unreadable", from: 1, to: 2, tokens: 0 })
      expect(JSON.stringify(before)).not.toContain("secret")
      yield* memory.append("s", said(2, 4))
      expect((yield* memory.state("s")).total).toBe(6)
      expect((yield* memory.context("s")).sources).toEqual([0, 2, 3, 4, 5])
      expect(yield* Verify.session(log, "s")).toMatchObject([{ version: 2, rule: "decodable" }])
    }),
  )

  it.scoped("is one of the messages, recalls go on without it, and a fork has the damage", () =>
    Effect.gen(function* () {
      const { log, broken } = yield* damageable
      yield* (yield* engine(log)).append("s", [
        Message.user("the parcel is KX-1"),
        Message.user("the parcel is KX-2"),
        Message.user("the parcel is KX-3"),
      ])
      broken.add(2)
      const memory = yield* engine(log)
      const page = yield* memory.messages("s")
      expect(page).toMatchObject({ from: 0, to: 3, total: 3, unreadable: [1] })
      expect(texts(page.messages)).toEqual(["the parcel is KX-1", "", "the parcel is KX-3"])
      const last = yield* memory.messages("s", { limit: 1 })
      const middle = yield* memory.messages("s", { limit: 1, before: last.before! })
      expect(middle).toMatchObject({ from: 1, to: 2, unreadable: [1] })
      const { messages } = yield* memory.recall("s", "parcel KX-3", { messages: "all" })
      expect(messages.map(({ index }) => index)).toEqual([0, 2])
      yield* memory.fork("s", "copy")
      expect((yield* memory.context("copy")).layout).toContainEqual(
        expect.objectContaining({ section: "unreadable", from: 1, to: 2 }),
      )
    }),
  )

  it.scoped("raises no origin of a summary that was written of it", () =>
    Effect.promise(() =>
      fc.assert(
        fc.asyncProperty(
          fc.array(fc.constantFrom(...Origin.byTrust), { minLength: 6, maxLength: 6 }),
          fc.constantFrom("together" as const, "separate" as const),
          fc.integer({ min: 1, max: 4 }),
          (origins, trust, at) =>
            Effect.gen(function* () {
              const { log, broken } = yield* damageable
              const writing = yield* engine(log, echo, trust)
              const messages = said(6).map((message, index) => ({ ...message, origin: origins[index]! }))
              yield* writing.append("s", messages)
              yield* writing.compact("s")
              const before = (yield* writing.state("s")).summary
              broken.add(at)
              const after = (yield* (yield* engine(log, echo, trust)).state("s")).summary
              for (const [position, origin] of (before?.origins ?? []).entries())
                expect(Origin.isBelow(origin, after!.origins[position]!)).toBe(false)
              // What was said stays what was said where material is apart.
              if (trust === "separate" && before !== null)
                expect(after!.origins.map(Origin.isMaterial)).toEqual(before.origins.map(Origin.isMaterial))
            }).pipe(Effect.scoped, Effect.runPromise),
        ),
        { numRuns: often(60, 1_000) },
      ),
    ),
  )

  it.scoped("is compacted as any other, with a word to the summarizer, and stays named", () =>
    Effect.gen(function* () {
      const { log, broken } = yield* damageable
      yield* (yield* engine(log)).append("s", said(6))
      broken.add(2)
      const lines: Array<string> = []
      const logger = Logger.make(({ logLevel, message, annotations }) => {
        const about = [...annotations].map(([name, value]) => `${name}=${String(value)}`).join(" ")
        if (logLevel._tag === "Error") lines.push(`${String(message)} ${about}`)
      })
      const asked: Array<ReadonlyArray<string>> = []
      const memory = yield* engine(log, {
        ...echo,
        summarize: (request) => {
          asked.push(texts(request.messages))
          return echo.summarize(request)
        },
      })
      yield* memory
        .compact("s", { which: "due" })
        .pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
      expect(lines.filter((line) => line.includes("cannot be read"))).toEqual([
        expect.stringMatching(/^a message cannot be read.*message=1 session=s version=2$/u),
      ])
      const { coveredTo, unreadable } = yield* memory.state("s")
      expect(coveredTo).toBeGreaterThan(2)
      expect(unreadable).toEqual([{ index: 1, version: 2 }])
      expect(asked[0]!.slice(0, 3)).toEqual([
        Message.text(said(1)[0]!),
        "[A message is missing here: it cannot be read.]",
        Message.text(said(1, 2)[0]!),
      ])
      const { layout } = yield* memory.context("s")
      expect(layout).toContainEqual({ section: "unreadable", from: 1, to: 2, tokens: 0 })
      yield* memory.append("s", said(6, 6))
      yield* memory.compact("s", { which: "due" })
      expect((yield* memory.context("s")).layout).toContainEqual({
        section: "unreadable",
        from: 1,
        to: 2,
        tokens: 0,
      })
    }),
  )

  it.scoped("is where an edit goes on, by its version as by its index, also once a summary covers it", () =>
    Effect.gen(function* () {
      for (const isCovered of [false, true])
        for (const name of [1, { version: 2 }]) {
          const { log, broken } = yield* damageable
          yield* (yield* engine(log)).append("s", said(6))
          broken.add(2)
          const memory = yield* engine(log)
          if (isCovered) yield* memory.compact("s", { which: "due" })
          expect((yield* memory.state("s")).coveredTo > 1).toBe(isCovered)
          expect(yield* memory.edit("s", name, [Message.user("instead")])).toMatchObject({ from: 1, to: 2 })
          expect(texts((yield* memory.messages("s")).messages)).toEqual([texts(said(1))[0], "instead"])
        }
    }),
  )

  it.scoped("makes no context without its rules, where it was a call, or a result", () =>
    Effect.gen(function* () {
      for (const version of [2, 3]) {
        const { log, broken } = yield* damageable
        yield* (yield* engine(log)).append("s", [Message.user("a"), call, result, Message.user("b")])
        broken.add(version)
        const memory = yield* engine(log)
        const { messages, layout } = yield* memory.context("s")
        expect(layout).toContainEqual(expect.objectContaining({ section: "unreadable", from: version - 1 }))
        const calls = messages.flatMap(Message.calls).length
        expect(messages.flatMap(Message.results)).toHaveLength(calls)
      }
    }),
  )

  it.scoped("can be redacted, and leaves the redaction of others", () =>
    Effect.gen(function* () {
      const { log, broken } = yield* damageable
      yield* (yield* engine(log)).append("s", said(4))
      broken.add(2)
      const memory = yield* engine(log)
      yield* memory.redact("s", 2)
      expect(texts((yield* memory.context("s")).messages)).toEqual([
        Message.text(said(1)[0]!),
        expect.stringContaining("redacted"),
        Message.text(said(1, 3)[0]!),
      ])
      yield* memory.redact("s", 1)
      broken.delete(2)
      const stored = yield* Stream.runCollect(EventLog.records(log, "s"))
      expect([...stored].map(({ data }) => data)[1]).toBe("{}")
    }),
  )

  it.scoped("is set aside by a repair, and the fold stays the fold (L6)", () =>
    Effect.gen(function* () {
      const { log, broken } = yield* damageable
      yield* (yield* engine(log)).append("s", said(5))
      broken.add(2)
      const { mended, left } = yield* Repair.repair(log, "s")
      expect(mended).toHaveLength(1)
      expect(left).toEqual([])
      const memory = yield* engine(log)
      yield* memory.append("s", said(1, 5))
      const state = yield* memory.state("s")
      expect(state).toMatchObject({ unreadable: [{ index: 1, version: 2 }], setAside: [2] })
      const events = [...(yield* Stream.runCollect(memory.events("s")))]
      expect(Session.fold(Session.empty("s"), events)).toEqual(state)
    }),
  )
})

/** What a conversation goes through while its messages are damaged. */
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("append" as const), count: fc.integer({ min: 1, max: 5 }) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("edit" as const), at: fc.nat({ max: 12 }) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("checkout" as const), branch: fc.nat({ max: 5 }) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("damage" as const), message: fc.nat({ max: 12 }) }) },
  { weight: 2, arbitrary: fc.constant({ do: "compact" as const }) },
  { weight: 2, arbitrary: fc.constant({ do: "repair" as const }) },
  { weight: 1, arbitrary: fc.constant({ do: "clear" as const }) },
  { weight: 1, arbitrary: fc.constant({ do: "undo" as const }) },
)

type Step = typeof step extends fc.Arbitrary<infer A> ? A : never

/** Each message of the branch in force that cannot be read, by its index and the version of its event. */
const damagedOn = (memory: Memory.Service, broken: ReadonlySet<number>) =>
  Effect.gen(function* () {
    const { gaps } = yield* memory.state("s")
    const events = [...(yield* Stream.runCollect(memory.events("s")))]
    return events
      .filter(({ event }) => event._tag === "MessageAppended" || event._tag === "DamagedMessage")
      .filter(({ version }) => !gaps.some(({ from, to }) => from <= version && version <= to))
      .flatMap(({ version }, index) => (broken.has(version) ? [{ index, version }] : []))
  })

const placesNamed = ({ layout }: Render.Context) =>
  layout
    .flatMap(({ section, from, to }) =>
      section === "unreadable" ? Array.from({ length: to - from }, (_, place) => from + place) : [],
    )
    .toSorted((one, other) => one - other)

/** Plays steps; after each, what cannot be read is named where it is, told once, and no summarizer takes a conversation for whole. */
const playDamaged = (steps: ReadonlyArray<Step>) =>
  Effect.gen(function* () {
    const { log, broken } = yield* damageable
    const aside = new Set<number>()
    let told: Array<number> = []
    const logger = Logger.make(({ logLevel, annotations }) => {
      if (logLevel._tag === "Error")
        told.push(Number([...annotations].find(([name]) => name === "version")?.[1]))
    })
    let missing: ReadonlyArray<number> = []
    /** How many messages are missing for a summarizer, of how many it reads that, and whether a context hides it. */
    const asked: Array<readonly [gone: number, said: number, isTold: boolean]> = []
    const watched: Summarizer.Service = {
      ...echo,
      asksInContext: true,
      summarize: (request) => {
        const gone = missing.filter((index) => request.messagesFrom <= index && index < request.to).length
        const said = (messages: ReadonlyArray<Message.Message>) =>
          texts(messages).filter((text) => text.includes("A message is missing here")).length
        asked.push([gone, said(request.messages), request.wholeContext === undefined || gone === 0])
        if (request.context !== undefined) asked.push([gone, said(request.context.messages), true])
        return echo.summarize(request)
      },
    }
    let memory = yield* engine(log, watched)
    const seen = new Set<number>()
    const reopen = Effect.gen(function* () {
      memory = yield* engine(log, watched)
      seen.clear()
      told = []
    })
    let count = 0
    const damage = (message: number) =>
      Effect.gen(function* () {
        const events = [...(yield* Stream.runCollect(memory.events("s")))]
        const sound = events.filter(({ event }) => event._tag === "MessageAppended")
        const hit = sound[message % Math.max(sound.length, 1)]
        if (hit !== undefined) broken.add(hit.version)
        yield* reopen
      })
    const repair = Effect.gen(function* () {
      expect((yield* Repair.repair(log, "s")).left).toEqual([])
      for (const version of broken) aside.add(version)
      yield* reopen
    })
    const act = (
      one: Step,
    ): Effect.Effect<unknown, Memory.MemoryError | { readonly _tag: string }, Scope.Scope> => {
      switch (one.do) {
        case "append":
          return memory.append("s", said(one.count, (count += 8)))
        case "edit":
          return memory.edit("s", one.at, said(1, (count += 8)))
        case "checkout":
          return Effect.flatMap(memory.branches("s"), (branches) =>
            memory.checkout("s", branches[one.branch % branches.length]!.id),
          )
        case "damage":
          return damage(one.message)
        case "repair":
          return repair
        case "compact":
          return memory.compact("s", { which: "due" })
        case "clear":
          return memory.clear("s")
        case "undo":
          return memory.undo("s")
      }
    }
    const logged = Effect.provide(Logger.replace(Logger.defaultLogger, logger))
    for (const one of steps) {
      missing = (yield* damagedOn(memory, broken)).map(({ index }) => index)
      const done = yield* logged(Effect.either(act(one)))
      if (Either.isLeft(done)) expect(done.left._tag).toBe("UnknownMessage")
      expect(asked.filter(([gone, said, isTold]) => gone !== said || !isTold)).toEqual([])
      const context = yield* logged(memory.context("s"))
      const damaged = yield* damagedOn(memory, broken)
      expect(placesNamed(context)).toEqual(damaged.map(({ index }) => index))
      expect((yield* memory.messages("s", { limit: 200 })).unreadable).toEqual(
        damaged.map(({ index }) => index),
      )
      for (const { version } of damaged) if (!aside.has(version)) seen.add(version)
      expect(told.toSorted((one, other) => one - other)).toEqual(
        [...seen].toSorted((one, other) => one - other),
      )
    }
  }).pipe(Effect.scoped)

describe("messages that cannot be read, on any branch", () => {
  it("are named where they are, told once, and missing for every summarizer", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 24 }), (steps) =>
        Effect.runPromise(playDamaged([{ do: "append", count: 5 }, ...steps])),
      ),
      { numRuns: often(25, 1_000) },
    )
  })
})

describe("reasoning behind a message that cannot be read", () => {
  it.scoped("is left out until the message is set aside (L17)", () =>
    Effect.gen(function* () {
      const thinking: Message.Message = {
        role: "assistant",
        parts: [
          { type: "reasoning", text: "so", signature: "signed" },
          { type: "text", text: "answer" },
        ],
      }
      const { log, broken } = yield* damageable
      const first = yield* engine(log)
      yield* first.append("s", Message.user("a"))
      yield* first.append("s", thinking)
      yield* first.append("s", Message.user("b"))
      const reasoning = (messages: ReadonlyArray<Message.Message>) =>
        messages.flatMap(({ parts }) => parts).filter(({ type }) => type === "reasoning").length
      expect(reasoning((yield* first.context("s")).messages)).toBe(1)
      broken.add(1)
      const second = yield* engine(log)
      expect(reasoning((yield* second.context("s")).messages)).toBe(0)
      yield* Repair.repair(log, "s")
      const third = yield* engine(log)
      const { prefix, messages } = yield* third.context("s")
      expect(reasoning(messages)).toBe(0)
      yield* third.append("s", thinking, { prefix })
      expect(reasoning((yield* third.context("s")).messages)).toBe(1)
    }),
  )
})
