import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { chat, conversation } from "@memfold/testing/arbitrary"
import * as oracles from "@memfold/testing/oracle"
import { after, appended, committed, started, stateOf, unmarked } from "@memfold/testing"
import { Message, orphans, Render, Wording } from "../index.js"
import { interrupted as noResult } from "@memfold/message/Item"

const { assistant, call, result, system, user } = Message

const calls = (...ids: ReadonlyArray<string>) => call(ids.map((id) => ({ id, name: "t", arguments: "{}" })))
const answer = (id: string, output = `answer ${id}`) => result({ id, output })

/** The layout, each section as one short text. */
const layout = ({ layout }: Render.Context) =>
  layout.map(({ section, from, to, tokens }) => `${section} [${from},${to}) ${tokens}`)

const summary = Message.system("[Conversation Summary]\nso far")

describe("the context", () => {
  it("of nothing is empty", () => {
    expect(Render.render(stateOf([]))).toEqual({
      messages: [],
      sources: [],
      layout: [],
      tokens: 0,
      prefix: { version: 0, total: 0, head: "" },
      cacheMarks: [],
    })
  })

  it("names where a prompt cache is worth setting", () => {
    const facts = {
      section: "user-memory" as const,
      from: 0,
      to: 0,
      message: user("facts"),
      tokens: 3,
      origin: "user" as const,
    }
    const marks = (messages: ReadonlyArray<Message.Message>, coveredTo: number, index: number | null) =>
      Render.render(
        stateOf(messages, coveredTo),
        {},
        { front: [], among: index === null ? [] : [{ index, additions: [facts] }] },
      ).cacheMarks
    // A pinned message, the summary, two messages, the facts, and the question.
    expect(marks([system("be kind"), ...chat(5)], 3, 5)).toEqual([1, 3, 5])
    // The facts of an older question stay.
    expect(marks([system("be kind"), ...chat(5)], 3, 3)).toEqual([1, 5])
    expect(marks([system("be kind"), ...chat(5)], 3, null)).toEqual([1, 4])
    expect(marks(chat(3), 0, null)).toEqual([2])
    expect(marks([user("q")], 0, 0)).toEqual([1])
  })

  it("is the messages themselves before there is a summary", () => {
    const messages = chat(4)
    const context = Render.render(stateOf(messages))
    expect(context.messages).toEqual(messages)
    expect(layout(context)).toEqual(["uncovered [0,4) 40"])
    expect(context.tokens).toBe(40)
  })

  it("names the user's newest message", () => {
    const context = Render.render(stateOf(chat(5)))
    expect(context.messages).toEqual(chat(5))
    expect(layout(context)).toEqual(["uncovered [0,4) 40", "current [4,5) 10"])
    expect(layout(Render.render(stateOf([user("q")])))).toEqual(["current [0,1) 10"])
    expect(layout(Render.render(stateOf([user("q"), user("and")])))).toEqual([
      "uncovered [0,1) 10",
      "current [1,2) 10",
    ])
  })

  it("has the system prompt in front, then the summary, then what is raw", () => {
    const messages = [system("be kind"), ...chat(6)]
    const context = Render.render(stateOf(messages, 5))
    expect(unmarked(context.messages)).toEqual([messages[0], summary, ...messages.slice(5)])
    expect(layout(context)).toEqual(["pinned [0,1) 10", "summary [0,5) 7", "uncovered [5,7) 20"])
    expect(context.tokens).toBe(37)
  })

  it("has the system prompt in a section of its own before there is a summary", () => {
    const messages = [system("be kind"), system("and brief"), ...chat(2), system("by the way")]
    const context = Render.render(stateOf(messages))
    expect(context.messages).toEqual(messages)
    expect(layout(context)).toEqual(["pinned [0,2) 20", "uncovered [2,5) 30"])
  })

  it("ends the system prompt at the first other message, whatever is pinned later", () => {
    const later = Array.from({ length: 6 }, () => system("later", { pinned: true }))
    const messages = [user("q"), ...later, assistant("a")]
    const context = Render.render(stateOf(messages))
    expect(context.messages).toEqual(messages)
    expect(layout(context)).toEqual(["uncovered [0,8) 80"])
    const asking = [system("be kind"), user("q"), calls("1"), ...later]
    expect(layout(Render.render(stateOf(asking)))).toEqual([
      "pinned [0,1) 10",
      "uncovered [1,2) 10",
      "open [2,9) 0",
    ])
  })

  it("shows pinned messages in their place while they are raw, in front once they are covered", () => {
    const messages = [user("1"), assistant("2", { pinned: true }), user("3", { pinned: true }), ...chat(4, 3)]
    expect(Render.render(stateOf(messages)).messages).toEqual(messages)
    const context = Render.render(stateOf(messages, 2))
    expect(unmarked(context.messages)).toEqual([messages[1], summary, ...messages.slice(2)])
    expect(layout(context)).toEqual([
      "pinned [1,2) 10",
      "summary [0,2) 7",
      "uncovered [2,6) 40",
      "current [6,7) 10",
    ])
    expect(layout(Render.render(stateOf(messages, 5)))).toEqual([
      "pinned [1,3) 20",
      "summary [0,5) 7",
      "uncovered [5,6) 10",
      "current [6,7) 10",
    ])
  })

  it("takes a pinned message's whole group along, so that no call is orphaned", () => {
    const group = [calls("1"), result({ id: "1", output: "x" }, { pinned: true })]
    const context = Render.render(stateOf([user("q"), ...group, assistant("a"), user("q")], 4))
    expect(unmarked(context.messages)).toEqual([...group, summary, user("q")])
    expect(layout(context)).toEqual(["pinned [1,3) 20", "summary [0,4) 7", "current [4,5) 10"])
  })

  it("has no message for a summary without words", () => {
    const dropped = after(...appended(chat(6)), started(4), committed(4, { segments: [], tokens: 0 }))
    const context = Render.render(dropped)
    expect(unmarked(context.messages)).toEqual(chat(2, 4))
    expect(layout(context)).toEqual(["summary [0,4) 0", "uncovered [4,6) 20"])
  })

  it("words the summary as it was written, whatever the strategy is now", () => {
    const wording: Wording.Wording = { ...Wording.earlierConversation, role: "user" }
    const segments = [
      { kind: "history" as const, from: 0, to: 2, text: "before" },
      { kind: "turn-prefix" as const, from: 2, to: 4, text: "now" },
    ]
    const state = after(...appended(chat(6)), started(4), committed(4, { wording, segments }))
    expect(Render.render(state).messages[0]).toEqual(
      user("Summary of earlier conversation: before\n\n---\n\n**Turn Context (split turn):**\n\nnow"),
    )
  })
})

