import { describe, expect, it } from "@effect/vitest"
import { cpuTime } from "@memfold/harness/cpuTime"
import { Message } from "@memfold/core"
import { Effect } from "effect"
import * as fc from "fast-check"
import { foundBy, known, sessionOf } from "../../test/facts.js"
import type { Material } from "../Extractor.js"
import { rules } from "./index.js"

const extract = (messages: ReadonlyArray<Message.Message>, facts: Material["known"] = []) =>
  Effect.runSync(
    foundBy(rules, {
      state: sessionOf(messages),
      from: 0,
      to: messages.length,
      messages,
      known: facts,
      declared: null,
    }),
  ).facts

describe("rules", () => {
  it("find facts of both layers, with the messages they were said in", () => {
    const found = extract([
      Message.system("Always answer in French. My name is Root."),
      Message.user("Hi, I'm Ada. I prefer short answers."),
      Message.assistant("Hello Ada, my name is Bot. I like tea. What can I do for you today?"),
      Message.user("Read the plan in docs/plan.md for me"),
      Message.call([{ id: "1", name: "read", arguments: '{"path":"docs/plan.md"}' }]),
      Message.result({ id: "1", output: "I live in Rome. We move on Friday." }),
      Message.assistant("The move is on Friday.\n\nNext steps:\n- pack the boxes"),
    ])
    expect(found.map(({ layer, kind, text, from, to }) => [layer, kind, text, from, to])).toEqual([
      ["user", "profile", "Name: Ada", 1, 2],
      ["user", "preference", "Prefers: short answers", 1, 2],
      [
        "scope",
        "digest",
        "Hi, I'm Ada. I prefer short answers. → Hello Ada, my name is Bot. I like tea. What can I do for you today?",
        1,
        3,
      ],
      [
        "scope",
        "digest",
        "Read the plan in docs/plan.md for me → The move is on Friday. Next steps: pack the boxes",
        3,
        7,
      ],
      ["scope", "plan", "Plan: pack the boxes", 3, 7],
      ["scope", "document", "docs/plan.md: I live in Rome. We move on Friday.", 3, 7],
    ])
  })

  it("keep what is known of a document when a piece of it is read", () => {
    const piece = [
      Message.user("x"),
      Message.call([{ id: "1", name: "read", arguments: '{"path":"a.md","offset":100}' }]),
      Message.result({ id: "1", output: "middle" }),
      Message.assistant("y"),
    ]
    expect(extract(piece).map(({ text }) => text)).toEqual(["a.md"])
    expect(extract(piece, [known("a", "a.md: start", { kind: "document", key: "document:a.md" })])).toEqual(
      [],
    )
  })

  it("take any messages, and always find the same in them", () => {
    const text = fc
      .array(
        fc.constantFrom(
          "I like ",
          "my name is ",
          "Ada",
          "我叫",
          "小明",
          "。",
          ". ",
          "?",
          "\n",
          "```",
          "- [ ] ",
          "TODO: ",
          "Next steps:",
          "🎉",
          "\ud83c",
          "\udf89",
          "\u0000",
          "",
          "always use ",
          '"',
          ": ",
          "{",
          "data:,",
        ),
        { maxLength: 12 },
      )
      .map((pieces) => pieces.join(""))
    const part: fc.Arbitrary<Message.Part> = fc.oneof(
      text.map((text) => ({ type: "text" as const, text })),
      text.map((text) => ({ type: "reasoning" as const, text })),
      text.map((text) => ({
        type: "tool-call" as const,
        id: "1",
        name: "read",
        arguments: JSON.stringify({ path: text }),
      })),
      text.map((output) => ({ type: "tool-result" as const, id: "1", output })),
      text.map((uri) => ({ type: "file" as const, mediaType: "text/plain", uri })),
      fc.constant({ type: "opaque" as const, provider: "p", data: null }),
    )
    const message: fc.Arbitrary<Message.Message> = fc.record({
      role: fc.constantFrom("system" as const, "user" as const, "assistant" as const, "tool" as const),
      parts: fc.array(part, { maxLength: 3 }),
    })
    fc.assert(
      fc.property(fc.array(message, { maxLength: 8 }), (messages) => {
        const found = extract(messages)
        expect(extract(messages)).toEqual(found)
        for (const { text, from = -1, to = -1 } of found) {
          expect(text).not.toBe("")
          expect(from).toBeGreaterThanOrEqual(0)
          expect(to).toBeGreaterThan(from)
          expect(to).toBeLessThanOrEqual(messages.length)
        }
      }),
    )
  })

  it("take time linear in what they are shown", () => {
    const time = (count: number): number => {
      const messages = Array.from({ length: count }, (_, at) =>
        at % 2 === 0
          ? Message.user(`I like number ${at}. ${"Some more words of ordinary length. ".repeat(20)}`)
          : Message.assistant("An answer of ordinary length. ".repeat(20)),
      )
      const start = cpuTime()
      extract(messages)
      return start()
    }
    time(200)
    expect(time(2_000)).toBeLessThan(40 * Math.max(time(200), 5))
    const started = cpuTime()
    const huge = "漢字🎉 words, and more. ".repeat(200_000)
    extract([
      Message.user(huge),
      Message.call([{ id: "1", name: "read", arguments: `{"path":"${huge}"}` }]),
      Message.result({ id: "1", output: huge }),
      {
        role: "user",
        parts: [{ type: "file", mediaType: "text/plain", uri: `data:text/plain,${huge}`, name: huge }],
      },
      Message.assistant(huge),
    ])
    expect(started()).toBeLessThan(3_000)
  })
})
