/** Files and images: parts of the AI SDK, {@link Message.File} in memfold. */
import * as Codec from "@memfold/codec"
import type { Message } from "@memfold/core"
import { type PartForm, partFormOf, withForm } from "./form.js"

/** Where a file of no known type is named, providers look at its data. */
const unknownType = "application/octet-stream"

/** The address that a string stands for: itself, or one with the data in it. */
const uriOf = (text: string, mediaType: string): string =>
  Codec.isAddress(text) ? text : Codec.base64Uri(mediaType, text)

/** The string that an address stands for. */
const stringOf = ({ uri, mediaType }: Message.File): string => {
  const data = Codec.base64In(uri, mediaType)
  return data === undefined || Codec.isAddress(data) ? uri : data
}

const dataField: Readonly<Record<string, "data" | "url" | "image">> = {
  file: "data",
  image: "image",
  "file-data": "data",
  "image-data": "data",
  media: "data",
  "file-url": "url",
  "image-url": "url",
}

/** The data of a `file` part, bare or tagged with its type. */
const writtenData = (file: Message.File, form: PartForm): unknown => {
  switch (form.data) {
    case "data":
      return { type: "data", data: stringOf(file) }
    case "url":
      return { type: "url", url: file.uri }
    case "text":
      return { type: "text", text: Codec.textInUri(file.uri) ?? "" }
    default:
      return stringOf(file)
  }
}

/** The part of a file as it came, or `usual` for a file from elsewhere. */
export const fromFile = (file: Message.File, usual = "file"): Codec.Fields => {
  const form = partFormOf(file)
  const wire = form.wire ?? usual
  return {
    type: wire,
    [dataField[wire] ?? "data"]: writtenData(file, form),
    ...(form.absent === "mediaType" ? {} : { mediaType: file.mediaType }),
    ...(file.name === undefined ? {} : { filename: file.name }),
  }
}

const tagOf = (data: unknown): { readonly tag: PartForm["data"]; readonly value: unknown } => {
  if (!Codec.isFields(data)) return { tag: undefined, value: data }
  const { type } = data as { readonly type?: unknown }
  return type === "data" || type === "url" || type === "text"
    ? { tag: type, value: data[type] }
    : { tag: undefined, value: data }
}

/** The file of a part; `undefined` if the part only has a provider's id of the file. */
export const toFile = (part: Codec.Fields, usual = "file"): Message.File | undefined => {
  const type = part["type"] as string
  const field = dataField[type]
  if (field === undefined) return undefined
  const { tag, value } = tagOf(part[field])
  const given = part["mediaType"]
  const mediaType = typeof given === "string" ? given : type.startsWith("image") ? "image/*" : unknownType
  if (typeof value !== "string") return undefined
  const uri = tag === "text" ? Codec.textUri(value) : tag === "url" ? value : uriOf(value, mediaType)
  if (uri === undefined) return undefined
  const name = part["filename"]
  const known: Message.File = {
    type: "file",
    mediaType,
    uri,
    ...(typeof name === "string" ? { name } : {}),
  }
  const form: PartForm = {
    ...(type === usual ? {} : { wire: type }),
    ...(tag === undefined ? {} : { data: tag }),
    ...(typeof given === "string" ? {} : { absent: "mediaType" }),
  }
  const file = withForm(known, form)
  // A part becomes a file only if the file can be written back as the very same part.
  const written = fromFile(file, usual)
  return Codec.agrees(part, written)
    ? withForm(known, { ...form, fields: Codec.rest(part, written) })
    : undefined
}
