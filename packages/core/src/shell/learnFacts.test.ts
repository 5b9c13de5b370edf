import { describe, expect, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { appended, committed, started } from "@memfold/testing"
import {
  type Event,
  EventLog,
  SummaryMode,
  InMemoryEventLog,
  Keep,
  Memory,
  Message,
  Session,
  Strategy,
  TokenCounter,
  Trigger,
  Summarizer,
} from "../index.js"
import { redact } from "../history/redact.js"
import { estimating } from "@memfold/message/TokenCounter"
import { noSpend } from "./Spend.js"
import { learnFacts } from "./learnFacts.js"
import { LayersError, MemoryLayers, type CompletedTurns, type Service } from "../layers/MemoryLayers.js"
import { echo } from "@memfold/harness/engine"

const fact = (id: string, { from, to }: Pick<CompletedTurns, "from" | "to">): Event.Fact => ({
  id,
  layer: "user",
  kind: "profile",
  text: `fact ${id}`,
  from,
  to,
})

/** Layers that learn as they are told, and remember what they were asked. */
const layersThat = (
  learn: (turns: CompletedTurns) => Effect.Effect<ReadonlyArray<Event.Fact>, LayersError>,
) => {
  const asked: Array<CompletedTurns> = []
  const forgotten: Array<number> = []
  const service: Service = {
    learn: (turns) => {
      asked.push(turns)
      return Effect.map(learn(turns), (facts) => ({ facts }))
    },
    recall: () => Effect.succeed([]),
    facts: () => Effect.succeed([]),
    change: () => Effect.succeed(false),
    forgetMessage: (_, { index }) => Effect.sync(() => void forgotten.push(index)),
    logOf: () => null,
    forgetSessions: () => Effect.void,
  }
  return { service, asked, forgotten }
}

const messages = [
  Message.user("one"),
  Message.assistant("two"),
  Message.user("three"),
  Message.assistant("four"),
]

/** A log with the given messages in session `s`, as one engine and another see it. */
const engines = (given = messages) =>
  Effect.gen(function* () {
    const log = yield* InMemoryEventLog.make
    const sessions = Session.make(log)
    const other = Session.make(log)
    yield* append(sessions, given)
    return { log, sessions, other }
  })

const partsOf = (sessions: Session.Sessions) => ({ sessions, counter: estimating, spend: noSpend })

const append = (sessions: Session.Sessions, given: ReadonlyArray<Message.Message>) =>
  sessions.transact("s", ({ total }) => ({ events: appended(given, { from: total }), answer: undefined }))

const write = (sessions: Session.Sessions, ...events: ReadonlyArray<Event.Event>) =>
  sessions.transact("s", () => ({ events, answer: undefined }))

const learnedOf = (sessions: Session.Sessions) =>
  sessions.events("s").pipe(
    Stream.runCollect,
    Effect.map((events) =>
      [...events].flatMap(({ event }) => (event._tag === "FactsLearned" ? [event] : [])),
    ),
  )

describe("learn", () => {
  it.effect("puts what was learned into the log once, with the rounds it came from", () =>
    Effect.gen(function* () {
      const { sessions } = yield* engines([...messages, Message.user("five")])
      const { service, asked } = layersThat((turns) => Effect.succeed([fact("a", turns)]))
      yield* learnFacts(partsOf(sessions), service, "s")
      yield* learnFacts(partsOf(sessions), service, "s")
      expect(asked.map(({ from, to }) => [from, to])).toEqual([[0, 4]])
      expect(asked[0]?.messages).toEqual(messages)
      expect(yield* learnedOf(sessions)).toEqual([
        {
          _tag: "FactsLearned",
          from: 0,
          to: 4,
          // The lowest origin of its messages.
          facts: [{ ...fact("a", { from: 0, to: 4 }), origin: "assistant" }],
        },
      ])
    }),
  )

  it.effect("notes that it has looked when there was nothing to learn", () =>
    Effect.gen(function* () {
      const { sessions } = yield* engines()
      const { service, asked } = layersThat(() => Effect.succeed([]))
      yield* learnFacts(partsOf(sessions), service, "s")
      yield* learnFacts(partsOf(sessions), service, "s")
      expect(asked).toHaveLength(1)
      expect((yield* sessions.load("s")).learnedTo).toBe(4)
    }),
  )

  it.effect("writes nothing when the layers fail, and takes the rounds along the next time (L8)", () =>
    Effect.gen(function* () {
      const { sessions } = yield* engines(messages.slice(0, 2))
      for (const failing of [
        () => Effect.fail(new LayersError({ session: "s", operation: "learn", detail: "no" })),
        () => Effect.die(new Error("no")),
        () => Effect.interrupt,
        () => {
          throw new Error("no")
        },
      ] as ReadonlyArray<Parameters<typeof layersThat>[0]>) {
        yield* learnFacts(partsOf(sessions), layersThat(failing).service, "s")
      }
      expect(yield* learnedOf(sessions)).toEqual([])
      yield* append(sessions, messages.slice(2))
      const { service, asked } = layersThat(() => Effect.succeed([]))
      yield* learnFacts(partsOf(sessions), service, "s")
      expect(asked.map(({ from, to }) => [from, to])).toEqual([[0, 4]])
    }),
  )

  it.effect("learns from no round twice when another engine was faster with a part", () =>
    Effect.gen(function* () {
      const { sessions, other } = yield* engines()
      let first = true
      const { service, asked } = layersThat((turns) =>
        Effect.gen(function* () {
          if (first)
            yield* write(other, {
              _tag: "FactsLearned",
              from: 0,
              to: 2,
              facts: [fact("other", { from: 0, to: 2 })],
            })
          first = false
          return [fact(`own ${turns.from}`, turns)]
        }).pipe(Effect.orDie),
      )
      yield* learnFacts(partsOf(sessions), service, "s")
      expect(asked.map(({ from, to }) => [from, to])).toEqual([
        [0, 4],
        [2, 4],
      ])
      expect((yield* sessions.load("s")).facts.map(({ id }) => id)).toEqual(["other", "own 2"])
    }),
  )

  it.effect("drops what it found when the session was cleared or begun anew meanwhile", () =>
    Effect.gen(function* () {
      for (const gone of ["clear", "delete"] as const) {
        const { sessions, other } = yield* engines()
        const { service } = layersThat((turns) =>
          Effect.gen(function* () {
            if (gone === "clear") yield* write(other, { _tag: "SessionCleared" })
            else yield* other.delete("s")
            yield* append(other, [Message.user("other", { time: 7 }), Message.assistant("words")])
            return [fact("a", turns)]
          }).pipe(Effect.orDie),
        )
        yield* learnFacts(partsOf(sessions), service, "s")
        expect(yield* learnedOf(sessions)).toEqual([])
      }
    }),
  )

  it.effect("keeps what it found when more was said, or rounds were compacted meanwhile", () =>
    Effect.gen(function* () {
      const { sessions, other } = yield* engines()
      const { service, asked } = layersThat((turns) =>
        Effect.gen(function* () {
          yield* append(other, [Message.user("five")])
          yield* write(other, started(2), committed(2))
          return [fact("a", turns)]
        }).pipe(Effect.orDie),
      )
      yield* learnFacts(partsOf(sessions), service, "s")
      expect(asked).toHaveLength(1)
      expect((yield* sessions.load("s")).facts.map(({ id }) => id)).toEqual(["a"])
    }),
  )

  it.effect("forgets what it found when a message was redacted meanwhile, and looks again (L15)", () =>
    Effect.gen(function* () {
      const { log, sessions, other } = yield* engines()
      let first = true
      const { service, asked, forgotten } = layersThat((turns) =>
        Effect.gen(function* () {
          if (first) yield* redact(log, other, TokenCounter.estimating, "s", 2)
          first = false
          return [{ ...fact("a", turns), text: turns.messages.map(Message.text).join(" ") }]
        }).pipe(Effect.orDie),
      )
      yield* learnFacts(partsOf(sessions), service, "s")
      expect(forgotten).toEqual([2])
      expect(asked.map(({ messages }) => messages.map(Message.text))).toEqual([
        ["one", "two", "three", "four"],
        ["one", "two", "[redacted]", "four"],
      ])
      expect((yield* sessions.load("s")).facts.map(({ text }) => text)).toEqual(["one two [redacted] four"])
    }),
  )
})

describe("a memory whose layers fail", () => {
  it.scoped("asks them again with the next round, and at once of a session that was begun anew (L8)", () =>
    Effect.gen(function* () {
      let fails = true
      const { service, asked } = layersThat(() =>
        fails
          ? Effect.fail(new LayersError({ session: "s", operation: "learn", detail: "no" }))
          : Effect.succeed([]),
      )
      const log = yield* InMemoryEventLog.make
      const memory = yield* Memory.make({
        strategy: Strategy.make({
          name: "never",
          when: Trigger.never,
          keep: Keep.lastMessages(1),
          summaryMode: SummaryMode.rolling,
        }),
        compaction: { mode: "inline" },
      }).pipe(
        Effect.provideService(EventLog.EventLog, log),
        Effect.provideService(MemoryLayers, service),
        Effect.provideService(Summarizer.Summarizer, echo),
      )
      const ranges = () => asked.splice(0).map(({ from, to }) => [from, to])

      for (const message of [...messages, Message.user("five")]) yield* memory.append("s", message)
      expect(ranges()).toEqual([
        [0, 2],
        [0, 4],
      ])
      yield* memory.compact("s", { which: "due" })
      expect(ranges()).toEqual([])

      yield* memory.delete("s")
      fails = false
      for (const message of messages.slice(0, 3)) yield* memory.append("s", message)
      expect(ranges()).toEqual([[0, 2]])
    }),
  )

  it.scoped("asks them again in a session that was deleted and begun anew with the same messages", () =>
    Effect.gen(function* () {
      const { service, asked } = layersThat(() => Effect.die("a bug"))
      const memory = yield* Memory.make({
        strategy: Strategy.make({
          name: "never",
          when: Trigger.never,
          keep: Keep.lastMessages(1),
          summaryMode: SummaryMode.rolling,
        }),
        compaction: { mode: "inline" },
      }).pipe(
        Effect.provideService(EventLog.EventLog, yield* InMemoryEventLog.make),
        Effect.provideService(MemoryLayers, service),
        Effect.provideService(Summarizer.Summarizer, echo),
      )
      const first = Effect.forEach(messages.slice(0, 3), (message) => memory.append("s", message))
      yield* first
      expect(asked).toHaveLength(1)
      yield* memory.delete("s")
      yield* first
      expect(asked).toHaveLength(2)
    }),
  )
})
