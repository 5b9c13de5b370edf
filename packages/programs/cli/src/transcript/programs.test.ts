/** Samples of each program's files, made by hand: `test/transcripts`. Each is recognized by itself, and nothing is lost. */
import type { Message } from "@memfold/core"
import { Either } from "effect"
import * as fc from "fast-check"
import { readdirSync, readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { parse, parseAll, readTranscripts, type Transcript } from "./Transcript.js"

const textOf = (name: string): string =>
  readFileSync(new URL(`../../test/transcripts/${name}`, import.meta.url), "utf8")

const all = (name: string): ReadonlyArray<Transcript> => readTranscripts(textOf(name), { file: name })

const partView = (part: Message.Part): string => {
  switch (part.type) {
    case "text":
      return part.text
    case "reasoning":
      return `(${part.text}${part.signature === undefined ? "" : ` ${part.signature}`})`
    case "tool-call":
      return `${part.id}=${part.name} ${part.arguments}`
    case "tool-result":
      return `${part.id}:${part.output}${part.isError === true ? " failed" : ""}${part.content === undefined ? "" : ` +${part.content.length}`}`
    case "file":
      return `<${part.mediaType} ${part.uri}>`
    case "opaque":
      return `[${JSON.stringify(part.data).slice(0, 19)}]`
  }
}

/** A message in one line: its role, time after noon, model, usage and parts. */
const view = (message: Message.Message): string => {
  const { model, hidden } = (message.metadata?.["transcript"] ?? {}) as { model?: string; hidden?: boolean }
  const { time, usage, name } = message
  return [
    message.role,
    ...(name === undefined ? [] : [`"${name}"`]),
    ...(time === undefined ? [] : [`@${(time - Date.UTC(2026, 2, 2, 12)) / 1_000}`]),
    ...(model === undefined ? [] : [model]),
    ...(usage === undefined ? [] : [`${usage.input}+${usage.output}`]),
    ...(hidden === true ? ["hidden"] : []),
    ...message.parts.map((part) => `| ${partView(part)}`),
  ].join(" ")
}

const views = ({ messages }: Transcript): ReadonlyArray<string> => messages.map(view)

const formatOf = (name: string) => all(name).map(({ format, branchOf }) => [format, branchOf])

describe("a session of Claude Code", () => {
  const [now, agent, left, ...others] = all("claude-code.jsonl")
  const before = [
    "user @0 hidden | Caveat: the user ran local commands.",
    "user @60 | When does the ferry leave?",
    'assistant @120 claude-sonnet-4-5 110+31 | (Look it up. c2ln) | I look in both tables. | t1=Read {"file_path":"winter.txt"} | t2=Read {"file_path":"summer.txt"}',
    "tool @180 | t1:07:40",
    "tool @180 | t2:no such file failed",
    "assistant @240 claude-sonnet-4-5 110+9 | At 07:40.",
  ]

  it("has whole answers, both results of parallel calls, and what was said on both sides of a compaction", () => {
    expect(now!.format).toBe("claude-code")
    expect(views(now!)).toEqual([
      ...before,
      "user @420 | Book it for Tuesday.",
      "assistant @480 claude-sonnet-4-5 110+9 | Booked for Tuesday.",
      "user @600 | Thanks, and what is this? | <image/png data:image/png;base64,AAAA>",
      "assistant @660 claude-sonnet-4-5 110+9 | A ticket.",
    ])
    expect(now!.compactions).toEqual([
      {
        after: 8,
        trigger: "manual",
        tokensBefore: 1234,
        time: Date.UTC(2026, 2, 2, 12, 9),
        summary: "The ferry at 07:40 is booked for Tuesday.",
      },
    ])
  })

  it("has the branch that was left and the sub-agent as conversations of their own", () => {
    expect(agent!.branchOf).toBeUndefined()
    expect(views(agent!)).toEqual([
      "user @490 | Check the booking.",
      "assistant @500 claude-sonnet-4-5 110+9 | It is there.",
    ])
    expect(left!.branchOf).toBe(0)
    expect(views(left!)).toEqual([
      ...before,
      "user @300 | Book it for Monday.",
      "assistant @360 claude-sonnet-4-5 110+9 | Booked for Monday.",
    ])
    expect(others).toEqual([])
  })

  it("of entries that name none before them is in the order of the file", () => {
    const said = (role: string, content: string, more: object = {}) =>
      JSON.stringify({ type: role, message: { role, content }, parentUuid: null, uuid: content, ...more })
    const file = [
      said("user", "one"),
      said("assistant", "two"),
      said("user", "three", { parentUuid: "never written" }),
      // A resumed session repeats entries, and a compaction may name an entry that comes later.
      said("user", "one"),
      JSON.stringify({ type: "system", subtype: "compact_boundary", uuid: "c", logicalParentUuid: "five" }),
      said("user", "a summary", { isCompactSummary: true, parentUuid: "c" }),
      said("assistant", "five", { parentUuid: "a summary" }),
    ].join("\n")
    const [only, ...none] = readTranscripts(file, { file: "s" })
    expect(views(only!)).toEqual(["user | one", "assistant | two", "user | three", "assistant | five"])
    expect(only!.compactions).toEqual([{ after: 3, summary: "a summary" }])
    expect(none).toEqual([])
  })
})

describe("a session of Codex", () => {
  const [now, left, ...others] = all("codex.jsonl")
  const before = [
    "system | You are Codex.",
    "user @0 | <environment_context>\n  <cwd>/home/ada/ferry</cwd>\n</environment_context>",
    "user @60 | When does the ferry leave?",
    'assistant @120 gpt-5.2-codex 100+20 | [{"type":"reasoning"] | k1=shell {"command":["cat","winter.txt"]} | k2=apply_patch *** Begin Patch\n*** End Patch',
    "tool @180 | k1:07:40",
    "tool @180 | k2:Done!",
    "assistant @240 gpt-5.2-codex 130+10 | At 07:40.",
  ]

  it("has its items with model and usage, and the compaction", () => {
    expect(now!.format).toBe("codex")
    expect(views(now!)).toEqual([
      ...before,
      "user @420 | Book it for Tuesday.",
      "assistant @480 gpt-5.2-codex | Booked for Tuesday.",
      "user @600 | Thanks.",
      "assistant @660 gpt-5.3-codex | With pleasure.",
    ])
    const summary = "The ferry at 07:40 is booked for Tuesday."
    expect(now!.compactions).toEqual([{ after: 9, summary, time: Date.UTC(2026, 2, 2, 12, 9) }])
  })

  it("has turns that were taken back as a branch", () => {
    expect(left!.branchOf).toBe(0)
    expect(views(left!)).toEqual([
      ...before,
      "user @300 | Book it for Monday.",
      "assistant @360 gpt-5.2-codex | Booked for Monday.",
    ])
    expect(others).toEqual([])
  })

  it("of an older Codex has its items line by line", () => {
    expect(formatOf("codex-old.jsonl")).toEqual([["codex", undefined]])
    expect(all("codex-old.jsonl").flatMap(views)).toEqual([
      "user | When does the ferry leave?",
      "assistant | k1=shell {}",
      "tool | k1:07:40",
      "assistant | At 07:40.",
    ])
  })
})

it("a request of the Responses API has its items as messages, and its format can be named", () => {
  expect(all("openai-responses.json").flatMap(views)).toEqual([
    "user | When does the ferry leave?",
    'assistant | k1=timetable {"day":"Tuesday"}',
    "tool | k1:07:40",
    "assistant | At 07:40.",
  ])
  const items = [
    { role: "user", content: "Hello", timestamp: 1_772_452_800 },
    { type: "function_call", name: "f", arguments: "{}", call_id: "k", timestamp: 1_772_452_801 },
  ]
  const file = items.map((item) => JSON.stringify(item)).join("\n")
  const named = readTranscripts(file, { file: "s", format: "openai-responses" })
  expect(readTranscripts(file, { file: "s" })).toEqual(named)
  expect(named.flatMap(views)).toEqual(["user @0 | Hello", "assistant @1 | k=f {}"])
})

describe("ShareGPT", () => {
  it("has calls and their results, instructions and tools", () => {
    const [first, second, ...none] = all("sharegpt.json")
    expect(views(first!)).toEqual([
      "system | You plan trips.",
      "user | When does the ferry leave?",
      'assistant | call-1=timetable {"day":"Tuesday"}',
      "tool | call-1:07:40",
      "assistant | At 07:40.",
    ])
    expect(first!.messages[0]!.metadata).toEqual({ transcript: { tools: '[{"name":"timetable"}]' } })
    expect(views(second!)).toEqual(["user | Hello", "assistant | Hello to you"])
    expect(none).toEqual([])
  })

  it("is one conversation a line, too, and a result without a call is what the user's side said", () => {
    const turns = [
      { from: "human", value: "Hello" },
      { from: "tool", value: "07:40" },
    ]
    const file = `${JSON.stringify({ conversations: turns })}\n${JSON.stringify({ conversations: turns })}`
    expect(readTranscripts(file, { file: "s" }).flatMap(views)).toEqual([
      "user | Hello",
      'user "tool" | 07:40',
      "user | Hello",
      'user "tool" | 07:40',
    ])
  })
})

describe("an export of ChatGPT", () => {
  const [now, second, left, ...others] = all("chatgpt.json")
  const before = [
    "user @0.5 | <image/* file-service://file-1> | When does the ferry leave?",
    "assistant @2 gpt-5 | (Timetable\nLook it up.)",
    'assistant @3 gpt-5 | call=python {"input":"print(table)"}',
    "tool @4 | call:07:40 +2",
    "assistant @5 gpt-5 | At 07:40.",
  ]

  it("has the branch that is shown, with times in seconds, tools and models", () => {
    expect(now!.format).toBe("chatgpt")
    expect(views(now!)).toEqual([
      ...before,
      "user @90 | Book it for Tuesday.",
      "assistant @91 gpt-5-thinking | Booked for Tuesday.",
    ])
  })

  it("has all conversations, then the branches that were left; in an empty one nothing was said", () => {
    expect(views(second!)).toEqual(["user @0 | Hello", "assistant @1 gpt-4o | Hello to you"])
    expect(left!.branchOf).toBe(0)
    expect(views(left!)).toEqual([
      ...before,
      "user @60 | Book it for Monday.",
      "assistant @61 gpt-5 | Booked for Monday.",
    ])
    expect(others).toEqual([])
    // Among what was read, the branch names the place of its conversation there, and not in the file.
    const [ferry, nothing, hello] = JSON.parse(textOf("chatgpt.json")) as ReadonlyArray<unknown>
    const moved = readTranscripts(JSON.stringify([nothing, hello, ferry]), { file: "c.json" })
    expect(moved.map(({ branchOf }) => branchOf)).toEqual([undefined, undefined, 1])
    // The branch that is shown need not be the newest one.
    const older = readTranscripts(JSON.stringify([{ ...(ferry as object), current_node: "a2" }]), {
      file: "c.json",
    })
    expect(older.map(views)).toEqual([views(left!), views(now!)])
    const picked = (pick: number) => parse(textOf("chatgpt.json"), { file: "c.json", pick })
    expect(Either.flip(picked(1)).pipe(Either.getOrThrow).message).toBe("c.json: there are no messages")
    expect(Either.map(picked(2), views)).toEqual(Either.right(views(second!)))
    expect(Either.flip(picked(4)).pipe(Either.getOrThrow).message).toBe(
      "c.json: there is no conversation 4, the file holds 4; allowed: 0 to 3",
    )
  })
})

describe("parallel calls of ChatGPT", () => {
  const node = (
    id: string,
    parent: string | undefined,
    role: string,
    name: string | undefined,
    words: string,
  ) => ({
    id,
    ...(parent === undefined ? {} : { parent }),
    message: {
      id,
      author: role === "tool" ? { role, name } : { role },
      ...(role === "assistant" && name !== undefined ? { recipient: name } : {}),
      content: { content_type: "text", parts: [words] },
    },
  })
  const called = (...names: ReadonlyArray<string>) =>
    names.map((name, at) => ["assistant", name, `in ${at}`] as const)
  const fileOf = (said: ReadonlyArray<readonly [string, string | undefined, string]>, isDown: boolean) => {
    const nodes = said.map(([role, name, words], at) => ({
      ...node(`n${at}`, isDown || at === 0 ? undefined : `n${at - 1}`, role, name, words),
      ...(isDown && at < said.length - 1 ? { children: [`n${at + 1}`] } : {}),
    }))
    return JSON.stringify([{ mapping: Object.fromEntries(nodes.map((one) => [one.id, one])) }])
  }
  const question = ["user", undefined, "When?"] as const
  const read = (said: ReadonlyArray<readonly [string, string | undefined, string]>, isDown = false) =>
    readTranscripts(fileOf([question, ...said], isDown), { file: "c.json" })[0]!.messages.flatMap(
      ({ parts }) =>
        parts.flatMap((part) => (part.type === "tool-result" ? [`${part.id} ${part.output}`] : [])),
    )

  it("have the results of the tools of their names, also if these come in another order", () => {
    const results = [
      ["tool", "g", "of g"],
      ["tool", "f", "of f"],
    ] as const
    expect(read([...called("f", "g"), ...results])).toEqual(["n2 of g", "n1 of f"])
  })

  it("of one tool have its results in their order, and else the newest call has them", () => {
    const results = ["a", "b"].map((words) => ["tool", "f", words] as const)
    expect(read([...called("f", "f"), ...results])).toEqual(["n1 a", "n2 b"])
    expect(read([...called("f", "f", "f"), ...results])).toEqual(["n3 a\nb"])
    expect(read([...called("f", "g"), ["tool", "web", "c"]])).toEqual(["n2 c"])
  })

  it("are read in a tree that says children alone", () => {
    expect(read([...called("f", "g"), ["tool", "f", "of f"]], true)).toEqual(["n1 of f"])
  })
})

it("an export of ChatGPT has what a tool found that nobody called, and nothing of one that only ran", () => {
  const said = (id: string, parent: string | null, role: string, content: object, name?: string) => ({
    [id]: { id, parent, message: { id, author: { role, name }, content } },
  })
  const page = { content_type: "tether_quote", title: "Ferries", url: "https://example.org/", text: "07:40" }
  const mapping = {
    ...said("a", null, "user", { content_type: "text", parts: ["When?"] }),
    ...said(
      "b",
      "a",
      "tool",
      { content_type: "tether_browsing_display", result: "", summary: "" },
      "file_search",
    ),
    ...said("c", "b", "tool", page, "file_search"),
    ...said("d", "c", "assistant", { content_type: "new", of: 1 }),
  }
  expect(
    readTranscripts(JSON.stringify([{ mapping, current_node: "d" }]), { file: "c" }).flatMap(views),
  ).toEqual([
    "user | When?",
    'user "file_search" | Ferries\nhttps://example.org/\n07:40',
    'assistant | [{"content_type":"ne]',
  ])
})

describe("an export of Claude", () => {
  const [now, second, left, ...others] = all("claude.json")
  const before = [
    "user @60.123 | When does the ferry leave? | winter.txt\n07:40 | <application/octet-stream map.png>",
    'assistant @120.123 | (Look it up.) | I look. | a1-2=timetable {"day":"Tuesday"}',
    "tool @120.123 | a1-2:07:40",
    "assistant @120.123 | At 07:40.",
  ]

  it("has the steps of an answer, attachments, and the newest branch", () => {
    expect(now!.format).toBe("claude")
    expect(views(now!)).toEqual([
      ...before,
      "user @300.123 | Book it for Tuesday.",
      "assistant @360.123 | Booked for Tuesday.",
    ])
    expect(views(second!)).toEqual(["user @60.123 | Hello", "assistant @60.123 | Hello to you"])
    expect(left!.branchOf).toBe(0)
    expect(views(left!)).toEqual([
      ...before,
      "user @180.123 | Book it for Monday.",
      "assistant @240.123 | Booked for Monday.",
    ])
    expect(others).toEqual([])
  })
})

it("rows of AI SDK 4 have their calls, results and steps", () => {
  expect(formatOf("ai-sdk-4.json")).toEqual([["ai-sdk-4", undefined]])
  expect(all("ai-sdk-4.json").flatMap(views)).toEqual([
    "user @0 | When does the ferry leave? | <image/png https://example.com/map.png>",
    'assistant @60 | k1=timetable {"day":"Tuesday"}',
    'tool @60 | k1:{"at":"07:40"}',
    'assistant @60 | k2=timetable {"day":"Wednesday"}',
    "tool @60 | k2:08:10",
    "assistant @60 | At 07:40 and 08:10.",
    "user @120 | And on Sunday?",
    'assistant @180 | (Look it up. c2ln) | I look. | k3=timetable {"day":"Sunday"}',
    "tool @180 | k3:none",
    "assistant @180 | Never.",
    "user @240 | Book it.",
    'assistant @300 | k4=book {"day":"Tuesday"}',
  ])
})

describe("a session of Gemini CLI", () => {
  const before = [
    "user @60 | When does the ferry leave?",
    'assistant @120 gemini-3-pro 100+15 | (Timetable\nLook it up.) | I look. | read_file-1=read_file {"path":"winter.txt"} | read_file-2=read_file {"path":"summer.txt"}',
    "tool @120 | read_file-1:07:40 | read_file-2:no such file failed",
    "assistant @180 gemini-3-pro 100+15 | At 07:40.",
  ]

  it("has each message as it was written last, what was taken back as a branch, and the compaction", () => {
    const [now, left, ...others] = all("gemini-cli.jsonl")
    expect(now!.format).toBe("gemini-cli")
    expect(views(now!)).toEqual([
      ...before,
      "user @360 | Book it for Tuesday.",
      "assistant @420 gemini-3-pro 100+15 | Booked for Tuesday.",
      "user @480 | The ferry at 07:40 is booked for Tuesday.",
      "assistant @480 gemini-3-pro 100+15 | Got it.",
      "user @540 | Thanks.",
      "assistant @600 gemini-3-pro 100+15 | With pleasure.",
    ])
    expect(now!.compactions).toEqual([{ after: 6, time: Date.UTC(2026, 2, 2, 12, 8) }])
    expect(left!.branchOf).toBe(0)
    expect(views(left!)).toEqual([
      ...before,
      "user @240 | Book it for Monday.",
      "assistant @300 gemini-3-pro 100+15 | Booked for Monday.",
    ])
    expect(others).toEqual([])
  })

  it("is one object in older files", () => {
    expect(formatOf("gemini-cli.json")).toEqual([["gemini-cli", undefined]])
    expect(all("gemini-cli.json").flatMap(views)).toEqual(before)
  })
})

it("a session of opencode has its calls, results, usage and compactions", () => {
  const [only, ...none] = all("opencode.json")
  expect(only!.format).toBe("opencode")
  expect(views(only!)).toEqual([
    "user @60 | When does the ferry leave? | <image/png data:image/png;base64,AAAA>",
    'assistant @120 claude-sonnet-4-5 110+15 | (Look it up.) | I look. | k1=read {"filePath":"winter.txt"} | k2=read {"filePath":"summer.txt"}',
    "tool @120 | k1:07:40 | k2:no such file failed",
    "assistant @180 claude-sonnet-4-5 110+15 | At 07:40.",
    "user @360 | Book it for Tuesday.",
    "assistant @420 claude-sonnet-4-5 110+15 | Booked for Tuesday.",
  ])
  expect(only!.compactions).toEqual([
    { after: 4, trigger: "auto", time: Date.UTC(2026, 2, 2, 12, 4), summary: "The ferry leaves at 07:40." },
  ])
  expect(none).toEqual([])
})

describe("what was said is kept", () => {
  const lines = (...values: ReadonlyArray<object>) => values.map((one) => JSON.stringify(one)).join("\n")
  const said = (role: string, content: string, parent: string | null, more: object = {}, id?: string) => ({
    type: role,
    message: { role, content: role === "user" ? content : [{ type: "text", text: content }], id },
    parentUuid: parent,
    uuid: content,
    ...more,
  })
  const read = (text: string) => readTranscripts(text, { file: "s" })

  it("where a prompt was typed while a tool ran, in a session of Claude Code", () => {
    const attachment = { type: "queued_command", prompt: "two" }
    const queued = { type: "attachment", attachment, uuid: "q", parentUuid: "one" }
    const [only, ...none] = read(lines(said("user", "one", null), queued, said("assistant", "three", "q")))
    expect(views(only!)).toEqual(["user | one", "user | two", "assistant | three"])
    expect(none).toEqual([])
  })

  it("where a gateway gives all answers one id", () => {
    const answer = (content: string, parent: string) => said("assistant", content, parent, {}, "same")
    const [only] = read(
      lines(said("user", "1", null), answer("2", "1"), said("user", "3", "2"), answer("4", "3")),
    )
    expect(views(only!)).toEqual(["user | 1", "assistant | 2", "user | 3", "assistant | 4"])
  })

  it("where equal ids of entries name what is not the same", () => {
    const other = { ...said("user", "three", "two"), uuid: "one" }
    const [only] = read(lines(said("user", "one", null), said("assistant", "two", "one"), other))
    expect(views(only!)).toEqual(["user | one", "assistant | two", "user | three"])
  })

  it("between two compactions, of which the second hangs before the first", () => {
    const boundary = (uuid: string, logicalParentUuid: string) => ({
      type: "system",
      subtype: "compact_boundary",
      uuid,
      logicalParentUuid,
      parentUuid: null,
    })
    const summary = (content: string, parent: string) =>
      said("user", content, parent, { isCompactSummary: true })
    const [only, ...none] = read(
      lines(
        said("user", "one", null),
        boundary("c", "one"),
        summary("first", "c"),
        said("user", "two", "first"),
        boundary("d", "one"),
        summary("second", "d"),
        said("user", "three", "second"),
      ),
    )
    expect(views(only!)).toEqual(["user | one", "user | two", "user | three"])
    expect(only!.compactions?.map(({ after, summary }) => [after, summary])).toEqual([
      [1, "first"],
      [2, "second"],
    ])
    expect(none).toEqual([])
  })

  it("where the root of a conversation of ChatGPT has no message", () => {
    const message = { author: { role: "user" }, content: { content_type: "text", parts: ["Hello"] } }
    const mapping = { root: { id: "root", parent: null }, a: { id: "a", parent: "root", message } }
    expect(read(JSON.stringify([{ mapping, current_node: "a" }])).flatMap(views)).toEqual(["user | Hello"])
  })

  it("where a compaction of opencode kept the newest messages", () => {
    const message = (id: string, role: string, part: object, more: object = {}) => ({
      info: { id, role, ...more },
      parts: [part],
    })
    const text = (id: string, role: string, more?: object) =>
      message(id, role, { type: "text", text: id }, more)
    const messages = [
      text("one", "user"),
      text("two", "assistant"),
      text("three", "user"),
      message("mark", "user", { type: "compaction", auto: true, tail_start_id: "three" }),
      text("short", "assistant", { summary: true }),
    ]
    const [only] = read(JSON.stringify({ info: {}, messages }))
    expect(only!.compactions).toEqual([{ after: 3, to: 2, trigger: "auto", summary: "short" }])
  })

  it("where something was typed beside the mark of a compaction of opencode", () => {
    const message = (id: string, role: string, parts: ReadonlyArray<object>, more: object = {}) => ({
      info: { id, role, ...more },
      parts,
    })
    const text = (one: string) => ({ type: "text", text: one })
    const messages = [
      message("one", "user", [text("one")]),
      message("two", "user", [text("two")]),
      message("mark", "user", [{ type: "compaction", tail_start_id: "two" }, text("three")]),
      message("short", "assistant", [text("short")], { summary: true }),
    ]
    const [only] = read(JSON.stringify({ info: {}, messages }))
    expect(only!.messages).toHaveLength(3)
    expect(only!.compactions).toEqual([{ after: 2, to: 1, summary: "short" }])
  })

  it.each(["tail", "rewritten tail"])(
    "behind a compaction of Claude Code whose next prompt hangs on its %s",
    (how) => {
      const kept = said("assistant", "two", "one")
      const boundary = {
        type: "system",
        subtype: "compact_boundary",
        uuid: "c",
        parentUuid: null,
        logicalParentUuid: "two",
        compactMetadata: { preservedSegment: { headUuid: "two", tailUuid: "two" } },
      }
      const summary = said("user", "short", "c", { isCompactSummary: true })
      const again = how === "tail" ? [] : [{ ...kept, parentUuid: "short" }]
      const rows = [
        said("user", "one", null),
        kept,
        boundary,
        summary,
        ...again,
        said("user", "three", "two"),
      ]
      const [only, ...none] = read(lines(...rows))
      expect(views(only!)).toEqual(["user | one", "assistant | two", "user | three"])
      expect(only!.compactions).toEqual([{ after: 2, to: 1, summary: "short" }])
      expect(none).toEqual([])
    },
  )

  it("where an answer of Gemini CLI has an empty result and what the screen showed", () => {
    const toolCalls = [[], "", null].map((result, at) => ({
      id: `${at}`,
      name: "f",
      args: {},
      result,
      resultDisplay: `shown ${at}`,
    }))
    const messages = [{ id: "a", type: "gemini", content: "", toolCalls }]
    const [only] = read(JSON.stringify({ sessionId: "s", startTime: "2026-03-02T12:00:00Z", messages }))
    expect(views(only!).at(-1)).toBe("tool | 0:shown 0 | 1:shown 1 | 2:shown 2")
  })

  it("in conversations of Grok that say nothing of themselves, and whose answers stand first", () => {
    const response = (id: string, parent: string | null, sender: string) => ({
      response: { _id: id, parent_response_id: parent, sender, message: id },
    })
    const responses = [response("two", "one", "assistant"), response("one", null, "human")]
    const odd = { conversation: null, responses: [response("three", null, "human")] }
    const all = read(JSON.stringify({ conversations: [{ conversation: { id: "c" }, responses }, odd] }))
    expect(all.map(views)).toEqual([["user | one", "assistant | two"], ["user | three"]])
  })

  it("in an export of Grok that was cut off in the time of a message", () => {
    const cut =
      '{"conversations":[{"conversation":{"id":"c"},"responses":[{"response":{"sender":"human","message":"one","create_time":{"$date":{'
    const [only] = Either.getOrThrow(parseAll(cut, { file: "f", skipDamaged: true }))
    expect(views(only!)).toEqual(["user | one"])
  })

  it("where an entry of one of two sub-agents names a parent that is nowhere", () => {
    const of = (agentId: string) => ({ agentId, isSidechain: true })
    const all = read(
      lines(
        said("user", "one", null, of("a")),
        said("user", "two", null, of("b")),
        said("assistant", "three", "gone", of("a")),
      ),
    )
    expect(all.map(views)).toEqual([["user | one", "assistant | three"], ["user | two"]])
  })

  it("in what Roo keeps of the thoughts of other models", () => {
    const content = [
      { type: "reasoning", text: "thought", summary: [] },
      { type: "tool_use", id: "t", name: "f", input: {} },
    ]
    const all = read(
      JSON.stringify([
        { role: "user", content: "one" },
        { role: "assistant", content },
      ]),
    )
    expect(all.flatMap(({ messages }) => messages.map(({ parts }) => parts.map(({ type }) => type)))).toEqual(
      [["text"], ["reasoning", "tool-call"]],
    )
  })

  it("in pieces of answers as LangChain streams them", () => {
    const block = { type: "reasoning", reasoning: "thought" }
    const chunk = { type: "AIMessageChunk", data: { content: [block, { type: "text", text: "two" }] } }
    const all = read(JSON.stringify([{ type: "human", data: { content: "one" } }, chunk]))
    expect(all[0]!.messages[1]!.parts).toEqual([
      { type: "reasoning", text: "thought" },
      { type: "text", text: "two" },
    ])
  })

  it("in dumps of LangChain with messages of any role, and with some that take others out", () => {
    const all = read(
      JSON.stringify([
        { type: "human", data: { content: "one" } },
        { type: "chat", data: { content: "two", role: "assistant" } },
        { type: "chat", data: { content: "three", role: "narrator" } },
        { type: "remove", data: { content: "", id: "x" } },
      ]),
    )
    expect(all.flatMap(views)).toEqual(["user | one", "assistant | two", "user | three"])
  })

  it("in a run of mini-SWE-agent, whose end no model was told", () => {
    const messages = [
      { role: "user", content: "fix it" },
      { role: "assistant", content: "THOUGHT: look", tool_calls: [], extra: { cost: 1 } },
      { role: "tool", tool_call_id: "t", content: "two files" },
      { role: "exit", content: "a patch of it", extra: { exit_status: "Submitted" } },
    ]
    const [one] = read(JSON.stringify({ trajectory_format: "mini-swe-agent-1.1", info: {}, messages }))
    expect(one!.format).toBe("swe-agent")
    expect(views(one!)).toEqual(["user | fix it", "assistant | THOUGHT: look", "tool | t:two files"])
    expect(one!.leftOut?.map(({ first }) => first)).toEqual(["messages[3].content"])
  })

  it("in a document of text that Claude Code was given", () => {
    const document = {
      type: "document",
      source: { type: "text", media_type: "text/plain", data: "some words" },
    }
    const content = [document, { type: "text", text: "read it" }]
    const [one] = read(JSON.stringify({ type: "user", uuid: "a", message: { role: "user", content } }))
    expect(one!.messages[0]!.parts.map(({ type }) => type)).toEqual(["file", "text"])
    expect(one!.leftOut ?? []).toEqual([])
  })

  it("where a question of VS Code is in pieces", () => {
    const requests = [{ message: { parts: [{ text: "one" }] }, response: [{ value: "two" }] }]
    expect(read(JSON.stringify({ responderUsername: "x", requests })).flatMap(views)).toEqual([
      "user | one",
      "assistant | two",
    ])
  })

  it("in a chat of VS Code that was written change by change", () => {
    const asked = (text: string, ...response: ReadonlyArray<object>) => ({ message: { text }, response })
    const lines = [
      { kind: 0, v: { version: 3, responderUsername: "x", sessionId: "s", requests: [] } },
      { kind: 2, k: ["requests"], v: [asked("one"), asked("typo")] },
      { kind: 1, k: ["customTitle"], v: "A chat" },
      { kind: 2, k: ["requests", 0, "response"], v: [{ kind: "thinking", value: "Hm." }, { value: "tw" }] },
      { kind: 2, k: ["requests", 0, "response"], i: 1, v: [{ value: "two" }] },
      { kind: 2, k: ["requests"], i: 1, v: [asked("three")] },
      { kind: 1, k: ["requests", 1, "response"], v: [{ value: "four" }] },
      { kind: 3, k: ["customTitle"] },
    ]
    const [chat] = read(lines.map((line) => JSON.stringify(line)).join("\n"))
    expect(chat!.format).toBe("copilot")
    expect(views(chat!)).toEqual([
      "user | one",
      "assistant | (Hm.) | two",
      "user | three",
      "assistant | four",
    ])
  })

  it("in the steps of one message of opencode, in their order", () => {
    const tool = (callID: string) => ({
      type: "tool",
      tool: "f",
      callID,
      state: { status: "completed", output: callID },
    })
    const parts = [tool("a"), { type: "step-start" }, { type: "text", text: "then" }, tool("b")]
    expect(
      read(JSON.stringify({ messages: [{ info: { role: "assistant" }, parts }] })).flatMap(views),
    ).toEqual(["assistant | a=f {}", "tool | a:a", "assistant | then | b=f {}", "tool | b:b"])
  })

  it("where Codex takes back a turn that the user began with a sign of markup", () => {
    const item = (text: string) => ({
      type: "response_item",
      payload: { type: "message", role: "user", content: [{ type: "input_text", text }] },
    })
    const event = (payload: object) => ({ type: "event_msg", payload })
    const typed = (text: string) => [item(text), event({ type: "user_message", message: text })]
    const back = event({ type: "thread_rolled_back", num_turns: 1 })
    const [now, left] = read(lines(...typed("one"), ...typed("<b>two"), back, ...typed("three")))
    expect(views(now!)).toEqual(["user | one", "user | three"])
    expect(views(left!)).toEqual(["user | one", "user | <b>two"])
  })
})

describe("what stands beside the messages", () => {
  const read = (value: unknown, file = "s") =>
    readTranscripts(
      Array.isArray(value) ? value.map((one) => JSON.stringify(one)).join("\n") : JSON.stringify(value),
      { file },
    )
  const typed = (uuid: string, parentUuid: string | null, content: unknown) => ({
    type: "user",
    uuid,
    parentUuid,
    message: { role: "user", content },
  })

  it("of Claude Code is what was attached, and not what the program reminds the model of", () => {
    const attached = (uuid: string, parentUuid: string, attachment: object) => ({
      type: "attachment",
      uuid,
      parentUuid,
      attachment,
    })
    const [only] = read([
      typed("a", null, "Look at @notes.txt"),
      attached("b", "a", {
        type: "file",
        filename: "/notes.txt",
        content: { type: "text", file: { filePath: "/notes.txt", content: "The code is 4711." } },
      }),
      attached("c", "b", {
        type: "file",
        filename: "/map.png",
        content: { type: "image", file: { base64: "AAAA", type: "image/png" } },
      }),
      attached("d", "c", { type: "directory", path: "/src", content: "a.ts\nb.ts" }),
      attached("e", "d", { type: "todo_reminder", content: [{ content: "Do not forget the ferry" }] }),
      attached("f", "e", { type: "new_kind_of_file", excerpt: { text: "Something new" } }),
    ])
    expect(views(only!)).toEqual([
      "user | Look at @notes.txt",
      "user hidden | /notes.txt\nThe code is 4711.",
      "user hidden | <image/png data:image/png;base64,AAAA>",
      "user hidden | /src\na.ts\nb.ts",
      "user hidden | Something new",
    ])
    expect(only!.leftOut).toEqual([
      {
        place: "attachment.content[].content",
        first: "line 5: attachment.content[0].content",
        times: 1,
        why: "no message has it",
      },
    ])
  })

  it("of a session in Claude's cloud is nothing: its lines are read", () => {
    expect(read({ loglines: [typed("a", null, "Hello")] }).map(views)).toEqual([["user | Hello"]])
  })

  it("of ChatGPT is read where it holds a text, and odd nodes drop nothing", () => {
    const node = (id: string, parent: string | null, message: object) => ({
      [id]: { id, parent, message: { author: { role: "user" }, ...message } },
    })
    const mapping = {
      odd: null,
      ...node("a", null, { content: { content_type: "text", parts: ["Hello"] } }),
      ...node("b", "a", {
        content: {
          content_type: "multimodal_text",
          parts: [{ content_type: "audio", transcription: { words: "Said aloud to you" } }],
        },
      }),
      ...node("c", "b", { content: { content_type: "of_tomorrow", blocks: [{ body: "Later" }] } }),
      ...node("d", "c", {
        content: { content_type: "text", parts: ["Bye"] },
        aggregate_result: { note: "Two lines here" },
      }),
    }
    const [only] = read(JSON.parse(JSON.stringify([{ mapping, current_node: "d" }])) as object, "c")
    expect(views(only!)).toEqual(["user | Hello", "user | Said aloud to you", "user | Later", "user | Bye"])
    expect(only!.leftOut?.map(({ first }) => first)).toEqual(["mapping.d.message.aggregate_result.note"])
  })

  it("of Gemini CLI is no empty part: thoughts may be texts, and results what the screen showed", () => {
    const messages = [
      {
        id: "1",
        type: "gemini",
        content: "",
        thoughts: ["Hm.", { subject: "" }],
        toolCalls: [{ id: "k", name: "f", args: {}, status: "success", resultDisplay: "07:40" }],
      },
    ]
    expect(read({ sessionId: "s", startTime: "x", messages }).flatMap(views)).toEqual([
      "assistant | (Hm.) | k=f {}",
      "tool | k:07:40",
    ])
  })

  it("of Claude Code may have texts for blocks", () => {
    const content = ["Look.", { type: "text", text: "At what?" }]
    expect(read([{ type: "user", message: { role: "user", content } }]).flatMap(views)).toEqual([
      "user | Look. | At what?",
    ])
  })

  it("of Gemini CLI has another message behind one of the same id, and the newest of what it writes again", () => {
    const tool = { id: "k", name: "f", args: {}, status: "success" }
    const lines = [
      { sessionId: "s", startTime: "x" },
      { id: "1", type: "user", content: "One" },
      { id: "2", type: "gemini", content: "", thoughts: ["Hm."], toolCalls: [tool] },
      {
        id: "2",
        type: "gemini",
        content: "",
        thoughts: ["Hm."],
        toolCalls: [{ ...tool, resultDisplay: "07:40" }],
      },
      { id: "1", type: "user", content: "Two" },
      { id: "2", type: "gemini", content: "Done." },
    ]
    expect(read(lines).flatMap(views)).toEqual([
      "user | One",
      "assistant | (Hm.) | k=f {}",
      "tool | k:07:40",
      "user | Two",
      "assistant | Done.",
    ])
  })

  it("of Codex is what it kept of the prompts, in front of its summary", () => {
    const item = (text: string) => ({
      type: "response_item",
      payload: { type: "message", role: "user", content: [{ type: "input_text", text }] },
    })
    const [only] = read([
      item("one"),
      { type: "event_msg", payload: { type: "user_message", message: "one" } },
      {
        type: "compacted",
        payload: { message: "short", replacement_history: [item("one").payload, item("short").payload] },
      },
      item("two"),
    ])
    expect(only!.compactions).toEqual([{ after: 1, summary: "one\n\nshort" }])
  })

  it("of Codex, an answer that a compaction kept word for word stands in front of the summary", () => {
    const item = (role: string, text: string) => ({
      type: "message",
      role,
      content: [{ type: `${role === "user" ? "input" : "output"}_text`, text }],
    })
    const line = (payload: object) => ({ type: "response_item", payload })
    const kept = [item("assistant", "two"), item("user", "short")]
    const [only] = read([
      line(item("user", "one")),
      line(item("assistant", "two")),
      { type: "compacted", payload: { message: "", replacement_history: kept } },
      line(item("user", "three")),
    ])
    expect(only!.compactions).toEqual([{ after: 2, summary: "two\n\nshort" }])
  })

  it("of a compaction that kept what is nowhere is a summary that covers nothing", () => {
    const [only] = read([
      typed("a", null, "one"),
      {
        type: "system",
        subtype: "compact_boundary",
        uuid: "b",
        logicalParentUuid: "a",
        compactMetadata: { preservedSegment: { headUuid: "gone" } },
      },
      { ...typed("s", "b", "short"), isCompactSummary: true },
      typed("c", "s", "two"),
    ])
    expect(only!.compactions?.map(({ to, summary }) => [to, summary])).toEqual([[undefined, undefined]])
  })

  it("of Cline's page is refused with the file that holds the conversation", () => {
    const page = [{ ts: 1, type: "say", say: "text", text: "Hello" }]
    const parsed = parse(JSON.stringify(page), { file: "ui_messages.json" })
    expect(Either.isLeft(parsed) && parsed.left.message).toBe(
      "ui_messages.json: it is what Cline shows on its page; read api_conversation_history.json of the same folder",
    )
    const history = [
      { role: "user", content: [{ type: "text", text: "Hello" }], ts: 1 },
      {
        role: "assistant",
        content: [{ type: "tool_use", id: "t", name: "f", input: {} }],
        modelInfo: { modelId: "m" },
      },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: "07:40" }] },
    ]
    const text = JSON.stringify(history)
    expect(readTranscripts(text, { file: "api_conversation_history.json" }).flatMap(views)).toEqual([
      "user | Hello",
      "assistant | t=f {}",
      "tool | t:07:40",
    ])
  })
})

