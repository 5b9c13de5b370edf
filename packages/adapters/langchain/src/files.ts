/** Files and images: content blocks of LangChain, {@link Message.File} in memfold. */
import { type Fields, isFields, isSame, patchOf } from "@memfold/codec"
import type { Message } from "@memfold/core"
import { type Block, partFormOf, withForm } from "./form.js"

/** Where a file of no known type is named, providers look at its data. */
const unknownType = "application/octet-stream"

const dataUri = /^data:([^;,]+);base64,(.*)$/su

interface FileSource {
  readonly url?: string | undefined
  readonly data?: string | undefined
  readonly mediaType?: string | undefined
  readonly name?: string | undefined
}

const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)

/** How each kind of block is read. */
const readers: Readonly<Record<string, (block: Fields) => FileSource | undefined>> = {
  image_url: ({ image_url: image }) => ({ url: text(isFields(image) ? image["url"] : image) }),
  tagged: ({ source_type: source, url, data, mime_type: mediaType, metadata }) => ({
    ...(source === "url" ? { url: text(url) } : source === "base64" ? { data: text(data) } : {}),
    mediaType: text(mediaType),
    name: isFields(metadata) ? text(metadata["filename"]) : undefined,
  }),
  plain: ({ url, data, mimeType }) => ({
    ...(url === undefined ? { data: text(data) } : { url: text(url) }),
    mediaType: text(mimeType),
  }),
  source: ({ source }) => {
    if (!isFields(source)) return undefined
    const { type, url, data, media_type: mediaType } = source as Record<string, unknown>
    if (type === "url") return { url: text(url) }
    return type === "base64" ? { data: text(data), mediaType: text(mediaType) } : undefined
  },
}

const kindOfBlock = (block: Fields): Block | undefined => {
  const type = block["type"]
  if (type === "image_url") return "image_url"
  if (type === "document" || (type === "image" && block["source"] !== undefined)) return "source"
  if (type !== "image" && type !== "audio" && type !== "video" && type !== "file") return undefined
  return block["source_type"] === undefined ? "plain" : "tagged"
}

/** The media type that a block of this type has if it does not say one. */
const usualType = (type: unknown): string =>
  type === "image" || type === "image_url"
    ? "image/*"
    : type === "audio" || type === "video"
      ? `${type}/*`
      : unknownType

/** The file of a content block; `undefined` if the block only has a provider's id of the file. */
export const toFile = (block: Fields): Message.File | undefined => {
  const kind = kindOfBlock(block)
  const place = kind === undefined ? undefined : readers[kind]!(block)
  if (place === undefined) return undefined
  const { url, data, name } = place
  const usual = usualType(block["type"])
  const mediaType = place.mediaType ?? (url === undefined ? undefined : dataUri.exec(url)?.[1]) ?? usual
  const uri = data === undefined ? url : `data:${mediaType};base64,${data}`
  if (uri === undefined || uri === "") return undefined
  const file: Message.File = { type: "file", mediaType, uri, ...(name === undefined ? {} : { name }) }
  const patch = patchOf(block, blockOf(file, kind!))
  const known = withForm(file, { block: kind, patch })
  // A block becomes a file only if the file can be written back as the very same block.
  return isSame({ ...blockOf(known, kind!), ...patch }, block) ? known : undefined
}

const typeOf = (mediaType: string): string => {
  const [kind = ""] = mediaType.split("/")
  return kind === "image" || kind === "audio" || kind === "video" ? kind : "file"
}

/** A file as a block of this kind, as far as the file says. */
const blockOf = ({ uri, mediaType, name }: Message.File, kind: Block): Fields => {
  const [, , data] = dataUri.exec(uri) ?? []
  const inline = data !== undefined && uri === `data:${mediaType};base64,${data}`
  switch (kind) {
    case "image_url":
      return { type: "image_url", image_url: { url: uri } }
    case "source":
      return {
        type: mediaType.startsWith("image/") ? "image" : "document",
        source: inline ? { type: "base64", media_type: mediaType, data } : { type: "url", url: uri },
      }
    case "plain":
      return { type: typeOf(mediaType), mimeType: mediaType, ...(inline ? { data } : { url: uri }) }
    default:
      return {
        type: typeOf(mediaType),
        mime_type: mediaType,
        ...(inline ? { source_type: "base64", data } : { source_type: "url", url: uri }),
        ...(name === undefined ? {} : { metadata: { filename: name } }),
      }
  }
}

/** The block of a file, exactly as it came, or `undefined` for a file from elsewhere. */
export const exactFile = (file: Message.File): Fields | undefined => {
  const { block, patch } = partFormOf(file)
  return block === undefined ? undefined : { ...blockOf(file, block), ...patch }
}

/**
 * The block of a file for a model. Images get the block that all providers take; other files get the block with a type
 * and a name.
 *
 * @param provider the provider that gets the block, if it is known: only Anthropic takes blocks of its own form
 */
export const sentFile = (file: Message.File, provider: string | undefined): Fields => {
  const { block, patch } = partFormOf(file)
  const usual = file.mediaType.startsWith("image/") ? "image_url" : "tagged"
  const isOpenAI = provider !== undefined && provider.startsWith("openai")
  if (block === undefined && usual === "tagged" && isOpenAI) {
    // OpenAI asks for a name.
    return blockOf({ ...file, name: file.name ?? "file" }, usual)
  }
  if (block === undefined || (block === "source" && provider !== undefined && provider !== "anthropic")) {
    return blockOf(file, usual)
  }
  return { ...patch, ...blockOf(file, block) }
}

const isInline = ({ uri }: Message.File): boolean => uri.startsWith("data:")
const isAddress = ({ uri }: Message.File): boolean => /^(?:https?|data):/u.test(uri)
const anthropicTypes = /^(?:image\/(?:jpeg|png|gif|webp)|application\/pdf)$/u

/**
 * Whether the package of a provider takes a file in a message of this role. For a file that it does not take, the package
 * throws, and the whole request fails. Providers that are not known here get every file.
 */
export const takesFile = (file: Message.File, role: Message.Role, provider: string | undefined): boolean => {
  const { mediaType } = file
  const isImage = mediaType.startsWith("image/")
  const isSound = mediaType.startsWith("audio/") || mediaType.startsWith("video/")
  switch (provider) {
    case "anthropic":
      if (role === "assistant") return false
      if (partFormOf(file).block === "source") return true
      return isAddress(file) && (anthropicTypes.test(mediaType) || (isImage && !isInline(file)))
    case "openai":
      if (role !== "user" || isImage) return role === "user" && isAddress(file)
      return isInline(file) && (!isSound || /^audio\/(?:wav|mp3)$/u.test(mediaType))
    case "openai-responses":
      return role === "assistant" ? false : isAddress(file) && (isImage || (role === "user" && !isSound))
    default:
      return role !== "assistant" || partFormOf(file).block !== undefined
  }
}
