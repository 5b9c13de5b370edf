/** Signed reasoning goes back to the provider only behind the prefix that it was produced behind (L17). */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import { echo, pairs, said, withMemory } from "@memfold/harness/engine"
import { often } from "@memfold/harness/depth"
import { makeSigner } from "@memfold/testing/oracle"
import {
  Keep,
  Memory,
  Message,
  Prune,
  Render,
  type Session,
  Strategy,
  SummaryMode,
  Trigger,
} from "../index.js"
import { MemoryLayers, type Service as Layers } from "../layers/MemoryLayers.js"

const manual = { strategy: pairs, compaction: { mode: "manual" } } as const

/** An answer with signed reasoning. */
const thought = (text: string, options: Message.Options = {}): Message.Message => ({
  role: "assistant",
  parts: [
    { type: "reasoning", text: `thinking about ${text}`, signature: `signature of ${text}` },
    { type: "text", text },
  ],
  ...options,
})

/** A call of a tool, after signed reasoning. */
const thoughtCall = (id: string): Message.Message => ({
  role: "assistant",
  parts: [
    { type: "reasoning", text: `thinking about ${id}`, signature: `signature of ${id}` },
    { type: "tool-call", id, name: "find", arguments: "{}" },
  ],
})

/** The signatures in a context. */
const signatures = ({ messages }: Pick<Render.Context, "messages">): ReadonlyArray<string> =>
  messages.flatMap(({ parts }) =>
    parts.flatMap((part) =>
      part.type === "reasoning" && part.signature !== undefined ? [part.signature] : [],
    ),
  )

const leftOut = ({ layout }: Pick<Render.Context, "layout">) =>
  layout.filter(({ section }) => section === "left-out")

/** Turns with signed answers, one append for each message. */
const talk = (turns: number, from = 0) =>
  Effect.gen(function* () {
    const memory = yield* Memory.Memory
    for (let turn = from; turn < from + turns; turn++) {
      yield* memory.append("s", Message.user(`question ${turn}`))
      yield* memory.append("s", thought(`answer ${turn}`))
    }
    return memory
  })

