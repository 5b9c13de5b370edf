import { Message } from "@memfold/core"
import { Either } from "effect"
import { describe, expect, it } from "vitest"
import { parse } from "./Transcript.js"

const time = Date.UTC(2025, 11, 8, 22, 41)
const timestamp = "2025-12-08T22:41:00.000Z"
const session = { type: "session", id: "s", timestamp, cwd: "/home/me", provider: "anthropic" }
const entry = (message: object) => ({ type: "message", timestamp, message: { timestamp: 1, ...message } })
const usage = {
  input: 1,
  output: 114,
  cacheRead: 20,
  cacheWrite: 300,
  totalTokens: 435,
  cost: { total: 0.2 },
}
const answer = (content: ReadonlyArray<object>, more: object = {}) =>
  entry({ role: "assistant", api: "anthropic-messages", stopReason: "stop", usage, content, ...more })

const parsed = (...entries: ReadonlyArray<object>) =>
  parse([session, ...entries].map((one) => JSON.stringify(one)).join("\n"), { file: "s.jsonl" })
const read = (...entries: ReadonlyArray<object>) =>
  Either.getOrThrowWith(parsed(...entries), (error) => error).messages
const problem = (...entries: ReadonlyArray<object>) =>
  Either.getOrThrow(Either.flip(parsed(...entries))).message

describe("pi sessions", () => {
  it("are known by their entries", () => {
    expect(
      Either.map(parsed(entry({ role: "user", content: "hi" })), (transcript) => transcript.format),
    ).toEqual(Either.right("pi"))
    const one = JSON.stringify(entry({ role: "user", content: "hi" }))
    expect(Either.map(parse(one, { file: "s" }), (transcript) => transcript.messages)).toEqual(
      Either.right([Message.user("hi", { time })]),
    )
  })

  it("give messages with thinking, parallel calls, results and usage", () => {
    const call = (id: string) => ({ type: "toolCall", id, name: "read", arguments: { path: "a.ts" } })
    const result = (toolCallId: string, isError: boolean) =>
      entry({
        role: "toolResult",
        toolCallId,
        toolName: "read",
        isError,
        content: [
          { type: "text", text: "export {}" },
          { type: "image", data: "AAAA", mimeType: "image/png" },
        ],
      })
    const image = { type: "file", mediaType: "image/png", uri: "data:image/png;base64,AAAA" }
    const parts = (id: string, isError: boolean) => [
      { type: "tool-result", id, name: "read", output: "export {}", isError },
      image,
    ]
    expect(
      read(
        entry({ role: "user", content: [{ type: "text", text: "读 a.ts 👀" }] }),
        { type: "model_change", timestamp, provider: "anthropic", modelId: "m" },
        answer([
          { type: "thinking", thinking: "Read.", thinkingSignature: "c2ln" },
          { type: "text", text: "Reading." },
          call("a"),
          call("b"),
        ]),
        result("a", false),
        result("b", true),
        { type: "compaction", timestamp, summary: "…", firstKeptEntryIndex: 1, tokensBefore: 9 },
      ),
    ).toEqual([
      Message.user("读 a.ts 👀", { time }),
      {
        role: "assistant",
        parts: [
          { type: "reasoning", text: "Read.", signature: "c2ln" },
          { type: "text", text: "Reading." },
          { type: "tool-call", id: "a", name: "read", arguments: '{"path":"a.ts"}' },
          { type: "tool-call", id: "b", name: "read", arguments: '{"path":"a.ts"}' },
        ],
        usage: { input: 321, output: 114 },
        time,
      },
      { role: "tool", parts: parts("a", false), time },
      { role: "tool", parts: parts("b", true), time },
    ])
  })

  it("give no usage for an answer that was aborted, and no message if nothing was said in it", () => {
    const thinking = { type: "thinking", thinking: "Let me", thinkingSignature: "" }
    const messages = read(
      entry({ role: "user", content: "go" }),
      answer([], { stopReason: "aborted" }),
      answer([thinking], { stopReason: "aborted" }),
      answer([{ type: "text", text: "I" }], { stopReason: "error" }),
    )
    expect(messages.slice(1)).toEqual([
      { role: "assistant", parts: [{ type: "reasoning", text: "Let me" }], time: time },
      { role: "assistant", parts: [{ type: "text", text: "I" }], time: time },
    ])
  })

  it("do not pass on what another provider signed", () => {
    const thinking = { type: "thinking", thinking: "Hm.", thinkingSignature: "reasoning_content" }
    const [message] = read(answer([thinking], { api: "openai-completions" }))
    expect(message!.parts).toEqual([{ type: "reasoning", text: "Hm." }])
  })

  it("give the commands that the user ran", () => {
    const bash = (more: object) =>
      Message.text(
        read(entry({ role: "bashExecution", command: "ls", output: "a\nb\n", exitCode: 0, ...more }))[0]!,
      )
    expect(bash({ cancelled: false, truncated: false })).toBe("$ ls\na\nb")
    expect(bash({ output: "", exitCode: 2, truncated: true })).toBe("$ ls\n(exit code 2, output truncated)")
    expect(bash({ exitCode: null, cancelled: true })).toBe("$ ls\na\nb\n(cancelled)")
  })

  it("keep results without a text, and results whose text comes last", () => {
    const image = { type: "image", data: "AAAA", mimeType: "image/png" }
    const result = (content: ReadonlyArray<object>) =>
      read(
        entry({ role: "toolResult", toolCallId: "a", toolName: "f", isError: false, content }),
      )[0]!.parts.map((part) => part.type)
    expect(result([])).toEqual(["tool-result"])
    expect(result([image, { type: "text", text: "late" }])).toEqual(["tool-result", "file", "text"])
  })

  it("have their compactions, and what each of them kept", () => {
    const said = (id: string) => ({ ...entry({ role: "user", content: id }), id })
    const compaction = { type: "compaction", timestamp, summary: "They said a.", tokensBefore: 9 }
    const compactions = (more: object) =>
      Either.map(
        parsed(said("a"), said("b"), { ...compaction, ...more }, said("c")),
        (one) => one.compactions,
      )
    const known = { after: 2, summary: "They said a.", tokensBefore: 9, time }
    expect(compactions({})).toEqual(Either.right([known]))
    expect(compactions({ firstKeptEntryIndex: 2 })).toEqual(Either.right([{ ...known, to: 1 }]))
    expect(compactions({ firstKeptEntryId: "b" })).toEqual(Either.right([{ ...known, to: 1 }]))
  })

  it("say where an entry is wrong", () => {
    expect(problem({ id: 1 })).toBe('s.jsonl:2: the entry has no type; allowed: an object with "type"')
    expect(problem(entry({ role: "robot" }))).toBe(
      "s.jsonl:2: the message has an unknown role; allowed: user, assistant, toolResult, bashExecution",
    )
    expect(problem(entry({ content: "hi" }))).toMatch("the message has no role")
    expect(problem(answer([{ type: "text", text: 5 }]))).toBe(
      "s.jsonl:2: the message is not as pi writes it at content.0.text",
    )
    expect(problem({ ...entry({ role: "user", content: "hi" }), timestamp: "then" })).toMatch(
      "s.jsonl:2: the entry has no readable time at timestamp; allowed: an ISO 8601 time",
    )
  })
})
