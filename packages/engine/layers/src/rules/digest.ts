/** A turn on one line: the question, and the final answer. */
import { type Message, Search } from "@memfold/core"
import type { NewFact } from "../Extractor.js"
import { clip, head } from "../text.js"
import { mayBeSecret, quoteIn } from "./MatchedFact.js"
import { prose } from "./prose.js"
import type { Turn } from "./rounds.js"

/** In UTF-16 units: the question, and the answer. */
const limits = { asked: 160, came: 240, key: 400 }

/** What people say without saying anything. */
const courtesies =
  "hello hey morning evening day today thanks thank much welcome please sorry sure okay right great good fine nice cool " +
  "perfect awesome glad happy help done yes no bye continue go know let need anything else 你好 您好 谢谢 不客气 不用谢 好的 继续 再见 请"

/** A turn with fewer search terms gets no digest, besides courtesies and single letters. */
const fewest = 2

const isTelling = (text: string): boolean => {
  const empty = new Set(Search.termsOf(courtesies))
  return Search.queryTermsOf(text).filter((term) => term.length > 1 && !empty.has(term)).length >= fewest
}

/** The start of a message's prose, on one line. */
const said = (message: Message.Message): string => {
  let text = ""
  for (const part of message.parts) {
    if (part.type === "text")
      text += ` ${prose(part.text)
        .map((line) => line.text)
        .join(" ")}`
    if (part.type === "file" && part.name !== undefined) text += ` [${part.name}]`
    if (text.length > 2 * limits.came) break
  }
  return text.trim()
}

const firstSaid = (messages: ReadonlyArray<Message.Message>, most: number): string => {
  for (const message of messages) {
    const text = clip(said(message), most)
    if (text !== "") return text
  }
  return ""
}

/** The digest of a turn; `null` if it says too little or may contain a secret. */
export const digest = ({ from, to, messages }: Turn): NewFact | null => {
  const users = messages.filter(({ role }) => role === "user")
  // The rest of a turn that has its digest already.
  if (users.length === 0) return null
  const asked = firstSaid(users, limits.asked)
  const answers = messages.filter(({ role }) => role === "assistant").toReversed()
  const came = firstSaid(answers, limits.came)
  const text = [asked, came].filter((piece) => piece !== "").join(" → ")
  if (!isTelling(text) || mayBeSecret(text)) return null
  const quote = [firstQuote(users), firstQuote(answers)].filter((one) => one !== null)
  if (quote.length === 0) return null
  // Turns of which the same can be said are one, and no digest contradicts another.
  return { layer: "scope", kind: "digest", key: head(`turn:${text}`, limits.key), text, quote, from, to }
}

/** The first line of prose that can be quoted, or the name of a file. */
const firstQuote = (messages: ReadonlyArray<Message.Message>): string | null => {
  for (const { parts } of messages)
    for (const part of parts) {
      if (part.type === "file" && part.name !== undefined) return head(part.name, limits.asked)
      for (const line of part.type === "text" ? prose(part.text) : []) {
        const quote = quoteIn(part.type === "text" ? part.text : "", head(line.text, limits.asked))
        if (quote !== null && /[\p{L}\p{N}]/u.test(quote)) return quote
      }
    }
  return null
}
