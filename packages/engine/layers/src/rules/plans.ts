/** Steps still to be done, from the user's messages and the assistant's last message of a turn. */
import type { Message } from "@memfold/core"
import type { NewFact } from "../Extractor.js"
import { clip } from "../text.js"
import { mayBeSecret, quoteIn } from "./MatchedFact.js"
import type { Line } from "./prose.js"
import { prose } from "./prose.js"
import type { Turn } from "./rounds.js"
import { isQuestion, sentences } from "./sentences.js"

/** At most this many steps, each of at most this many UTF-16 units. */
const limits = { steps: 6, step: 160 }

/** A heading, or a line that introduces steps: alone, or with the first of them behind a colon. */
const title =
  /^(?:(?:the |my |our |your )?next steps?|(?:the |my |our |your )?plan|to[ -]?do(?:s| list)?|action items?|remaining (?:work|steps|tasks)|still to do|what['’]s next|下一步(?:计划|計劃|工作)?|接下来(?:的计划|的工作)?|接下來|后续(?:步骤|计划|工作)|後續(?:步驟|計劃)|计划|計劃|待办(?:事项)?|待辦(?:事項)?)\s*(?:is|are|是|如下)?\s*(?:[:：]\s*(.*))?$/iu

/** A plan behind other sentences of its line: only with a colon or "to", since "the plan" is also just a word. */
const inside =
  /[.!?;。！？；]["”」』)）]*\s*((?:the |my |our |your )?next steps?(?: (?:is|are|will be))?|to-?do(?:s| list)?|action items?|remaining (?:work|steps|tasks)|still to do|what['’]s next|下一步(?:计划|計劃|工作)?|接下来(?:的计划|的工作)?|接下來|后续(?:步骤|计划|工作)|後續(?:步驟|計劃)|待办(?:事项)?|待辦(?:事項)?)\s*(?:(?:是|如下)?\s*[:：]|(?<=steps (?:are|will be) )to )/iu

/** Divides a line before such an introduction: "Fixed. Next steps: deploy it." becomes two lines. */
const divided = (line: Line): ReadonlyArray<Line> => {
  const found = inside.exec(line.text)
  if (found === null || line.marker === "open task" || line.marker === "done task") return [line]
  const at = found.index + found[0].indexOf(found[1] ?? "")
  return [
    { ...line, text: line.text.slice(0, at).trim() },
    { ...line, marker: "none", begins: true, text: line.text.slice(at) },
  ]
}

const will = "(?:i|we)(?:['’]ll| will|(?: am| are|['’]m|['’]re) going to)(?! need\\b)"

/** What somebody means to do, whether they will, have to or want to. */
const means = `(?:${will}|(?:i|we)(?: still)? (?:need|have|want|intend) to|(?:i|we) (?:should|must)|let['’]s)`

/** A word that begins no step: "I have to say", "I want to know". */
const noStep = "(?!(?:be|know|say|see|ask|admit|understand|hear|think|thank)\\b)"

/** What may stand in front. */
const lead = "^(?:(?:so|now|ok(?:ay)?|today|tomorrow|later),? )?"

const we = "(?:我|我们|我們|咱们|咱們)"
const later = "(?:再|然后|然後|之后|之後|接着|接著|随后|隨後|最后|最後)"

/** Sentences that say in which order things will be done: "We'll first call Bob, then …", 我们先…，然后…. */
const inTurn = [
  `${lead}${means} (?:first|next|start (?:by|with)|begin (?:by|with))\\b`,
  `${lead}${means} ${noStep}[^,]{4,}(?: first)?(?:,(?: and)?| and) then\\b`,
  `^(?:first(?: of all|ly)?|next|as a (?:next|last) step|after (?:that|this)|afterwards|finally),? (?:${will}|(?:i|we)(?: still)? (?:need|have) to)\\b`,
  `^(?:then|(?:once|after) [^,]{4,60}), ?${will} ${noStep}`,
  `^then ${will} ${noStep}`,
  `^(?:i|we) still (?:need|have) to\\b`,
  `^(?:首先[，,]?)?${we}?(?:首先|(?:会|會|将|將|要|得|准备|準備|打算)?先)[^了过過]{2,}${later}[^了过過]{2,}$`,
  `^(?:今天|明天|后天|後天|下周|下週)?[，,]?${we}(?:会|會|将|將|要|得|准备|準備|打算)[^了过過]{2,}[，,]${later}[^了过過]{2,}$`,
  `^(?:接下来|接下來|${later})[，,]?${we}(?:会|會|将|將|要|得|再|准备|準備|打算|需要)[^了过過]{2,}$`,
  `^${we}(?:还|還)(?:需要|要|得)[^了过過]{2,}$`,
  "^(?:还|還)剩下?[^了过過]{2,}(?:没|沒)(?:做|完成)$",
].map((form) => new RegExp(form, "iu"))

/** What is not going to be done, or was only supposed, is no step. */
const notMeant = /\b(?:never|not|no longer|if|unless)\b|n['’]t\b|如果|要是|不会|不會|不再/iu

const comesInTurn = (text: string): boolean =>
  !notMeant.test(text) && inTurn.some((form) => form.test(text.replace(/[.。!！]$/u, "")))

/** A sentence that says what comes next. */
const sentence = new RegExp(
  `^(?:${[
    "(?:so,? |then,? |now,? )?(?:the |my |our |your )?(?:(?:next step|plan) is (?:to )?|(?:next (?:step|thing(?: to do)?)|plan(?: for [^.]{1,40}?)?) (?:is|will be) to |next steps (?:are|will be) (?:now )?to )",
    "(?:what|all that)(?:['’]s| is| still)? (?:left|remains|to do)(?: to do| now)? is to ",
    "it (?:only |still )?remains to (?!be )",
    "next up(?: is|:) ",
    "(?:i|we)(?: am|['’]m| are|['’]re)? plan(?:ning)? (?:to|on) ",
    "(?:i|we) intend to ",
    "my plan is (?:to )?",
    "todo\\s*[:：-]\\s*",
    "to-do\\s*[:：-]\\s*",
    "下一步(?:是|要|将|將|我们|我們|准备|準備|打算)[，,]?",
    `${we}(?:打算|计划|計劃)`,
    `(?:${we}的)?(?:计划|計劃)是(?!好|对|對|什么|什麼)`,
    "(?:接下来|接下來)(?:我们|我們|要|需要|打算|计划|計劃)[，,]?",
    "剩下的(?:工作|步骤|步驟|任务|任務)?(?:就)?是",
  ].join("|")})(.{4,})$`,
  "iu",
)

const stepsOf = (lines: ReadonlyArray<Line>): ReadonlyArray<string> => {
  const steps: Array<string> = []
  let listed = false
  for (const line of lines.flatMap(divided)) {
    if (line.marker === "open task") {
      steps.push(line.text)
      continue
    }
    if (line.marker === "done task") continue
    const introduced = title.exec(line.text)
    // Without a colon, it counts only as a heading.
    if (introduced !== null && (line.marker === "heading" || introduced[1] !== undefined)) {
      const [, first = ""] = introduced
      if (first.trim() !== "" && !isQuestion(first)) steps.push(first.trim())
      listed = first.trim() === ""
      continue
    }
    if (listed && (line.marker === "item" || (line.marker === "none" && !line.begins))) {
      if (line.marker === "item" && !isQuestion(line.text)) steps.push(line.text)
      continue
    }
    listed = false
    for (const { text, question, quoted } of sentences([line])) {
      if (!question && !quoted && text.length <= 300 && (sentence.test(text) || comesInTurn(text)))
        steps.push(text)
    }
  }
  return steps
}

/** The lines of a message; a user's without quoted ones. An assistant writes its own steps after a colon. */
const linesOf = ({ role, parts }: Message.Message): ReadonlyArray<Line> =>
  parts
    .flatMap((part) => (part.type === "text" ? prose(part.text) : []))
    .filter((line) => role !== "user" || !line.quoted)
    .map((line) => ({ ...line, quoted: false }))

/**
 * The plan at the end of a turn. A session has one plan, and a newer one replaces it: no reliable form tells which
 * steps of the older one are done.
 */
export const plan = (session: string, { from, to, messages }: Turn): NewFact | null => {
  const last = messages.findLast(({ role }) => role === "assistant")
  const speakers = [...messages.filter(({ role }) => role === "user"), ...(last === undefined ? [] : [last])]
  const steps = speakers
    .flatMap((message) => stepsOf(linesOf(message)))
    .map((step) => clip(step, limits.step).replace(/[.。;；]$/u, ""))
    .filter((step) => step !== "" && !mayBeSecret(step))
  const distinct = [...new Set(steps)].slice(0, limits.steps)
  if (distinct.length === 0) return null
  const texts = speakers.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === "text" ? [part.text] : [])),
  )
  const quote = distinct.flatMap((step) => {
    const words = step.replace(/…$/u, "")
    return texts.map((text) => quoteIn(text, words)).find((found) => found !== null) ?? []
  })
  if (quote.length === 0) return null
  return {
    layer: "scope",
    kind: "plan",
    key: `plan:${session}`,
    text: `Plan: ${distinct.join("; ")}`,
    quote,
    from,
    to,
  }
}
