import { Message, Wording } from "@memfold/core"
import { Either } from "effect"
import { describe, expect, it } from "vitest"
import { chat } from "@memfold/testing/arbitrary"
import { readSource } from "../transcript/source.js"
import type { OldMessage } from "./messages.js"
import * as rolling from "./rolling.js"
import * as slidingWindow from "./slidingWindow.js"
import * as splitTurn from "./splitTurn.js"

const right = <A, E>(either: Either.Either<A, E>): A => Either.getOrThrow(either)
const problem = <A>(either: Either.Either<A, { readonly problem: string }>): string =>
  Either.match(either, { onLeft: ({ problem }) => problem, onRight: () => "nothing" })

describe("a sliding window (design 1)", () => {
  const said = [
    { role: "user", content: "one", timestamp: "2026-02-01T12:00:00.123456" },
    { role: "assistant", content: "two" },
    { role: "user", content: "three" },
  ]
  const state = (rest: object) =>
    slidingWindow.read(right(readSource(JSON.stringify({ messages: said, ...rest }))))
  const lines = (head: object, list: ReadonlyArray<object> = said) =>
    slidingWindow.read(right(readSource([head, ...list].map((one) => JSON.stringify(one)).join("\n"))))

  it("is a JSON object, or JSON Lines that begin with metadata", () => {
    const object = right(state({ last_consolidated: 2, key: "telegram:1" }))
    expect(object).toMatchObject({ coveredTo: 2, time: null })
    expect(object.messages).toHaveLength(3)
    expect(object.messages[0]?.time).toBe(Date.UTC(2026, 1, 1, 12, 0, 0, 123))
    expect(right(lines({ _type: "metadata", last_consolidated: 2 }))).toEqual(object)
  })

  it("has a time of its last compaction, or has none", () => {
    const at = (time: unknown) => right(state({ last_consolidated: 2, last_consolidated_at: time })).time
    expect(at("2026-02-01T12:00:00Z")).toBe(Date.UTC(2026, 1, 1, 12))
    expect(at(1_770_000_000)).toBe(1_770_000_000_000)
    expect(at(null)).toBeNull()
    expect(problem(state({ last_consolidated: 2, last_consolidated_at: "soon" }))).toContain(
      "last_consolidated_at",
    )
  })

  it.each([
    [-1, "last_consolidated is -1, and there are 3 messages"],
    [4, "last_consolidated is 4, and there are 3 messages"],
    [1.5, "last_consolidated is 1.5"],
    ["2", "last_consolidated is no number"],
    [undefined, "it has no last_consolidated"],
    [null, "memfold replay"],
  ])("says what is wrong with last_consolidated: %s", (coveredTo, wrong) => {
    expect(problem(state({ last_consolidated: coveredTo }))).toContain(wrong)
  })

  it("is told from other files", () => {
    const other = (value: unknown) => problem(slidingWindow.read(right(readSource(JSON.stringify(value)))))
    expect(other([])).toContain("no state of a sliding window")
    expect(other({ messages: {}, last_consolidated: 0 })).toContain("no state of a sliding window")
    expect(other({ messages: [], last_consolidated: 0 })).toBe("there are no messages")
    expect(other({ _type: "metadata", last_consolidated: 0 })).toBe("there are no messages")
    expect(problem(lines({ role: "user", content: "a" }))).toContain("the first line is no metadata")
    const broken = `${JSON.stringify({ _type: "metadata", last_consolidated: 0 })}\n${JSON.stringify(said[0])}\n{"ro`
    expect(Either.getLeft(slidingWindow.read(right(readSource(broken))))).toMatchObject({
      value: { line: 3 },
    })
  })
})

