/** A turn on one line: the question, and the final answer. */
import { type Message, Search } from "@memfold/core"
import type { NewFact } from "../Extractor.js"
import { clip } from "../text.js"
import { mayBeSecret } from "./MatchedFact.js"
import { prose } from "./prose.js"
import type { Turn } from "./rounds.js"

/** In UTF-16 units: the question, and the answer. */
const limits = { asked: 160, came: 240 }

/** A turn with fewer search terms gets no digest: "thanks" and "you are welcome". */
const fewest = 3

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
  const came = firstSaid(messages.filter(({ role }) => role === "assistant").toReversed(), limits.came)
  const text = [asked, came].filter((piece) => piece !== "").join(" → ")
  if (Search.queryTermsOf(text).length < fewest || mayBeSecret(text)) return null
  return { layer: "scope", kind: "digest", text, from, to }
}
