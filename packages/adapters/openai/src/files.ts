/** Files and images: content parts on the wire, {@link Message.File} in memfold. */
import * as Codec from "@memfold/codec"
import { type Message } from "@memfold/core"
import type { WirePart } from "./wire.js"

/** The API names audio by format, everyone else by media type. */
const audioType = (format: string): string => `audio/${format === "mp3" ? "mpeg" : format}`
const audioFormat = (mediaType: string): string => mediaType.slice("audio/".length).replace(/^mpeg$/, "mp3")

/** The file of an `image_url`, `input_audio` or `file` part; none for a file that only its id names. */
export const toFile = (part: WirePart): Message.File | undefined => {
  const inside = part[part.type]
  if (!Codec.isFields(inside)) return undefined
  const { url, data, format, file_data: fileData, filename } = inside as Record<string, unknown>
  switch (part.type) {
    case "image_url":
      return typeof url === "string"
        ? { type: "file", mediaType: Codec.mediaTypeIn(url) ?? "image/*", uri: url }
        : undefined
    case "input_audio":
      return typeof data === "string" && typeof format === "string"
        ? { type: "file", mediaType: audioType(format), uri: Codec.base64Uri(audioType(format), data) }
        : undefined
    case "file": {
      const mediaType = typeof fileData === "string" ? Codec.mediaTypeIn(fileData) : undefined
      return mediaType === undefined
        ? undefined
        : {
            type: "file",
            mediaType,
            uri: fileData as string,
            ...(typeof filename === "string" ? { name: filename } : {}),
          }
    }
    default:
      return undefined
  }
}

/**
 * The content part of a file: images by any URI, audio as base64, other files as a `data:` URI. Chat
 * Completions takes no other file by its address, so there is none for that.
 */
export const fromFile = (file: Message.File): Codec.Fields | undefined => {
  if (file.mediaType.startsWith("image/")) return { type: "image_url", image_url: { url: file.uri } }
  if (!file.uri.startsWith("data:")) return undefined
  if (!file.mediaType.startsWith("audio/")) {
    return {
      type: "file",
      file: { file_data: file.uri, ...(file.name === undefined ? {} : { filename: file.name }) },
    }
  }
  const base64 = /^data:[^,]*;base64,/.exec(file.uri)?.[0]
  return base64 === undefined
    ? undefined
    : {
        type: "input_audio",
        input_audio: { data: file.uri.slice(base64.length), format: audioFormat(file.mediaType) },
      }
}
