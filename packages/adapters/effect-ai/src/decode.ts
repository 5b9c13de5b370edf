/** From prompts of Effect AI to memfold messages. */
import * as Codec from "@memfold/codec"
import type { Message } from "@memfold/core"
import { Prompt } from "@effect/ai"
import { itemsIn, metadataOf } from "./form.js"
import { decodePart } from "./parts.js"

/** A message of a prompt in memfold. */
export const decodeMessage = ({ role, content, options }: Prompt.Message): Message.Message => {
  const parts: ReadonlyArray<Message.Part> =
    typeof content === "string"
      ? [{ type: "text", text: content }]
      : (content as ReadonlyArray<Prompt.Part>).map((part) => decodePart(part, role))
  const { json, special } = Codec.freeze({ options })
  const { options: frozen } = json as { readonly options: Codec.Fields }
  return {
    role,
    parts,
    ...metadataOf({ options: frozen, items: itemsIn(parts) || undefined, special }),
  }
}

/**
 * Decodes a prompt. Every message gives one message, and {@link encodePrompt} gives the same prompt back: ids, options of each
 * provider, files as text, bytes or addresses, reasoning, calls and results.
 *
 * - parameters and results become JSON text, and come back as the same values
 * - reasoning that a provider signed, and items of OpenAI, are bound to their prefix
 * - what a provider runs itself stays opaque and goes back as it came
 *
 * Three things are normalised: a field that is `undefined` is not there, an `ArrayBuffer` comes back as `Uint8Array`, and a
 * value with `toJSON`, such as a `Date`, as what that returns.
 *
 * @param input a prompt, its messages, or a text of the user
 * @throws ParseError: a message of the list is none of Effect AI
 * @throws TypeError: a value that JSON refuses, such as a `bigint`
 *
 * @example
 * ```ts
 * import { decodePrompt } from "@memfold/effect-ai"
 *
 * console.log(decodePrompt("What is a fold?").length) // 1
 * ```
 */
export const decodePrompt = (input: Prompt.RawInput): ReadonlyArray<Message.Message> =>
  Prompt.make(input).content.map(decodeMessage)
