import { Message } from "@memfold/core"
import { cpuTime } from "@memfold/harness/cpuTime"
import { Either } from "effect"
import * as fc from "fast-check"
import { inspect } from "node:util"
import { describe, expect, it } from "vitest"
import {
  parse,
  parseAll,
  type ParseOptions,
  readTranscripts,
  type Transcript,
  TranscriptError,
} from "./Transcript.js"

const good = (text: string, options: Partial<ParseOptions> = {}): Transcript =>
  Either.getOrThrowWith(parse(text, { file: "chat", ...options }), (error) => error)

const bad = (text: string, options: Partial<ParseOptions> = {}): TranscriptError => {
  const parsed = parse(text, { file: "chat.jsonl", ...options })
  if (Either.isRight(parsed)) throw new Error("should not have been read")
  return parsed.left
}

const lines = (...values: ReadonlyArray<unknown>) => values.map((value) => JSON.stringify(value)).join("\n")
const hi = { role: "user", content: "hi" }
const hello = { role: "assistant", content: "hello" }

describe("parse, of Chat Completions messages", () => {
  it("reads a list, an object with messages, JSON Lines and a single message", () => {
    const messages = [Message.user("hi"), Message.assistant("hello")]
    for (const text of [
      JSON.stringify([hi, hello]),
      JSON.stringify({ messages: [hi, hello] }, null, 2),
      JSON.stringify({ model: "m", messages: [hi, hello] }),
      lines(hi, hello),
    ]) {
      expect(good(text)).toEqual({ messages, format: "openai" })
    }
    expect(good(JSON.stringify(hi)).messages).toEqual([Message.user("hi")])
  })

  it("reads a long file as fast as a short one, line by line", () => {
    const millisPerLine = (count: number): number => {
      const text = lines(...Array.from({ length: count }, (_, at) => (at % 2 === 0 ? hi : hello)))
      const passed = cpuTime()
      expect(good(text, { leftOut: false }).messages).toHaveLength(count)
      return passed() / count
    }
    millisPerLine(2_000)
    expect(millisPerLine(64_000)).toBeLessThan(8 * millisPerLine(4_000))
  })

  it("allows a byte order mark, CRLF and blank lines", () => {
    expect(good(`\uFEFF${JSON.stringify(hi)}\r\n\r\n  \n${JSON.stringify(hello)}\r\n`).messages).toHaveLength(
      2,
    )
    expect(good(`\uFEFF\n${JSON.stringify([hi])}`).messages).toHaveLength(1)
  })

  it("reads when a message was said", () => {
    const time = Date.UTC(2026, 2, 2, 12)
    const { messages } = good(
      lines(
        { ...hi, time: "2026-03-02T12:00:00Z" },
        { ...hi, time: time },
        { ...hi, timestamp: "2026-03-02T13:00:00+01:00" },
        { ...hi, time: null },
        hi,
      ),
    )
    expect(messages.map((message) => message.time)).toEqual([time, time, time, undefined, undefined])
    expect(messages[0]).toEqual(Message.user("hi", { time }))
  })

  it("reads parallel calls, null content, ids used twice, emoji and half of one", () => {
    const call = (id: string) => ({ id, type: "function", function: { name: "f", arguments: "{ }" } })
    const { messages } = good(
      lines(
        { role: "developer", content: "简短回答 🙏" },
        { role: "assistant", content: null, tool_calls: [call("c"), call("d")] },
        { role: "tool", tool_call_id: "d", content: "2 \ud83d" },
        { role: "tool", tool_call_id: "c", content: "1" },
        { role: "assistant", content: "", tool_calls: [call("c")] },
        { role: "tool", tool_call_id: "c", content: "" },
      ),
    )
    expect(messages.flatMap(Message.calls).map((one) => one.id)).toEqual(["c", "d", "c"])
    expect(messages.flatMap(Message.results).map((one) => one.output)).toEqual(["2 \ud83d", "1", ""])
    expect(messages[0]).toMatchObject({ role: "system", parts: [{ text: "简短回答 🙏" }] })
  })
})