describe("an unfinished group", () => {
  it("is left out until its results are in", () => {
    const messages = [user("q"), calls("1", "2"), answer("1"), answer("2")]
    const waiting = Render.render(stateOf(messages.slice(0, 3)))
    expect(waiting.messages).toEqual([user("q")])
    expect(layout(waiting)).toEqual(["uncovered [0,1) 10", "open [1,3) 0"])
    expect(waiting.tokens).toBe(10)
    const finished = Render.render(stateOf(messages))
    expect(finished.messages).toEqual(messages)
    expect(layout(finished)).toEqual(["uncovered [0,4) 40"])
  })

  it("is shown with a note for what is missing once the user goes on", () => {
    const messages = [user("q"), calls("1", "2"), answer("1"), user("stop")]
    const context = Render.render(stateOf(messages))
    expect(context.messages).toEqual([
      ...messages.slice(0, 3),
      {
        role: "tool",
        parts: [{ type: "tool-result", id: "2", name: "t", output: noResult, isError: true }],
      },
      user("stop"),
    ])
    expect(layout(context)).toEqual(["uncovered [0,3) 30", "current [3,4) 10"])
  })

  it("can be all there is", () => {
    const context = Render.render(stateOf([calls("1")]))
    expect(context.messages).toEqual([])
    expect(layout(context)).toEqual(["open [0,1) 0"])
  })
})

