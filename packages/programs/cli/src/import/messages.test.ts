import { Message } from "@memfold/core"
import { Either } from "effect"
import { describe, expect, it } from "vitest"
import { readMessages } from "./messages.js"
import { filled, inOrderOfTime, readOldTime } from "./time.js"

const right = <A, E>(either: Either.Either<A, E>): A => Either.getOrThrow(either)
const problem = <A>(either: Either.Either<A, { readonly problem: string }>): string =>
  Either.match(either, { onLeft: ({ problem }) => problem, onRight: () => "nothing" })
const read = (list: ReadonlyArray<unknown>) => readMessages(list.map((value) => ({ value })))

describe("times", () => {
  const instant = Date.UTC(2026, 1, 1, 12, 30, 5)

  it.each([
    ["2026-02-01T12:30:05Z", instant],
    ["2026-02-01T13:30:05+01:00", instant],
    ["2026-02-01T12:30:05.123456", instant + 123],
    ["2026-02-01 12:30:05", instant],
    [instant, instant],
    [instant / 1_000, instant],
    [instant / 1_000 + 0.25, instant + 250],
    [String(instant), instant],
    [String(instant / 1_000), instant],
    [null, null],
    [undefined, null],
    ["", null],
  ])("%s", (given, millis) => {
    expect(readOldTime(given)).toEqual(Either.right(millis))
  })

  it.each(["yesterday", true, {}, "2026-13-01", Number.NaN])("that are none: %s", (given) => {
    expect(Either.isLeft(readOldTime(given))).toBe(true)
  })

  it("that are missing come from their neighbours", () => {
    expect(filled([null, 3, undefined, 5, null], 9)).toEqual([3, 3, 3, 5, 5])
    expect(filled([null, null], 9)).toEqual([9, 9])
  })

  it("put in order what has some; the rest stays behind what it stood behind", () => {
    const list = [
      { id: "c", time: 3 },
      { id: "c+", time: null },
      { id: "a", time: 1 },
      { id: "b", time: 2 },
      { id: "b+", time: 2 },
    ]
    expect(inOrderOfTime(list, ({ time }) => time).map(({ id }) => id)).toEqual(["a", "b", "b+", "c", "c+"])
  })
})

describe("messages", () => {
  it("have their ids and times under several names, and send no provider what is the program's own", () => {
    const [row, plain] = right(
      read([
        {
          id: 7,
          chat_id: "c",
          role: "user",
          content: "Hi",
          created_at: 1_770_000_000,
          mood: "good",
          n: null,
        },
        { messageId: "m8", role: "assistant", text: "Hello", createdAt: "2026-02-02T02:40:01Z" },
      ]),
    )
    expect(row).toEqual({
      id: "7",
      message: Message.user("Hi", { time: 1_770_000_000_000, metadata: { import: { id: 7, mood: "good" } } }),
    })
    expect(plain).toMatchObject({ id: "m8", message: { time: 1_770_000_001_000, role: "assistant" } })
  })

  it("have their tool calls as a list, or as the text of a column", () => {
    const call = [{ id: "1", type: "function", function: { name: "weather", arguments: "{}" } }]
    const list = (calls: unknown) => [
      { role: "assistant", content: null, tool_calls: calls },
      { role: "tool", content: "rain", tool_call_id: "1", name: null },
      { role: "user", content: "Thanks", tool_calls: null, tool_call_id: null },
    ]
    const messages = right(read(list(call))).map(({ message }) => message)
    expect(messages).toMatchObject([
      { parts: [{ type: "tool-call", id: "1", name: "weather" }] },
      { role: "tool", parts: [{ type: "tool-result", id: "1", output: "rain" }] },
      Message.user("Thanks"),
    ])
    expect(right(read(list(JSON.stringify(call)))).map(({ message }) => message)).toEqual(messages)
  })

  it("that are none are told by their index, never by what they say", () => {
    expect(problem(read([]))).toBe("there are no messages")
    expect(problem(read([{ role: "user", content: "a" }, "a secret"]))).toBe("message 1 is a string")
    expect(problem(read([{ role: "robot", content: "a secret" }]))).toBe("message 0 has an unknown role")
    expect(problem(read([{ role: "user", content: 7 }]))).toBe("message 0 has a number at content")
    expect(problem(read([{ role: "user", content: "a", time: "a secret" }]))).toBe(
      "message 0 has no readable time",
    )
  })
})
