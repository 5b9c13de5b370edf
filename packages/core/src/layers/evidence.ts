/** No fact without a quote that stands in a message, byte for byte: what an extractor makes up is refused, without a model. */
import { outputText, textOf } from "@memfold/message/Item"
import { isBound, type Message, type Origin, type Part } from "@memfold/message/Message"
import { byTrust, ofPart } from "@memfold/message/Origin"
import type { FactSource } from "../event/Event.js"
import type { CompletedTurns } from "./MemoryLayers.js"

/**
 * Why a fact is not taken.
 *
 * - `no-quote`: it has none, or one without a letter or digit
 * - `not-said`: a quote does not stand in a message that was read
 * - `not-by-user`: it is about the user, and the user has not said it
 * - `from-tool`: it stands in what a tool or a page says, and these are left out
 * - `no-beginning`: it ends what is not known
 * - `not-declared`, `not-valid`: its predicate is not one of those that were declared, or its value does not fit the schema
 * - `momentary`: it holds for the moment only
 * - `redacted`: a fact of its message must not be known, and it was not known before it was learned anew
 */
export type Refusal =
  | "no-quote"
  | "not-said"
  | "not-by-user"
  | "from-tool"
  | "no-beginning"
  | "not-declared"
  | "not-valid"
  | "momentary"
  | "redacted"

/** A quote that was found in a message. */
export interface Evidence {
  readonly source: FactSource
  readonly index: number
  readonly origin: Origin
  /** When it was said, in milliseconds since the epoch. */
  readonly time: number
}

/** What of a part can be quoted: what anybody reads in it. */
const quotable = (part: Part): string => {
  switch (part.type) {
    case "text":
      return part.text
    case "tool-call":
      return `${part.name}\n${part.arguments}`
    case "tool-result":
      return outputText(part)
    case "file":
      return [part.name, /^data:/i.test(part.uri) ? textOf(part) : part.uri].join("\n")
    case "reasoning":
      return ""
    case "opaque":
      return isBound(part) ? "" : textOf(part)
  }
}

/** Whether a quote stands in a text, byte for byte in NFC. Half a character stands nowhere. */
const stands = (quote: string, text: string): boolean =>
  quote.isWellFormed() && text.normalize("NFC").includes(quote.normalize("NFC"))

/** The origin of the words of a message that a quote stands in: the most trusted part that has it; `null` if none has it. */
const originOfQuote = (quote: string, message: Message): Origin | null => {
  const having = message.parts.filter((part) => stands(quote, quotable(part)))
  const origins = new Set(having.map((part) => ofPart(message, part)))
  return byTrust.find((origin) => origins.has(origin)) ?? null
}

/** Which messages a quote may stand in, and whose words it may be. */
export interface EvidenceOptions {
  /** Message indexes `[from, to)`; all that were read by default. */
  readonly from?: number | undefined
  readonly to?: number | undefined
  /** Whether the quote has to be the user's own words. */
  readonly byUser: boolean
  /** Whether words of tools and pages count. */
  readonly material: boolean
}

/**
 * Finds the messages of quotes: for each the newest one that may have it.
 *
 * @returns the evidence of each quote, or why there is none
 */
export const evidenceOf = (
  { state, from, messages }: Pick<CompletedTurns, "state" | "from" | "messages">,
  quotes: ReadonlyArray<string>,
  options: EvidenceOptions,
): ReadonlyArray<Evidence> | Refusal => {
  const found: Array<Evidence> = []
  if (quotes.length === 0) return "no-quote"
  for (const quote of quotes) {
    if (!/[\p{L}\p{N}]/u.test(quote)) return "no-quote"
    let refusal: Refusal = "not-said"
    let evidence: Evidence | null = null
    for (let at = messages.length - 1; at >= 0 && evidence === null; at--) {
      const index = from + at
      const entry = state.uncovered.at(index)
      const message = messages[at]!
      const isOutside = index < (options.from ?? index) || index >= (options.to ?? index + 1)
      const origin = isOutside || entry === undefined ? null : originOfQuote(quote, message)
      if (origin === null || entry === undefined) continue
      const isMaterial = origin === "tool" || origin === "external"
      if (isMaterial && !options.material) refusal = "from-tool"
      else if (options.byUser && !isMaterial && origin !== "user" && origin !== "system") {
        refusal = "not-by-user"
      } else {
        const source = { session: state.session, event: entry.version, quote: quote.normalize("NFC") }
        evidence = { source, index, origin, time: message.time ?? entry.time }
      }
    }
    if (evidence === null) return refusal
    found.push(evidence)
  }
  return found
}

/** What anybody reads in a message. */
export const readIn = ({ parts }: Message): string => parts.map(quotable).join("\n")

/** The texts and numbers in a value of JSON. */
const leavesOf = (value: unknown): ReadonlyArray<string> => {
  if (typeof value === "string" || typeof value === "number") return [String(value)]
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(leavesOf) : []
}

/** Whether every word and number of a value stands in some texts: then it says nothing that was read elsewhere. */
export const restsOn = (value: unknown, texts: ReadonlyArray<string>): boolean => {
  const folded = (text: string) => text.normalize("NFKC").toLowerCase()
  const all = folded(texts.join("\n"))
  return leavesOf(value).every((leaf) =>
    (folded(leaf).match(/\p{L}[\p{L}\p{M}]*|\p{N}+/gu) ?? []).every((word) => all.includes(word)),
  )
}
