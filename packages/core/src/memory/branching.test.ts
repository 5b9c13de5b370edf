/** Edit, regenerate, branches, undo. */
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Stream } from "effect"
import * as fc from "fast-check"
import { often } from "@memfold/harness/depth"
import { gated, pairs, said, withMemory } from "@memfold/harness/engine"
import { EventLog, InMemoryEventLog, Memory, Message, Session, Summarizer, Verify } from "../index.js"

const manual = { strategy: pairs, compaction: { mode: "manual" } } as const

const texts = (messages: ReadonlyArray<Message.Message>) => messages.map(Message.text)

const contextOf = (session = "s") =>
  Effect.flatMap(Memory.Memory, (memory) =>
    Effect.map(memory.context(session), ({ messages }) => texts(messages)),
  )

const messagesOf = (session = "s") =>
  Effect.flatMap(Memory.Memory, (memory) =>
    Effect.map(memory.messages(session, { limit: 1_000 }), ({ messages }) => texts(messages)),
  )

/** The log breaks no law, its rows follow from it, and the state is the fold of all events. */
const sound = (session = "s") =>
  Effect.gen(function* () {
    const log = yield* EventLog.EventLog
    const memory = yield* Memory.Memory
    expect(yield* Verify.session(log, session)).toEqual([])
    const events = [...(yield* Stream.runCollect(memory.events(session)))]
    const { uncovered, ...state } = yield* memory.state(session)
    const { uncovered: expected, ...rest } = Session.fold(Session.empty(session), events)
    expect(JSON.parse(JSON.stringify(state))).toEqual(JSON.parse(JSON.stringify(rest)))
    expect(uncovered.slice()).toEqual(expected.slice())
  })

