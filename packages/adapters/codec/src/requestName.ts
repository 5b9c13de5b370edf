/** Names of authors and of tools, as APIs take them. */

/** What a name of a tool has in every API, and how long it can be in the strictest one. */
const ofTool = { refused: /[^a-zA-Z0-9_-]/gu, longest: 64 }
const ofAuthor = { refused: /[\s<|\\/>]/gu, longest: 64 }

const fit = (name: string, { refused, longest }: typeof ofTool): string =>
  [...name.replaceAll(refused, "_")].slice(0, longest).join("")

/**
 * The name of a tool in a call: what no API takes is `_`. A model can write any name, and other formats have dots in theirs.
 *
 * @param longest - the most characters that the API takes
 *
 * @example
 * ```ts
 * import { toolName } from "@memfold/codec"
 *
 * console.log(toolName("files.read file")) // files_read_file
 * ```
 */
export const toolName = (name: string, longest: 64 | 128 = 64): string =>
  name === "" ? "_" : fit(name, { ...ofTool, longest })

/**
 * The name of the author of a message; `undefined` if nothing is left of it.
 *
 * @example
 * ```ts
 * import { authorName } from "@memfold/codec"
 *
 * console.log(authorName("Ada Lovelace")) // Ada_Lovelace
 * ```
 */
export const authorName = (name: string): string | undefined => fit(name.trim(), ofAuthor) || undefined
