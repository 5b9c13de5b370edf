import { describe, expect, it } from "vitest"
import { stateOf } from "@memfold/testing"
import { Message, orphans, Render } from "../index.js"

const { assistant, call, result, user } = Message

const item = (provider: string, data: object): Message.Part => ({ type: "opaque", provider, data })
const said = (...parts: ReadonlyArray<Message.Part | string>): Message.Message => ({
  role: "assistant",
  parts: parts.map((part) => (typeof part === "string" ? { type: "text", text: part } : part)),
})
const search = (id: string) =>
  item("anthropic", { type: "server_tool_use", id, name: "web_search", input: {} })
const found = (id: string, type = "web_search_tool_result") =>
  item("anthropic", { type, tool_use_id: id, content: [] })
const asked = (id: string) =>
  item("openai-responses", {
    type: "mcp_approval_request",
    id,
    server_label: "s",
    name: "f",
    arguments: "{}",
  })
const approved = (id: string) =>
  item("openai-responses", { type: "mcp_approval_response", approval_request_id: id, approve: true })
const program = (id: string) =>
  item("openai-responses", { type: "program", id: `prg_${id}`, call_id: id, code: "f()", fingerprint: "1" })
const programOutput = (id: string) =>
  item("openai-responses", {
    type: "program_output",
    id: `po_${id}`,
    call_id: id,
    result: "",
    status: "completed",
  })
const tool = (id: string): Message.Part => ({ type: "tool-call", id, name: "f", arguments: "{}" })

const contextOf = (...messages: ReadonlyArray<Message.Message>) => Render.render(stateOf(messages))
const groupsOf = (...messages: ReadonlyArray<Message.Message>) =>
  stateOf(messages)
    .uncovered.slice()
    .map(({ group }) => group)

describe("items that belong together", () => {
  it.each<readonly [string, ReadonlyArray<Message.Message>, ReadonlyArray<number>]>([
    ["in one message", [user("?"), said(search("a"), found("a")), user("!")], [0, 1, 2]],
    [
      "behind the result of a tool: a deferred call",
      [
        user("?"),
        said(search("a"), tool("t")),
        result({ id: "t", output: "" }),
        said(found("a")),
        assistant("1"),
      ],
      [0, 1, 1, 1, 4],
    ],
    ["over a pause", [user("?"), said("1", search("a")), said(found("a"), "2"), user("!")], [0, 1, 1, 3]],
    ["an approval", [user("?"), said(asked("a")), said(approved("a")), assistant("1")], [0, 1, 1, 3]],
    [
      "a program and the tools that it calls",
      [
        user("?"),
        said(program("p"), tool("t")),
        result({ id: "t", output: "" }),
        said(tool("u")),
        result({ id: "u", output: "" }),
        said(programOutput("p")),
        assistant("1"),
      ],
      [0, 1, 1, 1, 1, 1, 6],
    ],
    [
      "an MCP server of Anthropic",
      [
        said(item("anthropic", { type: "mcp_tool_use", id: "m", name: "f", server_name: "s", input: {} })),
        said(found("m", "mcp_tool_result")),
        assistant("1"),
      ],
      [0, 0, 2],
    ],
    [
      "as a library passes them on",
      [
        said(item("langchain", { type: "server_tool_use", id: "a", name: "web_fetch", input: {} })),
        said(item("langchain", { type: "web_fetch_tool_result", tool_use_id: "a", content: {} })),
        assistant("1"),
      ],
      [0, 0, 2],
    ],
  ])("are one group: %s", (_, messages, groups) => {
    expect(groupsOf(...messages)).toEqual(groups)
    const context = contextOf(...messages)
    expect(context.messages).toEqual(messages)
    expect(context.layout.some(({ section }) => section === "left-out")).toBe(false)
  })

  it("of a library are none if the application answers them in its own way", () => {
    const called = item("langchain", { type: "function_call", call_id: "c", name: "f", arguments: "{}" })
    const asking = item("langchain", { type: "mcp_approval_request", id: "a", name: "f", arguments: "{}" })
    const answer = item("langchain", {
      type: "mcp_approval_response",
      approval_request_id: "a",
      approve: true,
    })
    const messages = [user("?"), said(called, asking), { role: "user" as const, parts: [answer] }]
    expect(contextOf(...messages).messages).toEqual(messages)
    expect(groupsOf(...messages)).toEqual([0, 1, 2])
  })

  it("an answer of another type or with another id answers nothing", () => {
    expect(contextOf(user("?"), said("1", asked("a"), approved("b")), user("!")).messages).toEqual([
      user("?"),
      said("1"),
      user("!"),
    ])
    expect(contextOf(said("1", search("a"), found("a", "mcp_tool_result")), user("!")).messages).toEqual([
      said("1"),
      user("!"),
    ])
  })
})

