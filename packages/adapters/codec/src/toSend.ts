/** What of a context is sent: the rules that every renderer passes, whichever API or library it writes for. */
import { Message } from "@memfold/core"
import { withoutEarlierThoughts } from "./earlierThoughts.js"
import { type Fields, isFields } from "./fields.js"
import { leavingOut, type Sendable } from "./leavingOut.js"
import { withoutMisplacedCalls } from "./misplacedCalls.js"
import type { Omitted } from "./Omitted.js"
import { toolName } from "./requestName.js"
import type { Server } from "./servers.js"

/** The first message of the user, where a conversation would begin with the assistant: providers refuse that, except OpenAI. */
export const opening = "(The conversation goes on.)"

/** What stands for a message of the user of which nothing can be sent, so that the user has spoken. */
export const unsaid = "(This message has no text.)"

/** What stands for images that a request has no room for, and for one that is too large by itself. */
const imageLeftOut = "(An image is left out here: a request has room for the newest ones alone.)"
const imageTooLarge = "(An image is left out here: it is too large for a request.)"

/** What stands for the output of a failed call that has none: Anthropic refuses an error without words. */
export const noOutput = "(No output)"

/** What of a conversation a request can have. */
export interface Limits {
  readonly server: Server
  /** The most characters of a tool's name. */
  readonly longestName?: 64 | 128
  /** Whether the API has no mark for a failed call, so that its result may be empty. */
  readonly marksNoErrors?: true
}

/** The part under a name that every API takes: models make names up. */
const named = <Part extends Message.Part>(part: Part, longest: 64 | 128): Part => {
  if (part.type !== "tool-call" && part.type !== "tool-result") return part
  const { name } = part as { readonly name?: string }
  const sent = name === undefined ? undefined : toolName(name, longest)
  return sent === name ? part : { ...part, name: sent }
}

/** A result without texts that say nothing: Anthropic refuses them in a list, and an error that has nothing else. */
const spoken = (part: Message.Part, marksErrors: boolean): Message.Part => {
  if (part.type !== "tool-result") return part
  const { content, ...result } = part
  const said = content?.filter((one) => one.type !== "text" || one.text.trim() !== "")
  const isWhole = said?.length === content?.length
  const isSilent = (said ?? []).length === 0 && result.output.trim() === ""
  if (isSilent && marksErrors && result.isError === true) return { ...result, output: noOutput }
  if (isWhole) return part
  return said === undefined || said.length === 0 ? result : { ...result, content: said }
}

const isImage = (part: Message.Part): part is Message.File =>
  part.type === "file" && part.mediaType.toLowerCase().startsWith("image/")

/** How large an image is in a request, in characters of base64; one by its address is fetched by the server. */
const sizeOf = ({ uri }: Message.File): number => (uri.startsWith("data:") ? uri.length : 0)

/** The images of a message, those in results of tools included. */
const imagesIn = ({ parts }: Pick<Message.Message, "parts">): ReadonlyArray<Message.File> =>
  parts.flatMap((part) =>
    part.type === "tool-result" ? imagesIn({ parts: part.content ?? [] }) : isImage(part) ? [part] : [],
  )

/** Whether a message has {@link imagesIn}. */
const hasImage = ({ parts }: Pick<Message.Message, "parts">): boolean =>
  parts.some((part) =>
    part.type === "tool-result" ? hasImage({ parts: part.content ?? [] }) : isImage(part),
  )

/** Of the first images, from which one on a request has room for them: for each number of images. */
const roomFor = (
  sizes: ReadonlyArray<number>,
  { images = Number.POSITIVE_INFINITY, imagesSize = Number.POSITIVE_INFINITY }: Server,
): ReadonlyArray<number> => {
  let [from, sum] = [0, 0]
  return [
    0,
    ...sizes.map((size, at) => {
      sum += size
      for (; at + 1 - from > images || sum > imagesSize; from++) sum -= sizes[from]!
      return from
    }),
  ]
}

