import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { conversation } from "@memfold/testing/arbitrary"
import { Message, ToolNotes } from "../index.js"
import type * as Summary from "../summary/Summary.js"
import { failureNotes, filesOf, splitNotes } from "./toolNotes.js"

const { call, result, user } = Message

/** A call and what came of it. */
const failing = (id: string, name: string, output: string) => [
  call([{ id, name, arguments: "{}" }]),
  result({ id, output, isError: true }),
]

const limits = { maxFailures: 8, maxCharacters: 240 }

/** The lines behind the heading. */
const lines = (messages: ReadonlyArray<Message.Message>, given: ToolNotes.FailureNotes = limits) =>
  failureNotes(messages, given).split("\n").slice(3)

describe("the failures", () => {
  it("are none where nothing failed", () => {
    expect(failureNotes([], limits)).toBe("")
    const fine = [
      call([{ id: "1", name: "t", arguments: "{}" }]),
      result({ id: "1", output: "Error: no error", isError: false }),
    ]
    expect(failureNotes([user("Error!"), ...fine], limits)).toBe("")
  })

  it("are a section of their own, each on its line behind the tool's name", () => {
    const messages = [...failing("1", "weather", "no such\n  city\n"), ...failing("2", "search", "timeout")]
    expect(failureNotes(messages, limits)).toBe(
      "\n\n**Tool failures:**\n- weather: no such city\n- search: timeout",
    )
  })

  it("are named by the call they answer, also where its id comes again", () => {
    const [asking, answer] = failing("c1", "weather", "no such city")
    const later = call([{ id: "c1", name: "search", arguments: "{}" }])
    expect(lines([asking!, answer!, later])).toEqual(["- weather: no such city"])
    expect(lines([later, user("stop"), asking!, answer!])).toEqual(["- weather: no such city"])
    const named = result({ id: "c1", name: "own", output: "x", isError: true })
    expect(lines([asking!, named])).toEqual(["- own: x"])
    expect(lines([result({ id: "c9", output: "x", isError: true })])).toEqual(["- tool: x"])
  })

  it("have a limit: the newest are listed, and the older ones counted", () => {
    const many = Array.from({ length: 11 }, (_, n) => failing(`${n}`, "t", `failure ${n}`)).flat()
    expect(lines(many.slice(0, 16))).toHaveLength(8)
    expect(lines(many)).toEqual([
      ...Array.from({ length: 8 }, (_, n) => `- t: failure ${n + 3}`),
      "- and 3 earlier",
    ])
    expect(lines(many, { maxFailures: 1, maxCharacters: 240 })).toEqual([
      "- t: failure 10",
      "- and 10 earlier",
    ])
    expect(lines(many, { maxFailures: 0, maxCharacters: 240 })).toEqual(["- and 11 earlier"])
  })

  it("have a limited length, and never end in half of a surrogate pair", () => {
    const [line] = lines(failing("1", "t", "x".repeat(500)))
    expect(line).toBe(`- t: ${"x".repeat(236)}…`)
    expect(lines(failing("1", "t", "x".repeat(237)))).toEqual([`- t: ${"x".repeat(237)}`])
    const [face] = lines(failing("1", "t", "😀".repeat(300)), { maxFailures: 8, maxCharacters: 7 })
    expect(face).toBe("- t: 😀\ufffd…")
  })

  it("go on word for word behind the next summary of the same turn", () => {
    const batch = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, n) => failing(`${from + n}`, "t", `failure ${from + n}`)).flat()
    const all = failureNotes(batch(0, 12), limits)
    const first = splitNotes(`told${failureNotes(batch(0, 5), limits)}`)
    expect(first.text).toBe("told")
    const second = splitNotes(`more${failureNotes(batch(5, 11), limits, first.failures)}`)
    expect(failureNotes(batch(11, 12), limits, second.failures)).toBe(all)
    expect(failureNotes([], limits, splitNotes(all).failures)).toBe(all)
    const none = failureNotes(batch(0, 3), { ...limits, maxFailures: 0 })
    expect(failureNotes([], limits, splitNotes(none).failures)).toBe(none)
  })

  it("are told from what a summary says by itself", () => {
    for (const text of [
      "",
      "no notes",
      "\n\n**Tool failures:**\n- a\nwere many",
      "\n\n**Tool failures:**\n",
    ]) {
      expect(splitNotes(text)).toEqual({ text, failures: { lines: [], earlier: 0 } })
    }
  })

  it("are bounded, whatever failed", () => {
    fc.assert(
      fc.property(conversation, (messages) => {
        const found = lines(messages, { maxFailures: 3, maxCharacters: 20 })
        expect(found.length).toBeLessThanOrEqual(4)
        for (const line of found) expect(line.length).toBeLessThanOrEqual(22)
        expect(found.join("").isWellFormed() || !messages.every(wellFormed)).toBe(true)
      }),
    )
  })
})

