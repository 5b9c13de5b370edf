import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { describe, expect, it } from "@effect/vitest"
import { EventLog, InMemoryEventLog, Memory, MemoryLayers, Message, Summarizer } from "@memfold/core"
import { Effect, Stream, TestClock } from "effect"
import { pairs } from "@memfold/harness/engine"
import type { Extractor, NewFact } from "../Extractor.js"
import { make } from "../Layers.js"

const echo = { name: "echo", summarize: () => Effect.succeed({ text: "so far" }) }

/** Finds "predicate = value" in what the user says, about the user and about the scope. */
const reads = (name: string, wanted: RegExp, change: Partial<Extractor> = {}) => {
  const asked: Array<readonly [session: string, from: number, to: number]> = []
  const extractor: Extractor = {
    name,
    isFree: true,
    ...change,
    extract: ({ state, from, to, messages }) =>
      Effect.sync(() => {
        asked.push([state.session, from, to])
        return messages.flatMap((message): ReadonlyArray<NewFact> => {
          const text = Message.text(message)
          if (message.role !== "user") return []
          return [...text.matchAll(/(\w+) = (\w+)/gu)].flatMap(([quote, predicate = "", value]) =>
            wanted.test(predicate)
              ? [{ layer: predicate === "plan" ? "scope" : "user", predicate, value, quote }]
              : [],
          )
        })
      }),
  }
  return { extractor, asked }
}

const open = (
  log: EventLog.Service,
  { extractor }: Pick<ReturnType<typeof reads>, "extractor">,
  spend?: Memory.SpendOptions,
) =>
  Effect.gen(function* () {
    const layers = yield* make({ extractor })
    return yield* Memory.make({
      strategy: pairs,
      compaction: { mode: "inline" },
      ...(spend === undefined ? {} : { spend }),
    }).pipe(
      Effect.provideService(MemoryLayers.MemoryLayers, layers),
      Effect.provideService(Summarizer.Summarizer, echo),
    )
  }).pipe(Effect.provideService(EventLog.EventLog, log))

const said = [
  ["one", "diet = vegan, plan = ship"],
  ["two", "city = Graz"],
  ["one", "city = Vienna"],
  ["one", "pet = cat"],
  ["two", "diet = vegan, plan = test"],
] as const

/** A memory in which an owner has said something in two sessions, parts of which are compacted. */
const spoken = (log: EventLog.Service, given: Pick<ReturnType<typeof reads>, "extractor">) =>
  Effect.gen(function* () {
    const memory = yield* open(log, given)
    for (const [session, text] of said) {
      yield* TestClock.adjust("1 second")
      yield* memory.append(session, [Message.user(text), Message.assistant("Noted.")], { owner: "ann" })
    }
    return memory
  })

const told = (facts: ReadonlyArray<MemoryLayers.FactInTime>) =>
  facts
    .map(({ text, sources = [] }) => `${text} "${sources.map(({ quote }) => quote).join('" "')}"`)
    .toSorted()

/** A log whose process is killed after so many writes. */
const mortal = (log: EventLog.Service, survived: number): EventLog.Service => {
  let writes = 0
  const alive = <A, E>(write: Effect.Effect<A, E>) =>
    Effect.suspend(() => (writes++ < survived ? write : Effect.die(new Error("killed"))))
  return {
    ...log,
    append: (...given) => alive(log.append(...given)),
    rewrite: (...given) => alive(log.rewrite(...given)),
  }
}

const factsOf = (memory: Memory.Service) =>
  Effect.map(
    Effect.all([
      memory.factsOf("ann", { at: null }),
      memory.facts("one", { at: null }),
      memory.facts("two", { at: null }),
    ]),
    (lists) => lists.map(told),
  )

