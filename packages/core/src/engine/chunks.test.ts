import { atOnce } from "@memfold/log/breathe"
import { describe, expect, it } from "vitest"
import { Message, TokenCounter } from "../index.js"
import { chunks } from "./chunks.js"

const counter = TokenCounter.estimating
const said = (parts: ReadonlyArray<Message.Part>) =>
  parts.flatMap((part) => (part.type === "text" ? [part.text] : []))

describe("what is larger than the window of a summarizer", () => {
  const text = Array.from({ length: 400 }, (_, at) => `Clause ${at}: the penalty is ${400 + at} euros.`).join(
    " ",
  )
  const item = (data: object): Message.Part => ({ type: "opaque", provider: "anthropic", data })

  it.each<readonly [string, Message.Message]>([
    [
      "the text of a page",
      {
        role: "assistant",
        parts: [item({ type: "mcp_tool_result", tool_use_id: "m", content: [{ type: "text", text }] })],
      },
    ],
    [
      "a text file",
      {
        role: "user",
        parts: [
          { type: "file", mediaType: "text/plain", uri: `data:text/plain,${encodeURIComponent(text)}` },
        ],
      },
    ],
    [
      "an item in a result",
      Message.result({
        id: "c",
        output: "",
        content: [
          item({ type: "search_result", title: "", source: "", content: [{ type: "text", text }] }),
        ] as never,
      }),
    ],
  ])("is divided within its text: %s", (_, message) => {
    const divided = atOnce(chunks(counter, [message], 500))
    expect(divided.length).toBeGreaterThan(5)
    expect(Math.max(...divided.map(({ tokens }) => tokens))).toBeLessThanOrEqual(500)
    expect(divided.flatMap((chunk) => said(chunk.message.parts)).join("")).toBe(text)
  })

  it("stays whole without text", () => {
    const image: Message.Message = {
      role: "user",
      parts: [{ type: "file", mediaType: "image/png", uri: "data:image/png;base64,AAAA" }],
    }
    expect(atOnce(chunks(counter, [image], 100))).toHaveLength(1)
  })
})