describe("a table of summaries with split turns (design 3)", () => {
  const row = (rest: object) => ({
    summary_id: "s1",
    thread_id: "t",
    summary_text: "so far",
    compact_up_to_index: 4,
    compacted_at: 9,
    is_split_turn: 0,
    split_turn_prefix: null,
    is_active: 1,
    created_at: "2026-02-01 12:00:00",
    ...rest,
  })
  const of = (...rows: ReadonlyArray<object>) =>
    splitTurn.read(
      rows.map((one) => ({ ...one })),
      chat(10),
    )

  it("has a range from the start, how many messages there were, and when", () => {
    expect(of(row({})).summaries).toEqual([
      {
        id: "s1",
        status: "active",
        text: "so far",
        covers: [{ from: 0, to: 4 }],
        time: Date.UTC(2026, 1, 1, 12),
        total: 9,
      },
    ])
  })

  it("is in the order it was written in", () => {
    const late = row({ summary_id: "late", created_at: "2026-02-01 12:00:01", is_active: "true" })
    const { summaries } = of(late, row({ is_active: 0 }))
    expect(summaries.map(({ id, status }) => [id, status])).toEqual([
      ["s1", "superseded"],
      ["late", "active"],
    ])
  })

  it("has a split turn's two parts, joined or apart", () => {
    const parts = (rest: object) => {
      const { text, turnPrefix } = of(row({ is_split_turn: 1, ...rest })).summaries[0]!
      return [text, turnPrefix]
    }
    const joined = `history${Wording.conversationSummary.beforeTurnPrefix}prefix`
    expect(parts({ summary_text: joined, split_turn_prefix: "prefix" })).toEqual(["history", "prefix"])
    expect(parts({ summary_text: joined })).toEqual(["history", "prefix"])
    expect(parts({ summary_text: "history", split_turn_prefix: "prefix" })).toEqual(["history", "prefix"])
    expect(parts({ is_split_turn: 0, split_turn_prefix: "prefix" })).toEqual(["so far", undefined])
  })

  it.each([
    [{ summary_text: 4 }, "summary_text is no text"],
    [{ summary_text: Buffer.from("so far") }, "summary_text is no text"],
    [{ created_at: "yesterday" }, "created_at is no time"],
    [{ is_split_turn: 1, split_turn_prefix: Buffer.from("a") }, "split_turn_prefix is no text"],
    [{ is_split_turn: 2, split_turn_prefix: "prefix" }, "is_split_turn is neither true nor false"],
    [{ is_split_turn: "maybe" }, "is_split_turn is neither true nor false"],
    [{ is_split_turn: 1 }, "is_split_turn is true, and there is no split_turn_prefix"],
    [{ is_split_turn: 1, split_turn_prefix: "" }, "is_split_turn is true, and there is no split_turn_prefix"],
  ])("may have a damaged one, and goes on: %j", (rest, why) => {
    const { summaries } = of(row(rest), row({ summary_id: "s2" }))
    expect(summaries.find(({ id }) => id === "s1")).toMatchObject({
      covers: [],
      damaged: expect.stringContaining(why),
    })
    expect(summaries.find(({ id }) => id === "s2")).toMatchObject({ covers: [{ from: 0, to: 4 }] })
  })

  it("may have a damaged one, whose messages are to be summarized anew", () => {
    for (const [index, why] of [
      [-1, "compact_up_to_index is no index of a message"],
      ["4", "compact_up_to_index is no index of a message"],
      [11, expect.stringMatching(/^compact_up_to_index is 11, and there are 10 messages \(.*--messages\)$/)],
    ] as const) {
      expect(of(row({ compact_up_to_index: index })).summaries).toMatchObject([{ covers: [], damaged: why }])
    }
  })

  it("may have an older one from before the conversation was rewound", () => {
    const { summaries } = of(row({ compact_up_to_index: 11, is_active: 0 }), row({ summary_id: "s2" }))
    expect(summaries.map(({ covers }) => covers)).toEqual([[], [{ from: 0, to: 4 }]])
  })
})

describe("a table of rolling summaries (design 4)", () => {
  const messages: ReadonlyArray<OldMessage> = chat(6).map((message, index) => ({ message, id: `m${index}` }))
  const row = (rest: object) => ({
    id: "s1",
    chat_id: "c",
    summary: "so far",
    status: "active",
    compressed_at: 1_770_000_000_000,
    message_ids: '["m0","m1","m3"]',
    ...rest,
  })
  const of = (...rows: ReadonlyArray<unknown>) => rolling.read(rows, messages)

  it("lists its messages by their ids, as text or as a list; deleted ones are passed over", () => {
    expect(right(of(row({}))).summaries).toEqual([
      {
        id: "s1",
        status: "active",
        text: "so far",
        covers: [
          { from: 0, to: 2 },
          { from: 3, to: 4 },
        ],
        time: 1_770_000_000_000,
        total: null,
      },
    ])
    const [listed] = right(of(row({ message_ids: ["m1", "gone", "m0"] }))).summaries
    expect(listed?.covers).toEqual([{ from: 0, to: 2 }])
    const numbered = messages.map(({ message }, index) => ({ message, id: String(index + 1) }))
    const [byNumber] = right(rolling.read([row({ message_ids: "[1,2]" })], numbered)).summaries
    expect(byNumber?.covers).toEqual([{ from: 0, to: 2 }])
  })

  it("names the summary that cannot be read, and why", () => {
    expect(problem(of(row({ status: "asleep" })))).toBe(
      'summary "s1": its status is not one of active, superseded, invalid',
    )
    const damaged = (rest: object) => {
      const [first] = right(of(row(rest))).summaries
      expect(first?.covers).toEqual([])
      return first?.damaged
    }
    for (const ids of [null, "m1", "{}", [["m1"]], '["m1"']) {
      expect(damaged({ message_ids: ids })).toContain("message_ids is no JSON list of ids")
    }
    expect(damaged({ summary: 7 })).toContain("its summary is no text")
    expect(damaged({ compressed_at: "soon" })).toContain("its time is none")
    expect(problem(of(7))).toBe("summary 0 is no object")
    expect(problem(rolling.read([row({})], [{ message: Message.user("a"), id: null }]))).toContain(
      "no message has an id",
    )
  })

  it("is one of several chats in a document, or the only one", () => {
    const document = right(
      rolling.readDocument(
        {
          messages: [{ id: "a", chatId: 1 }, { id: "b", chatId: 2 }, { id: "c" }],
          compressed_summaries: [row({ chat_id: 2 })],
        },
        false,
      ),
    )
    expect(rolling.chatsOf(document)).toEqual(["2", "1"])
    expect(rolling.ofChat(document, "1")).toEqual({
      messages: [{ id: "a", chatId: 1 }, { id: "c" }],
      summaries: [],
    })
    expect(problem(rolling.readDocument({ summaries: [] }, false))).toContain("no state of rolling summaries")
    expect(right(rolling.readDocument({ summaries: [] }, true)).messages).toEqual([])
  })
})