describe("parse, of Anthropic messages", () => {
  const use = { type: "tool_use", id: "t", name: "f", input: { a: 1 } }
  const result = { type: "tool_result", tool_use_id: "t", content: "14 °C" }

  it("knows them by their blocks and by the system field", () => {
    expect(good(JSON.stringify({ system: "Be brief.", messages: [hi] }))).toEqual({
      messages: [Message.system("Be brief."), Message.user("hi")],
      format: "anthropic",
    })
    const { messages, format } = good(
      lines(
        hi,
        { role: "assistant", content: [use] },
        { role: "user", content: [result, { type: "text", text: "Thanks." }], time: 5 },
      ),
    )
    expect(format).toBe("anthropic")
    expect(messages.map((message) => [message.role, message.time])).toEqual([
      ["user", undefined],
      ["assistant", undefined],
      ["tool", 5],
      ["user", 5],
    ])
  })

  it("reads responses among the messages", () => {
    const usage = { input_tokens: 3, cache_read_input_tokens: 4, output_tokens: 5 }
    const { messages, format } = good(
      lines(hi, { ...hello, type: "message", stop_reason: "end_turn", usage }),
    )
    expect(format).toBe("anthropic")
    expect(messages[1]!.usage).toEqual({ input: 7, output: 5 })
  })

  it("takes a leading system message for the system field, and leaves later ones in place", () => {
    const system = { role: "system", content: "Be brief." }
    const { messages } = good(lines(system, hi, system), { format: "anthropic" })
    expect(messages[0]).toEqual(Message.system("Be brief."))
    expect(messages[2]).toMatchObject({ role: "system", metadata: { anthropic: { place: "messages" } } })
    expect(good(lines(system), { format: "anthropic" }).messages).toEqual([Message.system("Be brief.")])
    expect(bad(lines({ role: "system" }, hi), { format: "anthropic" }).message).toMatch(
      "the message has no content",
    )
  })

  it("counts as OpenAI's what both could have written, and what only OpenAI has", () => {
    expect(good(lines(hi, hello)).format).toBe("openai")
    expect(good(lines({ role: "user", content: [{ type: "text", text: "hi" }] })).format).toBe("openai")
    const thinking = { role: "assistant", content: [{ type: "thinking", thinking: "…" }] }
    expect(good(lines(thinking)).format).toBe("anthropic")
    expect(good(lines({ ...thinking, tool_calls: [] })).format).toBe("openai")
    expect(good(lines({ ...thinking, function_call: null })).format).toBe("openai")
  })

  it("are not read as OpenAI's", () => {
    const thinking = { role: "assistant", content: [{ type: "thinking", thinking: "…" }] }
    const answer = { role: "tool", tool_call_id: "c", content: "" }
    const refused = "has a part of Anthropic Messages at content[0]"
    expect(bad(lines(thinking, answer), { file: "chat" }).message).toContain(refused)
    expect(bad(lines(thinking), { file: "chat", format: "openai" }).message).toContain(refused)
  })

  it("says what is wrong with the system field", () => {
    expect(bad(JSON.stringify({ system: 5, messages: [hi] }), { file: "chat.json" }).message).toBe(
      "chat.json: the file has a number at system; allowed: a string or a list of content blocks",
    )
  })
})

describe("parse, of tau-bench results", () => {
  const text = JSON.stringify([
    { task_id: 0, traj: [hi] },
    { task_id: 1, traj: [hi, hello] },
  ])

  it("reads the trajectory that is picked", () => {
    expect(good(text)).toEqual({ messages: [Message.user("hi")], format: "tau-bench" })
    expect(good(text, { pick: 1, format: "tau-bench" }).messages).toHaveLength(2)
    expect(good(JSON.stringify({ traj: [hi] })).format).toBe("tau-bench")
  })

  it("says how many there are", () => {
    const problem = "chat.jsonl: there is no conversation 2, the file holds 2; allowed: 0 to 1"
    expect(bad(text, { pick: 2 }).message).toBe(problem)
    expect(bad(text, { pick: -1 }).message).toMatch("no conversation -1")
    expect(bad(text, { pick: 0.5 }).message).toMatch("no conversation 0.5")
    expect(bad(lines(hi), { pick: 1 }).message).toBe(
      "chat.jsonl: there is no conversation 1, the file holds 1; allowed: 0",
    )
    expect(bad(lines(hi, hello), { format: "tau-bench" }).message).toMatch("holds no trajectories")
  })
})

