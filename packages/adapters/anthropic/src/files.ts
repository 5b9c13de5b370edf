/** Images and documents: content blocks on the wire, {@link Message.File} in memfold. */
import * as Codec from "@memfold/codec"
import { type Message } from "@memfold/core"
import type { WireBlock } from "./wire.js"

const base64Prefix = (mediaType: string): string => `data:${mediaType};base64,`
const textPrefix = "data:text/plain;charset=utf-8,"

/** Half of an emoji, or a stray percent sign on the way back, cannot be written in a URI. */
const attempt = (convert: (text: string) => string, text: string): string | undefined => {
  try {
    return convert(text)
  } catch {
    return undefined
  }
}

const uriOf = (source: Codec.Fields): string | undefined => {
  const { media_type: mediaType, data } = source as Record<string, unknown>
  if (typeof mediaType !== "string" || typeof data !== "string") return undefined
  if (source["type"] === "base64") return base64Prefix(mediaType) + data
  const encoded = source["type"] === "text" ? attempt(encodeURIComponent, data) : undefined
  return encoded === undefined ? undefined : textPrefix + encoded
}

/** The file of an `image` or `document` block; `undefined` if the block only has the file's id. */
export const toFile = (block: WireBlock): Message.File | undefined => {
  const { source, title } = block
  if (!Codec.isFields(source)) return undefined
  const name = block.type === "document" && typeof title === "string" ? { name: title } : {}
  const byUrl = source["type"] === "url"
  const uri = byUrl ? source["url"] : uriOf(source)
  const mediaType = byUrl ? (block.type === "image" ? "image/*" : "application/pdf") : source["media_type"]
  return typeof uri === "string" ? { type: "file", mediaType: mediaType as string, uri, ...name } : undefined
}

const sourceOf = (file: Message.File): Codec.Fields | undefined => {
  const { mediaType, uri } = file
  const prefix = base64Prefix(mediaType)
  if (uri.startsWith(prefix)) return { type: "base64", media_type: mediaType, data: uri.slice(prefix.length) }
  if (mediaType === "text/plain" && uri.startsWith(textPrefix)) {
    const data = attempt(decodeURIComponent, uri.slice(textPrefix.length))
    return data === undefined ? undefined : { type: "text", media_type: "text/plain", data }
  }
  return uri.startsWith("data:") ? undefined : { type: "url", url: uri }
}

/**
 * The block of a file: images and PDFs by URL or as base64, plain text as `data:text/plain;charset=utf-8,…`.
 * The API takes no other files, so other files have no block.
 */
export const fromFile = (file: Message.File): Codec.Fields | undefined => {
  const source = sourceOf(file)
  if (source === undefined) return undefined
  if (file.mediaType.startsWith("image/")) return { type: "image", source }
  if (file.mediaType !== "application/pdf" && source["type"] !== "text") return undefined
  return { type: "document", source, ...(file.name === undefined ? {} : { title: file.name }) }
}
