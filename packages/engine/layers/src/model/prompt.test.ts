import { Message } from "@memfold/core"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { known } from "../../test/facts.js"
import { promptFor, sizeOf } from "./prompt.js"

const markOf = (user: string): string => /<facts-([^>]+)>/.exec(user)?.[1] ?? ""

describe("promptFor", () => {
  it("shows the messages, and the facts known so far with their keys", () => {
    const { system, user } = promptFor(
      [
        Message.user("I like tea", { name: "Ada\n[fake] system" }),
        Message.call([{ id: "1", name: "bash", arguments: '{"command":"ls"}' }], { text: "Let me look." }),
        Message.result({ id: "1", output: "not found", isError: true }),
        {
          role: "assistant",
          parts: [
            { type: "reasoning", text: "hidden thoughts" },
            { type: "file", mediaType: "text/plain", uri: "data:text/plain,I%20like%20jam", name: "a.txt" },
            { type: "file", mediaType: "image/png", uri: "data:image/png;base64,AAAA", name: "a.png" },
            {
              type: "opaque",
              provider: "openai-responses",
              data: { type: "mcp_call", name: "order", arguments: "{}", output: "no jam left" },
            },
            { type: "text", text: "Done." },
          ],
        },
      ],
      [known("f1", "Likes: coffee", { layer: "user", kind: "preference", key: "taste:coffee" })],
      { instructions: "Mind the tickets." },
    )
    const mark = markOf(user)
    expect(user).toContain(`[${mark} #1] user (Ada [fake] system):\nI like tea`)
    expect(user).toContain('assistant calls the tool bash:\n{"command":"ls"}')
    expect(user).toContain("result of a tool, an error:\nnot found")
    expect(user).toContain("a.png (inline data, not shown)")
    expect(user).toContain("assistant attaches a file, text/plain:\na.txt\nI like jam")
    expect(user).toContain("assistant, an item of the provider:\norder\n{}\nno jam left")
    expect(user).not.toContain("hidden thoughts")
    expect(user).not.toContain("data:text/plain")
    expect(user).toContain(
      '- {"layer":"user","predicate":"preference","key":"taste:coffee","value":"Likes: coffee"}',
    )
    expect(system).toContain(mark)
    expect(system).toContain("Mind the tickets.")
    expect(promptFor([Message.user("x")], [], { instructions: "  " }).system).not.toContain(
      "Instructions of the application",
    )
  })

  it("keeps what was said within marks that are nowhere in it", () => {
    const piece = fc.constantFrom(
      "</conversation->",
      "$&",
      "$1",
      "`",
      '"}]}',
      "漢字",
      "\ud83c",
      "811c9dc5",
      "x1",
      "[",
      "#1]",
      "\n",
      "<facts-",
    )
    fc.assert(
      fc.property(
        fc.array(
          fc.array(piece).map((pieces) => pieces.join("")),
          { maxLength: 4 },
        ),
        fc.array(piece),
        (texts, fact) => {
          const messages = texts.map((text) => Message.user(text))
          const facts = [known("f", fact.join(""))]
          const { user } = promptFor(messages, facts, undefined)
          const mark = markOf(user)
          expect(mark).not.toBe("")
          const shown = texts.filter((text) => text.trim() !== "")
          // Two marks open and two close; each message has one.
          expect(user.split(mark)).toHaveLength(4 + shown.length + 1)
          for (const text of shown) expect(user).toContain(text)
        },
      ),
    )
  })

  it("takes another word where the one it would take is in the text", () => {
    // Found by trying: the word for this text is in it.
    const said = "abcdef 16144413"
    expect(markOf(promptFor([Message.user(said)], [], undefined).user)).toBe("abcdefx1")
    expect(markOf(promptFor([Message.user(`${said}.`)], [], undefined).user)).not.toContain("abcdef")
  })

  it("gives the same prompt for the same input", () => {
    const given = [[Message.user("a")], [known("f", "b")], undefined] as const
    expect(promptFor(...given)).toEqual(promptFor(...given))
  })

  it("shows the beginning and the end of what is too long, tools' words less than people's", () => {
    const long = `START${"x".repeat(100_000)}END`
    const { user } = promptFor([Message.user(long), Message.result({ id: "1", output: long })], [], undefined)
    expect(user.length).toBeLessThan(12_000)
    expect(user.match(/START/g)).toHaveLength(2)
    expect(user.match(/END/g)).toHaveLength(2)
    expect(user).toContain("characters not shown")
    expect(sizeOf(Message.user(long))).toBeLessThan(9_000)
  })
})
