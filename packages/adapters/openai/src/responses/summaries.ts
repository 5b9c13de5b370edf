/**
 * Summaries with a window of OpenAI's compaction API: the items go back as they came, or the text goes in their place.
 */
import * as Codec from "@memfold/codec"
import type { Message } from "@memfold/core"
import { provider } from "./form.js"

/** The items of a window as parts: each one is sent as it came. */
const itemsOf = ({ data }: Message.Opaque): ReadonlyArray<Message.Part> =>
  (data as ReadonlyArray<unknown>).map((item) => ({ type: "opaque", provider, data: item }))

/** The messages with each summary in the form that the API takes: the items of a window stand where the summary stands. */
export const placeSummaries = (
  given: ReadonlyArray<Message.Message>,
  options: Codec.SummaryOptions = {},
): Codec.Placed =>
  Codec.placeSummaries(given, options, {
    provider,
    accepts: ({ data }) => Array.isArray(data),
    partsOf: (windows) => windows.flatMap(itemsOf),
  })
