/** Options and arguments that are not allowed are refused by name, before anything is read or written. */
import { describe, expect, it } from "@effect/vitest"
import { Cause, Effect, Exit, Stream } from "effect"
import * as fc from "fast-check"
import { often } from "@memfold/harness/depth"
import { echo, pairs, said, withMemory } from "@memfold/harness/engine"
import { EventLog, InMemoryEventLog, Memory, Message, TokenCounter, Summarizer } from "../index.js"

const nothing: ReadonlyArray<unknown> = [5, "x", true, [], null]
const noCount: ReadonlyArray<unknown> = [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "3", {}, null]
const noDuration: ReadonlyArray<unknown> = [
  "2 parsecs",
  "x",
  {},
  null,
  Number.NaN,
  [],
  -1,
  "-1 seconds",
  [-1, 0],
]

/** Values that each option cannot have. */
const wrong: Readonly<Record<string, ReadonlyArray<unknown>>> = {
  strategy: [
    ...nothing,
    undefined,
    {},
    () => pairs,
    { ...pairs, when: {} },
    { ...pairs, keep: null },
    { ...pairs, batchSize: 4 },
    { ...pairs, summaryMode: "sometimes" },
    { ...pairs, context: { wording: {} } },
    { ...pairs, context: { ...pairs.context, maxMessages: 0 } },
    { ...pairs, pin: () => true },
    { ...pairs, summarySize: { share: 25, maxTokens: 100 } },
    { ...pairs, summarySize: { share: 0.25 } },
    { ...pairs, mergeBlocks: { above: 0, maxTokens: 100 } },
  ],
  shadow: [...nothing, {}],
  wording: [...nothing, {}, { role: "assistant", heading: "", between: "", beforeTurnPrefix: "" }],
  compaction: [...nothing],
  "compaction.mode": [...nothing, "sometimes", {}],
  "compaction.hooks": [
    ...nothing,
    { beforeCompaction: 5 },
    { afterCompaction: "x" },
    { beforecompaction: () => {} },
  ],
  "compaction.shutdown": noDuration,
  "compaction.backOff": noDuration,
  "compaction.summarizerTimeout": noDuration,
  "compaction.lease": [...noDuration, 0, "2 hours", Number.POSITIVE_INFINITY],
  "compaction.summarizerRetries": noCount,
  "compaction.concurrency": [...noCount, 0],
  // A name with a typing mistake.
  "compaction.modes": ["manual"],
  budget: [
    ...nothing,
    {},
    { tokens: 0 },
    { tokens: Number.NaN },
    { tokens: 5, timeout: "soon" },
    { tokens: 5, timout: 1 },
  ],
  audit: [...nothing, { reads: 5 }, { read: true }],
  spend: [
    ...nothing,
    { total: {} },
    { total: { tokens: 0 } },
    { total: { token: 5 } },
    { totals: { tokens: 5 } },
  ],
  load: [...nothing],
  "load.appends": [...noCount, 0],
  trust: [...nothing, "apart"],
  minimumOrigin: [...nothing, "tools"],
  beforeAppend: [...nothing, {}],
  boundReasoning: [...nothing, "drop"],
  indexAhead: [5, "x", [], null],
  cachedSessions: [...noCount, 0],
  summarizer: [...nothing, {}, { name: "x" }, { name: "x", summarize: 5 }, { ...echo, fallback: 5 }],
  tokenCounter: [...nothing, {}, { name: "x", count: 5 }],
}

/** The options with another value for one of them, which a dot may name in its group. */
const changed = (options: Readonly<Record<string, unknown>>, option: string, value: unknown) => {
  const [name = "", inner] = option.split(".")
  return {
    ...options,
    [name]: inner === undefined ? value : { ...(options[name] as object), [inner]: value },
  }
}

const valid = {
  strategy: pairs,
  shadow: pairs,
  wording: pairs.context.wording,
  compaction: {
    mode: "manual",
    hooks: {},
    shutdown: 0,
    backOff: "1 minute",
    summarizerTimeout: 1_000,
    lease: "1 hour",
    summarizerRetries: 0,
    concurrency: 1,
  },
  budget: { tokens: 100, timeout: "1 second" },
  audit: { reads: true },
  spend: { total: { tokens: 5 } },
  load: { appends: 1 },
  trust: "separate",
  minimumOrigin: "tool",
  beforeAppend: () => undefined,
  boundReasoning: "keep",
  indexAhead: false,
  cachedSessions: 1,
  summarizer: echo,
  tokenCounter: TokenCounter.estimating,
}

const opened = ({ summarizer, tokenCounter, ...options }: Record<string, unknown>) =>
  Memory.make(options as never).pipe(
    Effect.provideServiceEffect(EventLog.EventLog, InMemoryEventLog.make),
    Effect.provideService(Summarizer.Summarizer, summarizer as never),
    Effect.provideService(TokenCounter.TokenCounter, tokenCounter as never),
    Effect.scoped,
    Effect.runPromiseExit,
  )

