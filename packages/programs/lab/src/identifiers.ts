/**
 * Identifiers: what a later answer needs word for word. The patterns are not the patterns of the extractive summarizer, so
 * that identifiers can measure its summaries, too.
 */
import { Message } from "@memfold/core"

const patterns: ReadonlyArray<RegExp> = [
  // Order and tracking numbers: letters and digits, or many digits.
  /(?<![\w./@-])(?=[A-Z0-9-]*\d[A-Z0-9-]*\d)(?=[A-Z0-9-]*[A-Z])[A-Z0-9]+(?:-[A-Z0-9]+)*(?![\w@-])/gu,
  /(?<![\w.,/-])\d{6,}(?![\w.,/-]\w)/gu,
  // E-mail addresses and links.
  /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/gu,
  // Paths with a name at the end.
  /(?<![\w/.:-])(?:[\w.-]*\/)+[\w-]+\.[a-z]{1,5}(?![\w/])/gu,
  // Amounts and dates.
  /[$€£¥]\s?\d[\d,]*(?:\.\d+)?|\d[\d,]*(?:\.\d+)?\s?(?:元|€|EUR|USD)/gu,
  /\b\d{4}-\d{2}-\d{2}\b|\d{1,2}\s?月\s?\d{1,2}\s?日/gu,
]

/**
 * The identifiers in a text, each once: order and tracking numbers, e-mail addresses, paths, amounts, dates.
 *
 * @param text - The text; longer ones take time in proportion to their length.
 *
 * @example
 * ```ts
 * import { identifiersIn } from "@memfold/lab"
 *
 * console.log([...identifiersIn("Order KX-4471 was paid with 39.90 EUR.")]) // [ 'KX-4471', '39.90 EUR' ]
 * ```
 */
export const identifiersIn = (text: string): ReadonlySet<string> =>
  new Set(
    patterns.flatMap((pattern) =>
      [...text.matchAll(pattern)]
        .map(([found]) => found.replace(/[.,]+$/u, ""))
        .filter((found) => found.length >= 4),
    ),
  )

/** Of a longer part, only this many UTF-16 code units are looked at: beyond them is data. */
const mostRead = 100_000

/** All of a message that a model reads or writes, one part per line. */
const readable = (message: Message.Message): string =>
  Message.partsFor(message)
    .flatMap((part) =>
      part.type === "text"
        ? [part.text]
        : part.type === "tool-call"
          ? [part.arguments]
          : part.type === "tool-result"
            ? [part.output]
            : [],
    )
    .map((text) => text.slice(0, mostRead))
    .join("\n")

/**
 * An identifier that was said within this many messages before the answer does not count as needed: every strategy keeps
 * the newest messages.
 */
export const recentMessages = 10

/**
 * For each message, the identifiers that it needs. An assistant message needs the identifiers that it uses and that were
 * said before, but not in the {@link recentMessages} before it.
 */
export const neededIn = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<ReadonlyArray<string>> => {
  const lastSaid = new Map<string, number>()
  return messages.map((message, index) => {
    const used = [...identifiersIn(readable(message))]
    const isOld = (said: number | undefined) => said !== undefined && said < index - recentMessages
    const needed = message.role === "assistant" ? used.filter((one) => isOld(lastSaid.get(one))) : []
    for (const one of used) lastSaid.set(one, index)
    return needed
  })
}