describe("an edit", () => {
  it.effect("goes on from the message with another one, and the log keeps what was said", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", said(6))
      const before = yield* memory.state("s")
      const edited = yield* memory.edit("s", 2, Message.user("other"))
      expect(edited).toMatchObject({ from: 2, to: 3, left: 0, branch: 7, version: 8, duplicate: false })
      expect(yield* contextOf()).toEqual([...texts(said(2)), "other"])
      expect(yield* messagesOf()).toEqual([...texts(said(2)), "other"])
      const past = yield* memory.context("s", { atVersion: before.version })
      expect(texts(past.messages)).toEqual(texts(said(6)))
      yield* memory.append("s", Message.assistant("answer"))
      expect(yield* contextOf()).toEqual([...texts(said(2)), "other", "answer"])
      yield* sound()
    }).pipe(Effect.provide(withMemory(manual))),
  )

  it.effect("names a message by its version, and an unknown one is refused", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", said(4))
      yield* memory.edit("s", { version: 3 }, [])
      expect(yield* contextOf()).toEqual(texts(said(2)))
      const gone = yield* Effect.flip(memory.edit("s", { version: 4 }, []))
      expect(gone).toMatchObject({ _tag: "UnknownMessage", version: 4, total: 2 })
      expect(yield* Effect.flip(memory.edit("s", 2, []))).toMatchObject({ _tag: "UnknownMessage", index: 2 })
      expect(yield* Effect.flip(memory.edit("s", -1, []))).toMatchObject({ _tag: "UnknownMessage" })
      expect(yield* Effect.flip(memory.edit("s", 0.5, []))).toMatchObject({ _tag: "UnknownMessage" })
      yield* sound()
    }).pipe(Effect.provide(withMemory(manual))),
  )

  it.effect("within what a summary covers brings back the newest summary that covers nothing beyond it", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", said(6))
      yield* memory.compact("s", { which: "due" })
      yield* memory.append("s", said(4, 6))
      yield* memory.compact("s", { which: "due" })
      const [first, second] = yield* memory.summaries("s")
      yield* memory.edit("s", 6, Message.user("other"))
      expect(yield* memory.state("s")).toMatchObject({ total: 7, coveredTo: 4, summary: { id: first?.id } })
      expect(yield* contextOf()).toEqual(["[Conversation Summary]\n[0,4)", ...texts(said(2, 4)), "other"])
      expect((yield* memory.summaries("s")).map(({ status }) => status)).toEqual(["active", "superseded"])
      yield* sound()
      yield* memory.checkout("s", 0)
      expect(yield* memory.state("s")).toMatchObject({ total: 10, coveredTo: 8, summary: { id: second?.id } })
      expect((yield* memory.summaries("s")).map(({ status }) => status)).toEqual(["superseded", "active"])
      yield* sound()
      yield* memory.edit("s", 1, [])
      expect(yield* memory.state("s")).toMatchObject({ total: 1, coveredTo: 0, summary: null })
      yield* sound()
    }).pipe(Effect.provide(withMemory(manual))),
  )

  it.effect("behind a covered call, which is open again, needs a summary before it", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", [
        ...said(3),
        Message.call([{ id: "c", name: "weather", arguments: "{}" }]),
        ...said(2, 4),
      ])
      yield* memory.compact("s", { which: "due" })
      expect(yield* memory.state("s")).toMatchObject({ coveredTo: 4 })
      yield* memory.edit("s", 4, Message.result({ id: "c", output: "sun" }))
      expect(yield* memory.state("s")).toMatchObject({ coveredTo: 0, total: 5 })
      const { messages } = yield* memory.context("s")
      expect(messages.flatMap(Message.calls)).toHaveLength(1)
      expect(messages.flatMap(Message.results)).toHaveLength(1)
      yield* sound()
    }).pipe(Effect.provide(withMemory(manual))),
  )

  it.effect("shares a summary: to revert it takes back what continues it on the branch that was left", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", said(6))
      yield* memory.compact("s", { which: "due" })
      yield* memory.append("s", said(4, 6))
      yield* memory.compact("s", { which: "due" })
      yield* memory.edit("s", 6, Message.user("other"))
      expect(yield* memory.revert("s")).toBe(2)
      expect((yield* memory.summaries("s")).map(({ status }) => status)).toEqual(["invalid", "invalid"])
      yield* sound()
      yield* memory.checkout("s", 0)
      expect(yield* memory.state("s")).toMatchObject({ total: 10, coveredTo: 0, summary: null, damaged: [] })
      expect(yield* contextOf()).toEqual(texts(said(10)))
      // The next summary begins where nothing is covered; the check of the log knows that.
      yield* memory.compact("s")
      yield* sound()
    }).pipe(Effect.provide(withMemory(manual))),
  )

  it.effect("with an idempotency key is applied once", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", said(4))
      const once = yield* memory.edit("s", 2, Message.user("other"), { idempotencyKey: "k" })
      const again = yield* memory.edit("s", 2, Message.user("other"), { idempotencyKey: "k" })
      expect(again).toEqual({ ...once, duplicate: true })
      const cut = yield* memory.edit("s", 0, [], { idempotencyKey: "all" })
      expect(yield* memory.edit("s", 0, [], { idempotencyKey: "all" })).toEqual({ ...cut, duplicate: true })
      const reused = yield* Effect.flip(memory.edit("s", 0, Message.user("x"), { idempotencyKey: "all" }))
      expect(reused).toMatchObject({ _tag: "IdempotencyKeyReused" })
      yield* sound()
    }).pipe(Effect.provide(withMemory(manual))),
  )

  it.effect("beside another one: both are in the log, and the later one is in force", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", said(4))
      yield* Effect.all(
        [memory.edit("s", 2, Message.user("one")), memory.edit("s", 2, Message.user("two"))],
        {
          concurrency: 2,
        },
      )
      expect(yield* contextOf()).toEqual([...texts(said(2)), "two"])
      const branches = yield* memory.branches("s")
      expect(branches).toHaveLength(3)
      yield* memory.checkout("s", branches[1]?.id ?? -1)
      expect(yield* contextOf()).toEqual([...texts(said(2)), "one"])
      yield* sound()
    }).pipe(Effect.provide(withMemory(manual))),
  )

  /** Edits a message while `[0,4)` is being compacted. */
  const editDuringCompaction = (from: number) =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const { entered, gate, summarizer } = yield* gated
      const memory = yield* Memory.make(manual).pipe(
        Effect.provideService(EventLog.EventLog, log),
        Effect.provideService(Summarizer.Summarizer, summarizer),
      )
      yield* memory.append("s", said(6))
      const compacting = yield* Effect.fork(memory.compact("s", { which: "due" }))
      yield* Deferred.await(entered)
      yield* memory.edit("s", from, Message.user("other"))
      yield* Deferred.succeed(gate, undefined)
      const outcomes = yield* Fiber.join(compacting)
      expect(yield* Verify.session(log, "s")).toEqual([])
      return { outcomes, state: yield* memory.state("s") }
    })

  it.scoped("of a message that is being compacted makes the result stale", () =>
    Effect.gen(function* () {
      const { outcomes, state } = yield* editDuringCompaction(1)
      expect(outcomes).toMatchObject([{ _tag: "Lost" }])
      expect(state).toMatchObject({ total: 2, coveredTo: 0, running: null, summary: null })
    }),
  )

  it.scoped("behind the messages that are being compacted leaves the compaction alone", () =>
    Effect.gen(function* () {
      const { outcomes, state } = yield* editDuringCompaction(5)
      expect(outcomes).toMatchObject([{ _tag: "Committed" }])
      expect(state).toMatchObject({ total: 6, coveredTo: 4, running: null })
    }),
  )
})

