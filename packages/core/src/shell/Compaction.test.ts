import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Ref, Stream, TestClock } from "effect"
import { echo, gated, pairs, said, withMemory } from "@memfold/harness/engine"
import {
  EventLog,
  SummaryMode,
  InMemoryEventLog,
  Keep,
  Memory,
  Message,
  ToolNotes,
  Session,
  Split,
  Strategy,
  Summarizer,
  TokenCounter,
  Trigger,
  Verify,
} from "../index.js"
import * as Prune from "../policy/Prune.js"

const tags = (session: string) =>
  Effect.flatMap(Memory.Memory, (memory) =>
    memory.events(session).pipe(
      Stream.map(({ event }) => event._tag),
      Stream.filter((tag) => tag !== "MessageAppended"),
      Stream.runCollect,
      Effect.map((all) => [...all]),
    ),
  )

const answering = (result: Summarizer.Result): Summarizer.Service => ({
  name: "fixed",
  summarize: () => Effect.succeed(result),
})

describe("where nothing is compacted by itself", () => {
  for (const mode of ["manual", "off"] as const)
    it.effect(`an append does not ask what is due, in a tail without end: ${mode}`, () => {
      let asked = 0
      const strategy = Strategy.make({
        name: "always due",
        when: {
          due: () => {
            asked++
            return "always"
          },
        },
        keep: Keep.lastMessages(2),
        summaryMode: SummaryMode.rolling,
      })
      return Effect.gen(function* () {
        const memory = yield* Memory.Memory
        for (let turn = 0; turn < 5; turn++) yield* memory.append("s", said(2, 2 * turn))
        expect(asked).toBe(0)
        expect(yield* tags("s")).toEqual([])
      }).pipe(Effect.provide(withMemory({ strategy, compaction: { mode } })))
    })
})

describe("a compaction that goes well", () => {
  it.effect("commits, then supersedes, and says what it saved", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", said(6))
      const [first] = yield* memory.compact("s", { which: "due" })
      expect(first).toMatchObject({
        _tag: "Committed",
        started: { reason: "backlog", from: 0, to: 4, parts: [{ kind: "history", from: 0, to: 4 }] },
        committed: { coveredTo: 4, carried: 0, segments: [{ text: "[0,4)" }], calls: 1, summarizer: "echo" },
        supersedes: null,
      })
      yield* memory.append("s", said(4, 6))
      const [second] = yield* memory.compact("s", { which: "due" })
      expect(second).toMatchObject({
        started: { from: 4, to: 8 },
        committed: { segments: [{ text: "[0,8)" }] },
      })
      expect(yield* tags("s")).toEqual([
        "CompactionStarted",
        "SummaryCommitted",
        "CompactionStarted",
        "SummaryCommitted",
        "SummarySuperseded",
      ])
      const state = yield* memory.state("s")
      const context = yield* memory.context("s")
      expect(second?._tag === "Committed" && second.committed.tokensAfter).toBe(context.tokens)
      expect(state.supersededCount).toBe(1)
      expect(context.messages.map(Message.text)[0]).toBe("[Conversation Summary]\n[0,8)")
    }).pipe(Effect.provide(withMemory({ strategy: pairs, compaction: { mode: "manual" } }))),
  )

  it.effect("takes on demand what no trigger asked for, and still leaves the tail (L2)", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", said(4))
      expect(yield* memory.compact("s", { which: "due" })).toEqual([])
      expect(yield* memory.compact("s")).toMatchObject({
        _tag: "Committed",
        started: { reason: "demand", to: 2 },
      })
      expect(yield* memory.compact("s")).toEqual({ _tag: "Idle", reason: "nothing-to-take" })
    }).pipe(Effect.provide(withMemory({ strategy: pairs, compaction: { mode: "manual" } }))),
  )

  it.effect("drops without a summarizer when the fold says so", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", said(7))
      yield* memory.compact("s", { which: "due" })
      const context = yield* memory.context("s")
      expect(context.layout).toMatchObject([
        { section: "summary", from: 0, to: 5, tokens: 0 },
        { section: "uncovered", from: 5, to: 6 },
        { section: "current", from: 6, to: 7 },
      ])
      expect(context.messages).toHaveLength(2)
    }).pipe(
      Effect.provide(
        withMemory(
          { strategy: { ...pairs, summaryMode: SummaryMode.drop }, compaction: { mode: "manual" } },
          answering({ text: "never called" }),
        ),
      ),
    ),
  )
})

