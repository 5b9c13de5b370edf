/** What of a file is in no message: every text that somebody may have said is read, or is named here with its place. */
import { Item } from "@memfold/core"
import { isObject, type Row, valueOr } from "./source.js"

/**
 * Texts of a file that are in no message.
 *
 * - `place`: the names of the fields that lead there, such as `attachment.content` or `messages[].parts[].note`
 * - `first`: where the first one is, such as `line 12: attachment.content`
 * - `times`: how many there are
 * - `why`: why they are left out
 */
export interface LeftOut {
  readonly place: string
  readonly first: string
  readonly times: number
  readonly why: string
}

/** A name of a field that may be shown: one of a program, and not a text that someone wrote. */
export const isName = (field: string): boolean => /^[A-Za-z_$][\w$-]{0,30}$/.test(field)

const spoken =
  /^(?:text|content|contents|prompt|message|value|body|answer|question|thinking|thought|reasoning|summary|output|result|description|input|markdown|transcript|caption|note|comment|reply|response|snippet|refusal)$/i

/** Fields that hold what programs write for themselves. */
const ofPrograms =
  /(?:^|[^a-z]|[a-z](?=[A-Z]))(?:id|ids|uuid|uuids|url|uri|path|paths|cwd|model|version|type|subtype|role|kind|status|state|names?|title|slug|mime|time|timestamp|date|at|signature|hash|branch|level|format|sender|cwd|tool|trigger|operation|mode)$/i

const words = /\p{L}\s+\S*\p{L}|[^\p{ASCII}\P{L}]/u

const isSaid = (name: string, text: string): boolean => {
  if (!/[\p{L}\p{N}]/u.test(text)) return false
  if (spoken.test(name) || (!ofPrograms.test(name) && words.test(text))) return true
  const value = jsonIn(text)
  return value !== undefined && spokenIn(value).length > 0
}

/** A value within a row, and how it is reached: by a name, or by a position in a list. */
interface Place {
  readonly value: unknown
  readonly name: string
  readonly key: string | number
  readonly above: Place | undefined
}

interface Found {
  readonly row: Row
  readonly at: Place
  readonly text: string
}

/** The names of the fields that lead to a value; `isExact` says of lists which element it is. */
const pathOf = (place: Place, isExact: boolean): string => {
  const steps: Array<string> = []
  for (let at = place; at.above !== undefined; at = at.above) {
    const { key } = at
    if (typeof key === "number") steps.push(`[${isExact ? key : ""}]`)
    else steps.push(`.${isName(key) && !/\d.*\d/.test(key) ? key : "*"}`)
  }
  return steps.toReversed().join("").replace(/^\./, "")
}

/** The texts of a value that somebody may have said, in their order. */
export const spokenIn = (value: unknown): ReadonlyArray<string> =>
  textsIn({ value }, []).map(({ text }) => text)

/** The texts of a row that somebody may have said, without places in which nobody speaks. */
const textsIn = (row: Row, silent: ReadonlyArray<string>): ReadonlyArray<Found> => {
  const found: Array<Found> = []
  const ends = new Set(silent.map((place) => place.split(".").at(-1)))
  const isSilent = (at: Place): boolean => {
    if (!ends.has(at.name)) return false
    const path = pathOf(at, false)
    return silent.some((place) => path === place || path.endsWith(`.${place}`))
  }
  const stack: Array<Place> = [{ value: row.value, name: "", key: "", above: undefined }]
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    const { value, name } = at
    const above = at
    if (typeof value === "string") {
      if (isSaid(name, value)) found.push({ row, at, text: value })
    } else if (Array.isArray(value)) {
      for (let key = value.length - 1; key >= 0; key--)
        stack.push({ value: value[key] as unknown, name, key, above })
    } else if (isObject(value)) {
      for (const [key, one] of Object.entries(value).toReversed()) {
        const below = { value: one, name: key, key, above }
        if (!isSilent(below)) stack.push(below)
      }
    }
  }
  return found
}

