import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { Keep, Memory, Message, Strategy, SummaryMode, Trigger } from "../index.js"
import { recalledHeading } from "./heading.js"
import { withMemory } from "@memfold/harness/engine"

const strategy = Strategy.make({
  name: "short",
  when: Trigger.backlog({ messages: 2 }),
  keep: Keep.lastMessages(4),
  summaryMode: SummaryMode.rolling,
})
const live = withMemory({ strategy, compaction: { mode: "inline" } })

const talk = (count: number): ReadonlyArray<Message.Message> =>
  Array.from({ length: count }, (_, at) =>
    at % 2 === 0 ? Message.user(`Small talk number ${at}`) : Message.assistant(`I see, ${at}`),
  )

const recalledIn = ({ messages }: { readonly messages: ReadonlyArray<Message.Message> }) =>
  messages.findIndex((message) => Message.text(message).startsWith(recalledHeading))

describe("a context with recall", () => {
  it.effect("shows what fits the newest user message right before it, and names it in the layout", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", [
        Message.user("My order KX-4471 goes to Graz."),
        Message.assistant("Noted."),
        ...talk(20),
        Message.user("Where does order KX-4471 go?"),
      ])
      const plain = yield* memory.context("s")
      const context = yield* memory.context("s", { recall: { tokens: 200 } })
      const at = recalledIn(context)
      expect(at).toBe(context.messages.length - 2)
      expect(Message.text(context.messages[at]!)).toContain("[0] user: My order KX-4471 goes to Graz.")
      expect(context.messages[at]?.role).toBe("user")
      expect(context.sources[at]).toBeNull()
      // Nothing before it changes (L13).
      expect(context.messages.slice(0, at)).toEqual(plain.messages.slice(0, at))
      const section = context.layout.find(({ section }) => section === "recalled")
      expect(section).toMatchObject({ from: 0 })
      expect(section?.tokens).toBeLessThanOrEqual(200)
      expect(context.layout.map(({ section }) => section).slice(-2)).toEqual(["recalled", "current"])
      expect(context.tokens).toBe(plain.tokens + (section?.tokens ?? 0))
      expect(context.prefix.head).not.toBe(plain.prefix.head)
    }).pipe(Effect.provide(live)),
  )

  it.effect("stays the same while the turn goes on, and goes with the next question", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", [
        Message.user("My order KX-4471 goes to Graz."),
        Message.assistant("Noted."),
        ...talk(9),
        Message.assistant("Yes?"),
        Message.user("Where does order KX-4471 go?"),
      ])
      const first = yield* memory.context("s", { recall: { tokens: 200 } })
      const at = recalledIn(first)
      expect(at).toBeGreaterThan(0)
      const before = (yield* memory.state("s")).coveredTo
      yield* memory.append("s", Message.call([{ id: "c1", name: "orders", arguments: '{"id":"KX-4471"}' }]))
      yield* memory.append("s", Message.result({ id: "c1", output: "order KX-4471: Graz, order of KX-4471" }))
      const second = yield* memory.context("s", { recall: { tokens: 200 } })
      if ((yield* memory.state("s")).coveredTo === before)
        expect(second.messages.slice(0, first.messages.length)).toEqual(first.messages)
      yield* memory.append("s", [Message.assistant("To Graz."), Message.user("Thanks and goodbye")])
      expect(recalledIn(yield* memory.context("s", { recall: { tokens: 200 } }))).toBe(-1)
    }).pipe(Effect.provide(live)),
  )

  it.effect("adds nothing where nothing is relevant, everything is shown, or nobody asks", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      const recall = { recall: {} }
      yield* memory.append("s", [...talk(20), Message.user("Which giraffe sleeps in the zoo at Schönbrunn?")])
      expect(yield* memory.context("s", recall)).toEqual(yield* memory.context("s"))
      yield* memory.append("short", [
        Message.user("order KX-4471"),
        Message.assistant("Yes."),
        Message.user("KX-4471?"),
      ])
      expect(yield* memory.context("short", recall)).toEqual(yield* memory.context("short"))
      expect(yield* memory.context("empty", recall)).toEqual(yield* memory.context("empty"))
      expect(yield* memory.context("s", { recall: { tokens: 0 } })).toEqual(yield* memory.context("s"))
      const wrong = [{ tokens: -1 }, { token: 5 }, true] as ReadonlyArray<object>
      for (const one of wrong)
        expect(yield* Effect.flip(memory.context("s", { recall: one }))).toMatchObject({
          _tag: "InvalidInput",
        })
    }).pipe(Effect.provide(live)),
  )

  it.effect(
    "leaves signed reasoning out behind other recalled messages, and keeps it in its turn (L17)",
    () =>
      Effect.gen(function* () {
        const memory = yield* Memory.Memory
        yield* memory.append("s", [
          Message.user("My order KX-4471 goes to Graz."),
          Message.assistant("Noted."),
          ...talk(9),
          Message.assistant("Yes?"),
          Message.user("Where does order KX-4471 go?"),
        ])
        yield* memory.compact("s")
        const recall = { recall: { tokens: 200 } }
        const { prefix } = yield* memory.context("s", recall)
        const thinking: Message.Message = {
          role: "assistant",
          parts: [
            { type: "reasoning", text: "I look it up.", signature: "EqQB" },
            { type: "tool-call", id: "c1", name: "orders", arguments: "{}" },
          ],
        }
        yield* memory.append("s", thinking, { prefix })
        yield* memory.append("s", Message.result({ id: "c1", output: "Graz" }))
        const reasons = ({ messages }: { readonly messages: ReadonlyArray<Message.Message> }) =>
          messages.some(({ parts }) => parts.some(({ type }) => type === "reasoning"))
        expect(reasons(yield* memory.context("s", recall))).toBe(true)
        expect(reasons(yield* memory.context("s"))).toBe(false)
      }).pipe(Effect.provide(withMemory({ strategy, compaction: { mode: "manual" } }))),
  )

  it.effect(
    "adds nothing for a message that asks nothing, unless nearly all of its words were said before",
    () =>
      Effect.gen(function* () {
        const recalled = (said: string) =>
          Effect.gen(function* () {
            const memory = yield* Memory.Memory
            yield* memory.append("s", [
              Message.user("My order KX-4471 goes to Graz."),
              Message.assistant("Noted."),
              ...talk(20),
              Message.user(said),
            ])
            return recalledIn(yield* memory.context("s", { recall: { tokens: 200 } })) !== -1
          }).pipe(Effect.provide(live))
        expect(yield* recalled("Which order is late?")).toBe(true)
        expect(yield* recalled("You told me about an order.")).toBe(true)
        expect(yield* recalled("The order is late.")).toBe(false)
        expect(yield* recalled("Order KX-4471, please.")).toBe(true)
      }),
  )
})