describe("a summarizer that misbehaves (L8)", () => {
  const refusals: ReadonlyArray<readonly [reason: string, result: Summarizer.Result]> = [
    ["empty", { text: "  \n" }],
    ["truncated", { text: "half a sum", finish: "length" }],
    ["refused", { text: "I cannot", finish: "refused" }],
    ["not-smaller", { text: "word ".repeat(500) }],
  ]
  for (const [reason, result] of refusals) {
    it.effect(`is refused when its result is ${reason}; nothing is lost`, () =>
      Effect.gen(function* () {
        const memory = yield* Memory.Memory
        yield* memory.append("s", said(6))
        const outcomes = yield* memory.compact("s", { which: "due" })
        expect(outcomes).toMatchObject([{ _tag: "Failed", error: { reason, session: "s" } }])
        expect(yield* tags("s")).toEqual(["CompactionStarted", "CompactionFailed"])
        expect((yield* memory.context("s")).messages).toHaveLength(6)
        expect(yield* Verify.session(yield* EventLog.EventLog, "s")).toEqual([])
      }).pipe(
        Effect.provide(withMemory({ strategy: pairs, compaction: { mode: "manual" } }, answering(result))),
      ),
    )
  }

  it.effect("may throw: that is a failure, and what it threw stays out of the log", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", said(6))
      const fiber = yield* Effect.fork(memory.compact("s", { which: "due" }))
      yield* TestClock.adjust("10 seconds")
      const [outcome] = yield* Fiber.join(fiber)
      expect(outcome).toMatchObject({ _tag: "Failed", error: { reason: "unavailable" } })
      const log = yield* Stream.runCollect(memory.events("s"))
      expect(JSON.stringify([...log])).not.toContain("secret")
    }).pipe(
      Effect.provide(
        withMemory(
          { strategy: pairs, compaction: { mode: "manual" } },
          {
            name: "throwing",
            summarize: () => {
              throw new Error("secret of the conversation")
            },
          },
        ),
      ),
    ),
  )

  it.effect("is given up after its time, and asked as often as the setting says", () =>
    Effect.gen(function* () {
      const asked = yield* Ref.make(0)
      const silent: Summarizer.Service = {
        name: "silent",
        summarize: () =>
          Effect.zipRight(
            Ref.update(asked, (n) => n + 1),
            Effect.never,
          ),
      }
      const outcome = yield* Effect.gen(function* () {
        const memory = yield* Memory.Memory
        yield* memory.append("s", said(6))
        const fiber = yield* Effect.fork(memory.compact("s", { which: "due" }))
        yield* TestClock.adjust("5 minutes")
        return yield* Fiber.join(fiber)
      }).pipe(
        Effect.provide(
          withMemory(
            {
              strategy: pairs,
              compaction: { mode: "manual", summarizerTimeout: "30 seconds", summarizerRetries: 3 },
            },
            silent,
          ),
        ),
      )
      expect(outcome).toMatchObject([{ _tag: "Failed", error: { reason: "timeout" } }])
      expect(yield* Ref.get(asked)).toBe(4)
    }),
  )

  it.effect("is left alone for a while after a failure, longer after each, and tried again (L9)", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", said(6))
      expect(yield* memory.compact("s", { which: "due" })).toHaveLength(1)
      expect(yield* memory.compact("s", { which: "due" })).toHaveLength(0)
      yield* TestClock.adjust("59 seconds")
      expect(yield* memory.compact("s", { which: "due" })).toHaveLength(0)
      yield* TestClock.adjust("1 second")
      expect(yield* memory.compact("s", { which: "due" })).toHaveLength(1)
      yield* TestClock.adjust("119 seconds")
      expect(yield* memory.compact("s", { which: "due" })).toHaveLength(0)
      yield* TestClock.adjust("1 second")
      expect(yield* memory.compact("s", { which: "due" })).toHaveLength(1)
      expect((yield* memory.state("s")).failures?.count).toBe(3)
    }).pipe(
      Effect.provide(
        withMemory({ strategy: pairs, compaction: { mode: "manual" } }, answering({ text: "" })),
      ),
    ),
  )

  it.effect("is tried again with new messages, too, where the clock stands still", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", said(6))
      yield* memory.compact("s", { which: "due" })
      yield* memory.append("s", said(7, 6))
      expect(yield* memory.compact("s", { which: "due" })).toHaveLength(0)
      yield* memory.append("s", said(1, 13))
      expect(yield* memory.compact("s", { which: "due" })).toHaveLength(1)
    }).pipe(
      Effect.provide(
        withMemory({ strategy: pairs, compaction: { mode: "manual" } }, answering({ text: "" })),
      ),
    ),
  )
})

