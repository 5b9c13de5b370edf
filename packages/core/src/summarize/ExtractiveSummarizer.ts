/**
 * The default summarizer: it selects sentences and quotes them.
 *
 * It needs no model, network or word lists, takes milliseconds, and gives the same text for the same input on every
 * machine. It does not *understand* the text.
 *
 * - Good at: facts with a form (order numbers, amounts, dates, addresses, paths, names), user requests, and failures, in
 *   any language that `Intl.Segmenter` supports. Every quotation is verbatim.
 * - Bad at: conclusions that no single sentence states, irony, and contradictions: it may quote both an earlier and a
 *   later statement. It can lose a fact in plain words, stated once among many similar sentences. Where that matters,
 *   use a model (`@memfold/summarizer-ai`), or pin the message.
 *
 * How it works, one file each in `extractive/`: messages and the summary so far become sources with pieces
 * (`sources`, `digest`), counts say what each piece is worth (`salience`, `facts`), and a greedy cover picks
 * those that add most (`select`).
 */
import { Effect, Schema } from "effect"
import { estimate } from "../message/estimate.js"
import type { Size } from "./budget.js"
import { budget } from "./budget.js"
import type { Piece, Source } from "./extractive/digest.js"
import { read, write } from "./extractive/digest.js"
import type { Candidate } from "./extractive/salience.js"
import { salience } from "./extractive/salience.js"
import { select } from "./extractive/select.js"
import { ofMessages } from "./extractive/sources.js"
import { clip } from "./extractive/text.js"
import type { Request, Service } from "./Summarizer.js"
import { SummarizerError } from "./Summarizer.js"

/**
 * - `maxTokens`: upper bound of the text, in estimated tokens; at least 32, 800 by default
 * - `share`: how much of what is new may be kept, more than 0 and at most 0.9; 0.3 by default. The summary so far
 *   counts in full until `maxTokens` is reached, and a few sentences may keep more than their share.
 */
export const Options = Schema.Struct({
  maxTokens: Schema.optionalWith(Schema.Int.pipe(Schema.greaterThanOrEqualTo(32)), { default: () => 800 }),
  share: Schema.optionalWith(Schema.Number.pipe(Schema.greaterThan(0), Schema.lessThanOrEqualTo(0.9)), {
    default: () => 0.3,
  }),
})
export type Options = typeof Options.Encoded

/** How many more tokens are chosen than fit, since the estimate of a whole differs from the sum of its parts. */
const surplus = 1.2

/** The same, computed once for each argument. */
const remembered = <A extends object>(compute: (of: A) => number): ((of: A) => number) => {
  const known = new Map<A, number>()
  return (of) => {
    const value = known.get(of) ?? compute(of)
    known.set(of, value)
    return value
  }
}

/** The digest of the chosen candidates. */
const digest = (sources: ReadonlyArray<Source>, chosen: ReadonlyArray<Candidate>): string => {
  const taken = new Map<Source, Set<Piece>>()
  for (const { source, piece } of chosen.flatMap((candidate) => candidate.parts)) {
    taken.set(source, (taken.get(source) ?? new Set()).add(piece))
  }
  return write(sources, taken)
}

/** The largest number up to `most` that fits; 0 if none does. */
const largest = (most: number, fits: (size: number) => boolean): number => {
  let low = 0
  let high = most + 1
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (fits(middle)) low = middle
    else high = middle
  }
  return low
}

/** The beginning of what was said, for a budget that holds no whole sentence. */
const beginning = (source: Source, limit: number): string => {
  const said = source.pieces.find((piece) => piece.text !== "")?.text ?? "…"
  const label = `- ${source.label}: `
  for (const [line, least] of [
    // A label with next to nothing behind it says nothing.
    [label + said, label.length + Math.min(4, said.length)],
    [said, 2],
  ] as const) {
    const length = largest(line.length, (size) => estimate(clip(line, size)) <= limit)
    if (length >= least) return clip(line, length)
  }
  return ""
}

const summarize = (request: Request, size: Size): string => {
  const sources = [...read(request.previous ?? ""), ...ofMessages(request.messages)]
  const first = sources.find((source) => source.speaker === "user") ?? sources[0]
  if (first === undefined) {
    const count = request.messages.length
    return `${count} ${count === 1 ? "message" : "messages"} without text.`
  }
  const limit = budget(request, size)
  const chosen = select(
    salience(sources, request.instructions ?? ""),
    {
      piece: remembered((piece: Piece) => estimate(piece.text)),
      label: remembered((source: Source) => estimate(`- ${source.label}: \n`)),
    },
    limit * surplus,
  )
  const count = largest(chosen.length, (size) => estimate(digest(sources, chosen.slice(0, size))) <= limit)
  return count === 0
    ? beginning(chosen[0]?.parts[0]?.source ?? first, limit)
    : digest(sources, chosen.slice(0, count))
}

/**
 * The extractive summarizer.
 *
 * The text is a list of quotations in the order of the conversation, with "…" where something between them was
 * left out, the tools that were called, and the day (UTC) where it changes and the messages carry a time:
 *
 * ```text
 * - 2026-03-02 user: My order KX-4471 has not arrived. … I am allergic to nuts.
 * - tool track_parcel(KX-4471) failed: 504 upstream timed out
 * ```
 *
 * Every quotation stays on its line, whatever is in it. Reasoning is not quoted. Of a long tool output (over
 * 2,000 characters), only the start, the end and lines that report trouble are read; of a longer message (over
 * 20,000), the start and the end. `instructions` of a request make the words they contain weigh more; that is all
 * they can do here.
 *
 * Merging: the lines of the summary so far, in this form or any other, compete with what is new, with a slight
 * advantage that is smaller for the oldest. So facts outlast chatter, repetitions disappear, and the text stays
 * within `maxTokens` however often it is merged.
 *
 * Fails with `not-smaller` where nothing shorter can be said. Throws a `ParseError` for options out of range.
 *
 * @example
 * ```ts
 * import { ExtractiveSummarizer, Message } from "@memfold/core"
 * import { Effect } from "effect"
 *
 * const summarizer = ExtractiveSummarizer.make({ maxTokens: 400 })
 * const result = await Effect.runPromise(
 *   summarizer.summarize({
 *     session: "s1",
 *     kind: "history",
 *     from: 0,
 *     to: 2,
 *     previous: undefined,
 *     messages: [
 *       Message.user("Where is my order KX-4471? I have been waiting since Monday, and nobody answers the phone."),
 *       Message.assistant("It is in the depot in Graz. I have asked them to deliver it tomorrow before noon."),
 *     ],
 *     messagesFrom: 0,
 *     replacesTokens: 60,
 *     instructions: undefined,
 *   }),
 * )
 * console.log(result.text)
 * ```
 */
export const make = (options: Options = {}): Service => {
  const size = Schema.decodeSync(Options)(options)
  return {
    name: "extractive",
    summarize: (request) =>
      Effect.suspend(() => {
        const text = summarize(request, size)
        return text !== "" && estimate(text) < request.replacesTokens
          ? Effect.succeed({ text })
          : Effect.fail(
              new SummarizerError({
                session: request.session,
                reason: "not-smaller",
                detail: `nothing shorter than the ${request.replacesTokens} tokens of ${request.messages.length} message(s) can be said; compact more of them at once`,
              }),
            )
      }),
  }
}
