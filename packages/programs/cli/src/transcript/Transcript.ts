/**
 * Reads transcripts of other programs into messages. Pure: the input is a text; the name of its file is only for errors.
 */
import type { Message } from "@memfold/core"
import { Either } from "effect"
import type { Compaction } from "./EntryFormat.js"
import type { LeftOut } from "./leftOut.js"
import { type Format, formatNamed, type Found, foundIn } from "./readers.js"
import { type Problem, readSource, type Source } from "./source.js"
import { TranscriptError } from "./TranscriptError.js"

export type { Compaction } from "./EntryFormat.js"
export type { LeftOut } from "./leftOut.js"

export { type Format, formats } from "./readers.js"
export { TranscriptError } from "./TranscriptError.js"

/**
 * - `file`: the name of the file, for errors
 * - `format`: a {@link Format}, or `auto` (the default) to find out
 * - `pick`: which conversation of a file with several, from 0 (the default)
 * - `leftOut`: whether to look for what is in no message, which takes longer than reading; `true` by default
 * - `skipDamaged`: leaves lines and entries out that cannot be read, and names them in `leftOut`; by default, reading ends with an error
 */
export interface ParseOptions {
  readonly file: string
  readonly format?: string
  readonly pick?: number
  readonly skipDamaged?: boolean
  readonly leftOut?: boolean
}

/**
 * A conversation of a file.
 *
 * - `id`: as its program calls it, if the file says so
 * - `compactions`: where the program that recorded it compacted it; none where the format does not say
 * - `branchOf`: of a branch that the user left, the number of its conversation: in the file, or among all that were read
 *   together. It begins with the messages that both have
 * - `leftOut`: texts of the file that are in no message, by their places; those that belong to no conversation are in the first one.
 *   Nothing is quoted
 */
export interface Transcript {
  readonly id?: string
  readonly messages: ReadonlyArray<Message.Message>
  readonly format: Format
  readonly compactions?: ReadonlyArray<Compaction>
  readonly branchOf?: number
  readonly leftOut?: ReadonlyArray<LeftOut>
}

const picked = (found: ReadonlyArray<Found>, pick: number): Found =>
  found[pick] ?? {
    format: found[0]!.format,
    leftOut: () => [],
    read: () => ({
      messages: [],
      broken: {
        problem: `there is no conversation ${pick}, the file holds ${found.length}`,
        allowed: found.length === 1 ? "0" : `0 to ${found.length - 1}`,
      },
    }),
  }

/** What was skipped, as what is left out. */
const skipped = ({ line, problem }: Problem): LeftOut => {
  const place = line === undefined ? "the file" : `line ${line}`
  return { place, first: place, times: 1, why: problem }
}

/**
 * Reads a transcript: a JSON list of messages, a JSON object with `messages`, JSON Lines with one message per line, or
 * the file of a program (see {@link Format}). A message may have a time in `time` or `timestamp`: ISO 8601 (UTC without an
 * offset), or seconds or milliseconds since the epoch.
 *
 * The error says where reading stopped; its `readable` has the messages before that place.
 */
export const parse = (text: string, options: ParseOptions): Either.Either<Transcript, TranscriptError> =>
  Either.flatMap(sourceIn(text, options), (source) => parseSource(source, options))

/** Reads a transcript of a file that was read already; see {@link parse}. */
export const parseSource = (
  source: Source,
  options: ParseOptions,
): Either.Either<Transcript, TranscriptError> =>
  Either.flatMap(conversationsIn(source, options), (found) => transcriptAt(options.pick ?? 0, found, options))

/** A transcript of a file, and which it is of the conversations there. */
export interface Picked {
  readonly pick: number
  readonly transcript: Transcript
}

/** Reads all transcripts of a file that was taken apart already, each with the number by which it is picked; see {@link parseAll}. */
export const parseEachOf = (
  source: Source,
  options: Omit<ParseOptions, "pick">,
): Either.Either<ReadonlyArray<Picked>, TranscriptError> =>
  Either.flatMap(conversationsIn(source, options), (found) => {
    const all = found.map((_, pick) =>
      Either.map(transcriptAt(pick, found, options), (transcript) => ({ pick, transcript })),
    )
    const isThere = (one: (typeof all)[number]): boolean => Either.isRight(one) || !isEmpty(one.left)
    const there = all.filter(isThere)
    if (there.length === 0) return Either.all(all)
    const silent = found.flatMap(({ branchOf, leftOut }, pick): ReadonlyArray<LeftOut> => {
      if (branchOf !== undefined || isThere(all[pick]!)) return []
      const place = `conversation ${pick}`
      return [
        ...(options.leftOut === false ? [] : leftOut()),
        { place, first: place, times: 1, why: "nothing is said in it" },
      ]
    })
    return Either.map(Either.all(there), ([first, ...others]) => [
      { pick: first!.pick, transcript: withLeftOut(first!.transcript, silent) },
      ...others,
    ])
  })

