import { Message } from "@memfold/core"
import { Either } from "effect"
import { describe, expect, it } from "vitest"
import { decodeMessage, decodeMessages, encodeAndReport, encodeMessages } from "./index.js"

describe("encodeMessages", () => {
  it("writes an error in words alone, and says what it leaves out", () => {
    const image = { type: "file" as const, mediaType: "image/png", uri: "https://example.org/page.png" }
    const call = Message.call([{ id: "c1", name: "screenshot", arguments: "{}" }])
    const failed = (content: ReadonlyArray<Message.Text | Message.File>) =>
      encodeAndReport([
        Message.user("?"),
        call,
        Message.result({ id: "c1", output: Message.outputOf(content), content, isError: true }),
      ])
    const { messages, omitted } = failed([{ type: "text", text: "It broke:" }, image])
    expect(messages[2]?.content).toEqual([
      {
        type: "tool_result",
        tool_use_id: "c1",
        content: [{ type: "text", text: "It broke:" }],
        is_error: true,
      },
    ])
    expect(omitted).toEqual([{ message: 2, part: "file" }])
    expect(JSON.stringify(failed([image]).messages[2])).toContain("(No output)")
  })

  it("leaves out reasoning before a system message that it hoists from the midst of the conversation", () => {
    const thought = (text: string): Message.Message => ({
      role: "assistant",
      parts: [
        { type: "reasoning", text, signature: `signed ${text}` },
        { type: "text", text: `said ${text}` },
      ],
    })
    const { system, messages, omitted } = encodeAndReport([
      Message.system("Be brief."),
      Message.user("1"),
      thought("first"),
      Message.system("Read only."),
      Message.user("2"),
      thought("second"),
    ])
    expect(JSON.stringify(system)).toContain("Read only.")
    expect(JSON.stringify(messages)).not.toContain("signed first")
    expect(JSON.stringify(messages)).toContain("signed second")
    expect(omitted).toEqual([{ message: 2, part: "reasoning" }])
  })

  it("leaves out a call that is not the assistant's, with its result", () => {
    const call = { type: "tool-call" as const, id: "c1", name: "search", arguments: "{}" }
    const given: ReadonlyArray<Message.Message> = [
      { role: "user", parts: [{ type: "text", text: "hi" }, call] },
      Message.result({ id: "c1", output: "found" }),
      Message.user("there"),
    ]
    const sent = JSON.stringify(encodeMessages(given))
    expect(sent).toContain("hi")
    expect(sent).toContain("there")
    expect(sent).not.toContain("c1")
    expect(encodeAndReport(given).omitted).toEqual([
      { message: 0, part: "tool-call" },
      { message: 1, part: "tool-result" },
    ])
  })

  it("writes no half of a surrogate pair, unless it is to be exact", () => {
    const given = [Message.user("half \ud83d")]
    expect(encodeMessages(given).messages[0]?.content).toBe("half \ufffd")
    expect(encodeMessages(given, { exact: true }).messages[0]?.content).toBe("half \ud83d")
  })

  it("hoists every system message", () => {
    expect(
      encodeMessages([
        Message.system("One."),
        Message.user("hi"),
        Message.system("Two."),
        Message.user("there"),
      ]),
    ).toEqual({
      system: [
        { type: "text", text: "One." },
        { type: "text", text: "Two." },
      ],
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "hi" },
            { type: "text", text: "there" },
          ],
        },
      ],
    })
    expect(encodeMessages([Message.user("hi")])).not.toHaveProperty("system")
  })

  it("gathers the results of parallel calls in one message, before what the user says", () => {
    const call = (id: string) => ({ id, name: "f", arguments: "{}" })
    const { messages } = encodeMessages([
      Message.user("Twice, please."),
      Message.call([call("a"), call("b")]),
      Message.result({ id: "a", output: "1" }),
      Message.user("Hurry!"),
      Message.result({ id: "b", output: "2", isError: true }),
    ])
    expect(messages.slice(1)).toEqual([
      {
        role: "assistant",
        content: [
          { type: "tool_use", id: "a", name: "f", input: {} },
          { type: "tool_use", id: "b", name: "f", input: {} },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "a", content: "1" },
          { type: "tool_result", tool_use_id: "b", content: "2", is_error: true },
          { type: "text", text: "Hurry!" },
        ],
      },
    ])
  })

  it("wraps arguments that are no JSON object", () => {
    const inputs = ["", ' { "a": 1 } ', "[1]", "7", '{"a":', "*** Begin Patch"].map((text) => {
      const { messages } = encodeMessages([
        Message.user("q"),
        Message.call([{ id: "c", name: "f", arguments: text }]),
      ])
      return (messages[1]!.content[0] as { input: unknown }).input
    })
    expect(inputs).toEqual([
      {},
      { a: 1 },
      { raw_arguments: "[1]" },
      { raw_arguments: "7" },
      { raw_arguments: '{"a":' },
      { raw_arguments: "*** Begin Patch" },
    ])
  })

  it("sends the calls of code that is left out as the model's own", () => {
    const code = { type: "server_tool_use", id: "srvtoolu_1", name: "code_execution", input: {} }
    const caller = { type: "code_execution_20260120", tool_id: "srvtoolu_1" }
    const called = { type: "tool_use", id: "toolu_1", name: "f", input: {}, caller }
    const given = [
      { role: "user", content: "Where is it?" },
      { role: "assistant", content: [code, called] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "found" }] },
    ]
    const whole = Either.getOrThrow(decodeMessages({ messages: given }))
    expect(encodeMessages(whole).messages[1]).toEqual(given[1])
    // A context leaves code out that waits where the user goes on.
    const shown = whole.map((one) => ({ ...one, parts: one.parts.filter(({ type }) => type !== "opaque") }))
    const { messages } = encodeMessages([...shown, Message.user("And?")])
    const { caller: _caller, ...own } = called
    expect(messages[1]).toEqual({ role: "assistant", content: [own] })
  })

  it("leaves out what Anthropic cannot carry, and messages of which nothing remains", () => {
    const file = (mediaType: string, uri: string) => ({ type: "file" as const, mediaType, uri })
    const { messages } = encodeMessages([
      {
        role: "user",
        parts: [
          { type: "text", text: "" },
          file("audio/wav", "data:audio/wav;base64,UklGRg=="),
          file("text/csv", "data:text/csv,a"),
          file("text/plain", "https://example.org/a.txt"),
          file("text/plain", "data:text/plain;charset=utf-8,%"),
          file("image/png", "data:text/plain;charset=utf-8,a"),
          { type: "tool-call", id: "c", name: "f", arguments: "{}" },
          { type: "opaque", provider: "openai", data: { type: "refusal", refusal: "No." } },
        ],
      },
      {
        role: "assistant",
        parts: [
          { type: "reasoning", text: "unsigned" },
          file("image/png", "data:image/png;base64,AAAA"),
          { type: "text", text: " \n" },
        ],
      },
      Message.user("hi"),
    ])
    expect(messages).toEqual([{ role: "user", content: "hi" }])
  })

  it("sends results and text of a user message apart from each other", () => {
    const message: Message.Message = {
      role: "user",
      parts: [
        { type: "tool-result", id: "a", output: "1" },
        { type: "text", text: "there" },
      ],
    }
    expect(encodeMessages([message]).messages[0]!.content).toEqual([
      { type: "tool_result", tool_use_id: "a", content: "1" },
      { type: "text", text: "there" },
    ])
  })

  it("reports what it leaves out", () => {
    const { omitted } = encodeAndReport([
      Message.user("hi", { name: "Ada" }),
      {
        role: "assistant",
        parts: [
          { type: "reasoning", text: "hm" },
          { type: "text", text: "" },
        ],
      },
      {
        role: "user",
        parts: [
          { type: "file", mediaType: "audio/wav", uri: "data:audio/wav;base64,UklGRg==" },
          { type: "opaque", provider: "openai", data: {} },
        ],
      },
    ])
    expect(omitted).toEqual([
      { message: 0, part: "name" },
      { message: 1, part: "reasoning" },
      { message: 2, part: "file" },
      { message: 2, part: "opaque" },
    ])
  })

  describe("writes what the API accepts", () => {
    const wires = (...messages: ReadonlyArray<Message.Message>) => encodeMessages(messages).messages

    it("a user's message first", () => {
      expect(wires(Message.assistant("Hello."))).toEqual([
        { role: "user", content: "(The conversation goes on.)" },
        { role: "assistant", content: "Hello." },
      ])
    })

    it("no thinking at the end of a message", () => {
      const thought = { type: "reasoning" as const, text: "hm", signature: "c2ln" }
      const hidden = {
        type: "opaque" as const,
        provider: "anthropic",
        data: { type: "redacted_thinking", data: "…" },
      }
      const said = encodeAndReport([
        Message.user("q"),
        { role: "assistant", parts: [thought, { type: "text", text: "a" }, hidden] },
        Message.user("q"),
        { role: "assistant", parts: [thought] },
        Message.user("q"),
      ])
      expect(said.messages.map(({ role, content }) => [role, content.length])).toEqual([
        ["user", 1],
        ["assistant", 2],
        ["user", 2],
      ])
      expect(said.omitted).toEqual([
        { message: 1, part: "opaque" },
        { message: 3, part: "reasoning" },
      ])
    })

    it("a text for a failed call without output", () => {
      const [, , answer] = wires(
        Message.user("q"),
        Message.call([{ id: "a", name: "f", arguments: "{}" }]),
        Message.result({ id: "a", output: "", isError: true }),
      )
      expect(answer?.content).toEqual([
        { type: "tool_result", tool_use_id: "a", content: "(No output)", is_error: true },
      ])
    })

    it("ids that it allows, and each of them once", () => {
      const call = (id: string) => Message.call([{ id, name: "f", arguments: "{}" }])
      const said = wires(
        Message.user("q"),
        ...["a", "a", "call|fc", ""].flatMap((id) => [call(id), Message.result({ id, output: "1" })]),
      )
      const ids = said
        .slice(1)
        .flatMap(({ content }) =>
          (content as ReadonlyArray<{ id?: string; tool_use_id?: string }>).flatMap((block) =>
            block.id === undefined && block.tool_use_id === undefined ? [] : [block.id ?? block.tool_use_id],
          ),
        )
      expect(ids.filter((_id, at) => at % 2 === 0)).toEqual(ids.filter((_id, at) => at % 2 === 1))
      expect(new Set(ids).size).toBe(4)
      expect(ids.slice(0, 4)).toEqual(["a", "a", "a_2", "a_2"])
      expect(ids.every((id) => /^[\w-]+$/.test(id!))).toBe(true)
    })

    it("system messages in the midst only right behind the user's", () => {
      const decoded = Either.getOrThrow(
        decodeMessages([
          { role: "user", content: "q" },
          { role: "system", content: "In French." },
          { role: "assistant", content: "Oui." },
          { role: "system", content: "In Greek." },
        ]),
      )
      expect(encodeMessages(decoded)).toEqual({
        system: "In Greek.",
        messages: [
          { role: "user", content: "q" },
          { role: "system", content: "In French." },
          { role: "assistant", content: "Oui." },
        ],
      })
    })

    it("nothing that is empty", () => {
      const decoded = Either.getOrThrow(
        decodeMessages([
          { role: "user", content: "q" },
          { role: "assistant", content: [] },
          { role: "user", content: [{ type: "text", text: "" }] },
          { role: "assistant", content: [{ type: "thinking", thinking: "unsigned" }] },
          { role: "user", content: [{ type: "text", text: "and?" }] },
        ]),
      )
      expect(encodeMessages(decoded).messages).toEqual([
        {
          role: "user",
          content: [
            { type: "text", text: "q" },
            { type: "text", text: "and?" },
          ],
        },
      ])
    })
  })

  it("sends unknown fields only to a server that takes them", () => {
    const messages = Either.getOrThrow(
      decodeMessages([
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "a", content: "1" },
            { type: "text", text: "x" },
          ],
          trace: 7,
        },
      ]),
    )
    expect(encodeMessages(messages).messages[0]).not.toHaveProperty("trace")
    const sent = encodeMessages(messages, { extraFields: ["trace"] })
    expect(sent.messages[0]).toHaveProperty("trace", 7)
  })

  it("joins the unknown fields of messages that travel as one", () => {
    const decoded = ["a", "b"].flatMap((field) =>
      Either.getOrThrow(decodeMessage({ role: "user", content: field, id: field, [field]: 1 })),
    )
    expect(encodeMessages(decoded, { extraFields: ["a", "b", "id"] }).messages).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "a" },
          { type: "text", text: "b" },
        ],
        id: "a",
        a: 1,
        b: 1,
      },
    ])
  })

  it("writes the output of a result that came without content and has one now", () => {
    const [message] = Either.getOrThrow(
      decodeMessages([{ role: "user", content: [{ type: "tool_result", tool_use_id: "a" }] }]),
    )
    const parts = [{ type: "tool-result" as const, id: "a", output: "late" }]
    expect(encodeMessages([{ ...message!, parts }]).messages[0]!.content).toEqual([
      { type: "tool_result", tool_use_id: "a", content: "late" },
    ])
  })

  it("ignores a form it cannot read", () => {
    const message = Message.user("hi", { metadata: { anthropic: { blocks: 3 } } })
    expect(encodeMessages([message]).messages).toEqual([{ role: "user", content: "hi" }])
  })
})