const wellFormed = (message: Message.Message) => Message.text(message).isWellFormed()

const nothing: Summary.Files = { read: [], modified: [] }

/** A call of a tool with these arguments. */
const touching = (name: string, given: unknown) =>
  call([{ id: "1", name, arguments: typeof given === "string" ? given : JSON.stringify(given) }])

const files = (
  messages: ReadonlyArray<Message.Message>,
  before = nothing,
  notes: ToolNotes.FileNotes = ToolNotes.commonFileTools,
) => filesOf(before, messages, notes)

describe("the files", () => {
  it("are the files that tools read and changed, oldest first, each once", () => {
    expect(
      files([
        touching("read_file", { path: "a.ts" }),
        touching("Read", { file_path: "b.ts" }),
        touching("read", { path: "a.ts" }),
        touching("edit", { path: "c.ts" }),
        touching("WRITE", { filename: "d.ts" }),
      ]),
    ).toEqual({ read: ["b.ts", "a.ts"], modified: ["c.ts", "d.ts"] })
  })

  it("are found in calls of the common coding agents' tools", () => {
    const patch =
      "*** Begin Patch\n*** Update File: u.ts\n@@\n-a\n+b\n*** Add File: n.ts\n+c\n*** Delete File: d.ts\n*** End Patch"
    expect(
      files([
        touching("str_replace_based_edit_tool", { command: "view", path: "v.ts" }),
        touching("str_replace_based_edit_tool", { command: "str_replace", path: "s.ts", old_str: "a" }),
        touching("str_replace_editor", { command: "create", path: "c.ts" }),
        touching("MultiEdit", { file_path: "m.ts", edits: [{ old_string: "a", new_string: "b" }] }),
        touching("NotebookEdit", { notebook_path: "n.ipynb", new_source: "1" }),
        touching("apply_patch", { input: patch }),
        touching("apply_patch", patch.replaceAll(".ts", ".js")),
        touching("apply_patch", { operation: { type: "update_file", path: "o.ts", diff: "@@" } }),
        touching("apply_diff", { diff: "--- a/x.ts\n+++ b/x.ts\n@@\n--- a/y\n+++ /dev/null" }),
        touching("edit_file", { target_file: "t.ts" }),
        touching("multi_replace_string_in_file", {
          replacements: [{ filePath: "1.ts" }, { filePath: "2.ts" }],
        }),
        touching("read_many_files", { paths: ["p.ts", "q.ts"] }),
        touching("mcp__files__read_file", { path: "mcp.ts" }),
        touching("functions.read_file", { path: "f.ts" }),
      ]),
    ).toEqual({
      read: ["v.ts", "p.ts", "q.ts", "mcp.ts", "f.ts"],
      modified: [
        "s.ts",
        "c.ts",
        "m.ts",
        "n.ipynb",
        "u.ts",
        "n.ts",
        "d.ts",
        "u.js",
        "n.js",
        "d.js",
        "o.ts",
        "x.ts",
        "t.ts",
        "1.ts",
        "2.ts",
      ],
    })
  })

  it("are none of calls that failed", () => {
    const answered = (id: string, name: string, path: string, output: string, isError?: boolean) => [
      call([{ id, name, arguments: JSON.stringify({ path }) }]),
      result({ id, output, ...(isError === undefined ? {} : { isError }) }),
    ]
    expect(
      files([
        ...answered("1", "read_file", "gone.ts", "no such file", true),
        ...answered("1", "read_file", "there.ts", "text"),
        ...answered("2", "read_file", "missing.ts", "Error: no such file"),
        ...answered("3", "edit_file", "kept.ts", "the text to replace was not found", true),
        ...answered("4", "read_file", "kept.ts", "text", false),
      ]),
    ).toEqual({ read: ["there.ts", "kept.ts"], modified: [] })
  })

  it("are also found in calls of an application's own tools", () => {
    const notes = ToolNotes.withFileTools({
      readers: ["fetch_source"],
      editors: [{ tools: ["page"], argument: "do", reads: ["look"] }],
      patchers: ["run_patch"],
      pathArguments: ["source"],
    })
    const messages = [
      touching("fetch-source", { source: "a" }),
      touching("page", { do: "look", source: "b" }),
      touching("page", { do: "write", source: "c" }),
      touching("run_patch", { command: ["apply_patch", "*** Begin Patch\n*** Add File: d\n*** End Patch"] }),
      touching("edit", { path: "e" }),
    ]
    expect(files(messages, nothing, notes)).toEqual({ read: ["a", "b"], modified: ["c", "d", "e"] })
    expect(files(messages)).toEqual({ read: [], modified: ["e"] })
  })

  it("are those of a patch within a command, and no others of a command", () => {
    const patch = "*** Begin Patch\n*** Update File: src/a.ts\n@@\n-a\n+b\n*** End Patch"
    expect(
      files([
        touching("shell", { command: ["apply_patch", patch] }),
        touching("exec_command", {
          cmd: `cd src && apply_patch <<'EOF'\n${patch.replace("a.ts", "b.ts")}\nEOF`,
        }),
        touching("bash", { command: "cat notes\n*** Update File: no.ts\n+++ b/no.ts", path: "no.ts" }),
      ]),
    ).toEqual({ read: [], modified: ["src/a.ts", "src/b.ts"] })
  })

  it("are none of tools that touch no files, and none of results", () => {
    expect(
      files([
        touching("search", { path: "a.ts" }),
        result({ id: "1", name: "read", output: '{"path":"a.ts"}' }),
        user('{"path":"a.ts"}'),
      ]),
    ).toEqual(nothing)
  })

  it("are found by the names a user gives, in whatever case the tools have them", () => {
    const notes = { readers: ["ReadIt"], writers: ["WriteIt"], pathArguments: ["what"] }
    const messages = [touching("ReadIt", { what: "a" }), touching("writeit", { what: "b", path: "c" })]
    expect(files(messages, nothing, notes)).toEqual({ read: ["a"], modified: ["b"] })
  })

  it("are added to the files known before; a changed file is not listed as read", () => {
    const before = { read: ["a.ts", "b.ts"], modified: ["m.ts"] }
    expect(files([touching("edit", { path: "a.ts" }), touching("read", { path: "m.ts" })], before)).toEqual({
      read: ["b.ts"],
      modified: ["m.ts", "a.ts"],
    })
    expect(files([], before)).toEqual(before)
    expect(files([touching("read", { path: "a.ts" })], before).read).toEqual(["b.ts", "a.ts"])
  })

  it("are at most two hundred of each kind: the newest", () => {
    const many = (tool: string, count: number) =>
      Array.from({ length: count }, (_, n) => touching(tool, { path: `${tool}-${n}.ts` }))
    const found = files([...many("read", 250), ...many("edit", 201)])
    expect(found.read).toHaveLength(200)
    expect([found.read[0], found.read.at(-1)]).toEqual(["read-50.ts", "read-249.ts"])
    expect([found.modified[0], found.modified.at(-1)]).toEqual(["edit-1.ts", "edit-200.ts"])
    const later = files([touching("read", { path: "new.ts" })], found)
    expect([later.read.length, later.read[0], later.read.at(-1)]).toEqual([200, "read-51.ts", "new.ts"])
  })

  it("that were changed are no read ones, however many were changed after them", () => {
    const many = Array.from({ length: 250 }, (_, n) => touching("edit", { path: `${n}.ts` }))
    expect(files([touching("read", { path: "0.ts" }), ...many]).read).toEqual([])
  })

  it("are read out of untidy arguments, too, or passed over", () => {
    const untidy = [
      "",
      "not json",
      "null",
      "7",
      '"a.ts"',
      "[1]",
      '["a.ts"]',
      "{}",
      '{"path":7}',
      '{"path":" "}',
    ]
    expect(files(untidy.map((given) => touching("read", given)))).toEqual(nothing)
    expect(
      files([
        touching("read", '{ "path" : "a.ts",\n "file": "b.ts", "line": 3 }'),
        touching("read", { path: " odd \n name.ts " }),
        touching("read", { path: `${"x".repeat(400)}.ts` }),
      ]).read,
    ).toEqual(["a.ts", "b.ts", "odd name.ts", `${"x".repeat(299)}…`])
  })

  it("are found in no conversation that names none, and never throw", () => {
    fc.assert(
      fc.property(conversation, (messages) => {
        const { read, modified } = files(messages)
        expect(["a.ts", "b.ts"]).toEqual(expect.arrayContaining([...read, ...modified]))
        expect(read.filter((path) => modified.includes(path))).toEqual([])
      }),
    )
  })
})
