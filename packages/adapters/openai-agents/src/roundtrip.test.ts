/** Law L16 for the OpenAI Agents SDK, and law L17 for the contexts that it gets. */
import { Message } from "@memfold/core"
import * as Arbitrary from "@memfold/testing/arbitrary"
import { responsesViolations } from "@memfold/strict-providers"
import { protocol } from "@openai/agents"
import { Either, Schema } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { often } from "@memfold/harness/depth"
import { createMemory } from "memfold"
import { agentItem } from "../test/arbitrary.js"
import { decodeItems, encodeContext, encodeItems } from "./index.js"
import { toWire } from "./wire.js"

const stored = Schema.parseJson(Message.Message)
const throughLog = (messages: ReadonlyArray<Message.Message>) =>
  messages.map((message) => Schema.decodeSync(stored)(Schema.encodeSync(stored)(message)))

const decoded = (items: ReadonlyArray<unknown>) => Either.getOrThrow(decodeItems(items))

const same = (one: ReadonlyArray<unknown>, other: ReadonlyArray<unknown>) => {
  expect(one).toEqual(other)
  // toEqual does not look at own fields called __proto__, their text does.
  expect(JSON.stringify(one).length).toBe(JSON.stringify(other).length)
}

describe("L16: a codec reads back what it wrote", () => {
  it("items that the SDK knows come out of a log as they went in", () => {
    const seen = new Set<unknown>()
    fc.assert(
      fc.property(fc.array(agentItem, { maxLength: 4 }), (items) => {
        for (const item of items) {
          expect(protocol.ModelItem.safeParse(item).error).toBeUndefined()
          seen.add(item["type"] ?? item["role"])
        }
        same(encodeItems(throughLog(decoded(items))), items)
      }),
      { numRuns: often(200, 2_000) },
    )
    expect(seen.size).toBeGreaterThan(16)
  })

  it("decode, encode, decode gives the same messages", () => {
    fc.assert(
      fc.property(fc.array(agentItem, { maxLength: 4 }), (items) => {
        const messages = decoded(items)
        expect(decoded(encodeItems(messages))).toEqual(messages)
      }),
      { numRuns: often(50, 500) },
    )
  })
})

/** The objects that a value has, itself among them. */
const objectsIn = (value: unknown): ReadonlyArray<object> =>
  typeof value === "object" && value !== null ? [value, ...Object.values(value).flatMap(objectsIn)] : []

it("two readers of a message get items of their own, which have nothing in common but what is stored", () => {
  fc.assert(
    fc.property(fc.array(agentItem, { maxLength: 4 }), (items) => {
      const messages = decoded(items)
      for (const encode of [encodeItems, (all: typeof messages) => encodeContext(all).items]) {
        const shared = new Set([...objectsIn(messages), ...objectsIn(encode(messages))])
        for (const one of objectsIn(messages)) shared.delete(one)
        expect(objectsIn(encode(messages)).filter((one) => shared.has(one))).toEqual([])
      }
    }),
    { numRuns: often(100, 1_000) },
  )
})

describe("L17: a context", () => {
  it("is accepted by the Responses API, whatever was said and compacted", async () => {
    await fc.assert(
      fc.asyncProperty(Arbitrary.conversation, async (given) => {
        await using memory = createMemory({
          store: "memory:",
          strategy: "sliding-window",
          settings: { tailKeepSize: 4, compressionWindowSize: 2 },
          compaction: { mode: "inline" },
        })
        for (const message of given) {
          await memory.neutral.append("s", message)
          const { items } = encodeContext((await memory.neutral.context("s")).messages)
          for (const item of items) expect(protocol.ModelItem.safeParse(item).error).toBeUndefined()
          const input = items.map((item) => toWire(item as never))
          if (input.length > 0) expect(responsesViolations({ model: "gpt-6.2-sol", input })).toEqual([])
        }
      }),
      { numRuns: often(12, 60) },
    )
  })

  it("has the items as they came where nothing has to change", () => {
    const items = [
      { type: "message", role: "user", content: "Weather?" },
      {
        type: "reasoning",
        id: "rs_1",
        content: [],
        providerData: { id: "rs_1", type: "reasoning", encrypted_content: "gAAA" },
      },
      {
        type: "function_call",
        callId: "c",
        name: "weather",
        arguments: "{}",
        status: "completed",
        providerData: { id: "fc_1" },
      },
      {
        type: "function_call_result",
        callId: "c",
        name: "weather",
        status: "completed",
        output: { type: "text", text: "14 °C" },
      },
      {
        type: "message",
        id: "msg_1",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: "14 °C.", providerData: { annotations: [] } }],
        providerData: {},
      },
    ]
    const messages = decoded(items)
    expect(messages.map(({ role, parts }) => [role, parts.map(({ type }) => type)])).toEqual([
      ["user", ["text"]],
      ["assistant", ["opaque", "tool-call"]],
      ["tool", ["tool-result"]],
      ["assistant", ["text"]],
    ])
    expect(encodeContext(messages)).toEqual({ items, omitted: [] })
    // What the SDK says of an item is kept beside its text, and the text is not kept twice.
    expect(JSON.stringify(messages).split("14 °C.")).toHaveLength(2)
  })

  it("says what a shortened or an erased message says now", () => {
    const whole = {
      type: "function_call_result",
      callId: "c",
      name: "f",
      status: "completed",
      output: "a long output",
    }
    const [result] = decoded([whole])
    expect(encodeItems([result!])).toEqual([whole])
    const cut = {
      ...result!,
      parts: result!.parts.map((part) => ({ ...part, output: "a long…" }) as Message.Part),
    }
    expect(encodeItems([cut])).toEqual([{ ...whole, output: { type: "text", text: "a long…" } }])
  })
})

describe("decodeItems", () => {
  it("says where an item is wrong, and never what it says", () => {
    const wrong: ReadonlyArray<readonly [unknown, RegExp]> = [
      ["secret", /^the input is a string; allowed: a list of items$/],
      [["secret"], /^item 0 is a string/],
      [[{ role: "tool", content: "secret" }], /^item 0 has no role that is known/],
      [
        [
          { role: "user", content: "a" },
          { type: "function_call", name: "secret", arguments: "" },
        ],
        /^item 1 has no callId/,
      ],
      [[{ role: "user", content: { secret: 1 } }], /^item 0 has an object as its content/],
      [[{ type: "unknown", providerData: { secret: new Uint8Array(3) } }], /^item 0 has bytes/],
      [[{ type: "unknown", providerData: { secret: Buffer.from("secret") } }], /^item 0 has bytes/],
      [[{ type: "unknown", providerData: { secret: 1n } }], /^item 0 has a value that JSON has no form for/],
    ]
    for (const [input, says] of wrong) {
      const result = decodeItems(input)
      const message = Either.isLeft(result) ? result.left.message : ""
      expect(message).toMatch(says)
      expect(message).not.toContain("secret")
    }
  })
})