const jsonIn = (text: string): unknown => (/^\s*[[{]/.test(text) ? valueOr(text, undefined) : undefined)

/** All texts in messages and summaries, also those in the JSON of arguments and outputs, and in files whose bytes are there. */
const saidIn = (values: ReadonlyArray<unknown>): ReadonlySet<string> => {
  const said = new Set<string>()
  const stack = [...values]
  while (stack.length > 0) {
    const value = stack.pop()
    if (typeof value === "string") {
      if (said.has(value)) continue
      said.add(value)
      stack.push(jsonIn(value), Item.textOf({ type: "file", mediaType: "text/plain", uri: value }))
    } else if (typeof value === "object" && value !== null)
      for (const one of Object.values(value)) stack.push(one)
  }
  return said
}

const linesOf = (text: string): ReadonlyArray<string> =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")

/** The most texts that are looked for within others. */
const mostSought = 1_000

/** A shorter text stands in others by chance. */
const leastSought = 12

/** Whether a text is the others, one behind the other, as some programs join the texts of a message. */
const isMadeOf = (text: string, others: ReadonlyArray<string>): boolean =>
  others.reduce((rest, one) => (one.length > 3 ? rest.replaceAll(one, "") : rest), text).trim() === ""

/** The texts that no message has: neither whole, nor as JSON, nor line by line, nor within others. */
const missing = (found: ReadonlyArray<Found>, values: ReadonlyArray<unknown>): ReadonlyArray<Found> => {
  const said = saidIn(values)
  const notWhole = found.filter(
    ({ text }) =>
      !said.has(text) &&
      !(jsonIn(text) !== undefined && spokenIn(jsonIn(text)).every((one) => said.has(one))),
  )
  if (notWhole.length === 0) return []
  const lines = new Set([...said].flatMap(linesOf))
  const notByLine = notWhole.filter(({ text }) => !linesOf(text).every((line) => lines.has(line)))
  if (notByLine.length === 0 || notByLine.length > mostSought) return notByLine
  const all = [...said].join("\n")
  const longest = [...said].toSorted((one, other) => other.length - one.length).slice(0, mostSought)
  return notByLine.filter(
    ({ text }) =>
      !(text.length >= leastSought && linesOf(text).every((line) => all.includes(line))) &&
      !isMadeOf(text, longest),
  )
}

const placeOf = ({ row: { line, index, list = "" }, at }: Found): string => {
  const exact = pathOf(at, true)
  return line !== undefined
    ? `line ${line}: ${exact}`
    : index === undefined
      ? exact
      : `${list}[${index}].${exact}`
}

/**
 * What of the rows of a log is in none of these messages and summaries.
 *
 * @param notSaid - places in which nobody speaks, such as `toolUseResult`, or `turn_context/payload.summary` of entries of a type
 */
export const leftOutOf = (
  rows: ReadonlyArray<Row>,
  values: ReadonlyArray<unknown>,
  notSaid: ReadonlyArray<string>,
): ReadonlyArray<LeftOut> => {
  const found = rows.flatMap((row) => {
    const type = isObject(row.value) ? String(row.value["type"]) : ""
    const silent = notSaid.flatMap((one) => {
      const [ofType, place = ofType] = one.split("/") as [string, string?]
      return place === ofType || ofType === type ? [place] : []
    })
    return textsIn(row, silent)
  })
  const places = new Map<string, LeftOut>()
  for (const one of missing(found, values)) {
    const place = pathOf(one.at, false)
    const { first = placeOf(one), times = 0 } = places.get(place) ?? {}
    places.set(place, { place, first, times: times + 1, why: "no message has it" })
  }
  return [...places.values()]
}

export const leftOutLine = ({ place, first, times, why }: LeftOut): string =>
  times === 1 ? `${first}: ${why}` : `${place}, ${times} times, first ${first}: ${why}`
