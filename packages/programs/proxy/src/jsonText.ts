/** Where the items of a list stand in a text of JSON, so that a request can be changed without writing the rest of it anew. */

import type { Steps } from "@memfold/log/breathe"

/** How many items are found in a step. */
const itemsBetween = 64

/** A list that is a field of the outermost object. Positions are in UTF-16 code units. */
export interface ListText {
  /** Where the first item, or the bracket behind an empty list, could stand. */
  readonly start: number
  /** Where the closing bracket stands. */
  readonly end: number
  /** Where each item starts, and the position behind it. */
  readonly items: ReadonlyArray<readonly [from: number, to: number]>
}

const isSpace = (text: string, at: number): boolean => " \n\r\t".includes(text.charAt(at))

const skipSpace = (text: string, from: number): number => {
  let at = from
  while (at < text.length && isSpace(text, at)) at++
  return at
}

const stringEnd = (text: string, from: number): number => {
  for (let at = from + 1; at < text.length; at++) {
    const one = text.charCodeAt(at)
    if (one === 0x5c) at++
    else if (one === 0x22) return at + 1
  }
  return text.length
}

const valueEnd = (text: string, from: number): number => {
  let depth = 0
  let at = from
  while (at < text.length) {
    const one = text.charAt(at)
    if (one === '"') at = stringEnd(text, at)
    else if (one === "{" || one === "[") {
      depth++
      at++
    } else if (one === "}" || one === "]") {
      // The end of a number is the bracket of whatever it stands in.
      if (depth === 0) return at
      depth--
      at++
    } else if (depth === 0 && (one === "," || isSpace(text, at))) return at
    else at++
    if (depth === 0 && (one === '"' || one === "}" || one === "]")) return at
  }
  return at
}

function* listAt(text: string, from: number): Steps<ListText> {
  const items: Array<readonly [number, number]> = []
  let at = skipSpace(text, from + 1)
  while (text.charAt(at) !== "]") {
    const to = valueEnd(text, at)
    items.push([at, to])
    if (items.length % itemsBetween === 0) yield
    at = skipSpace(text, to)
    if (text.charAt(at) === ",") at = skipSpace(text, at + 1)
  }
  return { start: from + 1, end: at, items }
}

/**
 * Finds a list by the name of its field, in steps.
 *
 * @param text - JSON that `JSON.parse` reads as an object
 * @param field - the name of a field of this object
 * @returns `null` if the field is no list, or is there more than once
 */
export function* listIn(text: string, field: string): Steps<ListText | null> {
  let found: ListText | null = null
  let at = skipSpace(text, text.indexOf("{") + 1)
  while (at < text.length && text.charAt(at) !== "}") {
    const nameEnd = stringEnd(text, at)
    const name = JSON.parse(text.slice(at, nameEnd)) as string
    const value = skipSpace(text, skipSpace(text, nameEnd) + 1)
    if (name === field) {
      if (found !== null || text.charAt(value) !== "[") return null
      found = yield* listAt(text, value)
    }
    at = skipSpace(text, valueEnd(text, value))
    if (text.charAt(at) === ",") at = skipSpace(text, at + 1)
  }
  return found
}

/** The text with other items in a list, each a text of JSON. */
export const withItems = (text: string, list: ListText, items: ReadonlyArray<string>): string =>
  `${text.slice(0, list.start)}${items.join(",")}${text.slice(list.end)}`
