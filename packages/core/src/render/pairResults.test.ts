import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { conversation } from "@memfold/testing/arbitrary"
import { stateOf } from "@memfold/testing"
import { Message, orphans } from "../index.js"
import { interrupted as noResult } from "@memfold/message/Item"
import { openInOrder, pairResults } from "./pairResults.js"
import { leaveOutUnpaired } from "./unpairedItems.js"

const { assistant, call, result, system, user } = Message

const calls = (...ids: ReadonlyArray<string>) =>
  call(ids.map((id) => ({ id, name: `tool-${id}`, arguments: "{}" })))
const answer = (id: string, output = `answer ${id}`) => result({ id, output })

const paired = (...messages: ReadonlyArray<Message.Message>) => {
  const { entries } = leaveOutUnpaired(stateOf(messages).uncovered.slice(), null, "leave-out")
  return pairResults(entries).map(({ message }) => message)
}

const late = (output: string) => user(`(A tool result that no open call asked for)\n${output}`)

const died = (id: string): Message.Message => ({
  role: "tool",
  parts: [{ type: "tool-result", id, name: `tool-${id}`, output: noResult, isError: true }],
})

describe("messages without tools", () => {
  it("stay as they are, empty ones, too", () => {
    const messages: ReadonlyArray<Message.Message> = [
      system("s"),
      user("", { name: "Ada" }),
      { role: "assistant", parts: [] },
      assistant("a", { metadata: { trace: 1 } }),
    ]
    expect(paired(...messages)).toEqual(messages)
  })
})

describe("results", () => {
  it("in order stay as they are", () => {
    const messages = [calls("1", "2"), answer("1"), answer("2"), assistant("so")]
    expect(paired(...messages)).toEqual(messages)
  })

  it("out of order come back in the order of their calls", () => {
    expect(paired(calls("1", "2", "3"), answer("3"), answer("1"), answer("2"))).toEqual([
      calls("1", "2", "3"),
      answer("1"),
      answer("2"),
      answer("3"),
    ])
  })

  it("in one message become a message each", () => {
    const together: Message.Message = {
      role: "tool",
      time: 5,
      parts: [...answer("2").parts, ...answer("1").parts],
    }
    expect(paired(calls("1", "2"), together)).toEqual([
      calls("1", "2"),
      { ...answer("1"), time: 5 },
      { ...answer("2"), time: 5 },
    ])
  })

  it("without an id get the id of the call they answer", () => {
    expect(paired(calls("1", "2"), answer("", "first"), answer("", "second"))).toEqual([
      calls("1", "2"),
      answer("1", "first"),
      answer("2", "second"),
    ])
  })

  it("of reused ids stay with the calls of their own group", () => {
    const messages = [calls("1"), answer("1", "old"), calls("1"), answer("1", "new")]
    expect(paired(...messages)).toEqual(messages)
    expect(paired(calls("1", "1"), answer("1", "a"), answer("1", "b"))).toEqual([
      calls("1", "1"),
      answer("1", "a"),
      answer("1", "b"),
    ])
  })

  it("keep what else is known of them", () => {
    const failed = result({ id: "1", output: "no", isError: true, name: "other" }, { metadata: { ms: 4 } })
    expect(paired(calls("1"), failed)).toEqual([calls("1"), failed])
  })
})

describe("a call that died", () => {
  it("is answered with a note, before the user's next message", () => {
    expect(paired(calls("1"), user("stop"))).toEqual([calls("1"), died("1"), user("stop")])
    expect(paired(calls("1", "2"), answer("2"), user("stop"))).toEqual([
      calls("1", "2"),
      died("1"),
      answer("2"),
      user("stop"),
    ])
  })

  it("leaves its result, when that comes after all, as a note of the user's", () => {
    expect(paired(calls("1"), user("stop"), answer("1", "late"), assistant("stopped"))).toEqual([
      calls("1"),
      died("1"),
      user("stop"),
      late("late"),
      assistant("stopped"),
    ])
  })
})

describe("a result that answers nothing", () => {
  it("because it came twice is a note", () => {
    expect(paired(calls("1"), answer("1"), answer("1", "again"))).toEqual([
      calls("1"),
      answer("1"),
      late("again"),
    ])
  })

  it("because nobody asked is a note, also where other calls are open", () => {
    expect(paired(answer("9", "huh"))).toEqual([late("huh")])
    expect(paired(calls("1"), answer("9", "huh"), answer("1"))).toEqual([
      calls("1"),
      answer("1"),
      late("huh"),
    ])
  })
})

