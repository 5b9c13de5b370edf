/** Results that say little or nothing, turns that a provider has paused, and images over a limit: every provider takes them in every format. */
import { InMemoryEventLog, Message } from "@memfold/core"
import { Effect, Either } from "effect"
import { describe, expect, it } from "vitest"
import { strategies } from "@memfold/catalog"
import { byRule, play } from "./acting.js"

const strategy = Either.getOrThrow(strategies.get("window")!.resolve({ request: { windowSize: 6 } }))

/** What every provider refuses in a conversation that is played. */
const refusedIn = (messages: ReadonlyArray<Message.Message>) =>
  Effect.runPromise(
    play({ messages, strategy }, "s").pipe(
      Effect.map(({ refused }) => byRule(refused)),
      Effect.provide(InMemoryEventLog.layer),
    ),
  )

type Result = Omit<Message.ToolResult, "type" | "id">

const image: Message.File = { type: "file", mediaType: "image/png", uri: "data:image/png;base64,AAAA" }
const sound: Message.File = { type: "file", mediaType: "audio/wav", uri: "data:audio/wav;base64,AAAA" }
const text = (words: string): Message.Text => ({ type: "text", text: words })

const results: ReadonlyArray<readonly [name: string, result: Result]> = [
  ["no words", { output: "" }],
  ["blank words", { output: " \n" }],
  ["an empty list", { output: "", content: [] }],
  ["a list with no words", { output: "", content: [text("")] }],
  ["a list with blank words", { output: " ", content: [text(" ")] }],
  ["blank words beside an image", { output: "", content: [text(" "), image] }],
  ["an image between blank words", { output: "", content: [text(""), image, text("\n")] }],
  ["a sound beside no words", { output: "", content: [text(""), sound] }],
]

const call = Message.call([{ id: "c1", name: "look", arguments: "{}" }])
const search: Message.Part = {
  type: "opaque",
  provider: "anthropic",
  data: { type: "server_tool_use", id: "s1", name: "web_search", input: { query: "memory" } },
}

describe("a result that says little", () => {
  for (const isError of [false, true])
    it.each(results)(`%s, failed: ${isError}`, async (_, result) => {
      const answer: Message.Message = {
        role: "tool",
        parts: [{ type: "tool-result", id: "c1", ...result, ...(isError ? { isError } : {}) }],
      }
      const end = [Message.assistant("Seen."), Message.user("Thanks.")]
      expect(await refusedIn([Message.user("Look."), call, answer, ...end])).toEqual([])
    })
})

describe("a turn that Anthropic has paused", () => {
  it.each([
    ["and the user goes on", [Message.user("Never mind.")]],
    ["and the assistant says more", [Message.assistant("I stop here.")]],
  ])("%s", async (_, more) => {
    const paused: Message.Message = { role: "assistant", parts: [text("I look."), search] }
    expect(await refusedIn([Message.user("Look."), paused, ...more])).toEqual([])
  })
})

describe("images over a limit", () => {
  it("leave no reasoning behind one that a newer image has made room for", async () => {
    for (const count of [1, 99, 100, 101]) {
      const first: Message.Message = { role: "user", parts: Array.from({ length: count }, () => image) }
      const result: Message.Message = {
        role: "tool",
        parts: [{ type: "tool-result", id: "c1", output: "", content: [image] }],
      }
      const said = [first, call, result, Message.assistant("Seen."), { ...first, parts: [image] }]
      expect(await refusedIn([...said, Message.assistant("Seen."), Message.user("Thanks.")])).toEqual([])
    }
  })
})
