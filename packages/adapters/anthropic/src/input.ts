import * as Codec from "@memfold/codec"
/**
 * Arguments of a call: the exact text in memfold, an object on the wire. An object always comes back as the
 * same text (`JSON.stringify`); a text that is no such object is wrapped, so that the model still sees it.
 */

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
 * `{ "raw_arguments": "<the text>" }`. A number that a double does not hold is a text with its digits.
 */
export const toInput = (text: string): Codec.Fields =>
  text === "" ? {} : (Codec.objectOf(text) ?? { [Codec.rawArguments]: text })
