import { describe, expect, it } from "vitest"
import { Message } from "@memfold/core"
import { ofMessages as ofMessagesSteps } from "./sources.js"
import { atOnce } from "@memfold/log/breathe"

const ofMessages = (...given: Parameters<typeof ofMessagesSteps>) => atOnce(ofMessagesSteps(...given))

const lines = (...messages: ReadonlyArray<Message.Message>) =>
  ofMessages(messages).map(({ label, pieces }) => [label, ...pieces.map(({ text }) => text)])

describe("tools", () => {
  it("a short answer is told with its call", () => {
    expect(
      lines(
        Message.call([{ id: "1", name: "calculate", arguments: '{"expression":"152 + 103"}' }]),
        Message.result({ id: "1", output: "255.0" }),
      ),
    ).toEqual([["tool calculate(152 + 103)", "255.0"]])
  })

  it("a long one can be left out, and the call still told", () => {
    const [first] = lines(
      Message.call([{ id: "1", name: "ls", arguments: "{}" }]),
      Message.result({ id: "1", output: "one file of several\n".repeat(9) }),
    )
    expect(first?.slice(0, 3)).toEqual(["tool ls", "", "one file of several"])
  })

  it("calls and results pair by id, by position where ids repeat, and not across a user message", () => {
    expect(
      lines(
        Message.call([
          { id: "x", name: "a", arguments: '"1"' },
          { id: "x", name: "b", arguments: '"2"' },
        ]),
        Message.result({ id: "x", output: "of a" }),
        Message.result({ id: "x", output: "of b" }),
        Message.call([{ id: "y", name: "c", arguments: "" }]),
        Message.user("Never mind."),
        Message.result({ id: "y", output: "too late" }),
      ),
    ).toEqual([
      ["tool a(1)", "of a"],
      ["tool b(2)", "of b"],
      ["tool c", "(no result)"],
      ["user", "Never mind."],
      ["tool", "too late"],
    ])
  })

  it("failures say so, and nothing is quoted as nothing", () => {
    expect(
      lines(
        Message.call([{ id: "1", name: "rm", arguments: '{"path":"a"}' }]),
        Message.result({ id: "1", output: "", isError: true }),
      ),
    ).toEqual([["tool rm(a) failed", "(no output)"]])
  })

  it("arguments are noted shortly: the first, short ones after it, and the end of a long path", () => {
    const label = (given: unknown) =>
      ofMessages([Message.call([{ id: "1", name: "t", arguments: JSON.stringify(given) }])])[0]?.label
    expect(label({ path: "src/a.ts", limit: 20, text: "x".repeat(80), more: "y".repeat(80), ok: true })).toBe(
      "tool t(path=src/a.ts, limit=20, …, ok=true)",
    )
    expect(label({ path: `/home/me/${"deep/".repeat(30)}session.ts` })).toMatch(
      /^tool t\(\/home\/me\/.*….*\/session\.ts\)$/,
    )
    expect(label([1, 2])).toBe("tool t([1,2])")
    expect(label({})).toBe("tool t")
    expect(ofMessages([Message.call([{ id: "1", name: "t", arguments: "not\njson" }])])[0]?.label).toBe(
      "tool t(not json)",
    )
  })

  it("of a long output, the ends and the lines that report trouble are read", () => {
    const output = `begin\n${"nothing to see here\n".repeat(2_000)}fatal: disk full\n${"nothing to see here\n".repeat(2_000)}end`
    const [source] = ofMessages([Message.result({ id: "", output })])
    const texts = source?.pieces.map(({ text }) => text) ?? []
    expect(texts.length).toBeLessThan(200)
    expect(texts[1]).toMatch(/^begin/)
    expect(texts).toContain("fatal: disk full")
    expect(texts.at(-1)).toMatch(/end$/)
  })
})

describe("speakers", () => {
  it("are named where they have names, and files are named", () => {
    expect(
      lines(Message.user("Hello there, everybody.", { name: "Ada (admin)" }), {
        role: "assistant",
        parts: [
          { type: "reasoning", text: "hm" },
          { type: "file", mediaType: "image/png", uri: "data:image/png;base64,AAAA", name: "chart.png" },
        ],
      }),
    ).toEqual([
      ["user (Ada admin)", "Hello there, everybody."],
      ["assistant", "[file chart.png, image/png]"],
    ])
  })

  it("code is marked as code, and marks of emphasis and headings are dropped", () => {
    const [source] = ofMessages([
      Message.assistant("## Plan\n- **First** read the file\n```ts\nconst x = 1\n```\nThen it is done."),
    ])
    expect(source?.pieces.map(({ text, code }) => [text, code])).toEqual([
      ["Plan", false],
      ["First read the file", false],
      ["const x = 1", true],
      ["Then it is done.", false],
    ])
  })

  it("without anything to quote are no sources", () => {
    expect(ofMessages([Message.user(" \n"), { role: "assistant", parts: [] }])).toEqual([])
  })
})
