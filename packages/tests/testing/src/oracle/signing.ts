/**
 * A client whose model signs its reasoning, and a check of the signatures, as providers describe it: a signature is
 * valid behind exactly those parts that were before it when it was made (L17).
 */
import { Message, type Render } from "@memfold/core"
import type { Finding } from "./session.js"

/** What a provider sees before a part: every part in order, with the role that says it. */
const partsOf = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<string> =>
  messages.flatMap(({ role, parts }) => parts.map((part) => JSON.stringify([role, part])))

const signatureOf = (part: Message.Part): string | null => {
  if (part.type === "reasoning") return part.signature ?? null
  return part.type === "opaque" && part.bound === true ? String(part.data) : null
}

/** Signs bound parts, and remembers what was before each of them. */
export interface Signer {
  /** The messages with a signature in every bound part. The context is what was sent; it is before all of them. */
  readonly sign: (
    sent: Pick<Render.Context, "messages">,
    messages: ReadonlyArray<Message.Message>,
  ) => ReadonlyArray<Message.Message>
  /** The first part of a context whose signature was made behind something else; `null` if there is none. */
  readonly finding: (context: Pick<Render.Context, "messages">) => Finding | null
}

/** Makes a signer. */
export const makeSigner = (): Signer => {
  const signed = new Map<string, string>()
  return {
    sign: (sent, messages) => {
      const before = [...partsOf(sent.messages)]
      return messages.map((message) => {
        const parts = message.parts.map((part): Message.Part => {
          let said = part
          if (Message.isBound(part)) {
            const signature = `signature ${signed.size}`
            signed.set(signature, before.join("\n"))
            // Some of what is bound is not text, as redacted thinking.
            const opaque = part.type === "opaque" || signed.size % 3 === 0
            said =
              opaque || part.type !== "reasoning"
                ? { type: "opaque", provider: "somebody", data: signature, bound: true }
                : { ...part, signature }
          }
          before.push(JSON.stringify([message.role, said]))
          return said
        })
        return { ...message, parts }
      })
    },
    finding: ({ messages }) => {
      const before: Array<string> = []
      for (const [position, { role, parts }] of messages.entries()) {
        for (const part of parts) {
          const signature = signatureOf(part)
          const expected = signature === null ? undefined : signed.get(signature)
          if (expected !== undefined && expected !== before.join("\n")) {
            return {
              law: "L17",
              detail: `message ${position} has reasoning (${signature}) that was produced behind another prefix`,
            }
          }
          before.push(JSON.stringify([role, part]))
        }
      }
      return null
    },
  }
}
