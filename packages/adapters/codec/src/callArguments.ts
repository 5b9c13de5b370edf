/** Arguments of a call, as providers take them: a JSON object, whatever the model wrote. */
import { parseExactly } from "./exactNumbers.js"
import { type Fields, isFields } from "./fields.js"
import { isUnreadable } from "./measured.js"

/** The field that holds arguments which are no JSON object, so that the model still sees what it wrote. */
export const rawArguments = "raw_arguments"

/**
 * The object that a text is; `undefined` if it is none, or more than is parsed. A number that a double does not hold is a text with its
 * digits.
 */
export const objectOf = (text: string): Fields | undefined => {
  if (isUnreadable(text)) return undefined
  try {
    const value = parseExactly(text)
    return isFields(value) ? value : undefined
  } catch {
    // Models do write broken JSON; it goes the same way as a list or a number.
    return undefined
  }
}

/**
 * Arguments as the text of a JSON object: the text itself if it is one, `{}` for no text, otherwise
 * `{ "raw_arguments": "<the text>" }`.
 *
 * @example
 * ```ts
 * import { objectArguments } from "@memfold/codec"
 *
 * console.log(objectArguments('{"city":"Graz"}')) // {"city":"Graz"}
 * console.log(objectArguments('{"cmd": "git')) // {"raw_arguments":"{\"cmd\": \"git"}
 * ```
 */
export const objectArguments = (text: string): string => {
  if (text.trim() === "") return "{}"
  return objectOf(text) === undefined ? JSON.stringify({ [rawArguments]: text }) : text
}

/** The value of a JSON text; `undefined` for any other text, and for one with more than is parsed. */
export const valueIn = (text: string): unknown => {
  if (isUnreadable(text)) return undefined
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** Arguments as an object: `{}` for a blank text, otherwise the object of {@link objectArguments}. */
export const argumentsOf = (text: string): Fields =>
  text.trim() === "" ? {} : (objectOf(text) ?? { [rawArguments]: text })
