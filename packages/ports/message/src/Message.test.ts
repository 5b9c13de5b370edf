import { describe, expect, it } from "vitest"
import { Message } from "./index.js"
import * as TokenCounter from "./TokenCounter.js"

const output = (text: string, isError?: boolean): Message.ToolResult => ({
  type: "tool-result",
  id: "1",
  output: text,
  ...(isError === undefined ? {} : { isError }),
})

describe("whether a tool call failed", () => {
  it("is what its result says", () => {
    expect(Message.failed(output("fine", true))).toBe(true)
    expect(Message.failed(output("Error: not really", false))).toBe(false)
  })

  it.each([
    "Error: ENOENT: no such file or directory",
    "  TypeError: x is not a function\n    at f",
    "TypeError [ERR_X]: no",
    "java.lang.NullPointerException: x",
    "Traceback (most recent call last):\n  File",
    "fatal: not a git repository",
    "错误：没有这个城市",
    '{"error": {"code": 404}}',
    '{ "error": "no such city" }',
    `${"line\n".repeat(500)}[exit code 1, 0.3 s]`,
    "Command exited with code 127",
    "Process exited with status: 2",
    "<tool_use_error>File does not exist.</tool_use_error>",
    "File not found: src/a.ts",
    "The file src/a.ts does not exist.",
    "cat: src/a.ts: No such file or directory",
    "ls: cannot access 'src': No such file or directory",
    "bash: line 1: foo: command not found",
    "/bin/sh: 1: foo: not found",
    "[Errno 13] Permission denied: '/etc/shadow'",
    "Permission denied",
    "Error executing tool read_file: no such path",
    "Failed to apply the patch",
    "Could not find the file",
    "No replacement was performed, old_str did not appear verbatim in a.ts.",
    "String to replace not found in file.",
    "HTTP 404 Not Found",
    '{"message": "no such city", "success": false}',
    '{"output": "rejected", "metadata": {"exit_code": 1}}',
    '{"error": {"code": 404}, "trace": "cut of',
    "EACCES: permission denied, open 'a.ts'",
    "ENOENT: no such file or directory, open 'a.ts'",
    "Tool execution failed: x",
    "Command failed with exit code unknown",
    "patch failed: a.ts:1",
    "User rejected the tool use",
    "The user doesn't want to proceed with this tool use. The tool use was rejected.",
    "[Request interrupted by user for tool use]",
    "old_string not found in file",
    "Search text not found: const a",
  ])("is read from an output that says so itself: %j", (text) => {
    expect(Message.failed(output(text))).toBe(true)
  })

  it.each([
    "",
    "14 °C",
    "Errors: none were found",
    "0 errors",
    "export class CsvError extends Error {",
    "The word error: in the middle",
    "File not found errors are common on Windows",
    "The file src/a.ts has been edited",
    "Permission denied pages are shown to guests",
    "Could you find the file?",
    "Edit failed tests before you push",
    "The user denies nothing: rejected orders are listed below",
    "User rejections are logged in a.ts",
    "ENOENT: how to handle it",
    "Context not founded on facts",
    "Patch 12 of 12 applied",
    "cat: the animal, not the command",
    "import fs from 'node:fs' // cannot access: No such file or directory",
    '{"success": true, "metadata": {"exit_code": 0}}',
    '["error"]',
    '{"error": null, "city": "Oslo"}',
    '{"error":"","ok":true}',
    "done\n[exit code 0, 1.0 s]",
    `${"line\n".repeat(100)}exit code 1${"\nline".repeat(100)}`,
  ])("and from no other: %j", (text) => {
    expect(Message.failed(output(text))).toBe(false)
  })
})

describe("the content of a tool result", () => {
  const text = (words: string) => ({ type: "text" as const, text: words })
  const content = [
    text("one"),
    { type: "file" as const, mediaType: "image/png", uri: "https://example.org/a.png" },
    text("two"),
  ]

  it("has its texts in the output", () => {
    expect(Message.outputOf(content)).toBe("one\ntwo")
    expect(Message.outputOf([])).toBe("")
  })

  it("is counted instead of the output", () => {
    const counter = { name: "words", count: (words: string) => words.split(/\s+/).filter(Boolean).length }
    const tokens = (one: Omit<Message.ToolResult, "type">) =>
      TokenCounter.ofMessage(counter, Message.result(one))
    const plain = tokens({ id: "1", output: "one two" })
    expect(tokens({ id: "1", output: "one\ntwo", content })).toBe(plain + TokenCounter.fileTokens)
  })
})