describe("the newest message of the user's", () => {
  it("is as free of orphans as any other, whatever it carries", () => {
    const odd: Message.Message = { role: "user", parts: [...user("here").parts, ...answer("9").parts] }
    const context = Render.render(stateOf([...chat(2), odd]))
    expect(orphans(context.messages)).toEqual([])
    expect(Message.text(context.messages.at(-1)!)).toContain("here")
    expect(JSON.stringify(context.messages)).toContain("answer 9")
    expect(layout(context)).toEqual(["uncovered [0,2) 20", "current [2,3) 10"])
  })
})

describe("the first message kept raw", () => {
  const marks = ({ messages }: Render.Context) => messages.map(({ metadata }) => metadata?.["memfold"])

  it("says what was compacted before it, in its metadata", () => {
    const context = Render.render(stateOf(chat(6), 4))
    expect(marks(context)).toEqual([
      undefined,
      {
        compressionTriggered: true,
        summaryId: "s1",
        compactUpToIndex: 4,
        compactedAt: 6,
        isSplitTurn: false,
        compactedTime: 1_700_000_000_007,
      },
      undefined,
    ])
  })

  it("says so of a split turn, and keeps metadata of its own", () => {
    const state = after(
      ...appended([user("q"), assistant("a"), assistant("b", { metadata: { mine: 1 } })]),
      started(2),
      committed(2, { segments: [{ kind: "turn-prefix", from: 0, to: 2, text: "so far" }] }),
    )
    expect(Render.render(state).messages[1]?.metadata).toMatchObject({
      mine: 1,
      memfold: { isSplitTurn: true, compactUpToIndex: 2 },
    })
  })

  it("says nothing before there is a summary", () => {
    expect(marks(Render.render(stateOf(chat(3))))).toEqual([undefined, undefined, undefined])
  })
})

describe("the sources", () => {
  it("are the indexes of the messages; what the engine adds has none", () => {
    expect(Render.render(stateOf([system("be kind"), ...chat(6)], 5)).sources).toEqual([0, null, 5, 6])
    const messages = [user("q"), calls("1", "2"), answer("2"), user("stop"), answer("1"), user("go")]
    expect(Render.render(stateOf(messages)).sources).toEqual([0, 1, null, 2, 3, 4, 5])
  })
})