/** The messages with their newest images, as many as a request can have. */
const withNewestImages = (messages: ReadonlyArray<Message.Message>, server: Server): Sendable => {
  if (!messages.some(hasImage)) return { messages, omitted: [] }
  const { imageSize = Number.POSITIVE_INFINITY } = server
  const isTooLarge = (image: Message.File) => sizeOf(image) > imageSize
  const images = messages.map((message) => imagesIn(message).filter((image) => !isTooLarge(image)))
  const room = roomFor(images.flat().map(sizeOf), server)
  const from = room.at(-1)!
  const omitted: Array<Omitted> = []
  let next = 0
  const shown = <Part extends Message.Part>(
    parts: ReadonlyArray<Part>,
    message: number,
  ): ReadonlyArray<Part> => {
    const before = omitted.length
    const written = parts.map((part) => {
      if (part.type === "tool-result" && part.content !== undefined) {
        const content = shown(part.content, message)
        return content === part.content ? part : { ...part, content }
      }
      if (!isImage(part)) return part
      const isLarge = isTooLarge(part)
      if (!isLarge && next++ >= from) return part
      omitted.push({ message, part: "file" })
      return { type: "text", text: isLarge ? imageTooLarge : imageLeftOut } as Message.Part as Part
    })
    return omitted.length === before ? parts : written
  }
  const written = messages.map((message, position) => {
    const parts = shown(message.parts, position)
    return parts === message.parts ? message : { ...message, parts }
  })
  if (from === 0) return { messages: written, omitted }
  // What is bound, and was produced before an image came for which an earlier one has made room, stands in another conversation now.
  let before = 0
  const isMoved = images.map(({ length }) => {
    const isBehind = Math.min(from, before) > room[before]!
    before += length
    return isBehind
  })
  const kept = leavingOut(written, (part, _message, position) => isMoved[position]! && Message.isBound(part))
  return { messages: kept.messages, omitted: [...omitted, ...kept.omitted] }
}

/**
 * The messages of a context within what requests can have: calls in messages of the assistant alone, names that every API takes,
 * results that say something or nothing at all, and no more and no larger images than the server takes. Every message stays in its place.
 *
 * @param context - the messages of a context
 * @param limits - the server, and how long names of tools can be; 64 characters without it
 *
 * @example
 * ```ts
 * import { sendable, serverOf } from "@memfold/codec"
 * import { Message } from "@memfold/core"
 *
 * const call = Message.call([{ id: "c1", name: "files.open", arguments: "{}" }])
 * console.log(sendable([call], { server: serverOf(undefined) }).messages[0]?.parts) // the name is files_open
 * ```
 */
export const sendable = (
  context: ReadonlyArray<Message.Message>,
  { server, longestName = 64, marksNoErrors }: Limits,
): Sendable => {
  const placed = withoutMisplacedCalls(context)
  const fitting = placed.messages.map((message) => {
    const parts = message.parts.map((part) => spoken(named(part, longestName), marksNoErrors !== true))
    return parts.every((part, at) => part === message.parts[at]) ? message : { ...message, parts }
  })
  const { messages, omitted } = withNewestImages(fitting, server)
  return { messages, omitted: [...placed.omitted, ...omitted] }
}

/**
 * What is {@link sendable} for a library that has the system messages apart: also with summaries as text, and without reasoning
 * whose prefix has changed.
 */
export const messagesToSend = (context: ReadonlyArray<Message.Message>, server: Server): Sendable => {
  const read = Message.forReader(context)
  const summarized = read.flatMap(({ leftOut }, message) => leftOut.map((part) => ({ message, part })))
  const thoughts = withoutEarlierThoughts(read.map(({ message }) => message))
  const { messages, omitted } = sendable(thoughts.messages, { server })
  return { messages, omitted: [...summarized, ...thoughts.omitted, ...omitted] }
}

/** The block of redacted thinking of the Messages API; `undefined` for any other part. Libraries have a place of their own for it. */
export const redactedThinking = (part: Message.Part): Fields | undefined =>
  part.type === "opaque" &&
  part.provider === "anthropic" &&
  isFields(part.data) &&
  part.data["type"] === "redacted_thinking"
    ? part.data
    : undefined
