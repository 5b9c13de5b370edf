/** The rules of Anthropic's Messages API about a single content block. */
import type { AnthropicRule } from "./anthropicRules.js"
import { items } from "@memfold/message/Item"
import { type Fields, isFields, unknownInside } from "./json.js"
import { requestFields } from "@memfold/message/requestFields"
import type { Findings } from "./violation.js"

/** Where a block stands: in a message of a role, in a tool result, or in the `system` field. */
export type BlockPosition = "user" | "assistant" | "system" | "result"

const everywhere: ReadonlyArray<BlockPosition> = ["user", "assistant", "system", "result"]

/** The types of block that our conversations have: where they can stand, and what they need. */
const blocks: Readonly<
  Record<
    string,
    {
      readonly in: ReadonlyArray<BlockPosition>
      readonly needs: Readonly<Record<string, "string" | "object" | "any">>
    }
  >
> = {
  text: { in: everywhere, needs: { text: "string" } },
  image: { in: ["user", "result"], needs: { source: "object" } },
  document: { in: ["user", "result"], needs: { source: "object" } },
  search_result: {
    in: ["user", "result"],
    needs: { source: "string", title: "string", content: "any" },
  },
  thinking: { in: ["assistant"], needs: { thinking: "string", signature: "string" } },
  redacted_thinking: { in: ["assistant"], needs: { data: "string" } },
  tool_use: { in: ["assistant"], needs: { id: "string", name: "string", input: "any" } },
  tool_result: { in: ["user"], needs: { tool_use_id: "string" } },
  compaction: { in: ["assistant"], needs: {} },
  tool_addition: { in: ["system"], needs: { tool: "object" } },
  tool_removal: { in: ["system"], needs: { tool: "object" } },
}

/** Blocks that are not the model's. */
const elsewhere: Readonly<Record<string, BlockPosition>> = {
  container_upload: "user",
  tool_reference: "result",
  browser_state: "result",
}

/** Whether the API has a block of this type in this place; what is in blocks of tools that Anthropic runs is not checked. */
const isKnown = (type: string, place: BlockPosition): boolean => {
  const item = Object.hasOwn(items.anthropic, type) ? items.anthropic[type] : undefined
  if (item === undefined) return false
  return Object.hasOwn(elsewhere, type)
    ? elsewhere[type] === place
    : item.within !== true && place === "assistant"
}

const mediaTypes: Readonly<Record<string, ReadonlySet<unknown>>> = {
  image: new Set(["image/jpeg", "image/png", "image/gif", "image/webp"]),
  document: new Set(["application/pdf", "text/plain"]),
}

const toolId = /^[a-zA-Z0-9_-]+$/
const toolName = /^[a-zA-Z0-9_-]{1,128}$/

/** Whether a value is what a field needs. */
const fits = (value: unknown, needed: "string" | "object" | "any"): boolean =>
  needed === "any" ? value !== undefined : needed === "object" ? isFields(value) : typeof value === "string"

const textProblems = (block: Fields, path: string, findings: Findings<AnthropicRule>): void => {
  const text = block["text"]
  if (typeof text !== "string" || text.trim() !== "") return
  if (text === "") findings.add("text-empty", path)
  else findings.add("text-blank", path)
  if (block["cache_control"] != null) {
    findings.add("cache-control-place", path, "cache_control cannot be set for empty text blocks")
  }
}

const resultProblems = (block: Fields, path: string, findings: Findings<AnthropicRule>): void => {
  const content = block["content"]
  if (content != null && typeof content !== "string" && !Array.isArray(content)) {
    findings.add("field-type", `${path}.content`, "Input should be a valid string or list")
  }
  if (Array.isArray(content)) {
    for (const [index, inner] of content.entries()) {
      blockProblems(inner, `${path}.content.${index}`, "result", findings)
    }
  }
  if (block["is_error"] !== true) return
  if (content == null || content === "" || (Array.isArray(content) && content.length === 0)) {
    findings.add("tool-result-error-empty", path)
  } else if (
    Array.isArray(content) &&
    content.some((inner) => !isFields(inner) || inner["type"] !== "text")
  ) {
    findings.add("tool-result-error-text", path)
  }
}

/** Notes what is wrong with one block, with everything inside it. */
export const blockProblems = (
  block: unknown,
  path: string,
  place: BlockPosition,
  findings: Findings<AnthropicRule>,
): void => {
  if (!isFields(block) || typeof block["type"] !== "string") {
    findings.add("block-type", path, "Input should be a valid content block with a type")
    return
  }
  const type = block["type"]
  // The fields of a result are looked at with everything inside it.
  if (place !== "result")
    for (const at of unknownInside(block, requestFields.anthropic, path)) findings.add("field-unknown", at)
  const known = blocks[type]
  if (known === undefined) {
    if (!isKnown(type, place)) findings.add("block-type", `${path}.type`, `there is no block type '${type}'`)
    return
  }
  if (!known.in.includes(place)) {
    findings.add("block-type", `${path}.type`, `'${type}' blocks are not allowed in ${place} content`)
  }
  for (const [name, needed] of Object.entries(known.needs)) {
    if (block[name] === undefined) findings.add("field-required", `${path}.${name}`)
    else if (!fits(block[name], needed)) findings.add("field-type", `${path}.${name}`)
  }
  switch (type) {
    case "text":
      textProblems(block, path, findings)
      break
    case "image":
    case "document": {
      const source = block["source"]
      const mediaType = isFields(source) ? source["media_type"] : undefined
      if (mediaType !== undefined && mediaTypes[type]?.has(mediaType) !== true) {
        findings.add("media-type", `${path}.source.media_type`)
      }
      break
    }
    case "thinking":
      if (block["signature"] === "") findings.add("thinking-signature", path)
      break
    case "tool_use":
      if (typeof block["id"] === "string" && !toolId.test(block["id"])) {
        findings.add("tool-use-id", `${path}.id`)
      }
      if (typeof block["name"] === "string" && !toolName.test(block["name"])) {
        findings.add("tool-use-name", `${path}.name`)
      }
      if (block["input"] !== undefined && !isFields(block["input"])) {
        findings.add("tool-use-input", `${path}.input`)
      }
      break
    case "tool_result":
      if (typeof block["tool_use_id"] === "string" && !toolId.test(block["tool_use_id"])) {
        findings.add("tool-use-id", `${path}.tool_use_id`)
      }
      resultProblems(block, path, findings)
      break
  }
}