describe("what is wrong", () => {
  const problem = (value: unknown, format?: string) => {
    const text = Array.isArray(value)
      ? value.map((one) => JSON.stringify(one)).join("\n")
      : JSON.stringify(value)
    const options = { file: "f", ...(format === undefined ? {} : { format }) }
    return Either.flip(parse(text, options)).pipe(Either.getOrThrow).message
  }

  it("is said with its place, and with what is allowed", () => {
    const entry = { type: "user", uuid: "a", message: { role: "user", content: "hi" } }
    expect(problem([entry, { uuid: "b" }])).toBe('f:2: the entry has no type; allowed: an object with "type"')
    expect(problem([entry, { ...entry, uuid: "b", message: { role: "user", content: 5 } }])).toMatch(
      "f:2: the message has a number at content",
    )
    expect(problem([entry, { ...entry, uuid: "b", timestamp: "then" }])).toBe(
      "f:2: the message has no readable time at timestamp; allowed: an ISO 8601 time, or seconds or milliseconds since the epoch",
    )
    expect(problem({ conversations: [{ from: "robot", value: "hi" }] })).toMatch(
      "f: turn 0 has an unknown role at from; allowed: system, human",
    )
    expect(problem({ chat_messages: [{ sender: "robot" }] })).toBe(
      "f: the message has an unknown sender; allowed: human, assistant",
    )
    const row = { role: "assistant", content: "", toolInvocations: [{ state: "result", toolName: "f" }] }
    expect(problem({ messages: [row] })).toBe("f: message 0 has a call without toolCallId or toolName")
    expect(problem({ messages: [{ info: { role: "robot" }, parts: [] }] })).toBe(
      "f: message 0 has an unknown role; allowed: user, assistant",
    )
  })

  it("with a named format is that the file has none of it", () => {
    const hello = { role: "user", content: "hi" }
    for (const format of ["sharegpt", "chatgpt", "claude", "opencode", "tau-bench", "swe-agent"]) {
      expect(problem(hello, format)).toMatch(/^f: the file holds no /)
    }
    for (const format of ["claude-code", "gemini-cli", "pi"]) {
      expect(problem(hello, format)).toMatch(/^f(:1)?: /)
    }
    for (const name of [
      "codex.jsonl",
      "claude-code.jsonl",
      "gemini-cli.json",
      "opencode.json",
      "chatgpt.json",
    ]) {
      const read = parse(textOf(name), { file: "f", format: "openai-responses" })
      expect(Either.isLeft(read) && read.left.message).toMatch(/^f: the file holds no items/)
    }
  })

  it("about a file of a program whose files look like those of another is that no format is its", () => {
    const of = (fields: string) => `f: no known format has objects with the fields ${fields}; allowed:`
    const parts = [{ text: "hi" }]
    // Qwen Code has entries as Claude Code, and contents of Gemini's API in them.
    expect(problem([{ uuid: "1", type: "user", message: { role: "user", parts } }])).toMatch(
      of("uuid, type, message"),
    )
    // Continue keeps a history of its own.
    const history = [{ message: { role: "user", content: "hi" }, contextItems: [] }]
    expect(problem({ sessionId: "s", history })).toMatch(of("sessionId, history"))
    // DeepSeek exports trees of nodes as ChatGPT, whose messages are fragments.
    const message = { model: "m", fragments: [{ type: "REQUEST", content: "hi" }] }
    const mapping = { root: { parent: null, message: null }, 1: { parent: "root", message } }
    expect(problem([{ id: "1", title: "t", mapping }])).toMatch(of("id, title, mapping"))
  })

  it("about a file in no known format names its fields, never what is in them, and the way out", () => {
    const said = problem([{ speaker: "Ada", utterance: "the password is hunter2", "who said hunter2": 1 }])
    expect(said).toMatch(
      /^f: no known format has objects with the fields speaker, utterance; allowed: openai, .*; or write it as messages: /,
    )
    expect(said).not.toContain("hunter2")
  })
})