describe("parse, of SWE-agent trajectories", () => {
  it("reads the history, and pairs results by the ids they list", () => {
    const call = { id: "c", type: "function", function: { name: "open", arguments: "{}" } }
    const { messages, format } = good(
      JSON.stringify({
        environment: "main",
        history: [
          { role: "system", content: "You are an agent.", agent: "main" },
          { role: "assistant", content: "Look.", thought: "Look.", action: "open", tool_calls: [call] },
          { role: "tool", content: "empty", tool_call_ids: ["c"], agent: "main" },
        ],
      }),
    )
    expect(format).toBe("swe-agent")
    expect(messages).toEqual([
      Message.system("You are an agent."),
      Message.call([{ id: "c", name: "open", arguments: "{}" }], { text: "Look." }),
      Message.result({ id: "c", output: "empty" }),
    ])
    expect(bad(lines(hi), { format: "swe-agent" }).message).toMatch("holds no trajectory")
  })
})

describe("parse, of what is no transcript", () => {
  it("says so in one line", () => {
    const message = (text: string, options: Partial<ParseOptions> = {}) => bad(text, options).message
    const roles = "system, developer, user, assistant, tool, function"
    expect(message("")).toBe("chat.jsonl: the file is empty")
    expect(message("\uFEFF \n")).toBe("chat.jsonl: the file is empty")
    expect(message("[]")).toBe("chat.jsonl: there are no messages")
    expect(message("Dear diary,\n")).toBe("chat.jsonl: not JSON (unexpected character)")
    expect(message("5")).toBe(
      'chat.jsonl: the file holds no messages; allowed: a list of messages, an object with "messages", or one message a line',
    )
    expect(message(JSON.stringify([hi, hi, hi, { content: "hi" }]), { file: "chat.json" })).toBe(
      `chat.json: message 3 has no role; allowed: ${roles}`,
    )
    expect(message(`${lines(hi)}\n\n${lines({ content: "hi" })}`)).toBe(
      `chat.jsonl:3: the message has no role; allowed: ${roles}`,
    )
    expect(message(lines(hi, { ...hi, time: "yesterday" }))).toBe(
      "chat.jsonl:2: the message has no readable time at time; allowed: an ISO 8601 time, or seconds or milliseconds since the epoch",
    )
    expect(message(lines(hi), { format: "gemini" })).toBe(
      'chat.jsonl: there is no format "gemini"; allowed: auto, openai, openai-responses, anthropic, ai-sdk, ai-sdk-4, langchain, claude-code, codex, gemini-cli, opencode, pi, copilot, sharegpt, chatgpt, claude, grok, tau-bench, swe-agent',
    )
    expect(message("", { format: "gemini" })).toMatch("no format")
  })

  it("tells a broken line from a broken document", () => {
    expect(bad(`${lines(hi, hello)}\n{"role":"us`).message).toBe("chat.jsonl:3: not JSON (unexpected end)")
    expect(bad(`${lines(hi)}\n{"role":}\n${lines(hello)}`).message).toBe(
      "chat.jsonl:2: not JSON (unexpected character)",
    )
    expect(bad(`{"role":"us\n${lines(hello)}`).message).toMatch("chat.jsonl:1: not JSON")
    expect(bad(`Dear diary,\n${lines(hello)}`).message).toMatch("chat.jsonl:1: not JSON")
    expect(bad(`[\n${lines(hello)}\n`).readable).toEqual([])
    expect(bad(`[\n${lines(hello)}\n`).message).toBe("chat.jsonl:3: not JSON (unexpected end)")
    const document = JSON.stringify([hi, hello], null, 2)
    expect(bad(`${lines(hi, hello)}\n{"role":"user"`).message).toMatch(":3: not JSON (unexpected end)")
    expect(bad(document.slice(0, -3)).message).toMatch(/^chat\.jsonl(:\d+)?: not JSON \(unexpected end\)$/)
    expect(bad(document.replace('"content": "hello"', '"content" "hello"')).message).toBe(
      "chat.jsonl:8: not JSON (unexpected character)",
    )
  })

  it("tells which of several documents is broken, and reads the others if that is skipped", () => {
    const [first, second] = [{ messages: [hi, hello] }, { messages: [hi, { role: "bot" }] }]
    const several = (...all: ReadonlyArray<unknown>) =>
      all.map((one) => JSON.stringify(one, null, 2)).join("\n")
    const begin = several(first).split("\n").length + 1
    expect(bad(several(first, second), { pick: 1 }).message).toMatch(`chat.jsonl:${begin}: message 1`)
    const cut = `${several(first, first)}\n{ "messages": [{ "role":`
    expect(bad(cut).message).toBe(`chat.jsonl:${2 * begin - 1}: not JSON (unexpected end)`)
    const read = parseAll(cut, { file: "f", skipDamaged: true })
    expect(Either.getOrThrow(read).map(({ messages }) => messages.length)).toEqual([2, 2])
    const one = parseAll(`${several(first)}\n{"messages`, { file: "f", skipDamaged: true })
    expect(Either.getOrThrow(one).map(({ messages }) => messages.length)).toEqual([2])
  })

  it("keeps the messages before the broken place", () => {
    const readable = [Message.user("hi"), Message.assistant("hello")]
    expect(bad(`${lines(hi, hello)}\n{"role":"us`).readable).toEqual(readable)
    expect(bad(lines(hi, hello, { role: "bot" }, hi)).readable).toEqual(readable)
    expect(bad(JSON.stringify([hi, hello, { role: "bot" }])).readable).toEqual(readable)
    expect(bad(JSON.stringify([{ traj: [hi, hello, null] }])).readable).toEqual(readable)
    expect(bad(JSON.stringify({ system: "s", messages: [hi, null] })).readable).toHaveLength(2)
    expect(bad("nothing").readable).toEqual([])
  })

  it("keeps exactly the whole lines of a file that was cut off anywhere", () => {
    const text = lines(hi, { role: "assistant", content: "你好 👋" }, hi, hello)
    fc.assert(
      fc.property(fc.integer({ min: 1, max: text.length - 1 }), (length) => {
        const cut = text.slice(0, length)
        const rows = cut.split("\n")
        const whole = text.startsWith(`${cut}\n`) ? rows.length : rows.length - 1
        const parsed = parse(cut, { file: "cut" })
        expect((Either.isRight(parsed) ? parsed.right.messages : parsed.left.readable).length).toBe(whole)
      }),
    )
  })

  it("never shows what was said", () => {
    const secret = "the password is hunter2"
    const said = { role: "user", content: secret }
    for (const text of [
      secret,
      `${lines(said)}\n${secret}`,
      lines(said, { role: secret }),
      lines(said, { ...said, time: secret }),
      JSON.stringify([said, secret]),
      JSON.stringify([{ traj: [said, secret] }]),
    ]) {
      const error = bad(text)
      expect(
        `${error} ${inspect(error, { depth: 9, showHidden: true })} ${JSON.stringify(error)}`,
      ).not.toMatch("hunter2")
    }
  })
})

it("readTranscripts returns all conversations of a file, and throws the error of a broken one", () => {
  const said = (content: string) => ({ role: "user", content })
  const read = (stored: unknown) => readTranscripts(JSON.stringify(stored), { file: "chats.json" })
  const all = read([{ traj: [said("one")] }, { traj: [said("two"), said("three")] }])
  expect(all.map(({ format, messages }) => [format, messages.length])).toEqual([
    ["tau-bench", 1],
    ["tau-bench", 2],
  ])
  expect(() => read([])).toThrow(TranscriptError)
  expect(() => read([])).toThrow(/^chats\.json/)
})
