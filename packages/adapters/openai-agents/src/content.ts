/** Content parts of messages and outputs: of the Agents SDK, and of the Responses API. */
import { type Fields, isFields, present } from "@memfold/codec"
import { without } from "./names.js"

const dataOf = ({ providerData }: Fields): Fields => (isFields(providerData) ? providerData : {})

const fileFields = (file: unknown): Fields => {
  if (typeof file === "string") return file.startsWith("https://") ? { file_url: file } : { file_data: file }
  if (!isFields(file)) return {}
  return present({ file_id: file["id"], file_url: file["url"], filename: file["filename"] })
}

const inline = (data: unknown, mediaType: unknown): unknown =>
  typeof data === "string" && typeof mediaType === "string" && !data.startsWith("data:")
    ? `data:${mediaType};base64,${data}`
    : data

const imageFields = (image: unknown): Fields => {
  if (typeof image === "string") return { image_url: image }
  if (!isFields(image)) return {}
  const { id, fileId, url, data, mediaType } = image as Record<string, unknown>
  return present({ file_id: id ?? fileId, image_url: url ?? inline(data, mediaType) })
}

/** A content part as the Responses API has it; one of a kind that it has no place for stays as it is. */
export const toPart = (part: Fields): Fields => {
  const extra = without(dataOf(part), "type", "text", "refusal")
  switch (part["type"]) {
    case "input_text":
    case "output_text":
    case "reasoning_text":
      return { type: part["type"], text: part["text"], ...extra }
    case "text":
      return { type: "input_text", text: part["text"], ...extra }
    case "refusal":
      return { type: "refusal", refusal: part["refusal"], ...extra }
    case "input_image":
    case "image":
      return {
        type: "input_image",
        ...imageFields(part["image"]),
        detail: part["detail"] ?? "auto",
        ...extra,
      }
    case "input_file":
    case "file":
      return present({
        type: "input_file",
        ...fileFields(part["file"]),
        ...(part["filename"] === undefined ? {} : { filename: part["filename"] }),
        ...extra,
      })
    default:
      return part
  }
}

/** Fields with what else came with them, which the SDK keeps as provider data. */
export const withData = (known: Fields, extra: Fields): Fields =>
  present({ ...known, ...(Object.keys(extra).length === 0 ? {} : { providerData: extra }) })

/** A content part of the Responses API as the Agents SDK has it. */
export const fromPart = (part: Fields): Fields => {
  const { type, text, refusal, image_url: image, file_id: id, detail } = part as Record<string, unknown>
  switch (type) {
    case "input_text":
    case "output_text":
    case "reasoning_text":
      return withData({ type, text }, without(part, "type", "text"))
    case "refusal":
      return withData({ type, refusal }, without(part, "type", "refusal"))
    case "input_image":
      return withData(
        { type, image: typeof id === "string" ? { id } : image, detail },
        without(part, "type", "image_url", "file_id", "detail"),
      )
    case "input_file": {
      const { file_data: data, file_url: url, filename } = part as Record<string, unknown>
      const file = typeof id === "string" ? { id } : typeof url === "string" ? { url } : data
      return withData(
        { type, file, filename },
        without(part, "type", "file_id", "file_url", "file_data", "filename"),
      )
    }
    default:
      return part
  }
}

/** The output of a call as the Responses API has it. */
export const toOutput = (output: unknown): unknown => {
  if (Array.isArray(output)) return output.map((part) => (isFields(part) ? toPart(part) : part))
  if (!isFields(output)) return output
  const { type, text } = output
  return type === "text" && typeof text === "string" ? text : [toPart(output)]
}

/** The output of a call as the Agents SDK has it: a tool that returns a text gives an object with that text. */
export const fromOutput = (output: unknown): unknown => {
  if (Array.isArray(output)) return output.map((part) => (isFields(part) ? fromPart(part) : part))
  return { type: "text", text: typeof output === "string" ? output : "" }
}
