/**
 * Items of the Agents SDK, as items of the Responses API and back. They say the same under other names; the codec of
 * `@memfold/openai` reads and writes the latter.
 */
import { type Fields, isFields, present } from "@memfold/codec"
import { fromOutput, fromPart, toOutput, toPart, withData } from "./content.js"
import { toCamel, toSnake, without } from "./names.js"

/** The provider data of an item without what the item says itself. */
const extraOf = ({ providerData }: Fields, ...reserved: ReadonlyArray<string>): Fields =>
  isFields(providerData) ? (toSnake(without(providerData, "id", "type", ...reserved)) as Fields) : {}

const parts = (content: unknown, convert: (part: Fields) => Fields): unknown =>
  Array.isArray(content) ? content.map((part) => (isFields(part) ? convert(part) : part)) : content

/** Calls and results of tools that are part of the SDK, whose fields have the same names in both but for their case. */
const sameNames: ReadonlySet<unknown> = new Set([
  "shell_call",
  "shell_call_output",
  "apply_patch_call",
  "apply_patch_call_output",
  "computer_call",
  "tool_search_call",
  "tool_search_output",
  "program",
])

/** What becomes of a value on its way from one to the other. */
type Convert = (value: unknown) => unknown

const asItIs: Convert = (value) => value

const toSummary: Convert = (content) => parts(content, (part) => ({ ...toPart(part), type: "summary_text" }))

/** The SDK keeps the type that a part of a summary has in the API. */
const fromSummary: Convert = (summary) =>
  parts(summary ?? [], (part) =>
    typeof part["text"] === "string"
      ? { type: "input_text", text: part["text"], providerData: without(part, "text") }
      : part,
  )

const toScreenshot: Convert = (output) =>
  isFields(output) ? { type: output["type"], image_url: output["data"] } : output

const fromScreenshot: Convert = (output) => ({
  type: "computer_screenshot",
  data: isFields(output) ? output["image_url"] : output,
})

/** A field: its names in the SDK and in the API, and how its value is written in each. */
type Field = readonly [sdk: string, api: string, toApi?: Convert, toSdk?: Convert]

/**
 * A type of item that has other names in the SDK.
 *
 * - `reserved`: the fields of the API that the provider data of an item does not replace; all of `fields` by default
 */
interface Named {
  readonly sdk: string
  readonly api: string
  readonly fields: ReadonlyArray<Field>
  readonly reserved?: ReadonlyArray<string>
}

const caller: Field = ["caller", "caller", toSnake, toCamel]

const named: ReadonlyArray<Named> = [
  {
    sdk: "function_call",
    api: "function_call",
    fields: [
      ["id", "id"],
      ["callId", "call_id"],
      ["name", "name"],
      ["arguments", "arguments"],
      ["status", "status"],
      ["namespace", "namespace"],
      caller,
    ],
  },
  {
    sdk: "function_call_result",
    api: "function_call_output",
    fields: [
      ["id", "id"],
      ["callId", "call_id"],
      ["output", "output", toOutput, fromOutput],
      ["status", "status", asItIs, (status) => status ?? "completed"],
      caller,
    ],
    reserved: ["call_id", "output", "status", "namespace", "caller"],
  },
  {
    sdk: "reasoning",
    api: "reasoning",
    fields: [
      ["id", "id"],
      ["content", "summary", toSummary, fromSummary],
      ["rawContent", "content", (content) => parts(content, toPart), (content) => parts(content, fromPart)],
    ],
    reserved: ["summary"],
  },
  {
    sdk: "computer_call_result",
    api: "computer_call_output",
    fields: [
      ["id", "id"],
      ["callId", "call_id"],
      ["output", "output", toScreenshot, fromScreenshot],
    ],
    reserved: [],
  },
  {
    sdk: "program_output",
    api: "program_output",
    fields: [
      ["id", "id"],
      ["callId", "call_id"],
      ["output", "result"],
      ["status", "status"],
    ],
  },
  {
    sdk: "compaction",
    api: "compaction",
    fields: [
      ["id", "id"],
      ["encrypted_content", "encrypted_content"],
      ["created_by", "created_by"],
    ],
  },
]

/** An item as the Responses API has it. */
export const toWire = (item: Fields): Fields => {
  const { type, id, status, name, providerData } = item as Record<string, unknown>
  const row = named.find(({ sdk }) => sdk === type)
  if (row !== undefined) {
    const { api, fields, reserved = fields.map(([, own]) => own) } = row
    const known = fields.map(([sdk, own, toApi = asItIs]) => [own, toApi(item[sdk])])
    return present({ type: api, ...Object.fromEntries(known), ...extraOf(item, ...reserved) })
  }
  switch (type) {
    case undefined:
    case "message":
      return present({
        ...(type === undefined ? {} : { type }),
        id,
        role: item["role"],
        content: parts(item["content"], toPart),
        status,
        phase: item["phase"],
        ...extraOf(item, "role", "content", "status", "phase"),
      })
    case "hosted_tool_call":
      return isFields(providerData)
        ? present({ ...(toSnake(providerData) as Fields), type: providerData["type"] ?? name, id, status })
        : { ...item }
    case "unknown":
      return isFields(providerData) ? providerData : { ...item }
    default:
      return sameNames.has(type)
        ? present({ ...(toSnake(without(item, "providerData")) as Fields), ...extraOf(item) })
        : { ...item }
  }
}

const fromMessage = (item: Fields): Fields => {
  const { id, role, content, status, phase } = item as Record<string, unknown>
  const extra = without(item, "type", "id", "role", "content", "status", "phase")
  if (role !== "assistant") {
    // The SDK knows no other role for instructions, and takes only a text there.
    const isInput = role === "user"
    const said = isInput ? parts(content, fromPart) : textOf(content)
    return withData({ type: "message", id, role: isInput ? role : "system", content: said, status }, extra)
  }
  const said =
    typeof content === "string" ? [{ type: "output_text", text: content }] : parts(content, fromPart)
  return withData({ type: "message", id, role, content: said, status: status ?? "completed", phase }, extra)
}

const textOf = (content: unknown): unknown =>
  Array.isArray(content)
    ? content
        .flatMap((part) => (isFields(part) && typeof part["text"] === "string" ? [part["text"]] : []))
        .join("\n")
    : content

const hosted =
  /^(web_search|file_search|image_generation|code_interpreter|mcp)_call$|^mcp_(list_tools|approval_)/

/**
 * An item of the Responses API as the Agents SDK has it.
 *
 * @param nameOf the name of the tool that was called with an id
 */
export const fromWire = (item: Fields, nameOf: (id: string) => string | undefined): Fields => {
  const { type, id, call_id: callId, status } = item as Record<string, unknown>
  const row = named.find(({ api }) => api === type)
  if (row !== undefined) {
    const { sdk, fields } = row
    const known = fields.map(([own, api, , toSdk = asItIs]) => [own, toSdk(item[api])])
    const name = sdk === "function_call_result" ? { name: nameOf(String(callId)) ?? callId } : {}
    return withData(
      { type: sdk, ...name, ...Object.fromEntries(known) },
      without(item, "type", ...fields.map(([, api]) => api)),
    )
  }
  if (type === undefined || type === "message") return fromMessage(item)
  if (sameNames.has(type)) return toCamel(item) as Fields
  return typeof type === "string" && hosted.test(type)
    ? present({ type: "hosted_tool_call", id, name: type, status, providerData: without(item, "status") })
    : present({ type: "unknown", id, providerData: item })
}