/** A question, a call of a tool and what came of it, and an answer. */
const asked = (output: string, { name = "t", given = {}, isError = false } = {}) => [
  Message.user("what does it say?"),
  Message.call([{ id: "1", name, arguments: JSON.stringify(given) }]),
  Message.result({ id: "1", output, isError }),
  Message.assistant("it says so"),
]

describe("pruning", () => {
  const output = "a line of output\n".repeat(100)
  const clear = Prune.hardClear({ keep: Keep.lastMessages(4) })
  const masking = Strategy.make({
    name: "masking",
    when: Trigger.uncovered({ messages: 1 }),
    keep: Keep.lastMessages(4),
    summaryMode: SummaryMode.none,
    prune: [clear],
  })
  const both = { ...pairs, keep: Keep.lastMessages(6), prune: [clear] }
  /** What the log has, for each tool output. */
  const outputs = Effect.gen(function* () {
    const memory = yield* Memory.Memory
    const events = yield* Stream.runCollect(memory.events("s"))
    return [...events].flatMap(({ event }) =>
      event._tag === "MessageAppended" ? Message.results(event.message).map(({ output }) => output) : [],
    )
  })
  const never = { ...echo, summarize: () => Effect.die("nobody is to be asked") }

  it.effect("alone leaves every message raw, asks no summarizer, and settles (L9)", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", [...asked(output), ...asked(output)])
      const before = yield* memory.context("s")
      const [outcome, ...others] = yield* memory.compact("s", { which: "due" })
      expect(others).toEqual([])
      expect(outcome).toMatchObject({
        _tag: "Pruned",
        started: { reason: "uncovered", from: 0, to: 0, parts: [] },
        pruned: { outputs: [{ index: 2, part: 0, method: "hard-clear", originalLength: output.length }] },
      })
      expect(yield* tags("s")).toEqual(["CompactionStarted", "ToolOutputsPruned"])
      const state = yield* memory.state("s")
      const context = yield* memory.context("s")
      expect(state).toMatchObject({ coveredTo: 0, total: 8, summary: null, running: null, failures: null })
      expect(context.messages.map(Message.text)).toEqual(
        before.messages.map((message, index) =>
          index === 2 ? Prune.note("hard-clear", output.length) : Message.text(message),
        ),
      )
      expect(context.messages[2]?.metadata).toMatchObject({
        memfold: { pruned: true, originalLength: output.length, prunedMethod: "hard-clear" },
      })
      const counted = TokenCounter.ofMessage(TokenCounter.estimating, context.messages[2]!)
      expect(outcome?._tag === "Pruned" && outcome.pruned.outputs[0]?.tokens).toBe(counted)
      expect(Session.contextTokens(state)).toBe(context.tokens)
      expect(state.appendedTokens).toBe(before.tokens)
      expect(context.tokens).toBeLessThan(before.tokens)
      expect(yield* outputs).toEqual([output, output])
      expect(yield* memory.compact("s", { which: "due" })).toEqual([])
      expect(yield* memory.compact("s")).toEqual({ _tag: "Idle", reason: "nothing-to-take" })
      expect(yield* memory.context("s", { atVersion: 8 })).toEqual(before)
      expect(yield* Verify.session(yield* EventLog.EventLog, "s")).toEqual([])
    }).pipe(Effect.provide(withMemory({ strategy: masking, compaction: { mode: "manual" } }, never))),
  )

  it.effect("goes into the same batch as the summary, which says what both have saved", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      for (const turn of [0, 1]) {
        yield* memory.append("s", [...said(4, turn * 12), ...asked(output), ...asked(output)])
        const before = yield* memory.context("s")
        const [outcome] = yield* memory.compact("s", { which: "due" })
        expect(outcome).toMatchObject({
          _tag: "Committed",
          started: { from: turn * 5, to: turn * 12 + 5 },
          pruned: { outputs: [{ index: turn * 12 + 6 }] },
        })
        const state = yield* memory.state("s")
        const context = yield* memory.context("s")
        expect(outcome?._tag === "Committed" && outcome.committed).toMatchObject({
          tokensBefore: before.tokens,
          tokensAfter: context.tokens,
        })
        expect(Session.contextTokens(state)).toBe(context.tokens)
      }
      const events = yield* Stream.runCollect(memory.events("s"))
      const last = [...events].slice(-3)
      expect(last.map(({ event }) => event._tag)).toEqual([
        "ToolOutputsPruned",
        "SummaryCommitted",
        "SummarySuperseded",
      ])
      expect(new Set(last.map(({ id }) => id.slice(0, id.lastIndexOf(".")))).size).toBe(1)
      expect(yield* outputs).toEqual([output, output, output, output])
      expect(yield* Verify.session(yield* EventLog.EventLog, "s")).toEqual([])
    }).pipe(Effect.provide(withMemory({ strategy: both, compaction: { mode: "manual" } }))),
  )

  it.effect("of nothing is not mentioned", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", said(10))
      expect(yield* memory.compact("s", { which: "due" })).toMatchObject([
        { _tag: "Committed", pruned: null },
      ])
      expect(yield* tags("s")).toEqual(["CompactionStarted", "SummaryCommitted"])
    }).pipe(Effect.provide(withMemory({ strategy: both, compaction: { mode: "manual" } }))),
  )

  it.effect("does not happen where the summary fails (L8)", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", [...said(4), ...asked(output), ...asked(output)])
      expect(yield* memory.compact("s", { which: "due" })).toMatchObject([{ _tag: "Failed" }])
      expect(yield* tags("s")).toEqual(["CompactionStarted", "CompactionFailed"])
      const { messages } = yield* memory.context("s")
      expect(messages.map(Message.text)).toContain(output)
    }).pipe(
      Effect.provide(withMemory({ strategy: both, compaction: { mode: "manual" } }, answering({ text: "" }))),
    ),
  )

  it.effect("copes with an output that ends with half a surrogate pair", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", [...asked(`${output}\ud83d`), ...asked("short")])
      expect(yield* memory.compact("s", { which: "due" })).toMatchObject([{ _tag: "Pruned" }])
      const { messages } = yield* memory.context("s")
      expect(Message.text(messages[2]!)).toBe(Prune.note("hard-clear", output.length + 1))
    }).pipe(Effect.provide(withMemory({ strategy: masking, compaction: { mode: "manual" } }, never))),
  )
})

