import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { often } from "@memfold/harness/depth"
import { Message } from "@memfold/core"
import { read, write } from "./digest.js"
import { ofMessages as ofMessagesSteps } from "./sources.js"
import { atOnce } from "@memfold/log/breathe"

const ofMessages = (...given: Parameters<typeof ofMessagesSteps>) => atOnce(ofMessagesSteps(...given))

const all = (sources: ReturnType<typeof read>): string =>
  write(sources, new Map(sources.map((source) => [source, new Set(source.pieces)])))

describe("read", () => {
  it("knows its own lines", () => {
    const text = [
      "- 2026-03-02 user (Ada): My order KX-4471 has not arrived. … Please hurry up a little.",
      "- assistant: It is in Graz: at the depot.",
      "- 2026-03-03 tool bash(npm test (all)) failed: … 3 tests failed …",
      "- tool read_file(src/a.ts): …",
      "- tool: just text",
      "- earlier: somebody else's words",
    ].join("\n")
    expect(read(text).map(({ label, day, failed, speaker }) => [speaker, label, day, failed])).toEqual([
      ["user", "user (Ada)", "2026-03-02", false],
      ["assistant", "assistant", "2026-03-02", false],
      ["tool", "tool bash(npm test (all)) failed", "2026-03-03", true],
      ["tool", "tool read_file(src/a.ts)", "2026-03-03", false],
      ["tool", "tool", "2026-03-03", false],
      ["earlier", "earlier", "2026-03-03", false],
    ])
    expect(all(read(text))).toBe(text)
  })

  it("takes every other line as one from earlier, without list and heading marks", () => {
    expect(all(read("# Goals\n\n* ship it on Friday at noon\n---\n- user without a colon\nplain text"))).toBe(
      "- earlier: Goals\n- earlier: ship it on Friday at noon\n- earlier: user without a colon\n- earlier: plain text",
    )
    expect(read("")).toEqual([])
    expect(read(" \n\n")).toEqual([])
  })

  it("tells where something is missing, so that it is told again", () => {
    const [source] = read(
      "- user: The first sentence is here. … The third sentence is here. The fourth one follows it.",
    )
    const [first, third, fourth] = source?.pieces ?? []
    if (source === undefined || first === undefined || third === undefined || fourth === undefined) {
      throw new Error("three pieces were expected")
    }
    expect(write([source], new Map([[source, new Set([first, fourth])]]))).toBe(
      "- user: The first sentence is here. … The fourth one follows it.",
    )
    expect(write([source], new Map([[source, new Set([third, fourth])]]))).toBe(
      "- user: … The third sentence is here. The fourth one follows it.",
    )
    expect(write([source], new Map([[source, new Set([first])]]))).toBe(
      "- user: The first sentence is here. …",
    )
  })
})

describe("write", () => {
  it("leaves out sources nothing was taken from, and writes days only where they change", () => {
    const sources = ofMessages(
      [1, 2, 3, 4].map((n) =>
        Message.user(`This is message number ${n}.`, { time: Date.UTC(2026, 0, n < 3 ? 1 : 2) }),
      ),
    )
    const taken = new Map(
      [0, 1, 3].flatMap((at) => sources[at] ?? []).map((one) => [one, new Set(one.pieces)]),
    )
    expect(write(sources, taken)).toBe(
      "- 2026-01-01 user: This is message number 1.\n- user: This is message number 2.\n- 2026-01-02 user: This is message number 4.",
    )
  })

  it("can be read back, whatever was said", () => {
    const text = fc.oneof(
      fc.lorem({ mode: "sentences" }),
      fc.string({ unit: "grapheme" }),
      fc.constantFrom("a … b", "… x", "- user: x", "tool a(b): c", "这是一句话。这是第二句话。", "x\n\ny"),
    )
    const messages = fc.array(
      fc.oneof(
        text.map((said) => Message.user(said)),
        fc.tuple(text, text).map(([said, name]) => Message.assistant(said, { name })),
        fc.tuple(text, text).map(([name, given]) => Message.call([{ id: "1", name, arguments: given }])),
        text.map((output) => Message.result({ id: "1", output, isError: true })),
      ),
      { maxLength: 6 },
    )
    fc.assert(
      fc.property(messages, (said) => {
        const sources = ofMessages(said)
        const once = all(sources)
        const again = all(read(once))
        expect(again.split("\n")).toHaveLength(once.split("\n").length)
        expect(read(again).map(({ speaker }) => speaker)).toEqual(sources.map(({ speaker }) => speaker))
        expect(all(read(again))).toBe(again)
      }),
      { numRuns: often(100, 300) },
    )
  })
})