describe("additions", () => {
  const addition = (section: "user-memory" | "scope-memory" | "recalled", message: Message.Message) => ({
    section,
    from: 0,
    to: 0,
    message,
    tokens: 3,
    origin: "user" as const,
  })
  const facts = addition("user-memory", user("facts"))
  const found = addition("recalled", user("found"))
  const textsOf = ({ messages }: Render.Context) => messages.map(Message.text)

  it("in front stand between the pinned messages and the summary, in the order given", () => {
    const state = stateOf([system("be kind"), ...chat(5)], 4)
    const front = (["user-memory", "scope-memory"] as const).map((name) => addition(name, system(name)))
    const context = Render.render(state, {}, { front, among: [] })
    expect(layout(context)).toEqual([
      "pinned [0,1) 10",
      "user-memory [0,0) 3",
      "scope-memory [0,0) 3",
      "summary [0,4) 7",
      "uncovered [4,5) 10",
      "current [5,6) 10",
    ])
    expect(textsOf(context).slice(0, 4)).toEqual([
      "be kind",
      "user-memory",
      "scope-memory",
      "[Conversation Summary]\nso far",
    ])
    expect(context.tokens).toBe(43)
  })

  it("stand right before the newest user message, during its whole turn", () => {
    const turn = [user("q"), calls("1"), answer("1")]
    const shown = turn.map((_, index) => {
      const state = stateOf([...chat(4), ...turn.slice(0, index + 1)], 2)
      return Render.render(state, {}, { front: [], among: [{ index: 4, additions: [facts, found] }] })
    })
    const [first, , last] = shown
    expect(first && layout(first)).toEqual([
      "summary [0,2) 7",
      "uncovered [2,4) 20",
      "user-memory [0,0) 3",
      "recalled [0,0) 3",
      "current [4,5) 10",
    ])
    expect(last && layout(last)).toEqual([
      "summary [0,2) 7",
      "uncovered [2,4) 20",
      "user-memory [0,0) 3",
      "recalled [0,0) 3",
      "uncovered [4,7) 30",
    ])
    expect(first && textsOf(first)).toEqual(last && textsOf(last).slice(0, 6))
    expect(new Set(shown.map(({ prefix }) => prefix.head)).size).toBe(1)
  })

  it("stand where they are placed, and tell what is behind each of them", () => {
    const state = stateOf(chat(7), 2)
    const among = [2, 4, 6].map((index) => ({
      index,
      additions: [addition("user-memory", user(`f${index}`))],
    }))
    const heads = among.map((_, count) => {
      const context = Render.render(state, {}, { front: [], among: among.slice(0, count) })
      return context.prefix.head
    })
    const context = Render.render(state, {}, { front: [], among })
    expect(layout(context)).toEqual([
      "summary [0,2) 7",
      "user-memory [0,0) 3",
      "uncovered [2,4) 20",
      "user-memory [0,0) 3",
      "uncovered [4,6) 20",
      "user-memory [0,0) 3",
      "current [6,7) 10",
    ])
    const [, ...texts] = textsOf(context)
    expect(texts).toEqual([
      "f2",
      "question 2",
      "answer 3",
      "f4",
      "question 4",
      "answer 5",
      "f6",
      "question 6",
    ])
    expect(new Set([...heads, context.prefix.head]).size).toBe(4)
  })

  it("stand in front of the uncovered messages if the newest user message is covered, and last without any", () => {
    const turn = [user("q"), calls("1"), answer("1"), calls("2"), answer("2")]
    const before = (index: number) => ({ front: [], among: [{ index, additions: [facts] }] })
    expect(layout(Render.render(stateOf(turn, 3), {}, before(3)))).toEqual([
      "summary [0,3) 7",
      "user-memory [0,0) 3",
      "uncovered [3,5) 20",
    ])
    expect(layout(Render.render(stateOf(turn, 5), {}, before(5)))).toEqual([
      "summary [0,5) 7",
      "user-memory [0,0) 3",
    ])
    expect(textsOf(Render.render(stateOf([], 0), {}, before(0)))).toEqual(["facts"])
  })
})

describe("a cap", () => {
  const style = { maxMessages: 3 }

  it("leaves the oldest raw messages out and names the gap", () => {
    const context = Render.render(stateOf(chat(8), 2), style)
    expect(unmarked(context.messages)).toEqual([summary, ...chat(3, 5)])
    expect(layout(context)).toEqual(["summary [0,2) 7", "gap [2,5) 0", "uncovered [5,8) 30"])
    expect(context.tokens).toBe(37)
  })

  it("leaves nothing out while there are no more", () => {
    expect(layout(Render.render(stateOf(chat(3)), style))).toEqual(["uncovered [0,2) 20", "current [2,3) 10"])
    expect(layout(Render.render(stateOf(chat(4)), style))).toEqual(["gap [0,1) 0", "uncovered [1,4) 30"])
  })

  it("spares the system prompt and what is pinned, which moves to the front", () => {
    const messages = [system("be kind"), ...chat(3), user("3", { pinned: true }), ...chat(4, 5)]
    const context = Render.render(stateOf(messages), style)
    expect(context.messages).toEqual([messages[0], messages[4], ...messages.slice(6)])
    expect(layout(context)).toEqual([
      "pinned [0,1) 10",
      "pinned [4,5) 10",
      "gap [1,4) 0",
      "gap [5,6) 0",
      "uncovered [6,8) 20",
      "current [8,9) 10",
    ])
  })

  it("takes the whole group of a pinned message in the gap along", () => {
    const group = [calls("1"), result({ id: "1", output: "x" }, { pinned: true })]
    const context = Render.render(stateOf([user("q"), ...group, ...chat(5, 1)]), style)
    expect(context.messages.slice(0, 2)).toEqual(group)
    expect(layout(context)).toEqual(["pinned [1,3) 20", "gap [0,1) 0", "gap [3,5) 0", "uncovered [5,8) 30"])
  })

  it("cuts no group: it shows the group at its edge whole", () => {
    const messages = [user("q"), calls("1"), answer("1"), assistant("a"), user("q")]
    const shown = (maxMessages: number) => layout(Render.render(stateOf(messages), { maxMessages }))
    expect(shown(2)).toEqual(["gap [0,3) 0", "uncovered [3,4) 10", "current [4,5) 10"])
    expect(shown(3)).toEqual(shown(4))
    expect(shown(3)).toEqual(["gap [0,1) 0", "uncovered [1,4) 30", "current [4,5) 10"])
  })

  it("does not count what is open as shown", () => {
    const messages = [...chat(5), calls("1")]
    const context = Render.render(stateOf(messages), style)
    expect(context.messages).toEqual(messages.slice(3, 5))
    expect(layout(context)).toEqual(["gap [0,3) 0", "uncovered [3,5) 20", "open [5,6) 0"])
  })
})

