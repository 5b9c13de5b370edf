/**
 * A summarizer that selects sentences and quotes them.
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
 * How it works, with one file each: messages and the summary so far are divided into sources with
 * pieces (`sources`, `digest`), statistics weigh each piece (`salience`, `facts`), and a greedy cover picks the pieces
 * that add most (`select`).
 */
import { Effect, Layer, Schema } from "effect"
import { Summarizer, TokenCounter } from "@memfold/core"
import { inSteps, type Steps } from "@memfold/log/breathe"
import { remembered } from "@memfold/message/remembered"
import type { Piece, Source } from "./digest.js"
import { read, write } from "./digest.js"
import { list, ranked, saidIn, splitList } from "./identifiers.js"
import type { Candidate } from "./salience.js"
import { salience } from "./salience.js"
import { selecting } from "./select.js"
import { ofMessages } from "./sources.js"
import { clip } from "./text.js"

/**
 * The options of the extractive summarizer, as a schema.
 *
 * - `maxTokens`: the most tokens of a summary, estimated; at least 32. By default what the strategy asks for, or 800
 * - `share`: the share of the new messages to keep, above 0 and at most 0.9. By default what the strategy asks for, or
 *   0.3. The summary so far counts in full until `maxTokens` is reached, and a few sentences may keep more than their
 *   share.
 */
export const Options = Schema.Struct({
  maxTokens: Schema.optional(Schema.Int.pipe(Schema.greaterThanOrEqualTo(32))),
  share: Schema.optional(Schema.Number.pipe(Schema.greaterThan(0), Schema.lessThanOrEqualTo(0.9))),
})
/** The options of the extractive summarizer; all have defaults. */
export type Options = typeof Options.Encoded

/** The size of a summary for which neither the options nor the strategy name another. */
const usual: Summarizer.Size = { maxTokens: 800, share: 0.3 }

/** Chooses more tokens than fit by this factor, since the estimate of a whole text differs from the sum of its parts. */
const surplus = 1.2

const estimate = TokenCounter.estimating.count

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

/** The start of the first text of a source, for a budget that holds no whole sentence. */
const beginning = (source: Source, limit: number): string => {
  const text = source.pieces.find((piece) => piece.text !== "")?.text ?? "…"
  const label = `- ${source.label}: `
  for (const [line, least] of [
    // The label is left out if at most three characters would follow it.
    [label + text, label.length + Math.min(4, text.length)],
    [text, 2],
  ] as const) {
    const length = largest(line.length, (size) => estimate(clip(line, size)) <= limit)
    if (length >= least) return clip(line, length)
  }
  return ""
}

/**
 * The shares of a summary that the list of identifiers may take from the sentences: a quarter, and up to a half where the
 * identifiers do not fit otherwise.
 */
const identifierShares = [0.25, 0.35, 0.5]
/** Minor identifiers take no tokens of a summary up to `minorAbove` tokens, and this share of the tokens above. */
const minorAbove = 300
const minorShare = 0.15

function* summarize(request: Summarizer.Request, size: Summarizer.Size): Steps<string> {
  const { text: before, listed } = splitList(request.previous ?? "")
  const sources = [...read(before), ...(yield* ofMessages(request.messages))]
  const first = sources.find((source) => source.speaker === "user") ?? sources[0]
  if (first === undefined) {
    const count = request.messages.length
    return `${count} ${count === 1 ? "message" : "messages"} without text.`
  }
  const limit = Summarizer.budget(request, size)
  const identifiers = yield* ranked(sources, listed)
  const candidates = yield* salience(sources, request.instructions ?? "")
  const sizeOf = remembered(TokenCounter.estimating.count)
  const costs = {
    piece: (piece: Piece) => sizeOf(piece.text),
    label: (source: Source) => sizeOf(`- ${source.label}: \n`),
  }
  const select = yield* selecting(candidates, costs, limit * surplus)
  // The texts that are tried have most of their lines in common.
  const estimate = TokenCounter.byLine()
  /** The digest of the chosen sentences, at most `room` tokens. */
  const texts = new Map<number, string>()
  const written = function* (room: number): Steps<string> {
    const known = texts.get(room)
    if (known !== undefined) return known
    const chosen = yield* select(room * surplus)
    const count = largest(chosen.length, (size) => estimate(digest(sources, chosen.slice(0, size))) <= room)
    const text =
      count === 0
        ? beginning(chosen[0]?.parts[0]?.source ?? first, room)
        : digest(sources, chosen.slice(0, count))
    texts.set(room, text)
    return text
  }
  const minorRoom = Math.max(0, (limit - minorAbove) * minorShare)
  const major = identifiers.filter(({ minor }) => !minor)
  /** The summary whose list takes up to this share from the sentences, and how many identifiers are not in it. */
  const withShare = function* (share: number): Steps<{ readonly text: string; readonly missing: number }> {
    const room = Math.floor(limit * share)
    // What the list does not need is for the sentences, and what these leave is for the list.
    const needed = yield* list(identifiers, yield* written(limit - room), {
      room,
      minorRoom,
      limit,
      estimate,
    })
    const quoted = yield* written(needed === "" ? limit : limit - estimate(`\n${needed}`))
    const left = Math.max(room, limit - estimate(quoted))
    const line = yield* list(identifiers, quoted, {
      room: left,
      minorRoom: limit * identifierShares[0]!,
      limit,
      estimate,
    })
    const text = [quoted, line].filter((one) => one !== "").join("\n")
    const isSaid = saidIn(text)
    return { text, missing: major.filter((one) => !isSaid(one)).length }
  }
  let best = yield* withShare(identifierShares[0]!)
  for (const share of identifierShares.slice(1)) {
    if (best.missing === 0) break
    const next = yield* withShare(share)
    if (next.missing < best.missing) best = next
  }
  return best.text
}

