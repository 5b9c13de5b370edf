import * as Codec from "@memfold/codec"
/**
 * Arguments of a call: the exact text in memfold, an object on the wire. An object always comes back as the
 * same text (`JSON.stringify`); a text that is no such object is wrapped, so that the model still sees it.
 */

/** The field that holds arguments which are no JSON object. */
export const rawArguments = "raw_arguments"

/** The text of an input; none if it cannot be written as JSON. */
export const toArguments = (input: Codec.Fields): string | undefined => {
  try {
    return JSON.stringify(input)
  } catch {
    return undefined
  }
}

/**
 * The input of a call: the object that the text is, `{}` for no text, otherwise
 * `{ "raw_arguments": "<the text>" }`. Numbers beyond the precision of a double lose their last digits.
 */
export const toInput = (text: string): Codec.Fields => {
  if (text === "") return {}
  try {
    const value: unknown = JSON.parse(text)
    if (Codec.isFields(value)) return value
  } catch {
    // Models do write broken JSON; it goes the same way as a list or a number.
  }
  return { [rawArguments]: text }
}