describe("a call that the provider answers", () => {
  it("is shown at the end: the next request lets the provider go on", () => {
    const paused = [user("?"), said("1", search("a"))]
    expect(contextOf(...paused).messages).toEqual(paused)
    const deferred = [user("?"), said(search("a"), tool("t")), result({ id: "t", output: "" })]
    expect(contextOf(...deferred).messages).toEqual(deferred)
    expect(contextOf(...deferred).layout.at(-1)?.section).toBe("uncovered")
  })

  it("waits with a tool call that the client answers", () => {
    const context = contextOf(user("?"), said(search("a"), tool("t")))
    expect(context.messages).toEqual([user("?")])
    expect(context.layout.at(-1)).toMatchObject({ section: "open", from: 1, to: 2 })
  })

  it("is left out once the user goes on without its answer, and the layout names it", () => {
    const context = contextOf(user("?"), said("1", search("a")), user("!"))
    expect(context.messages).toEqual([user("?"), said("1"), user("!")])
    expect(context.layout).toContainEqual({
      section: "left-out",
      from: 1,
      to: 2,
      tokens: 0,
      parts: ["server_tool_use"],
    })
    expect(context.sources).toEqual([0, 1, 2])
    expect(context.tokens).toBeLessThan(
      stateOf([user("?"), said("1", search("a")), user("!")]).appendedTokens,
    )
  })

  it("is left out once the assistant speaks without its answer, also while a tool call is open", () => {
    expect(contextOf(user("?"), said(search("a"), "1")).messages).toEqual([user("?"), said("1")])
    const again = said("1", tool("t"))
    const { messages } = contextOf(
      user("?"),
      said(search("a"), tool("t")),
      again,
      result({ id: "t", output: "" }),
    )
    expect(JSON.stringify(messages)).not.toContain("server_tool_use")
    expect(messages).toContainEqual(again)
  })

  it("takes its message with it if that has nothing else", () => {
    const context = contextOf(user("?"), said(search("a")), user("!"))
    expect(context.messages).toEqual([user("?"), user("!")])
    expect(context.layout.filter(({ section }) => section === "uncovered")).toEqual([
      expect.objectContaining({ from: 0, to: 2 }),
    ])
  })

  it("takes signed reasoning behind it with it, and none before it", () => {
    const thought = (text: string): Message.Part => ({ type: "reasoning", text, signature: `s ${text}` })
    const messages = [user("?"), said(thought("1"), search("a"), thought("2"), "3"), user("!")]
    const state = stateOf(messages)
    expect(Render.render(state, { boundReasoning: "keep" }).messages[1]).toEqual(
      said(thought("1"), thought("2"), "3"),
    )
    expect(contextOf(...messages).messages[1]?.parts).not.toContainEqual(thought("2"))
  })

  it("is closed by a late result, which a context shows as the user's", () => {
    const messages = [
      user("?"),
      said("1", search("a")),
      result({ id: "x", output: "late" }),
      said(found("a"), "2"),
    ]
    expect(orphans(contextOf(...messages).messages)).toEqual([])
    expect(contextOf(...messages).messages[1]).toEqual(said("1"))
  })
})

describe("an approval", () => {
  it("waits for the user's answer", () => {
    const context = contextOf(user("?"), said("1", asked("a")))
    expect(context.messages).toEqual([user("?")])
    expect(context.layout.at(-1)).toMatchObject({ section: "open" })
  })

  it("is left out if the user says something else", () => {
    const context = contextOf(user("?"), said("1", asked("a")), user("Never mind."))
    expect(context.messages).toEqual([user("?"), said("1"), user("Never mind.")])
    expect(context.layout).toContainEqual(
      expect.objectContaining({ section: "left-out", parts: ["mcp_approval_request"] }),
    )
  })
})

describe("an answer without its call", () => {
  it.each([
    ["a result", found("a", "web_fetch_tool_result"), "web_fetch_tool_result"],
    ["an approval", approved("a"), "mcp_approval_response"],
    ["an output of a program", programOutput("p"), "program_output"],
  ])("is left out: %s", (_, part, type) => {
    const context = contextOf(user("?"), said(part, "1"), user("!"))
    expect(context.messages).toEqual([user("?"), said("1"), user("!")])
    expect(context.layout).toContainEqual(expect.objectContaining({ section: "left-out", parts: [type] }))
  })
})

describe("a result that has another id of its call", () => {
  const shell = (): Message.Part => ({
    type: "tool-call",
    id: "call_1",
    name: "local_shell_call",
    arguments: JSON.stringify({ id: "lsh_1", action: { type: "exec", command: ["ls"], env: {} } }),
    providerData: { "openai-responses": { type: "local_shell_call" } },
  })

  it("answers it", () => {
    const messages = [user("?"), said(shell()), result({ id: "lsh_1", output: "a.txt" }), user("!")]
    expect(groupsOf(...messages)).toEqual([0, 1, 1, 3])
    const { messages: shown } = contextOf(...messages)
    expect(shown).toHaveLength(4)
    expect(Message.results(shown[2]!)).toEqual([expect.objectContaining({ id: "call_1", output: "a.txt" })])
  })
})

describe("orphans", () => {
  it("finds items without their pair", () => {
    expect(orphans([user("?"), said(search("a"), found("a")), user("!")])).toEqual([])
    expect(orphans([user("?"), said(search("a"))])).toEqual([])
    expect(orphans([user("?"), said(search("a")), user("!")])).toHaveLength(1)
    expect(orphans([user("?"), said(found("a"))])).toHaveLength(1)
    expect(orphans([user("?"), said(asked("a"))])).toHaveLength(1)
    expect(orphans([call([{ id: "1", name: "f", arguments: "" }]), result({ id: "1", output: "" })])).toEqual(
      [],
    )
  })
})