describe("what is said while calls are open", () => {
  it("comes after their results", () => {
    const messages = [calls("1"), assistant("one moment"), system("note"), answer("1")]
    expect(paired(...messages)).toEqual([calls("1"), answer("1"), assistant("one moment"), system("note")])
  })

  it("comes after their results, further calls with their own", () => {
    expect(paired(calls("1"), calls("2"), answer("2"), answer("1"))).toEqual([
      calls("1"),
      answer("1"),
      calls("2"),
      answer("2"),
    ])
  })

  it("beside a result is no tool message any more", () => {
    const both: Message.Message = {
      role: "tool",
      parts: [...answer("1").parts, { type: "text", text: "note" }],
    }
    expect(paired(calls("1"), both)).toEqual([calls("1"), answer("1"), user("note")])
  })
})

describe("a group that waits for results", () => {
  it("has those that came behind their calls, and calls that can be answered without one", () => {
    expect(openInOrder([calls("1", "2"), assistant("one moment"), answer("2")])).toEqual([
      calls("1", "2"),
      answer("2"),
      assistant("one moment"),
    ])
  })

  it("has a note for a call whose place another one took, and none for that one", () => {
    expect(openInOrder([calls("1"), calls("1")])).toEqual([calls("1"), died("1"), calls("1")])
  })

  it("has a note for a call that a result without an id passed by", () => {
    const unnamed = (name: string) => call([{ id: "", name, arguments: "{}" }])
    const found = result({ id: "", name: "b", output: "found" })
    expect(openInOrder([unnamed("a"), unnamed("b"), found]).map(Message.results)).toMatchObject([
      [],
      [{ output: noResult }],
      [],
      [{ output: "found" }],
    ])
  })
})

describe("any conversation", () => {
  it("loses no text, no call and no output", () => {
    const texts = (messages: ReadonlyArray<Message.Message>) =>
      messages.flatMap(({ parts }) =>
        parts.flatMap((part) =>
          part.type === "text" ? [part.text] : part.type === "tool-result" ? [part.output] : [],
        ),
      )
    const callsOf = (messages: ReadonlyArray<Message.Message>) => messages.flatMap(Message.calls)
    fc.assert(
      fc.property(conversation, (messages) => {
        const sent = paired(...messages)
        expect(callsOf(sent)).toEqual(callsOf(messages))
        const sentTexts = texts(sent)
          .filter((text) => text !== noResult)
          .map((text) => text.replace("(A tool result that no open call asked for)\n", ""))
        expect(sentTexts.toSorted()).toEqual(texts(messages).toSorted())
      }),
      { numRuns: 150 },
    )
  })

  it("has the results of its open group right behind their calls (L5)", () => {
    fc.assert(
      fc.property(conversation, (generated) => {
        const messages = generated.map((message) => ({
          ...message,
          parts: message.parts.filter(({ type }) => type !== "opaque"),
        }))
        const { open } = stateOf(messages).structure
        fc.pre(open !== null)
        const sent = openInOrder(messages.slice(open!.from))
        let left = 0
        const answered = sent.map((message, at) => {
          const next = sent.findIndex(({ role }, later) => later > at && role !== "tool")
          const ids = sent
            .slice(at + 1, next === -1 ? undefined : next)
            .flatMap(Message.results)
            .map(({ id }) => id)
          const isAnswered = ({ id }: Message.ToolCall) =>
            ids.includes(id) && ids.splice(ids.indexOf(id), 1).length > 0
          const parts = message.parts.filter((part) => part.type !== "tool-call" || isAnswered(part))
          left += message.parts.length - parts.length
          return { ...message, parts }
        })
        expect(orphans(answered)).toEqual([])
        expect(left).toBeLessThanOrEqual(open!.calls.length)
      }),
      { numRuns: 150 },
    )
  })

  it("has its results right behind their calls, whole as it is (L5)", () => {
    fc.assert(
      fc.property(conversation, (messages) => {
        expect(orphans(paired(...messages, user("and so on")))).toEqual([])
      }),
      { numRuns: 150 },
    )
  })
})
