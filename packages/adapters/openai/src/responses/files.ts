/** Images and files: content parts on the wire, {@link Message.File} in memfold. */
import * as Codec from "@memfold/codec"
import { type Message } from "@memfold/core"
import type { WirePart } from "./wire.js"

/** The file of an `input_image` or `input_file` part; `undefined` if the part only has the file's id. */
export const toFile = (part: WirePart): Message.File | undefined => {
  const { image_url: image, file_data: data, file_url: url, filename } = part
  const name = typeof filename === "string" ? { name: filename } : {}
  if (part.type === "input_image") {
    return typeof image === "string"
      ? { type: "file", mediaType: Codec.mediaTypeIn(image) ?? "image/*", uri: image }
      : undefined
  }
  if (part.type !== "input_file") return undefined
  if (typeof url === "string") {
    return { type: "file", mediaType: "application/octet-stream", uri: url, ...name }
  }
  const mediaType = typeof data === "string" ? Codec.mediaTypeIn(data) : undefined
  return mediaType === undefined ? undefined : { type: "file", mediaType, uri: data as string, ...name }
}

/** The content part of a file, by its address or as a `data:` URI; none for audio, which the API does not take. */
export const fromFile = ({ mediaType, uri, name }: Message.File): Codec.Fields | undefined => {
  if (mediaType.startsWith("image/")) return { type: "input_image", image_url: uri }
  if (mediaType.startsWith("audio/")) return undefined
  const filename = name === undefined ? {} : { filename: name }
  return uri.startsWith("data:")
    ? { type: "input_file", file_data: uri, ...filename }
    : { type: "input_file", file_url: uri, ...filename }
}