describe("the prompt cache", () => {
  const { assistant, call, result, system, user } = Message
  const mark = { type: "ephemeral" }
  const marksOf = (encoded: ReturnType<typeof encodeMessages>): number =>
    JSON.stringify(encoded).split('"cache_control"').length - 1

  it("is set behind messages, in the system field as well", () => {
    const messages = [system("Be brief."), user("a"), assistant("b"), user("c")]
    expect(encodeMessages(messages, { cacheControl: { behind: [0, 2, 3] } })).toEqual({
      system: [{ type: "text", text: "Be brief.", cache_control: mark }],
      messages: [
        { role: "user", content: "a" },
        { role: "assistant", content: [{ type: "text", text: "b", cache_control: mark }] },
        { role: "user", content: [{ type: "text", text: "c", cache_control: mark }] },
      ],
    })
    const hour = encodeMessages(messages, { cacheControl: { behind: [3], ttl: "1h" } })
    expect(hour.messages.at(-1)?.content).toEqual([
      { type: "text", text: "c", cache_control: { ...mark, ttl: "1h" } },
    ])
    expect(marksOf(hour)).toBe(1)
    expect(marksOf(encodeMessages(messages))).toBe(0)
  })

  it("is set on the result of a tool, and never on thinking: then the block before has the mark", () => {
    const thinking = { type: "reasoning" as const, text: "hm", signature: "s" }
    const calling = call([{ id: "1", name: "f", arguments: "{}" }])
    const messages = [
      user("a"),
      { ...calling, parts: [thinking, ...calling.parts] },
      result({ id: "1", output: "x" }),
    ]
    const { messages: sent } = encodeMessages(messages, { cacheControl: { behind: [0, 1, 2] } })
    expect(sent.at(-1)?.content).toMatchObject([{ type: "tool_result", cache_control: mark }])
    expect(sent[1]?.content).toMatchObject([{ type: "thinking" }, { type: "tool_use", cache_control: mark }])
    const content = sent[1]?.content
    expect(Array.isArray(content) && content[0]).not.toHaveProperty("cache_control")
  })

  it("is set four times at most, with the marks that the messages have", () => {
    const own = Either.getOrThrow(
      decodeMessages(
        ["a", "b", "c"].map((text) => ({
          role: "user",
          content: [{ type: "text", text, cache_control: mark }],
        })),
      ),
    )
    const messages = [user("0"), ...own, user("4"), user("5")]
    const encoded = encodeMessages(messages, { cacheControl: { behind: [0, 3, 4, 5] } })
    expect(marksOf(encoded)).toBe(4)
    expect(
      JSON.stringify(encoded.messages).endsWith('"text":"5","cache_control":{"type":"ephemeral"}}]}]'),
    ).toBe(true)
    for (const options of [{}, { cacheControl: { behind: [5] } }])
      expect(marksOf(encodeMessages([...own, ...own], options))).toBe(4)
  })

  it("has no hour behind five minutes, which the API refuses", () => {
    const hour = { ...mark, ttl: "1h" }
    const text = (text: string, more = {}) => ({ type: "text", text, ...more })
    const page = text("page", { cache_control: mark })
    const own = Either.getOrThrow(
      decodeMessages([
        { role: "user", content: [text("a", { cache_control: mark })] },
        { role: "assistant", content: [{ type: "tool_use", id: "t", name: "f", input: {} }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: [page, text("end")] }] },
        { role: "user", content: [text("b", { cache_control: hour }), text("c", { cache_control: mark })] },
      ]),
    )
    const { messages } = encodeMessages([...own, user("d")])
    const marks = [...JSON.stringify(messages).matchAll(/"cache_control":(\{.*?\})/gu)].map(([, one]) =>
      JSON.parse(one!),
    )
    expect(marks).toEqual([hour, hour, hour, mark])
    const later = encodeMessages([...own.slice(0, 3), user("d")], {
      cacheControl: { behind: [3], ttl: "1h" },
    })
    expect(JSON.stringify(later).split('"ttl":"1h"')).toHaveLength(4)
  })

  it("is not set where nothing was said", () => {
    expect(marksOf(encodeMessages([], { cacheControl: { behind: [0] } }))).toBe(0)
    const only = encodeMessages([user("a"), user(" ")], { cacheControl: { behind: [0, 1] } })
    expect(only.messages).toEqual([
      { role: "user", content: [{ type: "text", text: "a", cache_control: mark }] },
    ])
  })
})