describe("regenerate", () => {
  it.effect("goes back to before the newest answer, with all of its tool calls", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", [
        ...said(2),
        Message.user("weather?"),
        Message.call([{ id: "c", name: "weather", arguments: "{}" }]),
        Message.result({ id: "c", output: "sun" }),
        Message.assistant("Sun."),
      ])
      expect(yield* memory.regenerate("s")).toMatchObject({ from: 3, to: 3, left: 0 })
      expect(yield* contextOf()).toEqual([...texts(said(2)), "weather?"])
      // Nothing is left to take back.
      expect(yield* memory.regenerate("s")).toMatchObject({ left: null })
      yield* memory.append("s", Message.assistant("Rain."))
      expect(yield* contextOf()).toEqual([...texts(said(2)), "weather?", "Rain."])
      yield* memory.regenerate("s", { from: 1 })
      expect(yield* contextOf()).toEqual(texts(said(1)))
      yield* sound()
    }).pipe(Effect.provide(withMemory(manual))),
  )
})

describe("undo", () => {
  it.effect("takes back an edit, a compaction and a clear, and says which", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      expect(yield* memory.undo("s")).toMatchObject({ undone: null })
      yield* memory.append("s", said(6))
      yield* memory.edit("s", 4, Message.user("other"))
      expect(yield* memory.undo("s")).toMatchObject({ undone: "branch" })
      expect(yield* contextOf()).toEqual(texts(said(6)))
      yield* memory.compact("s")
      expect(yield* contextOf()).toEqual(["[Conversation Summary]\n[0,4)", ...texts(said(2, 4))])
      expect(yield* memory.undo("s")).toMatchObject({ undone: "compaction" })
      expect(yield* contextOf()).toEqual(texts(said(6)))
      yield* memory.clear("s")
      yield* memory.append("s", Message.user("new"))
      expect(yield* memory.undo("s")).toMatchObject({ undone: "clear" })
      expect(yield* messagesOf()).toEqual(texts(said(6)))
      expect((yield* memory.recall("s", "message 5", { tokens: 500 })).messages).not.toHaveLength(0)
      yield* sound()
    }).pipe(Effect.provide(withMemory(manual))),
  )
})

describe("a clear that was undone", () => {
  it.effect("leaves messages from before it to be edited, also covered ones", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", said(6))
      yield* memory.compact("s", { which: "due" })
      yield* memory.clear("s")
      yield* memory.undo("s")
      yield* memory.edit("s", 1, Message.user("other"))
      expect(yield* contextOf()).toEqual([...texts(said(1)), "other"])
      yield* sound()
      yield* memory.checkout("s", 0)
      yield* memory.edit("s", 0, Message.user("another"))
      expect(yield* contextOf()).toEqual(["another"])
      yield* sound()
    }).pipe(Effect.provide(withMemory(manual))),
  )

  it.effect("leaves the branches from before it, whichever is returned to", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", said(2))
      yield* memory.edit("s", 1, Message.user("one"))
      yield* memory.clear("s")
      yield* memory.undo("s")
      yield* memory.edit("s", 1, Message.user("two"))
      const ids = (yield* memory.branches("s")).map(({ id }) => id)
      expect(ids).toHaveLength(3)
      for (const id of ids.toReversed()) {
        yield* memory.checkout("s", id)
        expect((yield* memory.branches("s")).map((one) => one.id).toSorted()).toEqual(ids.toSorted())
        yield* sound()
      }
    }).pipe(Effect.provide(withMemory(manual))),
  )
})