/**
 * Reads all transcripts of a file: each of its conversations, and then the branches that were left. Conversations in which
 * nothing was said are not there, unless there is no other. Fails with the error of the first broken transcript.
 */
export const parseAll = (
  text: string,
  options: Omit<ParseOptions, "pick">,
): Either.Either<ReadonlyArray<Transcript>, TranscriptError> =>
  Either.map(
    Either.flatMap(sourceIn(text, options), (source) => parseEachOf(source, options)),
    (all) =>
      // A `branchOf` counts among the conversations that are there, instead of all of the file.
      all.map(({ transcript: { branchOf, ...transcript } }) => {
        const at = branchOf === undefined ? -1 : all.findIndex(({ pick }) => pick === branchOf)
        return at < 0 ? transcript : { ...transcript, branchOf: at }
      }),
  )

/**
 * The messages of a transcript that another program wrote, for the lab (`ofTranscript` of `@memfold/lab`) or for a memory. Where
 * the messages of a file have no times, none are made up.
 *
 * @param text - The text of the file: a JSON list of messages of OpenAI or Anthropic, an object with `messages`, JSON Lines with
 *   one message per line, messages of a page of the AI SDK, dumps of LangChain, or a file of a program: a session of Claude Code, Codex, Gemini CLI, opencode or pi, an export of ChatGPT
 *   or Claude, ShareGPT, tau-bench, SWE-agent.
 * @param options - `file`: its name, for errors. `format`: a {@link Format}, or `auto` (the default) to find out.
 * @returns each conversation of the file, and behind them the branches that were left (`branchOf`)
 * @throws TranscriptError if the text is none. It says in which line reading stopped, and never quotes the conversation.
 *
 * @example
 * ```ts
 * import { ofTranscript } from "@memfold/lab"
 * import { readTranscripts } from "@memfold/cli/transcripts"
 * import { readFileSync } from "node:fs"
 *
 * const file = "chat.jsonl"
 * const [first] = readTranscripts(readFileSync(file, "utf8"), { file })
 * export const conversations = first === undefined ? [] : [ofTranscript(file, first.messages)]
 * ```
 */
export const readTranscripts = (
  text: string,
  options: Omit<ParseOptions, "pick">,
): ReadonlyArray<Transcript> => Either.getOrThrowWith(parseAll(text, options), (error) => error)

const empty = "there are no messages"
const isEmpty = ({ problem }: TranscriptError): boolean => problem === empty

const withLeftOut = (one: Transcript, more: ReadonlyArray<LeftOut>): Transcript =>
  more.length === 0 ? one : { ...one, leftOut: [...(one.leftOut ?? []), ...more] }

const failedIn =
  (file: string) =>
  (problem: Problem): TranscriptError =>
    new TranscriptError({ file, ...problem })

/** The conversations of a file, or why there are none. */
const conversationsIn = (source: Source, { file, format = "auto" }: ParseOptions) =>
  Either.mapLeft(foundIn(source, format), failedIn(file))

const sourceIn = (
  text: string,
  { file, format = "auto", skipDamaged }: ParseOptions,
): Either.Either<Source, TranscriptError> =>
  Either.flatMap(formatNamed(format), () => readSource(text, skipDamaged)).pipe(
    Either.mapLeft(failedIn(file)),
  )

const transcriptAt = (
  pick: number,
  found: ReadonlyArray<Found>,
  { file, leftOut: isNamed = true }: Pick<ParseOptions, "file" | "leftOut">,
): Either.Either<Transcript, TranscriptError> => {
  const failed = (problem: Problem, readable: ReadonlyArray<Message.Message> = []) =>
    Either.left(new TranscriptError({ file, ...problem }).after(readable))
  const { id, format, branchOf, read, leftOut } = picked(found, pick)
  const { messages, broken, compactions = [], damaged = [] } = read()
  if (broken !== undefined) return failed(broken, messages)
  return messages.length === 0
    ? failed({ problem: empty })
    : Either.right(
        withLeftOut(
          {
            messages,
            format,
            ...(id === undefined ? {} : { id }),
            ...(compactions.length === 0 ? {} : { compactions }),
            ...(branchOf === undefined ? {} : { branchOf }),
          },
          // What a branch has in common with its conversation is named there.
          branchOf === undefined ? [...damaged.map(skipped), ...(isNamed ? leftOut() : [])] : [],
        ),
      )
}
