/** Contexts for the AI SDK: its own schema, in each version; what is left out, and named. */
import { Message } from "@memfold/core"
import * as Arbitrary from "@memfold/testing/arbitrary"
import { modelMessageSchema as seven, type ModelMessage } from "ai"
import { modelMessageSchema as five } from "ai5"
import { modelMessageSchema as six } from "ai6"
import { Either } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { decodeMessage, decodeMessages, encodeContext } from "./index.js"

const schemas = [
  [5, five],
  [6, six],
  [7, seven],
] as const

const { call, result, system, user } = Message

describe("a context", () => {
  for (const [major, schema] of schemas) {
    it(`passes the schema of ai ${major}, whatever was said`, () => {
      fc.assert(
        fc.property(Arbitrary.conversation, (given) => {
          const { messages } = encodeContext(given, { major })
          for (const message of messages) expect(schema.safeParse(message).error).toBeUndefined()
        }),
      )
    })

    it(`has files of tools and approvals as ai ${major} takes them`, () => {
      const file = { type: "file", data: { type: "data", data: "AAAA" }, mediaType: "image/png" }
      const output = { type: "content", value: [{ type: "text", text: "The page:" }, file] }
      const given: Array<unknown> = [
        { role: "user", content: "Look." },
        {
          role: "assistant",
          content: [
            { type: "tool-call", toolCallId: "a", toolName: "look", input: {} },
            { type: "tool-approval-request", approvalId: "1", toolCallId: "a" },
          ],
        },
        {
          role: "tool",
          content: [
            { type: "tool-approval-response", approvalId: "1", approved: true },
            { type: "tool-result", toolCallId: "a", toolName: "look", output },
          ],
        },
      ]
      const { messages } = encodeContext(Either.getOrThrow(decodeMessages(given)), { major })
      expect(messages).toHaveLength(3)
      for (const message of messages) expect(schema.safeParse(message).error).toBeUndefined()
      const text = JSON.stringify(messages)
      expect(text).toContain("AAAA")
      expect(text.includes("approval")).toBe(major > 5)
    })
  }

  it("has the files that a page has in its address", () => {
    const url = "data:image/png;base64,iVBORw0KGgo="
    const page = { id: "m1", role: "user", parts: [{ type: "file", url, mediaType: "image/png" }] }
    const { messages } = encodeContext(Either.getOrThrow(decodeMessages([page])))
    expect(messages).toEqual([
      { role: "user", content: [{ type: "file", data: "iVBORw0KGgo=", mediaType: "image/png" }] },
    ])
  })

  it("has all system messages in front, and no reasoning that was signed before one of them", () => {
    const signed: Message.Message = {
      role: "assistant",
      parts: [
        { type: "reasoning", text: "Hm.", signature: "EqQB" },
        { type: "text", text: "Yes." },
      ],
    }
    const {
      system: text,
      messages,
      omitted,
    } = encodeContext([
      system("Be brief."),
      user("one"),
      signed,
      system("Now in German."),
      user("two"),
      signed,
    ])
    expect(text).toBe("Be brief.\n\nNow in German.")
    expect(omitted).toEqual([{ message: 2, part: "reasoning" }])
    expect(messages.map(({ role, content }) => [role, content.length])).toEqual([
      ["user", 3],
      ["assistant", 4],
      ["user", 3],
      ["assistant", 2],
    ])
    expect(messages[3]?.content[0]).toEqual({
      type: "reasoning",
      text: "Hm.",
      providerOptions: { anthropic: { signature: "EqQB" } },
    })
  })

  it("sends each id of an item once, where a server calls the items of every answer alike", () => {
    const part = (type: string, text: string, itemId: string) => ({
      type,
      text,
      providerOptions: { openai: { itemId } },
    })
    const answer = (text: string) =>
      Either.getOrThrow(
        decodeMessage({
          role: "assistant",
          content: [part("reasoning", "Hm.", "rs_0"), part("text", text, "msg_0")],
        }),
      )
    const asked = Message.user("?")
    const { messages } = encodeContext(["4", "5", "5"].flatMap((text) => [asked, ...answer(text)]))
    const sent = messages.flatMap(({ role, content }) =>
      role === "assistant"
        ? (content as ReadonlyArray<unknown> as ReadonlyArray<ReturnType<typeof part>>)
        : [],
    )
    expect(sent.map(({ text }) => text)).toEqual(["Hm.", "4", "Hm.", "5", "Hm.", "5"])
    expect(sent.map(({ providerOptions }) => providerOptions.openai.itemId)).toEqual([
      "rs_0",
      "msg_0",
      "rs_0_2",
      undefined,
      "rs_0_3",
      undefined,
    ])
  })

  it("refers to no item of the provider whose reasoning is missing", () => {
    const options = (itemId: string) => ({ openai: { itemId } })
    const [message] = Either.getOrThrow(
      decodeMessage({
        role: "assistant",
        content: [
          { type: "reasoning", text: "", providerOptions: options("rs_1") },
          { type: "text", text: "Yes.", providerOptions: options("msg_1") },
        ],
      }),
    )
    const asked = Message.user("Does it rain?")
    const whole = encodeContext([asked, message!]).messages[1] as ModelMessage & { content: Array<object> }
    expect(whole.content.map((part) => "providerOptions" in part)).toEqual([true, true])
    const parts = message!.parts.filter((part) => !Message.isBound(part))
    const { messages } = encodeContext([asked, { ...message!, parts }])
    expect(messages.slice(1)).toEqual([
      { role: "assistant", content: [{ type: "text", text: "Yes.", providerOptions: { openai: {} } }] },
    ])
  })

  it("gives calls that come again ids of their own, and names what it leaves out", () => {
    const one = call([{ id: "a", name: "f", arguments: "no JSON" }])
    const image = { type: "file" as const, mediaType: "image/png", uri: "https://example.org/a.png" }
    const found = result({ id: "a", output: "", content: [image], isError: true })
    const { messages: sent, omitted } = encodeContext([Message.user("?"), one, found, one, found])
    const messages = sent.slice(1)
    const ids = messages.flatMap(({ content }) =>
      (content as ReadonlyArray<{ toolCallId: string }>).map(({ toolCallId }) => toolCallId),
    )
    expect(ids).toEqual(["a", "a", "a_2", "a_2"])
    expect(messages[0]?.content[0]).toMatchObject({ input: { raw_arguments: "no JSON" } })
    expect(messages[1]?.content[0]).toMatchObject({
      toolName: "f",
      output: { type: "content", value: [{ type: "image-url", url: "https://example.org/a.png" }] },
    })
    expect(omitted).toEqual([
      { message: 2, part: "is-error" },
      { message: 4, part: "is-error" },
    ])
  })
})

describe("a message that is wrong", () => {
  it.each([
    [{ role: "user", content: [{ type: "text", text: 7 }] }, "content[0].text"],
    [{ role: "nobody", content: "secret" }, "role"],
    [{ role: "assistant", content: [{ type: "tool-call", toolCallId: "secret" }] }, "content[0].toolName"],
    [{ id: "m1", role: "user", parts: ["secret"] }, "parts[0]"],
    [{ role: "user", content: [{ type: "text", text: "secret", when: 7n }] }, ""],
  ])("is refused without its words: %#", (message, path) => {
    const error = Either.getOrThrow(Either.flip(decodeMessages([message])))
    expect([error._tag, error.index, error.path]).toEqual(["AiSdkDecodeError", 0, path])
    expect(error.message).not.toContain("secret")
  })

  it("of another library names what reads it", () => {
    const message = { role: "assistant", content: [{ type: "tool_use", id: "a", name: "f", input: {} }] }
    expect(Either.getOrThrow(Either.flip(decodeMessages([message]))).use).toContain("@memfold/anthropic")
  })
})