describe("a commit", () => {
  it.effect("leaves the reasoning of the kept messages out, names it, and loses nothing", () =>
    Effect.gen(function* () {
      const memory = yield* talk(4)
      expect(signatures(yield* memory.context("s"))).toHaveLength(4)
      expect(leftOut(yield* memory.context("s"))).toEqual([])
      const tokensOf = (context: Render.Context) =>
        context.layout
          .filter(({ section }) => section === "uncovered")
          .reduce((sum, { tokens }) => sum + tokens, 0)

      yield* memory.compact("s")
      const context = yield* memory.context("s")
      expect((yield* memory.state("s")).coveredTo).toBe(6)
      expect(signatures(context)).toEqual([])
      expect(context.messages.map(Message.text).slice(1)).toEqual(["question 3", "answer 3"])
      expect(leftOut(context)).toEqual([
        { section: "left-out", from: 7, to: 8, tokens: 0, parts: ["reasoning"] },
      ])
      expect(context.tokens).toBe(context.layout.reduce((sum, { tokens }) => sum + tokens, 0))
      const kept = Render.render(yield* memory.state("s"), { boundReasoning: "keep" })
      expect(signatures(kept)).toEqual(["signature of answer 3"])
      expect(leftOut(kept)).toEqual([])
      expect(tokensOf(context)).toBeLessThan(tokensOf(kept))
      expect(JSON.stringify((yield* memory.state("s")).uncovered.at(7))).toContain("signature of answer 3")

      yield* talk(2, 4)
      expect(signatures(yield* memory.context("s"))).toEqual([
        "signature of answer 4",
        "signature of answer 5",
      ])
    }).pipe(Effect.provide(withMemory(manual, echo))),
  )

  it.effect("leaves out what was requested before it and appended after it", () =>
    Effect.gen(function* () {
      const memory = yield* talk(3)
      yield* memory.append("s", Message.user("question 3"))
      const { prefix } = yield* memory.context("s")
      yield* memory.compact("s")
      yield* memory.append("s", thought("answer 3"), { prefix })
      expect(signatures(yield* memory.context("s"))).toEqual([])
      yield* talk(1, 4)
      expect(signatures(yield* memory.context("s"))).toEqual(["signature of answer 4"])
    }).pipe(Effect.provide(withMemory(manual, echo))),
  )

  it.effect("keeps what was requested after it, as the prefix of the request says", () =>
    Effect.gen(function* () {
      for (const says of [true, false]) {
        const memory = yield* Memory.Memory
        const session = String(says)
        yield* memory.append(session, said(6))
        yield* memory.compact(session)
        const { prefix } = yield* memory.context(session)
        yield* memory.append(session, [thought("so far")], says ? { prefix } : {})
        // Without it, the answer counts as one to the messages before the compaction.
        expect(signatures(yield* memory.context(session))).toHaveLength(says ? 1 : 0)
      }
    }).pipe(Effect.provide(withMemory(manual, echo))),
  )

  it.effect("of nothing but reasoning, the message is gone", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", [...said(6), Message.user("and now?")])
      yield* memory.append("s", {
        role: "assistant",
        parts: [
          { type: "reasoning", text: "hm", signature: "signature" },
          { type: "opaque", provider: "anthropic", data: "encrypted", bound: true },
        ],
      })
      const before = yield* memory.context("s")
      expect(before.messages.at(-1)?.parts).toHaveLength(2)
      yield* memory.compact("s")
      const after = yield* memory.context("s")
      expect(after.messages.at(-1)).toMatchObject({ role: "user" })
      expect(after.messages.every(({ parts }) => parts.length > 0)).toBe(true)
      expect(leftOut(after)).toEqual([
        { section: "left-out", from: 7, to: 8, tokens: 0, parts: ["reasoning", "opaque"] },
      ])
      expect(after.sources).toEqual([null, 6])
    }).pipe(Effect.provide(withMemory(manual, echo))),
  )

  it.effect("changes nothing with `keep`", () =>
    Effect.gen(function* () {
      const memory = yield* talk(4)
      yield* memory.compact("s")
      expect(signatures(yield* memory.context("s"))).toEqual(["signature of answer 3"])
    }).pipe(Effect.provide(withMemory({ ...manual, boundReasoning: "keep" }, echo))),
  )
})

it.effect("reasoning without a signature stays", () =>
  Effect.gen(function* () {
    const memory = yield* Memory.Memory
    yield* memory.append("s", said(7))
    yield* memory.append("s", { role: "assistant", parts: [{ type: "reasoning", text: "hm" }] })
    yield* memory.compact("s")
    expect((yield* memory.context("s")).messages.at(-1)?.parts).toEqual([{ type: "reasoning", text: "hm" }])
  }).pipe(Effect.provide(withMemory(manual, echo))),
)

