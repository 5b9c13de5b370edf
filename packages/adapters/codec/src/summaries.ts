/** Summaries that a provider wrote itself: where its own form is sent, and where the text goes in its place. */
import { Message } from "@memfold/message"
import type { Omitted } from "./Omitted.js"

/**
 * Which form of a summary is sent, if its provider wrote one of its own beside the text.
 *
 * - `model`: the model that the request is for. A form that was made for another one is sent as text
 * - `summaries`: `"native"` (default) sends the provider's form where the API takes it, `"text"` never does
 */
export interface SummaryOptions {
  readonly model?: string
  readonly summaries?: "native" | "text"
}

/** Messages to encode, and for each one the position of the message that it comes from. */
export interface Placed {
  readonly messages: ReadonlyArray<Message.Message>
  readonly sources: ReadonlyArray<number>
  /** What was left out of them: reasoning that the API accepts only behind a form which is not sent. */
  readonly omitted: ReadonlyArray<Omitted>
}

/** The provider that gets the messages, and what it takes. */
export interface Reader {
  readonly provider: string
  /** Whether the API takes a part in place of the summary's text; `position` is the position of the summary message. */
  readonly accepts: (part: Message.Opaque, position: number) => boolean
  /** The parts to send for the provider data of a summary. */
  readonly partsOf: (parts: ReadonlyArray<Message.Opaque>) => ReadonlyArray<Message.Part>
}

/**
 * The messages with each summary in the form that the API takes. The provider's form stands in an assistant message of its
 * own, and what else the summary says follows it.
 */
export const placeSummaries = (
  given: ReadonlyArray<Message.Message>,
  { model, summaries = "native" }: SummaryOptions,
  { provider, accepts, partsOf }: Reader,
): Placed => {
  const reader = summaries === "native" ? { provider, model } : undefined
  const read = Message.forReader(given, reader, accepts)
  const placed = read.flatMap(({ message }, source) => {
    const own = message.parts.filter(Message.isReplacing)
    if (own.length === 0) return [{ source, message }]
    const others = message.parts.filter((part) => !Message.isReplacing(part))
    return [
      { source, message: { role: "assistant" as const, parts: partsOf(own) } },
      ...(others.length === 0 ? [] : [{ source, message: { ...message, parts: others } }]),
    ]
  })
  return {
    messages: placed.map(({ message }) => message),
    sources: placed.map(({ source }) => source),
    omitted: read.flatMap(({ leftOut }, message) => leftOut.map((part) => ({ message, part }))),
  }
}
