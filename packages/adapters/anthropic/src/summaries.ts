/**
 * Summaries with a block of Anthropic's compaction API: where the block may be sent, and where the text goes in its place.
 */
import * as Codec from "@memfold/codec"
import { Message } from "@memfold/core"
import { formOf } from "./form.js"

/** The name of this provider in opaque parts and in the provider data of summaries. */
export const provider = "anthropic"

const isCompaction = ({ data }: Message.Opaque): boolean =>
  Codec.isFields(data) && data["type"] === "compaction"

/**
 * The messages with each summary in the form that the API takes. A compaction block goes back as it came. The API takes one
 * block, and only as the first thing in `messages`: in any other place, and for another model, the text is sent, and
 * signed thinking behind it is left out.
 */
export const placeSummaries = (
  given: ReadonlyArray<Message.Message>,
  options: Codec.SummaryOptions,
): Codec.Placed => {
  const inMessages = given.findIndex(
    (message) =>
      message.parts.some(Message.isReplacing) ||
      message.role !== "system" ||
      formOf(message).place === "messages",
  )
  return Codec.placeSummaries(given, options, {
    provider,
    accepts: (part, at) => at === inMessages && isCompaction(part),
    partsOf: (blocks) => blocks,
  })
}
