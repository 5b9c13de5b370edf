/** JSON as lines a person would write down, so that single values can be quoted from it. */
import { collapse } from "./text.js"

type Lines = Array<string>

const scalar = (value: unknown): string | undefined => {
  if (typeof value === "string") return value.includes("\n") ? undefined : collapse(value)
  if (value === null || typeof value === "number" || typeof value === "boolean") return String(value)
  if (!Array.isArray(value)) return undefined
  const items = value.map(scalar)
  return items.every((item) => item !== undefined) ? `[${items.join(", ")}]` : undefined
}

/** Deeper values stay the JSON text they are. */
const deepest = 12

const visit = (lines: Lines, at: string, value: unknown, depth: number): void => {
  const plain = scalar(value)
  if (plain !== undefined) {
    lines.push(at === "" ? plain : `${at}: ${plain}`)
  } else if (typeof value === "string") {
    if (at !== "") lines.push(`${at}:`)
    lines.push(value)
  } else if (depth === deepest) {
    lines.push(`${at}: ${JSON.stringify(value)}`)
  } else if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value)
    const own = entries.flatMap(([key, item]) => {
      const written = scalar(item)
      return written === undefined ? [] : [`${collapse(key)}=${written}`]
    })
    if (own.length > 0) lines.push((at === "" ? "" : `${at}: `) + own.join(", "))
    for (const [key, item] of entries) {
      if (scalar(item) !== undefined) continue
      const name = collapse(key)
      visit(
        lines,
        at === "" || Array.isArray(value) ? (Array.isArray(value) ? at : name) : `${at}.${name}`,
        item,
        depth + 1,
      )
    }
  }
}

/**
 * `{"name":{"first":"Mia"},"dob":"1990-04-05"}` becomes `dob=1990-04-05` and `name: first=Mia`. A text that is
 * not a JSON object or array is returned as it is.
 */
export const readable = (text: string): string => {
  if (!/^\s*[[{]/.test(text)) return text
  try {
    const lines: Lines = []
    visit(lines, "", JSON.parse(text), 0)
    return lines.join("\n")
  } catch {
    return text
  }
}