describe("any file of these formats", () => {
  const names = readdirSync(new URL("../../test/transcripts", import.meta.url))
  const replaced = (value: unknown, path: number, by: unknown): unknown => {
    let left = path
    const walk = (one: unknown): unknown => {
      if (left-- === 0) return by
      if (Array.isArray(one)) return one.map(walk)
      if (typeof one !== "object" || one === null) return one
      return Object.fromEntries(Object.entries(one).map(([name, inside]) => [name, walk(inside)]))
    }
    return walk(value)
  }

  it("is read or refused, never thrown at, whatever stands at any place, and refusals show nothing of it", () => {
    const junk = fc.constantFrom(null, 7, -1.5, true, "hunter2", [], {}, ["hunter2"], { type: "hunter2" }, [
      [{}],
    ])
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.nat(400), fc.nat(40), junk, (name, path, line, by) => {
        const text = textOf(name)
        const rows = text.trimEnd().split("\n")
        const at = line % rows.length
        const broken = name.endsWith("l")
          ? rows.with(at, JSON.stringify(replaced(JSON.parse(rows[at]!), path % 30, by))).join("\n")
          : JSON.stringify(replaced(JSON.parse(text), path, by))
        for (const format of ["auto", name.replace(/(-old)?\.jsonl?$/, "")]) {
          const parsed = parse(broken, { file: "f", format })
          if (Either.isLeft(parsed)) expect(parsed.left.message).not.toContain("hunter2")
        }
      }),
      { numRuns: 500 },
    )
  })
})
