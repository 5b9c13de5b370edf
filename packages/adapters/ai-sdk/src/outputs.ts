/** Outputs of tools: `text`, `json`, `content`, `error-text`, `error-json` and `execution-denied`. */
import * as Codec from "@memfold/codec"
import { Message } from "@memfold/core"
import { fromFile, toFile } from "./files.js"
import { opaque, ownData, type PartForm, partFormOf, withForm } from "./form.js"

/** The words of the AI SDK for a call that was denied without a reason. */
const denied = "Tool call execution denied."

/** A part of a list of contents, and the forms of a file in it, differ between the versions of the AI SDK. */
const filePart = (part: Codec.Fields, major: number): Codec.Fields | undefined => {
  const { type, data, url, mediaType } = part as { readonly [key: string]: unknown }
  if (major >= 7 || type === "text") return part
  const inside = type === "file" ? data : undefined
  const tagged = Codec.isFields(inside) ? inside : {}
  const bytes = tagged["data"] ?? (typeof inside === "string" ? inside : data)
  const address = tagged["url"] ?? url
  if (major === 6) {
    if (type !== "file") return part
    const { filename, providerOptions } = part as { readonly [key: string]: unknown }
    const more = Codec.present({ filename, providerOptions })
    if (typeof address === "string") {
      return { type: "file-url", url: address, ...(providerOptions === undefined ? {} : { providerOptions }) }
    }
    return typeof bytes === "string" ? { type: "file-data", data: bytes, mediaType, ...more } : undefined
  }
  return typeof bytes === "string" && typeof mediaType === "string"
    ? { type: "media", data: bytes, mediaType }
    : undefined
}

/** The part of a result from elsewhere: an address or data. */
const usualFile = (file: Message.File): string => {
  const kind = file.mediaType.startsWith("image/") ? "image" : "file"
  return file.uri.startsWith("data:") ? `${kind}-data` : `${kind}-url`
}

const withoutName = ({ filename: _filename, ...part }: Codec.Fields): Codec.Fields => part
const withoutMediaType = ({ mediaType: _mediaType, ...part }: Codec.Fields): Codec.Fields => part

/** How a file from elsewhere is written: as the types of the AI SDK have it. */
const foreignFile = (file: Message.File): Codec.Fields => {
  const wire = usualFile(file)
  const part = fromFile(file, wire)
  if (wire === "image-url") return withoutMediaType(withoutName(part))
  return wire === "file-data" ? part : withoutName(part)
}

/** A result's parts as a list of contents, and the types of the parts that such a list cannot hold. */
const contentOf = (
  parts: NonNullable<Message.ToolResult["content"]>,
  major: number,
): { readonly value: ReadonlyArray<unknown>; readonly omitted: ReadonlyArray<string> } => {
  const omitted: Array<string> = []
  const value = parts.flatMap((part): ReadonlyArray<unknown> => {
    const { fields, wire } = partFormOf(part)
    if (part.type === "text") return [Codec.restore({ type: "text", text: part.text }, fields)]
    const own =
      part.type === "opaque"
        ? ownData(part)
        : Codec.restore(wire === undefined ? foreignFile(part) : fromFile(part), fields)
    const sent = own === undefined ? undefined : filePart(own, major)
    if (sent === undefined) omitted.push(part.type)
    return sent === undefined ? [] : [sent]
  })
  return { value, omitted }
}

/** The output of a result, for a major version of `ai`, and the types of parts that it has no place for. */
export const fromResult = (
  result: Message.ToolResult,
  major: number,
): { readonly output: Codec.Fields; readonly omitted: ReadonlyArray<string> } => {
  const form = partFormOf(result)
  if (result.content !== undefined) {
    const { value, omitted } = contentOf(result.content, major)
    return {
      output: { type: "content", value },
      omitted: result.isError === true ? [...omitted, "is-error"] : omitted,
    }
  }
  const failed = result.isError === true
  if (form.output === "json") {
    const value = Codec.valueIn(result.output)
    if (value !== undefined) return { output: { type: failed ? "error-json" : "json", value }, omitted: [] }
  }
  if (form.output === "execution-denied") {
    if (major < 6) return { output: { type: "error-text", value: result.output }, omitted: [] }
    const reason = form.absent === "reason" ? {} : { reason: result.output }
    return { output: { type: "execution-denied", ...reason }, omitted: [] }
  }
  return { output: { type: failed ? "error-text" : "text", value: result.output }, omitted: [] }
}

const contentParts = (value: ReadonlyArray<unknown>): NonNullable<Message.ToolResult["content"]> =>
  value.map((one) => {
    if (!Codec.isFields(one)) return opaque(one)
    if (one["type"] === "text" && typeof one["text"] === "string") {
      const known = { type: "text" as const, text: one["text"] }
      return withForm(known, { fields: Codec.rest(one, known) })
    }
    // The form names the type of every file, so that it comes back as that very type.
    return (typeof one["type"] === "string" ? toFile(one, "") : undefined) ?? opaque(one)
  })

type ToolOutput = Pick<Message.ToolResult, "output" | "content" | "isError"> & { readonly form: PartForm }

/** What a result says, by its output; `undefined` for an output that is not known here. */
export const toResult = ({ type, value, reason }: Codec.Fields): ToolOutput | undefined => {
  switch (type) {
    case "text":
    case "error-text":
      return typeof value === "string"
        ? { output: value, ...(type === "text" ? {} : { isError: true }), form: {} }
        : undefined
    case "json":
    case "error-json": {
      const output = JSON.stringify(value ?? null)
      return { output, ...(type === "json" ? {} : { isError: true }), form: { output: "json" } }
    }
    case "execution-denied":
      return typeof reason === "string"
        ? { output: reason, isError: true, form: { output: "execution-denied" } }
        : { output: denied, isError: true, form: { output: "execution-denied", absent: "reason" } }
    case "content": {
      if (!Array.isArray(value)) return undefined
      const content = contentParts(value)
      return { output: Message.outputOf(content), content, form: {} }
    }
    default:
      return undefined
  }
}
