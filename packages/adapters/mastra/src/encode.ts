/** From memfold messages to messages of Mastra. */
import { encodeUIMessages } from "@memfold/ai-sdk/codec"
import { type Fields, isFields, thaw } from "@memfold/codec"
import type { Message } from "@memfold/core"
import type { MastraDBMessage } from "@mastra/core/agent"
import { type Form, formOf, idOf, returnedOf } from "./form.js"
import { withMirrors } from "./mirrors.js"
import { fromPage } from "./parts.js"

/** The message with what its tools returned, instead of what the model got. */
const asReturned = (message: Message.Message): Message.Message => ({
  ...message,
  parts: message.parts.map((part) => (part.type === "tool-result" ? (returnedOf(part) ?? part) : part)),
})

const dateOf = (written: unknown, otherwise: number): Date => {
  const date = new Date(typeof written === "string" ? written : otherwise)
  return Number.isNaN(date.getTime()) ? new Date(otherwise) : date
}

/** The forms of the messages of a page, one after the other: an edited message has the id of the one before. */
const formsOf = (messages: ReadonlyArray<Message.Message>): ReadonlyMap<string, Array<Form>> => {
  const forms = new Map<string, Array<Form>>()
  for (const message of messages) {
    const [id, form] = [idOf(message), formOf(message)]
    if (id === undefined || form === undefined) continue
    const isAnswer = message.role === "assistant" || message.role === "tool"
    forms.set(id, isAnswer ? [form] : [...(forms.get(id) ?? []), form])
  }
  return forms
}

/** The id of a message that Mastra did not write, by its position in the conversation. */
export const positionId = (position: number): string => `message-${position}`

/** Options of {@link encodeMessages}. */
export interface EncodeOptions {
  /** When each message was written, in milliseconds since the epoch; used for messages that Mastra did not write. */
  readonly times?: ReadonlyArray<number>
}

/**
 * Encodes messages as messages of Mastra, each as it came. The steps of an answer are one message again. Messages from other
 * libraries get an id from their position.
 *
 * @param messages all messages of a conversation, in order
 * @param options when they were written
 *
 * @example
 * ```ts
 * import { Message } from "@memfold/core"
 * import { encodeMessages } from "@memfold/mastra"
 *
 * console.log(encodeMessages([Message.user("What is a fold?")])[0]?.content.parts.length) // 1
 * ```
 */
export const encodeMessages = (
  messages: ReadonlyArray<Message.Message>,
  { times = [] }: EncodeOptions = {},
): Array<MastraDBMessage> => {
  const forms = formsOf(messages)
  const positions = new Map<string, number>()
  const named = (position: number): string => {
    const id = positionId(position)
    positions.set(id, position)
    return id
  }
  for (const [position, message] of messages.entries()) {
    const id = idOf(message)
    if (id !== undefined && !positions.has(id)) positions.set(id, position)
  }
  return encodeUIMessages(messages.map(asReturned), named).map(({ id, role, parts }) => {
    const own = forms.get(id)
    const form = (own?.length ?? 0) > 1 ? own!.shift()! : own?.[0]
    const { createdAt, ...fields } = (form?.message ?? {}) as Record<string, unknown>
    const said = fromPage(parts.filter(isFields) as ReadonlyArray<Fields>)
    const content = { ...withMirrors(form?.content ?? {}, said, form?.mirrors), format: 2, parts: said }
    const written = thaw({ id, role, ...fields, content }, form?.special)
    const time = times[positions.get(id) ?? -1] ?? 0
    return { ...(written as object), createdAt: dateOf(createdAt, time) } as MastraDBMessage
  })
}
