/** One item, and the message with its parts alone. */
import * as Codec from "@memfold/codec"
import { Message } from "@memfold/core"
import { Responses } from "@memfold/openai"
import { Either } from "effect"
import { provider } from "./form.js"
import { fromWire, toWire } from "./wire.js"

/** Results of the Agents SDK know the name of their tool. */
const named = (message: Message.Message, { name }: Codec.Fields): Message.Message =>
  message.role === "tool" && typeof name === "string"
    ? {
        ...message,
        parts: message.parts.map((part) => (part.type === "tool-result" ? { ...part, name } : part)),
      }
    : message

/** The message of an item; opaque where the Responses API knows no such item. */
export const messageOf = (item: Codec.Fields): Message.Message => {
  const decoded = Responses.decodeItems([toWire(item)])
  const [message, ...others] = Either.isRight(decoded) ? decoded.right : []
  return message === undefined || others.length > 0
    ? { role: "assistant", parts: [{ type: "opaque", provider, data: item }] }
    : named(message, item)
}

/** The item of the Responses API for a message of one item, as it came; none if that API has no such item. */
export const wireOf = (message: Message.Message): Codec.Fields | undefined =>
  Responses.encodeItems([message], { exact: true })[0] as Codec.Fields | undefined

/** An item that the Responses API does not know. */
export const ownItem = ({ parts }: Message.Message): Codec.Fields | undefined => {
  const [part] = parts
  return part?.type === "opaque" && part.provider === provider && Codec.isFields(part.data)
    ? part.data
    : undefined
}

/**
 * The item of a message of one item, by its parts alone.
 *
 * @param wire - the {@link wireOf} of the message, if it is known
 */
export const itemOf = (message: Message.Message, wire = wireOf(message)): Codec.Fields => {
  const own = ownItem(message)
  if (own !== undefined) return own
  const nameOf = (id: string) => Message.results(message).find((result) => result.id === id)?.name
  return wire === undefined ? {} : fromWire(wire, nameOf)
}
