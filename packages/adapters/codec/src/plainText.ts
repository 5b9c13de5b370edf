/** A text alone, which APIs and libraries write as a string in place of a list. */
import { isFields } from "./fields.js"

/**
 * The text of a list of content that is one text without further fields; `undefined` for any other list.
 *
 * @param type - the type of a text
 *
 * @example
 * ```ts
 * import { plainText } from "@memfold/codec"
 *
 * console.log(plainText([{ type: "text", text: "Hi" }])) // Hi
 * ```
 */
export const plainText = (content: ReadonlyArray<unknown>, type = "text"): string | undefined => {
  const [only] = content
  return content.length === 1 && isFields(only) && only["type"] === type && Object.keys(only).length === 2
    ? (only["text"] as string)
    : undefined
}
