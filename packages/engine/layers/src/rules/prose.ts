/**
 * The prose of a message, line by line: without code, and with quotations marked.
 *
 * One pass over at most {@link most} UTF-16 units, in linear time.
 */
import { head } from "../text.js"

/** At most this many UTF-16 units of a text are read. People write about themselves at the start of a message. */
export const most = 16_000

/** At most this many UTF-16 units of a line are read: longer lines are mostly data. */
const longestLine = 4_000

export interface Line {
  /** Without its marker. */
  readonly text: string
  readonly marker: "none" | "heading" | "item" | "open task" | "done task"
  /** Quoted, or material that the message is about, as far as its form tells. */
  readonly quoted: boolean
  /** Whether it is the first line, or follows a blank one. */
  readonly begins: boolean
}

const fence = /^ {0,3}(`{3,}|~{3,})/
const opening = /^<([a-zA-Z][\w-]{0,40})(?:\s[^<>]{0,200})?>/
const markers: ReadonlyArray<readonly [RegExp, Line["marker"]]> = [
  [/^#{1,6}\s+/, "heading"],
  [/^(?:[-*+•]|\d{1,3}[.)])\s+\[ \]\s*/, "open task"],
  [/^(?:[-*+•]|\d{1,3}[.)])\s+\[[xX]\]\s*/, "done task"],
  [/^(?:[-*+•]|\d{1,3}[.)、])\s+/, "item"],
]

/** Lines before a colon that introduce the writer's own list. */
const ownList =
  /^(?:(?:some |a few )?(?:facts |things |more |notes? )?about (?:me|myself)|my (?:preferences|profile)|(?:please )?(?:remember|note|keep in mind)|next steps?|to-?dos?|(?:the |my |our )?plan|关于我(?:自己)?|我的(?:偏好|情况|信息)|請?请?[记記]住|下一步|接下来|接下來|计划|計劃|待办(?:事项)?|待辦(?:事項)?|注意)$/iu

/** Whether a colon in a line introduces material. */
const introduces = (line: string): boolean => {
  const colon = /[：]|:(?=\s|$)/u.exec(line)
  if (colon === null) return false
  return !ownList.test(line.slice(0, colon.index).trim().replace(/\*\*/g, ""))
}

/** The lines of a text in order, without code and blank lines. */
export const prose = (text: string): ReadonlyArray<Line> => {
  const lines: Array<Line> = []
  let fencedBy = ""
  let within = ""
  let material = false
  let begins = true
  for (const line of head(text, most).split(/\r\n?|[\n\u2028\u2029]/)) {
    const [, marks = ""] = fence.exec(line) ?? []
    if (fencedBy !== "") {
      if (marks.startsWith(fencedBy)) fencedBy = ""
      continue
    }
    if (within !== "") {
      if (line.includes(`</${within}>`)) within = ""
      continue
    }
    if (marks !== "") {
      fencedBy = marks
      continue
    }
    const trimmed = head(line.trim(), longestLine)
    if (trimmed === "") {
      begins = true
      continue
    }
    const [, tag = ""] = opening.exec(trimmed) ?? []
    if (tag !== "") {
      if (!trimmed.includes(`</${tag}>`)) within = tag
      continue
    }
    // Four spaces or a tab make code of a line, unless it is an item of a list.
    const found = markers.find(([form]) => form.test(trimmed))
    if (/^(?: {4}|\t)/.test(line) && found === undefined) continue
    const [form, marker] = found ?? [/^/, "none" as const]
    const words = trimmed.replace(form, "").replace(/\*\*/g, "").replace(/\s+/g, " ").trim()
    if (words !== "") {
      lines.push({ text: words, marker, quoted: material || trimmed.startsWith(">"), begins })
      begins = false
      if (introduces(words)) material = true
    }
  }
  return lines
}
