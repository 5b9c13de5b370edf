/**
 * What a Messages request knows of a message and of its blocks, by the types of the client `@anthropic-ai/sdk` 1. The API refuses
 * any other field. Blocks of other types stay as they came.
 */
import * as Codec from "@memfold/codec"

const { known } = Codec

const blocks: Readonly<Record<string, Codec.KnownFields>> = {
  text: known("type text cache_control citations"),
  image: known("type source cache_control transformations"),
  document: known("type source cache_control citations context title"),
  search_result: known("type source title content cache_control citations"),
  thinking: known("type thinking signature"),
  redacted_thinking: known("type data"),
  tool_use: known("type id name input cache_control caller toolset_name"),
  tool_result: known("type tool_use_id content is_error cache_control toolset_name"),
  compaction: known("type content encrypted_content signature tool_changes cache_control"),
}

const spoken = known("role content")
const instructed = known("role content clear_at output_config")

/**
 * A block with the fields that a request knows, in its content, too.
 *
 * @param block - the block, with everything that it came with
 * @param further - names of further fields that the server takes
 */
export const requestBlock = (block: unknown, further: ReadonlySet<string>): unknown => {
  if (!Codec.isFields(block) || typeof block["type"] !== "string") return block
  const allowed = Object.hasOwn(blocks, block["type"]) ? blocks[block["type"]] : undefined
  if (allowed === undefined) return block
  const sent = Codec.onlyKnown(block, allowed, further)
  const { content } = sent
  if (!Array.isArray(content)) return sent
  const inside = content.map((one: unknown) => requestBlock(one, further))
  return inside.every((one, at) => one === content[at]) ? sent : { ...sent, content: inside }
}

/** A message with the fields that a request knows; its blocks stay as they are. */
export const requestMessage = (message: Codec.Fields, further: ReadonlySet<string>): Codec.Fields =>
  Codec.onlyKnown(message, message["role"] === "system" ? instructed : spoken, further)