describe("other changes of the prefix", () => {
  it.effect("a revert", () =>
    Effect.gen(function* () {
      const memory = yield* talk(4)
      yield* memory.compact("s")
      yield* talk(1, 4)
      yield* memory.revert("s")
      expect(signatures(yield* memory.context("s"))).toEqual([])
      yield* talk(1, 5)
      expect(signatures(yield* memory.context("s"))).toEqual(["signature of answer 5"])
    }).pipe(Effect.provide(withMemory(manual, echo))),
  )

  it.effect("a redaction, in contexts of the past as well", () =>
    Effect.gen(function* () {
      const memory = yield* talk(3)
      const { version } = yield* memory.state("s")
      yield* memory.redact("s", 2)
      expect(signatures(yield* memory.context("s"))).toEqual([])
      expect(signatures(yield* memory.context("s", { atVersion: version }))).toEqual([
        "signature of answer 0",
      ])
    }).pipe(Effect.provide(withMemory(manual, echo))),
  )

  it.effect("a cap that cuts, and a strategy of one request", () =>
    Effect.gen(function* () {
      const memory = yield* talk(3)
      const capped = { ...pairs, context: { ...pairs.context, maxMessages: 4 } }
      expect(signatures(yield* memory.context("s", { strategy: capped }))).toEqual([])
      expect(signatures(yield* memory.context("s"))).toHaveLength(3)
      yield* memory.append("s", Message.user("short?"))
      const { prefix } = yield* memory.context("s", { strategy: capped })
      yield* memory.append("s", thought("short"), { prefix })
      expect(signatures(yield* memory.context("s"))).not.toContain("signature of short")
    }).pipe(Effect.provide(withMemory(manual, echo))),
  )

  it.effect("recalled facts in front: kept while they are the same, with the prefix of the request", () => {
    let fact = "likes tea"
    const layers: Layers = {
      learn: () => Effect.succeed({ facts: [] }),
      recall: ({ questions }) =>
        Effect.succeed(
          questions.map(() => ({
            user: [{ id: "f", layer: "user", kind: "preference", text: fact, from: 0, to: 0, time: 0 }],
            scope: [],
          })),
        ),
      facts: () => Effect.succeed([]),
      change: () => Effect.succeed(false),
      forgetMessage: () => Effect.void,
      logOf: () => null,
      forgetSessions: () => Effect.void,
    }
    return Effect.gen(function* () {
      const memory = yield* Memory.make(manual)
      yield* memory.append("s", Message.user("Hello"))
      const { prefix } = yield* memory.context("s")
      yield* memory.append("s", thought("hello"), { prefix })
      expect(signatures(yield* memory.context("s"))).toEqual(["signature of hello"])
      fact = "likes coffee"
      expect(signatures(yield* memory.context("s"))).toEqual([])
      yield* memory.append("s", Message.user("And?"))
      yield* memory.append("s", thought("unknown"))
      expect(signatures(yield* memory.context("s"))).toEqual([])
    }).pipe(
      Effect.scoped,
      Effect.provideService(MemoryLayers, layers),
      Effect.provide(withMemory(manual, echo)),
    )
  })
})

it.effect("in doubt about which input was answered, reasoning is left out", () =>
  Effect.gen(function* () {
    const memory = yield* Memory.Memory
    yield* memory.append("s", Message.user("one"))
    yield* memory.append("s", Message.user("two"))
    yield* memory.append("s", thought("to which?"))
    expect(signatures(yield* memory.context("s"))).toEqual([])
    yield* memory.append("s", Message.user("three"))
    const { prefix } = yield* memory.context("s")
    yield* memory.append("s", Message.user("four"))
    yield* memory.append("s", thought("to three"), { prefix })
    expect(signatures(yield* memory.context("s"))).toEqual([])
  }).pipe(Effect.provide(withMemory(manual, echo))),
)

it.effect("a prefix must be one of a context", () =>
  Effect.gen(function* () {
    const memory = yield* Memory.Memory
    const error = yield* Effect.flip(
      memory.append("s", said(1), { prefix: { version: 1 } as Session.Prefix }),
    )
    expect(error).toMatchObject({ _tag: "InvalidInput", message: expect.stringContaining('"prefix"') })
  }).pipe(Effect.provide(withMemory(manual, echo))),
)

describe("a running turn", () => {
  const inline = { strategy: pairs, compaction: { mode: "inline" } } as const

  it.effect("is not compacted while it has reasoning, and is when it has ended", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", [...said(2), Message.user("look it up")])
      yield* memory.append("s", thoughtCall("c0"))
      for (let step = 0; step < 4; step++) {
        yield* memory.append("s", Message.result({ id: `c${step}`, output: "found" }))
        expect((yield* memory.state("s")).summary).toBeNull()
        const context = yield* memory.context("s")
        expect(signatures(context)).toHaveLength(step + 1)
        yield* memory.append("s", step < 3 ? thoughtCall(`c${step + 1}`) : thought("that is it"))
      }
      expect((yield* memory.state("s")).summary).not.toBeNull()
      expect(signatures(yield* memory.context("s"))).toEqual([])
    }).pipe(Effect.provide(withMemory(inline, echo))),
  )

  it.effect("is compacted all the same when it grows without end, or the context is over budget", () =>
    Effect.gen(function* () {
      for (const budget of [undefined, { tokens: 30 }]) {
        const memory = yield* Memory.make({ ...inline, ...(budget === undefined ? {} : { budget }) })
        const session = `with ${budget?.tokens ?? "no"}`
        yield* memory.append(session, [...said(2), Message.user("look it up")])
        let steps = 0
        while ((yield* memory.state(session)).summary === null) {
          yield* memory.append(session, thoughtCall(`c${steps}`))
          yield* memory.append(session, Message.result({ id: `c${steps}`, output: "word ".repeat(300) }))
          steps++
        }
        expect(steps).toBe(budget === undefined ? 7 : 2)
        expect(leftOut(yield* memory.context(session))).toHaveLength(1)
      }
    }).pipe(Effect.scoped, Effect.provide(withMemory(inline, echo))),
  )
})