describe("what is noted down from tool calls", () => {
  const notes = {
    failures: { maxFailures: 8, maxCharacters: 240 },
    files: ToolNotes.commonFileTools,
  }
  const splitting = Strategy.make({
    name: "splitting",
    when: Trigger.uncovered({ tokens: 1 }),
    keep: Keep.currentTurn,
    summaryMode: SummaryMode.rolling,
    split: Split.tailAbove(40, { prefix: 1_000 }),
    toolNotes: notes,
  })
  const failing = { name: "weather", isError: true }

  it.effect("are the failures, word for word, behind the prefix of a split turn alone", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", [
        ...asked("of an earlier turn", failing),
        ...asked("no such city", failing),
        ...said(1).map((message) => ({ ...message, role: "assistant" as const })),
      ])
      const [outcome] = yield* memory.compact("s", { which: "due" })
      expect(outcome?._tag === "Committed" && outcome.committed.segments).toEqual([
        { kind: "history", from: 0, to: 4, text: "[0,4)" },
        {
          kind: "turn-prefix",
          from: 4,
          to: 8,
          text: "[4,8)\n\n**Tool failures:**\n- weather: no such city",
        },
      ])
      const { messages } = yield* memory.context("s")
      expect(Message.text(messages[0]!)).toContain("- weather: no such city")
    }).pipe(Effect.provide(withMemory({ strategy: splitting, compaction: { mode: "manual" } }))),
  )

  it.effect("are the failures of the parts that were split off before, too", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      const answers = said(1).map((message) => ({ ...message, role: "assistant" as const }))
      yield* memory.append("s", [...asked("no such city", failing), ...answers])
      yield* memory.compact("s", { which: "due" })
      yield* memory.append("s", [...asked("timeout", failing).slice(1), ...answers])
      yield* memory.compact("s", { which: "due" })
      const state = yield* memory.state("s")
      expect(state.summary?.segments.map(({ text }) => text)).toEqual([
        "[0,8)\n\n**Tool failures:**\n- weather: no such city\n- weather: timeout",
      ])
    }).pipe(Effect.provide(withMemory({ strategy: splitting, compaction: { mode: "manual" } }))),
  )

  it.effect("are the files, from summary to summary, also where a strategy notes none down", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      const strategy = { ...pairs, toolNotes: notes }
      const files = Effect.map(memory.state("s"), ({ summary }) => summary?.files)
      yield* memory.append("s", asked("x", { name: "read", given: { path: "a.ts" } }))
      yield* memory.append("s", [...asked("x", { name: "read", given: { path: "b.ts" } }), ...said(2)])
      yield* memory.compact("s", { which: "due", strategy })
      expect(yield* files).toEqual({ read: ["a.ts", "b.ts"], modified: [] })
      yield* memory.append("s", [...asked("x", { name: "edit", given: { path: "a.ts" } }), ...said(4)])
      yield* memory.compact("s", { which: "due", strategy })
      expect(yield* files).toEqual({ read: ["b.ts"], modified: ["a.ts"] })
      yield* memory.append("s", [...asked("x", { name: "edit", given: { path: "c.ts" } }), ...said(4)])
      const [outcome] = yield* memory.compact("s", { which: "due" })
      expect(yield* files).toEqual({ read: ["b.ts"], modified: ["a.ts"] })
      const { messages, tokens } = yield* memory.context("s")
      expect(Message.text(messages[0]!)).toBe(
        "[Conversation Summary]\n[0,24)\n\n" +
          "<read-files>\nb.ts\n</read-files>\n\n<modified-files>\na.ts\n</modified-files>",
      )
      expect(outcome?._tag === "Committed" && outcome.committed.tokensAfter).toBe(tokens)
    }).pipe(Effect.provide(withMemory({ strategy: pairs, compaction: { mode: "manual" } }))),
  )

  it.effect("are the files alone, where the messages are dropped without a word", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", [...asked("x", { name: "read", given: { path: "a.ts" } }), ...said(4)])
      yield* memory.compact("s", { which: "due" })
      const { messages, tokens } = yield* memory.context("s")
      expect(messages.map(Message.text)[0]).toBe("[Conversation Summary]\n<read-files>\na.ts\n</read-files>")
      expect(Session.contextTokens(yield* memory.state("s"))).toBe(tokens)
    }).pipe(
      Effect.provide(
        withMemory({
          strategy: { ...pairs, summaryMode: SummaryMode.drop, toolNotes: notes },
          compaction: { mode: "manual" },
        }),
      ),
    ),
  )
})

