/** Files: parts of Effect AI, with text, bytes or an address, and {@link Message.File} in memfold. */
import * as Codec from "@memfold/codec"
import type { Message } from "@memfold/core"
import { type PartForm, partFormOf, withForm } from "./form.js"

const writtenData = ({ uri, mediaType }: Message.File, kind: PartForm["data"]): string => {
  const data = Codec.base64In(uri, mediaType)
  if (data === undefined) return uri
  return kind === "bytes" || (kind === "text" && !Codec.isAddress(data)) ? data : uri
}

/** Any text as bytes, as far as it is a `data:` address; the providers of Effect AI take inline files only as bytes. */
const bytesOf = (uri: string): Uint8Array | undefined => {
  const [, head, body] = /^data:([^,]*),(.*)$/s.exec(uri) ?? []
  if (head === undefined || body === undefined) return undefined
  try {
    return head.endsWith(";base64")
      ? Uint8Array.from(atob(body), (one) => one.charCodeAt(0))
      : new TextEncoder().encode(decodeURIComponent(body))
  } catch {
    return undefined
  }
}

/** A file from elsewhere: bytes, an address, or the name that a provider has for it. */
const foreignData = (uri: string): string | Uint8Array | URL =>
  bytesOf(uri) ?? (/^https?:/i.test(uri) && URL.canParse(uri) ? new URL(uri) : uri)

/** The JSON of a part, and the data if it came from elsewhere. */
export const fromFile = (file: Message.File): Codec.Fields => {
  const { data, options } = partFormOf(file)
  return {
    type: "file",
    mediaType: file.mediaType,
    ...(file.name === undefined ? {} : { fileName: file.name }),
    data: data === undefined ? foreignData(file.uri) : writtenData(file, data),
    ...(options === undefined ? {} : { options }),
  }
}

/** The file of a part (in its JSON form); `undefined` if the part would not come back as it was. */
export const toFile = (
  { mediaType, fileName, data, options }: Codec.Fields,
  special: ReadonlyArray<Codec.Special>,
): Message.File | undefined => {
  if (typeof mediaType !== "string" || typeof data !== "string") return undefined
  const kind = special.find(({ at }) => at.length === 1 && at[0] === "data")?.is ?? "text"
  const isInline = kind === "bytes" || (kind === "text" && !Codec.isAddress(data))
  const file = withForm<Message.File>(
    {
      type: "file",
      mediaType,
      uri: isInline ? Codec.base64Uri(mediaType, data) : data,
      ...(typeof fileName === "string" ? { name: fileName } : {}),
    },
    { data: kind, options: Codec.isFields(options) ? options : undefined },
  )
  return writtenData(file, kind) === data ? file : undefined
}