/**
 * Makes the extractive summarizer.
 *
 * The summary is a list of quotations in the order of the conversation. It has "…" where text between them is left out,
 * the tools that were called, and the day (UTC) where it changes, if the messages have times:
 *
 * ```text
 * - 2026-03-02 user: My order KX-4471 has not arrived. … I am allergic to nuts.
 * - tool track_parcel(KX-4471) failed: 504 upstream timed out
 * - identifiers: RR771204A; dana@example.org; 39.90 EUR
 * ```
 *
 * The last line has the identifiers that were said and are in no quotation: order and tracking numbers, paths, addresses,
 * amounts and dates. The most and most recently used identifiers come first. The list takes about a quarter of the room from the
 * sentences, and up to a half where the identifiers do not fit otherwise.
 *
 * Every quotation is on one line. Reasoning is not quoted. Of a tool output above 2,000 characters, only the start, the
 * end and lines that report failures are read; of a message above 20,000 characters, the start and the end. The
 * `instructions` of a request only give more weight to the words they contain.
 *
 * In a merge, the lines of the summary so far compete with the new messages. They have a slight advantage, which is
 * smaller for the oldest lines. So facts outlast chatter, repetitions disappear, and the text stays within `maxTokens`
 * after any number of merges.
 *
 * A call fails with the reason `not-smaller` if no shorter text can be written.
 *
 * @throws ParseError for options that are out of range.
 *
 * @example
 * ```ts
 * import { Message } from "@memfold/core"
 * import { ExtractiveSummarizer } from "@memfold/summarizer-extractive"
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
export const make = (options: Options = {}): Summarizer.Service => {
  const own = Schema.decodeSync(Options)(options)
  const sizeOf = ({ size = usual }: Summarizer.Request): Summarizer.Size => ({
    maxTokens: own.maxTokens ?? size.maxTokens,
    share: own.share ?? size.share,
  })
  return {
    name: "extractive",
    isFree: true,
    maxInputTokens: Number.POSITIVE_INFINITY,
    summarize: (request) =>
      Effect.flatMap(
        inSteps(() => summarize(request, sizeOf(request))),
        (text) =>
          text !== "" && estimate(text) < request.replacesTokens
            ? Effect.succeed({ text })
            : new Summarizer.SummarizerError({
                session: request.session,
                reason: "not-smaller",
                detail: `cannot write less than the ${request.replacesTokens} tokens of ${request.messages.length} message(s); compact more of them at once`,
              }),
      ),
  }
}

/**
 * Provides the extractive summarizer to a memory.
 *
 * @throws ParseError for options that are out of range.
 *
 * @example
 * ```ts
 * import { InMemoryEventLog, Keep, Memory, Strategy, SummaryMode, Trigger } from "@memfold/core"
 * import { ExtractiveSummarizer } from "@memfold/summarizer-extractive"
 * import { Layer } from "effect"
 *
 * const strategy = Strategy.make({
 *   name: "short",
 *   when: Trigger.backlog({ messages: 10 }),
 *   keep: Keep.lastMessages(20),
 *   summaryMode: SummaryMode.rolling,
 * })
 *
 * export const live = Memory.layer({ strategy }).pipe(
 *   Layer.provide([InMemoryEventLog.layer, ExtractiveSummarizer.layer({ maxTokens: 400 })]),
 * )
 * ```
 */
export const layer = (options: Options = {}): Layer.Layer<Summarizer.Summarizer> =>
  Layer.succeed(Summarizer.Summarizer, make(options))