describe("chunking", () => {
  it.effect("hands a large input over in pieces, each merged into the text before, and nothing is cut", () =>
    Effect.gen(function* () {
      const requests: Array<Summarizer.Request> = []
      const small: Summarizer.Service = {
        name: "small",
        maxInputTokens: 60,
        summarize: (request) => {
          requests.push(request)
          return Effect.succeed({ text: `part ${requests.length}` })
        },
      }
      const huge = Array.from({ length: 400 }, (_, word) => `word${word}`).join(" ")
      yield* Effect.gen(function* () {
        const memory = yield* Memory.Memory
        yield* memory.append("s", [...said(1), Message.assistant(huge), ...said(4, 2)])
        const [outcome] = yield* memory.compact("s", { which: "due" })
        expect(outcome).toMatchObject({
          _tag: "Committed",
          committed: { calls: requests.length, segments: [{ text: `part ${requests.length}` }] },
        })
      }).pipe(Effect.provide(withMemory({ strategy: pairs, compaction: { mode: "manual" } }, small)))
      expect(requests.length).toBeGreaterThan(10)
      expect(requests.map((request) => request.previous)).toEqual([
        undefined,
        ...requests.slice(1).map((_, call) => `part ${call + 1}`),
      ])
      const seen = requests.flatMap((request) => request.messages.map(Message.text)).join("")
      expect(seen).toContain("message number 0")
      expect(seen).toContain(huge)
    }),
  )
})

