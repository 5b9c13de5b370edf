/**
 * Items of the Agents SDK, as items of the Responses API and back. They say the same under other names; the codec of
 * `@memfold/openai` reads and writes the latter.
 */
import { type Fields, isFields } from "@memfold/codec"
import { fromOutput, fromPart, toOutput, toPart } from "./content.js"
import { present, toCamel, toSnake, without } from "./names.js"

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

/** An item as the Responses API has it. */
export const toWire = (item: Fields): Fields => {
  const {
    type,
    id,
    status,
    callId,
    name,
    arguments: args,
    content,
    providerData,
  } = item as Record<string, unknown>
  switch (type) {
    case undefined:
    case "message":
      return present({
        ...(type === undefined ? {} : { type }),
        id,
        role: item["role"],
        content: parts(content, toPart),
        status,
        phase: item["phase"],
        ...extraOf(item, "role", "content", "status", "phase"),
      })
    case "function_call":
      return present({
        type,
        id,
        call_id: callId,
        name,
        arguments: args,
        status,
        namespace: item["namespace"],
        caller: toSnake(item["caller"]),
        ...extraOf(item, "call_id", "name", "arguments", "status", "namespace", "caller"),
      })
    case "function_call_result":
      return present({
        type: "function_call_output",
        id,
        call_id: callId,
        output: toOutput(item["output"]),
        status,
        caller: toSnake(item["caller"]),
        ...extraOf(item, "call_id", "output", "status", "namespace", "caller"),
      })
    case "reasoning": {
      const { rawContent } = item
      return present({
        type,
        id,
        summary: parts(content, (part) => ({ ...toPart(part), type: "summary_text" })),
        content: parts(rawContent, toPart),
        ...extraOf(item, "summary"),
      })
    }
    case "computer_call_result": {
      const { output } = item
      const screenshot = isFields(output) ? { type: output["type"], image_url: output["data"] } : output
      return present({
        type: "computer_call_output",
        id,
        call_id: callId,
        output: screenshot,
        ...extraOf(item),
      })
    }
    case "program_output":
      return present({
        type,
        id,
        call_id: callId,
        result: item["output"],
        status,
        ...extraOf(item, "call_id", "result", "status"),
      })
    case "hosted_tool_call":
      return isFields(providerData)
        ? present({ ...(toSnake(providerData) as Fields), type: providerData["type"] ?? name, id, status })
        : { ...item }
    case "compaction":
      return present({
        type,
        id,
        encrypted_content: item["encrypted_content"],
        created_by: item["created_by"],
        ...extraOf(item, "encrypted_content", "created_by"),
      })
    case "unknown":
      return isFields(providerData) ? providerData : { ...item }
    default:
      return sameNames.has(type)
        ? present({ ...(toSnake(without(item, "providerData")) as Fields), ...extraOf(item) })
        : { ...item }
  }
}

const withData = (known: Fields, extra: Fields): Fields =>
  present({ ...known, ...(Object.keys(extra).length === 0 ? {} : { providerData: extra }) })

/** The SDK keeps the type that a part of a summary has in the API. */
const fromSummary = (part: Fields): Fields =>
  typeof part["text"] === "string"
    ? { type: "input_text", text: part["text"], providerData: without(part, "text") }
    : part

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
  const { type, id, call_id: callId, name, status } = item as Record<string, unknown>
  switch (type) {
    case undefined:
    case "message":
      return fromMessage(item)
    case "function_call":
      return withData(
        {
          type,
          id,
          callId,
          name,
          namespace: item["namespace"],
          status,
          arguments: item["arguments"],
          caller: toCamel(item["caller"]),
        },
        without(item, "type", "id", "call_id", "name", "namespace", "status", "arguments", "caller"),
      )
    case "function_call_output":
      return withData(
        {
          type: "function_call_result",
          id,
          name: nameOf(String(callId)) ?? callId,
          callId,
          status: status ?? "completed",
          output: fromOutput(item["output"]),
          caller: toCamel(item["caller"]),
        },
        without(item, "type", "id", "call_id", "status", "output", "caller"),
      )
    case "reasoning":
      return withData(
        {
          type,
          id,
          content: parts(item["summary"] ?? [], fromSummary),
          ...(item["content"] === undefined ? {} : { rawContent: parts(item["content"], fromPart) }),
        },
        without(item, "type", "id", "summary", "content"),
      )
    case "computer_call_output": {
      const { output } = item
      const data = isFields(output) ? output["image_url"] : output
      return withData(
        { type: "computer_call_result", id, callId, output: { type: "computer_screenshot", data } },
        without(item, "type", "id", "call_id", "output"),
      )
    }
    case "program_output":
      return withData(
        { type, id, callId, output: item["result"], status },
        without(item, "type", "id", "call_id", "result", "status"),
      )
    case "compaction":
      return withData(
        { type, id, encrypted_content: item["encrypted_content"], created_by: item["created_by"] },
        without(item, "type", "id", "encrypted_content", "created_by"),
      )
    default:
      if (sameNames.has(type)) return toCamel(item) as Fields
      if (typeof type === "string" && hosted.test(type)) {
        return present({
          type: "hosted_tool_call",
          id,
          name: type,
          status,
          providerData: without(item, "status"),
        })
      }
      return present({ type: "unknown", id, providerData: item })
  }
}