describe("learning anew", () => {
  it.scoped("shows what would come, go and change, and changes nothing before it is taken", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const memory = yield* spoken(log, reads("old", /diet|city|plan/))
      const before = yield* factsOf(memory)
      expect(before[0]).toEqual([
        'city: Graz "city = Graz"',
        'city: Vienna "city = Vienna"',
        'diet: vegan "diet = vegan" "diet = vegan"',
      ])
      const { extractor, asked } = reads("new", /diet|pet|plan/)
      const diff = yield* memory.rebuildFacts("ann", { extractor })
      // The turns that the first extractor has read, those that are compacted as well.
      expect(asked).toEqual([
        ["one", 0, 2],
        ["two", 0, 2],
        ["one", 2, 4],
        ["one", 4, 6],
        ["two", 2, 4],
      ])
      expect(diff.by).toEqual({ extractor: "new", version: "1" })
      expect(told(diff.come)).toEqual(['pet: cat "pet = cat"'])
      expect(told(diff.go)).toEqual(['city: Graz "city = Graz"', 'city: Vienna "city = Vienna"'])
      expect(diff.change).toEqual([])
      expect(yield* factsOf(memory)).toEqual(before)
      // In another process as well.
      const other = yield* open(log, reads("old", /diet|city|plan/))
      expect(yield* other.diffFacts("ann")).toEqual(diff)
      expect(yield* other.takeFacts("ann")).toBe(true)
      expect(yield* factsOf(memory)).toEqual(yield* factsOf(other))
      expect((yield* factsOf(memory))[0]).toEqual([
        'diet: vegan "diet = vegan" "diet = vegan"',
        'pet: cat "pet = cat"',
      ])
      expect(yield* memory.takeFacts("ann")).toBe(false)
      expect(yield* memory.diffFacts("ann")).toBeNull()
      // The way back is to learn with the first one again.
      yield* memory.rebuildFacts("ann")
      expect(yield* memory.dropFacts("ann")).toBe(true)
      yield* memory.rebuildFacts("ann")
      yield* memory.takeFacts("ann")
      expect(yield* factsOf(memory)).toEqual(before)
      expect(yield* memory.factsOf("ann", { at: null, asOfVersion: 1 })).toHaveLength(1)
    }),
  )

  it.scoped(
    "changes nothing by the same extractor, though an end came before its beginning at one time",
    () =>
      Effect.gen(function* () {
        const log = yield* InMemoryEventLog.make
        const { extractor } = reads("old", /diet/)
        const memory = yield* open(log, {
          extractor: {
            ...extractor,
            extract: (turns) =>
              Effect.map(extractor.extract(turns), (found) =>
                ("facts" in found ? found.facts : found).map((one) => ({
                  ...one,
                  ended: turns.state.session === "two",
                })),
              ),
          },
        })
        for (const session of ["two", "one"])
          yield* memory.append(session, [Message.user("diet = vegan"), Message.assistant("Noted.")], {
            owner: "ann",
          })
        const before = yield* memory.factsOf("ann", { at: null })
        expect(before.map(({ validUntil }) => validUntil)).toEqual([undefined])
        expect(yield* memory.rebuildFacts("ann")).toMatchObject({ come: [], go: [], change: [] })
      }),
  )

  it.scoped("keeps what people have said of facts, and what was learned since", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const memory = yield* spoken(log, reads("old", /diet|city/))
      const fact = (text: string) =>
        Effect.map(
          memory.factsOf("ann", { at: null }),
          (facts) => facts.find((one) => one.text === text)?.id ?? "",
        )
      yield* memory.confirmFact("one", yield* fact("city: Graz"))
      yield* memory.removeFact("one", yield* fact("city: Vienna"))
      yield* memory.removeFact("one", yield* fact("diet: vegan"), { as: "redacted" })
      const { come, go, refused } = yield* memory.rebuildFacts("ann", reads("new", /diet|pet/))
      yield* memory.append("one", [Message.user("city = Linz"), Message.assistant("Noted.")])
      expect([told(come), told(go), refused]).toEqual([['pet: cat "pet = cat"'], [], { redacted: 2 }])
      yield* memory.takeFacts("ann")
      expect((yield* factsOf(memory))[0]).toEqual([
        'city: Graz "city = Graz"',
        'city: Linz "city = Linz"',
        'pet: cat "pet = cat"',
      ])
      // What was never true is not so again.
      yield* memory.rebuildFacts("ann", reads("new", /city|pet/))
      yield* memory.takeFacts("ann")
      expect((yield* factsOf(memory))[0]).toHaveLength(4)
    }),
  )

  it.scoped("has nothing of what is redacted meanwhile", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const memory = yield* spoken(log, reads("old", /diet/))
      yield* memory.rebuildFacts("ann", reads("new", /city|pet/))
      yield* memory.redact("one", 2)
      yield* memory.edit("two", 0, [Message.user("I said nothing."), Message.assistant("Fine.")])
      expect(told((yield* memory.diffFacts("ann"))?.come ?? [])).toEqual(['pet: cat "pet = cat"'])
      const events = yield* Stream.runCollect(memory.eventsOf("ann"))
      expect(JSON.stringify([...events])).not.toContain("Vienna")
      yield* memory.takeFacts("ann")
      expect((yield* factsOf(memory))[0]).toEqual(['pet: cat "pet = cat"'])
    }),
  )

  it.scoped("has nothing of what is redacted while it is read, wherever which of both is killed", () =>
    Effect.gen(function* () {
      const cases: Array<string> = []
      for (const how of ["rebuild", "learn"] as const)
        for (let redacting = 0; redacting <= 4; redacting++)
          for (let learning = 0; learning <= 3; learning++) {
            const log = yield* InMemoryEventLog.make
            const memory = yield* spoken(log, reads("old", /diet/))
            const place = how === "rebuild" ? 2 : 6
            const word = how === "rebuild" ? "Vienna" : "Berlin"
            const redaction = Effect.scoped(
              Effect.gen(function* () {
                const killed = yield* open(mortal(log, redacting), reads("old", /diet/))
                yield* Effect.exit(killed.redact("one", place))
              }),
            )
            const asked = reads("new", /city|pet/)
            const extractor: Extractor = {
              ...asked.extractor,
              extract: (material) =>
                Effect.zipLeft(
                  asked.extractor.extract(material),
                  Effect.when(redaction, () => JSON.stringify(material.messages).includes(word)),
                ),
            }
            const writer = yield* open(mortal(log, learning), { extractor })
            const turn = [Message.user("city = Berlin"), Message.assistant("Noted.")]
            yield* how === "rebuild"
              ? Effect.exit(writer.rebuildFacts("ann"))
              : Effect.exit(writer.append("one", turn, { owner: "ann" }))
            const texts = (session: string) =>
              Effect.map(Stream.runCollect(memory.events(session)), (events) => JSON.stringify([...events]))
            const isRedacted = !(yield* texts("one")).includes(word)
            const isElsewhere = (yield* texts("memfold:user:ann")).includes(word)
            expect([how, redacting, learning, isRedacted && isElsewhere]).toEqual([
              how,
              redacting,
              learning,
              false,
            ])
            if (isRedacted) cases.push(how)
          }
      expect(new Set(cases).size).toBe(2)
    }),
  )

  it.scoped("has nothing of a fact that is redacted while it is read", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const memory = yield* spoken(log, reads("old", /diet|city/))
      const facts = yield* memory.factsOf("ann")
      const { extractor } = reads("new", /city|pet|diet/)
      const vienna = facts.find(({ value }) => value === "Vienna")!.id
      const isNow = ({ messages }: Parameters<Extractor["extract"]>[0]) =>
        JSON.stringify(messages).includes("pet = cat")
      const { come, go } = yield* memory.rebuildFacts("ann", {
        extractor: {
          ...extractor,
          extract: (material: Parameters<Extractor["extract"]>[0]) =>
            Effect.zipLeft(
              extractor.extract(material),
              Effect.when(memory.removeFact("one", vienna, { as: "redacted" }), () => isNow(material)),
            ),
        },
      })
      expect([told(come), told(go)]).toEqual([['pet: cat "pet = cat"'], []])
      yield* memory.takeFacts("ann")
      const events = yield* Stream.runCollect(memory.eventsOf("ann"))
      expect(JSON.stringify([...events].map(({ event }) => ({ ...event, message: null })))).not.toContain(
        "Vienna",
      )
    }),
  )

  it.scoped("holds no more than one batch of what was said", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const memory = yield* open(log, reads("old", /pet/))
      const count = 12
      for (let session = 0; session < count; session++)
        yield* memory.append(`s${session}`, [Message.user("pet = cat"), Message.assistant("Noted.")], {
          owner: "ann",
        })
      const read: Array<WeakRef<object>> = []
      let held = count
      const { extractor } = reads("new", /pet/)
      setFlagsFromString("--expose-gc")
      const collect = runInNewContext("gc") as () => void
      yield* memory.rebuildFacts("ann", {
        extractor: {
          ...extractor,
          extract: (material: Parameters<Extractor["extract"]>[0]) =>
            Effect.gen(function* () {
              read.push(new WeakRef(material.messages[0]!))
              if (read.length === count) {
                yield* Effect.promise(() => new Promise((next) => setImmediate(next)))
                collect()
                held = read.filter((one) => one.deref() !== undefined).length
              }
              return yield* extractor.extract(material)
            }),
        },
      })
      expect(read).toHaveLength(count)
      expect(held).toBeLessThan(4)
    }),
  )

  it.scoped("works for a session without an owner, which has its facts itself", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const memory = yield* open(log, reads("old", /diet|city|plan/))
      for (const [, text] of said) {
        yield* TestClock.adjust("1 second")
        yield* memory.append("alone", [Message.user(text), Message.assistant("Noted.")])
      }
      const before = told(yield* memory.facts("alone", { at: null }))
      const { extractor, asked } = reads("new", /diet|pet|plan/)
      const of = "session" as const
      const diff = yield* memory.rebuildFacts("alone", { extractor, of })
      expect(asked).toHaveLength(5)
      expect([told(diff.come), told(diff.go)]).toEqual([
        ['pet: cat "pet = cat"'],
        ['city: Graz "city = Graz"', 'city: Vienna "city = Vienna"'],
      ])
      expect(told(yield* memory.facts("alone", { at: null }))).toEqual(before)
      yield* memory.redact("alone", 6)
      expect(told((yield* memory.diffFacts("alone", { of }))?.come ?? [])).toEqual([])
      expect(yield* memory.takeFacts("alone", { of })).toBe(true)
      expect(yield* memory.diffFacts("alone", { of })).toBeNull()
      const after = told(yield* memory.facts("alone", { at: null }))
      expect(after.map((one) => one.replace(/ .*/u, ""))).toEqual(["diet:", "plan:", "plan:"])
      // The turns count as learned from, as before.
      yield* memory.append("alone", [Message.user("pet = dog"), Message.assistant("Noted.")])
      expect(told(yield* memory.facts("alone", { at: null }))).toEqual(after)
      yield* memory.rebuildFacts("alone", { of })
      expect(yield* memory.dropFacts("alone", { of })).toBe(true)
      expect(told(yield* memory.facts("alone", { at: null }))).toEqual(after)
      yield* memory.describe("alone", { owner: "bob" })
      const refused = yield* Effect.flip(memory.rebuildFacts("alone", { of }))
      expect(refused.message).toContain("it has an owner")
      const events = yield* Stream.runCollect(memory.events("alone"))
      expect(/.{60}\bcat\b.{30}/u.exec(JSON.stringify([...events]))?.[0]).toBeUndefined()
    }),
  )

  it.scoped("reads what a fork has copied in the session that it comes from", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const memory = yield* spoken(log, reads("old", /diet|plan|city/))
      yield* memory.fork("one", "copy")
      for (const text of ["", "color = red"]) {
        if (text !== "") yield* memory.append("copy", [Message.user(text), Message.assistant("Noted.")])
        const before = yield* factsOf(memory)
        const { come, go, change } = yield* memory.rebuildFacts("ann")
        expect([come, go, change]).toEqual([[], [], []])
        yield* memory.takeFacts("ann")
        expect(yield* factsOf(memory)).toEqual(before)
      }
      const { extractor, asked } = reads("new", /color/)
      expect(told((yield* memory.rebuildFacts("ann", { extractor })).come)).toEqual([
        'color: red "color = red"',
      ])
      expect(asked.filter(([session]) => session === "copy")).toEqual([["copy", 6, 8]])
    }),
  )

  it.scoped("leaves an end taken back that somebody has taken back", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const named = (name: string): Extractor => ({
        name,
        isFree: true,
        extract: ({ messages, known }) =>
          Effect.succeed(
            messages.flatMap((message): ReadonlyArray<NewFact> => {
              const quote = Message.text(message)
              if (message.role !== "user") return []
              const fact = { layer: "user" as const, predicate: "diet", value: "vegan" }
              return quote === "vegan no more"
                ? [{ ...fact, quote, ended: known.length > 0 }]
                : [{ ...fact, quote: name === "new" ? "vega" : quote }]
            }),
          ),
      })
      const memory = yield* open(log, { extractor: named("old") })
      for (const text of ["vegan", "vegan no more"])
        yield* memory.append("one", [Message.user(text), Message.assistant("Noted.")], { owner: "ann" })
      const ended = Effect.map(memory.factsOf("ann", { at: null }), (facts) =>
        facts.map(({ validUntil }) => validUntil !== undefined),
      )
      expect(yield* ended).toEqual([true])
      const [fact] = yield* memory.factsOf("ann", { at: null })
      yield* memory.revertFact("one", fact?.id ?? "")
      expect((yield* memory.rebuildFacts("ann")).change).toEqual([])
      expect(Object.keys((yield* memory.factsOf("ann"))[0] ?? {})).not.toContain("notEnded")
      for (const name of ["new", "old", "new"]) {
        const { come, go, change } = yield* memory.rebuildFacts("ann", { extractor: named(name) })
        expect([name, come, go, change.length]).toEqual([name, [], [], 1])
        yield* memory.takeFacts("ann")
        expect(yield* ended).toEqual([false])
      }
    }),
  )

  it.scoped("takes nothing that was redacted or confirmed otherwise while it waited to be taken", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const loud = (mark: string): Extractor => ({
        name: `loud${mark}`,
        isFree: true,
        extract: ({ messages }) =>
          Effect.succeed(
            messages.flatMap((message): ReadonlyArray<NewFact> => {
              const [quote, predicate = "", value] = /(\w+) = (\w+)/u.exec(Message.text(message)) ?? []
              return quote === undefined
                ? []
                : [
                    { predicate, key: predicate, value: `${value}${mark}`, quote },
                    { predicate: `${predicate} too`, value, quote },
                  ]
            }),
          ),
      })
      const memory = yield* open(log, { extractor: loud("") })
      for (const text of ["city = Graz", "pet = cat", "pin = 4711"]) {
        yield* TestClock.adjust("1 second")
        yield* memory.append("one", [Message.user(text), Message.assistant("Noted.")], { owner: "ann" })
      }
      const idOf = (predicate: string) =>
        Effect.map(memory.factsOf("ann"), (facts) => facts.find((one) => one.predicate === predicate)!.id)
      yield* memory.rebuildFacts("ann", { extractor: loud("!") })
      yield* memory.confirmFact("one", yield* idOf("city"))
      yield* memory.removeFact("one", yield* idOf("pin"), { as: "redacted" })
      const home = yield* Stream.runCollect(memory.eventsOf("ann"))
      expect(JSON.stringify([...home].filter(({ session }) => session !== "one"))).not.toContain("4711!")
      yield* memory.takeFacts("ann")
      const now = yield* memory.factsOf("ann")
      expect(now.map(({ predicate, value }) => `${predicate}: ${String(value)}`).toSorted()).toEqual([
        "city too: Graz",
        "city: Graz",
        "pet too: cat",
        "pet: cat!",
        "pin too: 4711",
      ])

      // A copy of a session without an owner has what waits in it, too.
      yield* memory.append("alone", [Message.user("pin = 4711"), Message.assistant("Noted.")])
      yield* memory.rebuildFacts("alone", { of: "session", extractor: loud("!") })
      yield* memory.fork("alone", "copy")
      const [pin] = yield* memory.facts("copy")
      expect(pin?.sources).toMatchObject([{ session: "copy" }])
      yield* memory.removeFact("copy", pin?.id ?? "", { as: "redacted" })
      const has = (session: string) =>
        Effect.map(Stream.runCollect(memory.events(session)), (all) =>
          JSON.stringify([...all]).includes("4711!"),
        )
      expect([yield* has("alone"), yield* has("copy")]).toEqual([true, false])
    }),
  )

  it.scoped("goes on where taking was cut off, at any write", () =>
    Effect.gen(function* () {
      const whole = yield* InMemoryEventLog.make
      const undisturbed = yield* spoken(whole, reads("old", /diet|city|plan/))
      yield* undisturbed.rebuildFacts("ann", reads("new", /diet|pet/))
      yield* undisturbed.takeFacts("ann")
      const wanted = yield* factsOf(undisturbed)
      let cuts = 0
      for (let survived = 0; ; survived++) {
        const log = yield* InMemoryEventLog.make
        const memory = yield* spoken(log, reads("old", /diet|city|plan/))
        yield* memory.rebuildFacts("ann", reads("new", /diet|pet/))
        const killed = yield* open(mortal(log, survived), reads("old", /diet|city|plan/))
        const exit = yield* Effect.exit(killed.takeFacts("ann"))
        if (exit._tag === "Success") break
        cuts++
        expect(yield* memory.diffFacts("ann")).not.toBeNull()
        expect(yield* memory.takeFacts("ann")).toBe(true)
        expect(yield* factsOf(memory)).toEqual(wanted)
      }
      expect(cuts).toBe(3)
    }),
  )

  it.scoped("reads together what another extractor has read turn by turn, if that is what it likes", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const memory = yield* spoken(log, reads("old", /diet|city/))
      const model = reads("model", /diet|city/, { learnAt: "compaction" })
      const { come, go, change } = yield* memory.rebuildFacts("ann", model)
      expect(model.asked).toEqual([
        ["one", 0, 6],
        ["two", 0, 4],
      ])
      expect([come, go, change]).toEqual([[], [], []])
    }),
  )

  it.scoped("counts into the spend, and keeps nothing when the extractor fails", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      yield* spoken(log, reads("old", /diet/))
      const memory = yield* open(log, reads("old", /diet/), { total: { tokens: 2_000 } })
      const { extractor } = reads("costly", /pet/, { isFree: false })
      const error = yield* Effect.flip(memory.rebuildFacts("ann", { extractor }))
      expect(error.message).toContain("has reached its cap")
      expect(yield* memory.diffFacts("ann")).toBeNull()
      const fails: Extractor = { name: "fails", isFree: true, extract: () => Effect.die(new Error("secret")) }
      const failed = yield* Effect.flip(memory.rebuildFacts("ann", { extractor: fails }))
      expect(failed.message).toBe(
        'The memory layers failed at learn for session "one": the extractor "fails" threw an error',
      )
      const nobody = yield* memory.rebuildFacts("nobody")
      expect([nobody.come, nobody.go, nobody.change]).toEqual([[], [], []])
    }),
  )
})