describe("any state", () => {
  const anyState = fc
    .tuple(conversation, fc.nat(), fc.option(fc.integer({ min: 1, max: 12 })))
    .map(([messages, cut, maxMessages]) => {
      const boundaries = oracles.boundaries(messages)
      const coveredTo = boundaries[cut % boundaries.length]!
      return { messages, coveredTo, state: stateOf(messages, coveredTo), maxMessages }
    })

  it("renders without orphans (L5)", () => {
    fc.assert(
      fc.property(anyState, ({ state, maxMessages }) => {
        expect(orphans(Render.render(state, maxMessages === null ? {} : { maxMessages }).messages)).toEqual(
          [],
        )
      }),
      { numRuns: 150 },
    )
  })

  it("has every message in exactly one place (L4)", () => {
    fc.assert(
      fc.property(anyState, ({ messages, coveredTo, state, maxMessages }) => {
        const context = Render.render(state, maxMessages === null ? {} : { maxMessages })
        const places = messages.map((_, index) =>
          context.layout.filter(
            ({ section, from, to }) =>
              section !== "left-out" &&
              index >= from &&
              index < to &&
              !(section === "pinned" && index < coveredTo),
          ),
        )
        expect(places.map((found) => found.length)).toEqual(messages.map(() => 1))
        expect(places.map(([place]) => place?.section === "summary")).toEqual(
          messages.map((_, index) => index < coveredTo),
        )
      }),
      { numRuns: 150 },
    )
  })
})

it("shows the newest group however small the cap is", () => {
  const calls = Message.call(["a", "b", "c"].map((id) => ({ id, name: "t", arguments: "{}" })))
  const answers = ["a", "b", "c"].map((id) => Message.result({ id, output: "x" }))
  const { layout } = Render.render(stateOf([Message.user("go"), calls, ...answers]), { maxMessages: 2 })
  expect(layout).toMatchObject([
    { section: "gap", from: 0, to: 1 },
    { section: "uncovered", from: 1, to: 5 },
  ])
})

describe("a summary of separate messages", () => {
  const block = (from: number, text: string) => ({ kind: "block" as const, from, to: from + 2, text })
  const wording = Wording.separately(Wording.conversationSummary)
  const context = (segments: ReadonlyArray<ReturnType<typeof block>>) => {
    const to = segments.at(-1)!.to
    const files = { read: ["a.ts"], modified: [] }
    return Render.render(
      after(...appended(chat(8)), started(to), committed(to, { segments, wording, files })),
    )
  }

  it("has one message for each block, and one for the files behind them", () => {
    const { messages, sources, layout } = context([block(0, "first"), block(2, "second")])
    expect(messages.slice(0, 4).map(Message.text)).toEqual([
      "[Conversation Summary]\nfirst",
      "[Conversation Summary]\nsecond",
      "[Conversation Summary]\n<read-files>\na.ts\n</read-files>",
      Message.text(chat(8)[4]!),
    ])
    expect(sources).toEqual([null, null, null, 4, 5, 6, 7])
    expect(layout.map(({ section, from, to }) => [section, from, to])).toEqual([
      ["summary", 0, 4],
      ["uncovered", 4, 8],
    ])
  })

  it("leaves the older blocks as they are when another one comes", () => {
    const [before, later] = [context([block(0, "first")]), context([block(0, "first"), block(2, "second")])]
    expect(later.messages[0]).toEqual(before.messages[0])
  })
})