describe("the options of a memory", () => {
  const mutation = fc.constantFrom(
    ...Object.entries(wrong).flatMap(([option, values]) => values.map((value) => [option, value] as const)),
  )

  it("are refused by name when one of them is not allowed", async () => {
    await fc.assert(
      fc.asyncProperty(
        mutation,
        fc.subarray(Object.keys(valid).filter((name) => name !== "strategy")),
        async ([option, value], left) => {
          const needed = new Set(["strategy", "summarizer", "tokenCounter", option.split(".")[0]])
          const given = Object.fromEntries(
            Object.entries(valid).filter(([name]) => needed.has(name) || left.includes(name)),
          )
          expect((await opened(given))._tag).toBe("Success")
          const exit = await opened(changed(given, option, value))
          const defect = Exit.isFailure(exit) ? [...Cause.defects(exit.cause)][0] : undefined
          expect(defect).toMatchObject({ _tag: "InvalidOption", option })
          const isKnown = option !== "compaction.modes"
          expect(String(defect)).toContain(isKnown ? `"${option}" must be` : `no option "${option}"`)
        },
      ),
      { numRuns: often(80, 300) },
    )
  })

  it("are all checked", () => {
    const { compaction, ...others } = valid
    const names = [
      "compaction",
      "load.appends",
      ...Object.keys(compaction).map((name) => `compaction.${name}`),
    ]
    expect(Object.keys(wrong).toSorted()).toEqual(
      [...Object.keys(others), ...names, "compaction.modes"].toSorted(),
    )
    for (const [option, values] of Object.entries(wrong)) {
      for (const value of values) {
        expect(
          Memory.checkOptions(changed(valid, option, value)),
          `${option}: ${String(value)}`,
        ).toMatchObject({ option })
      }
    }
    expect(Memory.checkOptions(valid)).toBeNull()
    for (const options of nothing) expect(Memory.checkOptions(options)?.option).toBe("options")
  })
})

describe("the arguments of a call", () => {
  const invalid = <A, E>(effect: Effect.Effect<A, E, Memory.Memory>) =>
    Effect.map(Effect.flip(effect), (error) =>
      expect(error).toMatchObject({ _tag: "InvalidInput", session: "s" }),
    )
  const memory = Memory.Memory

  it.effect("are refused with typed errors, and nothing is written", () =>
    Effect.gen(function* () {
      const { append, compact, context, events, state, subscribe, fork } = yield* memory
      yield* append("s", said(3))
      for (const strategy of [{}, 5, "x", () => pairs] as ReadonlyArray<unknown> as ReadonlyArray<never>) {
        yield* invalid(append("s", said(1), { strategy }))
        yield* invalid(context("s", { strategy }))
        yield* invalid(compact("s", { strategy }))
        yield* invalid(compact("s", { which: "due", strategy }))
        yield* invalid(compact("s", { which: "all", strategy }))
      }
      for (const options of [
        { instructions: 5 },
        { which: "some" },
        { which: "due", instructions: "Be brief." },
        { which: "all", takeOver: true },
      ] as ReadonlyArray<unknown> as ReadonlyArray<never>)
        yield* invalid(compact("s", options))
      for (const options of [
        { from: Number.NaN },
        { fromVersion: Number.NaN },
        { fromVersion: -1 },
        { pollInterval: "never" },
        { pollInterval: 0 },
        5,
        null,
      ] as ReadonlyArray<unknown> as ReadonlyArray<never>) {
        yield* invalid(Stream.runCollect(subscribe("s", options)))
      }
      yield* invalid(Stream.runCollect(events("s", { fromVersion: Number.NaN })))
      yield* invalid(Stream.runCollect(events("s", { toVersion: 1.5 })))
      for (const atVersion of [4, 100, -1, Number.NaN]) {
        yield* invalid(context("s", { atVersion }))
        yield* invalid(state("s", { atVersion }))
        yield* invalid(fork("s", "t", { atVersion }))
      }
      expect((yield* Effect.flip(context("s", { atVersion: 4 }))).message).toContain("it is at version 3")
      expect((yield* context("s", { atVersion: 3 })).messages).toHaveLength(3)
      expect((yield* state("s")).version).toBe(3)
    }).pipe(Effect.provide(withMemory({ strategy: pairs }))),
  )

  it.effect("are no messages: odd objects, holes and getters that throw", () =>
    Effect.gen(function* () {
      const { append, state } = yield* memory
      const throwing = {
        role: "user",
        get parts(): never {
          throw new TypeError("a getter that throws")
        },
      }
      const holes = Array.from<Message.Message>({ length: 2 })
      holes.length = 4
      holes[2] = Message.user("behind a hole")
      const holedParts: Array<Message.Part> = []
      holedParts[1] = { type: "text", text: "behind a hole" }
      const cyclic: { self?: unknown; role: string } = { role: "user" }
      cyclic.self = cyclic
      const odd: ReadonlyArray<unknown> = [
        { role: "user", parts: [{ type: { toString: "text" }, text: "x" }] },
        { role: "user", parts: [{ type: { toString: () => "text" }, text: "x" }] },
        { role: "user", parts: [{ type: Object.create(null), text: "x" }] },
        { role: { toString: 5, valueOf: 5 }, parts: [] },
        throwing,
        holes,
        { role: "user", parts: holedParts },
        cyclic,
        [throwing],
        { role: "user", parts: [throwing] },
        { role: "user", parts: 5n },
        null,
        undefined,
        Symbol("x"),
        () => Message.user("x"),
        new Proxy(
          {},
          {
            get: () => {
              throw new Error("a trap")
            },
          },
        ),
        {
          toJSON: () => {
            throw new Error("no JSON")
          },
        },
      ]
      for (const message of odd) yield* invalid(append("s", message as never))
      const [error] = yield* Effect.forEach([[Message.user("fine"), odd[0]]], (messages) =>
        Effect.flip(append("s", messages as never)),
      )
      expect(error?.message).toContain("message 1")
      expect((yield* state("s")).version).toBe(0)
    }).pipe(Effect.provide(withMemory({ strategy: pairs }))),
  )
})