describe("while it runs", () => {
  it.effect("messages go on coming in; they are kept and looked at afterwards (L4, L11)", () =>
    Effect.gen(function* () {
      const { entered, gate, summarizer } = yield* gated
      yield* Effect.gen(function* () {
        const memory = yield* Memory.Memory
        yield* memory.append("s", said(6))
        yield* Deferred.await(entered)
        yield* memory.append("s", said(4, 6))
        expect((yield* memory.context("s")).messages).toHaveLength(10)
        yield* Deferred.succeed(gate, undefined)
        // The background fiber finishes the first compaction and takes the second look by itself.
        const state = yield* Effect.repeat(Effect.zipRight(Effect.yieldNow(), memory.state("s")), {
          until: ({ coveredTo }) => coveredTo === 8,
          times: 1_000,
        })
        expect(state.coveredTo).toBe(8)
      }).pipe(Effect.provide(withMemory({ strategy: pairs }, summarizer)))
    }),
  )

  it.effect("a clear wins over it: the late result is thrown away", () =>
    Effect.gen(function* () {
      const { entered, gate, summarizer } = yield* gated
      yield* Effect.gen(function* () {
        const memory = yield* Memory.Memory
        yield* memory.append("s", said(6))
        const fiber = yield* Effect.fork(memory.compact("s", { which: "due" }))
        yield* Deferred.await(entered)
        yield* memory.clear("s")
        yield* Deferred.succeed(gate, undefined)
        expect(yield* Fiber.join(fiber)).toMatchObject([{ _tag: "Lost" }])
        expect(yield* memory.state("s")).toMatchObject({ total: 0, summary: null, coveredTo: 0 })
        expect(yield* tags("s")).toEqual(["CompactionStarted", "SessionCleared"])
      }).pipe(Effect.provide(withMemory({ strategy: pairs, compaction: { mode: "manual" } }, summarizer)))
    }),
  )

  it.effect("an engine that is shut down gives the lock back", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const { entered, summarizer } = yield* gated
      yield* Effect.gen(function* () {
        const memory = yield* Memory.make({ strategy: pairs })
        yield* memory.append("s", said(6))
        yield* Deferred.await(entered)
      }).pipe(
        Effect.provideService(Summarizer.Summarizer, summarizer),
        Effect.provideService(EventLog.EventLog, log),
        Effect.scoped,
      )
      const next = yield* Memory.make({ strategy: pairs, compaction: { mode: "manual" } }).pipe(
        Effect.provideService(EventLog.EventLog, log),
        Effect.provideService(Summarizer.Summarizer, echo),
      )
      expect(yield* next.compact("s", { which: "due" })).toMatchObject([{ _tag: "Committed" }])
    }).pipe(Effect.scoped),
  )
})