/** What a client and its operator do, in any order. `meanwhile` happens between a request and the append of its answer. */
const operation = fc.constantFrom("compact", "revert", "redact", "queue", "restart", "nothing")
const step = fc.record({
  meanwhile: fc.oneof({ weight: 4, arbitrary: fc.constant("nothing" as const) }, operation),
  calls: fc.nat({ max: 2 }),
  capped: fc.nat({ max: 5 }).map((one) => one === 0),
  after: fc.oneof({ weight: 2, arbitrary: fc.constant("nothing" as const) }, operation),
  at: fc.nat(),
  says: fc.boolean(),
})

const pruning = Strategy.make({
  ...pairs,
  name: "pruning",
  when: Trigger.backlog({ messages: 6 }),
  keep: Keep.lastMessages(4),
  summaryMode: SummaryMode.rolling,
  prune: [Prune.hardClear({ keep: Keep.lastMessages(2) })],
})
const small = { ...pruning, context: { ...pruning.context, maxMessages: 5 } }

it("no context of any version sends reasoning behind another prefix, whatever happens (L17)", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), async (steps) => {
      const signer = makeSigner()
      const check = (context: Render.Context, where: string) =>
        expect([where, signer.finding(context)]).toEqual([where, null])
      let memory: Memory.Service
      const program = Effect.gen(function* () {
        const options = { strategy: pruning, compaction: { mode: "manual" } } as const
        memory = yield* Memory.make(options)
        let ids = 0
        const happen = (what: typeof operation extends fc.Arbitrary<infer A> ? A : never, at: number) =>
          Effect.gen(function* () {
            const { total } = yield* memory.state("s")
            if (what === "compact") yield* memory.compact("s")
            if (what === "revert") yield* memory.revert("s", { pauseFor: 0 })
            if (what === "redact" && total > 0) yield* memory.redact("s", at % total)
            if (what === "queue") yield* memory.append("s", Message.user("and another thing"))
            if (what === "restart") memory = yield* Memory.make(options)
          })
        for (const { meanwhile, calls, capped, after, at, says } of steps) {
          yield* memory.append("s", Message.user(`question ${ids}`))
          for (let call = 0; call <= calls; call++) {
            const request = capped ? { strategy: small } : {}
            const sent = yield* memory.context("s", request)
            check(sent, "a request")
            const answer = call < calls ? thoughtCall(`c${ids}`) : thought(`answer ${ids}`)
            yield* happen(meanwhile, at)
            yield* memory.append("s", signer.sign(sent, [answer]), {
              ...request,
              ...(says ? { prefix: sent.prefix } : {}),
            })
            if (call < calls) {
              yield* memory.append(
                "s",
                Message.result({ id: `c${ids}`, output: `found ${"much ".repeat(20)}` }),
              )
            }
            ids++
          }
          yield* happen(after, at)
          check(yield* memory.context("s"), "the newest")
        }
        const { version } = yield* memory.state("s")
        for (let atVersion = 1; atVersion <= version; atVersion++) {
          check(yield* memory.context("s", { atVersion }), `version ${atVersion}`)
        }
        yield* memory.fork("s", "copy")
        check(yield* memory.context("copy"), "a copy")
      })
      await Effect.runPromise(program.pipe(Effect.scoped, Effect.provide(withMemory(manual, echo))))
    }),
    { numRuns: often(12, 120) },
  )
})
