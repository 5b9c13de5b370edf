/** Images and documents: content blocks on the wire, {@link Message.File} in memfold. */
import * as Codec from "@memfold/codec"
import { type Message } from "@memfold/core"
import type { WireBlock } from "./wire.js"

const uriOf = (source: Codec.Fields): string | undefined => {
  const { media_type: mediaType, data } = source as Record<string, unknown>
  if (typeof mediaType !== "string" || typeof data !== "string") return undefined
  if (source["type"] === "base64") return Codec.base64Uri(mediaType, data)
  return source["type"] === "text" ? Codec.textUri(data) : undefined
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
  const base64 = Codec.base64In(uri, mediaType)
  if (base64 !== undefined) return { type: "base64", media_type: mediaType, data: base64 }
  const text = mediaType === "text/plain" ? Codec.textInUri(uri) : undefined
  if (text !== undefined) return { type: "text", media_type: mediaType, data: text }
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
