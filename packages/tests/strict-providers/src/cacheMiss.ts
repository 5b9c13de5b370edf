/** Whether a provider's prompt cache has all of an earlier request for a later one. */
import { type Fields, fieldsOf, isFields, listOf } from "./json.js"

/** What a prompt begins with, and what changes how the messages are written: another value is another prompt. */
const inFront = [
  "model",
  "tools",
  "system",
  "instructions",
  "tool_choice",
  "thinking",
  "output_config",
  "reasoning",
  "reasoning_effort",
]

const unmarked = ({ cache_control: _mark, ...block }: Fields): Fields => block

const blocksOf = (message: Fields): ReadonlyArray<Fields> => {
  const { content, ...rest } = message as { readonly [key: string]: unknown }
  if (typeof content === "string") return [{ ...rest, type: "text", text: content }]
  return Array.isArray(content)
    ? content.map((block: unknown) => ({ ...rest, ...unmarked(fieldsOf(block)) }))
    : [message]
}

/** The messages of a request, block by block: a provider joins neighbouring messages of one role. */
const promptOf = (body: Fields): ReadonlyArray<string> =>
  listOf(body["messages"] ?? body["input"])
    .filter(isFields)
    .flatMap(blocksOf)
    .map((block) => JSON.stringify(block))

const marksLeftOut = (value: unknown): string =>
  JSON.stringify(value, (name, field: unknown) => (name === "cache_control" ? undefined : field)) ?? ""

/**
 * Says where a later request to a provider differs from an earlier one, so that the prompt cache does not have all of it; `null` if
 * it begins with all of it, word for word. Marks of the cache are no difference, nor is whether a text is a string or a
 * block.
 *
 * @param earlier the body of the earlier request: Messages, Chat Completions or Responses
 * @param later the body of the later request
 *
 * @example
 * ```ts
 * import { cacheMiss } from "@memfold/strict-providers"
 *
 * const first = { model: "m", messages: [{ role: "user", content: "Hi" }] }
 * const second = { model: "m", messages: [{ role: "user", content: "Hello" }] }
 * console.log(cacheMiss(first, second)) // "message block 0 differs"
 * ```
 */
export const cacheMiss = (
  earlier: Readonly<Record<string, unknown>>,
  later: Readonly<Record<string, unknown>>,
): string | null => {
  const field = inFront.find((name) => marksLeftOut(earlier[name]) !== marksLeftOut(later[name]))
  if (field !== undefined) return `${field} differs`
  const prompt = promptOf(later)
  const at = promptOf(earlier).findIndex((block, position) => block !== prompt[position])
  return at === -1 ? null : `message block ${at} differs`
}
