import { Message } from "@memfold/core"
import { often } from "@memfold/harness/depth"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { serverOf } from "./servers.js"
import { sendable } from "./toSend.js"

const image = (size: number, at: number): Message.File => {
  const head = `data:image/png;base64,${at}-`
  return { type: "file", mediaType: "image/png", uri: head.padEnd(size, "A") }
}

const limits = { images: 3, imageSize: 100, imagesSize: 220 } as const
const server = { ...serverOf(undefined), ...limits }

/** Messages with images of these sizes, in a question or in a result, and an answer with bound thinking behind each. */
const conversation = (sizes: ReadonlyArray<readonly [size: number, isResult: boolean]>) =>
  sizes.flatMap(([size, isResult], at): ReadonlyArray<Message.Message> => [
    isResult
      ? {
          role: "tool",
          parts: [{ type: "tool-result", id: `${at}`, output: "", content: [image(size, at)] }],
        }
      : { role: "user", parts: [image(size, at)] },
    {
      role: "assistant",
      parts: [
        { type: "reasoning", text: "Hm.", signature: "c2ln" },
        { type: "text", text: `Answer ${at}.` },
      ],
    },
  ])

const urisIn = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<string> =>
  JSON.stringify(messages).match(/data:image[^"]*/gu) ?? []

describe("images of a context", () => {
  const sizes = fc.array(fc.tuple(fc.integer({ min: 30, max: 110 }), fc.boolean()), { maxLength: 9 })

  it("are the newest ones that a request has room for, by their number and their size", () => {
    fc.assert(
      fc.property(sizes, (all) => {
        const given = conversation(all)
        const { messages, omitted } = sendable(given, { server })
        const sent = urisIn(messages)
        const fitting = all.map(([size], at) => image(size, at).uri).filter(({ length }) => length <= 100)
        expect(sent).toEqual(sent.length === 0 ? [] : fitting.slice(-sent.length))
        expect(sent.length).toBeLessThanOrEqual(3)
        expect(sent.join("").length).toBeLessThanOrEqual(220)
        const next = fitting.at(-sent.length - 1)
        if (next !== undefined && sent.length < fitting.length)
          expect(sent.length === 3 || sent.join("").length + next.length > 220).toBe(true)
        expect(omitted.filter(({ part }) => part === "file")).toHaveLength(all.length - sent.length)
        expect(messages.map(({ role }) => role)).toEqual(given.map(({ role }) => role))
      }),
      { numRuns: often(200, 5_000) },
    )
  })

  it("leave thinking where what stands before it is as it was when it was produced", () => {
    fc.assert(
      fc.property(sizes, (all) => {
        const given = conversation(all)
        const { messages } = sendable(given, { server })
        for (const [at, message] of messages.entries()) {
          if (message.role !== "assistant") continue
          const then = urisIn(sendable(given.slice(0, at), { server }).messages)
          const isSame = JSON.stringify(urisIn(messages.slice(0, at))) === JSON.stringify(then)
          expect(message.parts.some(Message.isBound)).toBe(isSame)
        }
      }),
      { numRuns: often(200, 5_000) },
    )
  })
})
