/** What of a message is searched, and how it reads when it is recalled. */
import { isBound, type Message, type Part, partsFor } from "@memfold/message/Message"
import { citedIn, outputText, textOf } from "@memfold/message/Item"
import { recalledHeading, toolNames } from "./heading.js"
import { termsOf } from "../search/terms.js"
import { marksOf } from "./whoSaid.js"

/** Of a longer message, only this many UTF-16 code units are searched: beyond them is data, not talk. */
export const mostSearched = 100_000

const said = (part: Part): ReadonlyArray<string> => {
  switch (part.type) {
    case "text":
      return [part.text]
    case "tool-call":
      return [`${part.name} ${part.arguments}`]
    case "tool-result":
      return [outputText(part)]
    case "file":
      return [part.name, textOf(part)].filter((text) => text !== undefined && text !== "") as Array<string>
    // Reasoning is not sent to every model again.
    case "reasoning":
      return []
    case "opaque":
      return isBound(part) ? [] : [textOf(part)].filter((text) => text !== "")
  }
}

const tools: ReadonlyArray<string> = Object.values(toolNames)

/** Whether a part only repeats earlier messages, or asks for them: what was recalled once would be found instead of what was said. */
const isRecall = (part: Part): boolean =>
  part.type === "tool-result"
    ? part.output.startsWith(recalledHeading)
    : part.type === "text"
      ? part.text.startsWith(recalledHeading)
      : part.type === "tool-call" && tools.includes(part.name)

/** Whether a message has a part that only repeats earlier messages, or asks for them. */
export const hasRecall = (message: Message): boolean => message.parts.some(isRecall)

/** The text of a message: what was said, called and returned, one part per line. Reasoning and recall are left out. */
export const readableText = (message: Message): string =>
  partsFor(message)
    .filter((part) => !isRecall(part))
    .flatMap(said)
    .join("\n")

/** What the index has of a message: the terms of its text and of its author's name, and its marks. */
export const indexedOf = (
  message: Message,
): { readonly terms: ReadonlyArray<string>; readonly marks: ReadonlyArray<string> } => {
  const text = readableText(message).slice(0, mostSearched)
  // Found by what it cites, but not shown with it: these are the words of a source.
  const cited = message.parts.flatMap((part) => (part.type === "text" ? citedIn(part) : []))
  const terms = [text, cited.join("\n").slice(0, mostSearched), message.name ?? ""].flatMap(termsOf)
  return { terms, marks: marksOf(message, text) }
}