/** A step of a conversation with branches. */
type Step =
  | { readonly do: "append"; readonly count: number }
  | { readonly do: "edit"; readonly at: number; readonly count: number }
  | { readonly do: "checkout"; readonly which: number }
  | { readonly do: "compact" | "clear" | "undo" | "regenerate" | "reopen" }
  | { readonly do: "redact"; readonly at: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("append" as const), count: fc.integer({ min: 1, max: 4 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("edit" as const),
      at: fc.nat({ max: 12 }),
      count: fc.nat({ max: 3 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("checkout" as const), which: fc.nat({ max: 3 }) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom(
        "compact" as const,
        "compact" as const,
        "clear" as const,
        "undo" as const,
        "regenerate" as const,
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("redact" as const), at: fc.nat({ max: 12 }) }) },
)

/** What a page would show: each branch is a list of texts. */
interface Page {
  shown: ReadonlyArray<string>
  readonly branches: Map<number, ReadonlyArray<string>>
}

describe("branches", () => {
  it(
    "show what a list for each branch shows, whatever is edited, undone, compacted and redacted",
    () =>
      fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), (steps) =>
          Effect.runPromise(
            Effect.provide(
              Effect.gen(function* () {
                const memory = yield* Memory.Memory
                const page: Page = { shown: [], branches: new Map() }
                /** The pages before switches and clears, to be undone. */
                const undone: Array<{ readonly version: number; readonly shown: ReadonlyArray<string> }> = []
                let count = 0
                const messages = (n: number) =>
                  Array.from({ length: n }, (_, at) =>
                    at % 2 === 0 ? Message.user(`word${count + at}`) : Message.assistant(`word${count + at}`),
                  )
                for (const one of steps) {
                  const state = yield* memory.state("s")
                  const { id } = state.branch
                  if (one.do === "append") {
                    const added = messages(one.count)
                    count += one.count
                    yield* memory.append("s", added)
                    page.shown = [...page.shown, ...texts(added)]
                  } else if (one.do === "edit") {
                    if (one.at >= page.shown.length) continue
                    const added = messages(one.count)
                    count += one.count
                    page.branches.set(id, page.shown)
                    const edited = yield* memory.edit("s", one.at, added)
                    expect(edited.left).toBe(id)
                    undone.push({ version: state.version + 1, shown: page.shown })
                    page.shown = [...page.shown.slice(0, one.at), ...texts(added)]
                  } else if (one.do === "regenerate") {
                    page.branches.set(id, page.shown)
                    const edited = yield* memory.regenerate("s")
                    if (edited.left !== null) undone.push({ version: state.version + 1, shown: page.shown })
                    page.shown = page.shown.slice(0, edited.to)
                  } else if (one.do === "checkout") {
                    const left = (yield* memory.branches("s"))[one.which]
                    if (left === undefined || left.leftAt === null) continue
                    page.branches.set(id, page.shown)
                    yield* memory.checkout("s", left.id)
                    undone.push({ version: state.version + 1, shown: page.shown })
                    page.shown = page.branches.get(left.id)!
                  } else if (one.do === "compact") {
                    yield* memory.compact("s")
                  } else if (one.do === "clear") {
                    page.branches.set(id, page.shown)
                    yield* memory.clear("s")
                    if (page.shown.length > 0) undone.push({ version: state.version + 1, shown: page.shown })
                    page.shown = []
                  } else if (one.do === "redact") {
                    if (one.at >= page.shown.length) continue
                    const text = page.shown[one.at]!
                    yield* memory.redact("s", one.at)
                    const without = (list: ReadonlyArray<string>) =>
                      list.map((other) => (other === text ? "[redacted]" : other))
                    page.shown = without(page.shown)
                    for (const [branch, list] of page.branches) page.branches.set(branch, without(list))
                    for (const [at, { version, shown }] of undone.entries())
                      undone[at] = { version, shown: without(shown) }
                  } else if (one.do === "undo") {
                    const { undone: what } = yield* memory.undo("s")
                    if (what === "branch" || what === "clear") {
                      const last = state.gaps.at(-1)?.to
                      page.branches.set(id, page.shown)
                      const before = undone.find(({ version }) => version === last)!.shown
                      undone.push({ version: state.version + 1, shown: page.shown })
                      page.shown = before
                    }
                  }
                  expect(yield* messagesOf()).toEqual(page.shown)
                  // Everything is shown, or covered.
                  const { coveredTo, total, summary } = yield* memory.state("s")
                  expect(total).toBe(page.shown.length)
                  const context = yield* contextOf()
                  expect(context.slice(summary === null ? 0 : 1)).toEqual(page.shown.slice(coveredTo))
                  if (summary !== null) expect(context[0]).toContain(`${coveredTo})`)
                  for (const [index, word] of page.shown.entries()) {
                    if (word === "[redacted]") continue
                    const found = yield* memory.recall("s", word, { tokens: 10_000 })
                    expect(found.messages.map((message) => message.index)).toContain(index)
                  }
                  for (const list of page.branches.values()) {
                    for (const word of list) {
                      if (page.shown.includes(word) || word === "[redacted]") continue
                      const found = yield* memory.recall("s", word, { tokens: 10_000 })
                      expect(found.messages.map(({ text }) => text)).not.toContain(word)
                    }
                  }
                  yield* sound()
                }
              }),
              withMemory(manual),
            ),
          ),
        ),
        { numRuns: often(25, 1_000) },
      ),
    120_000,
  )
})
