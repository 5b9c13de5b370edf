/** The conversations of files: transcripts in every format that the other commands read, and data sets with questions. */
import { type Conversation, ofTranscript, readDataSet } from "@memfold/lab"
import { Effect, Either, Option } from "effect"
import { valueOr, withoutMark } from "../transcript/source.js"
import { parse, parseAll, type TranscriptError } from "../transcript/Transcript.js"
import { UsageError } from "../command/failure.js"
import { type LoadOptions, noOptionAmong, readText } from "../command/transcripts.js"

/** The transcripts of a file: the one that was picked, or all but the branches that were left. */
const transcriptsIn = (
  file: string,
  text: string,
  { format, pick, skipDamaged = false }: LoadOptions,
): Either.Either<ReadonlyArray<Conversation>, TranscriptError> => {
  const named = (name: number) => `${file}#${name}`
  if (Option.isSome(pick)) {
    return Either.map(
      parse(text, { file, format, skipDamaged, leftOut: false, pick: pick.value }),
      ({ messages }) => [ofTranscript(pick.value === 0 ? file : named(pick.value), messages)],
    )
  }
  return Either.map(parseAll(text, { file, format, skipDamaged, leftOut: false }), (all) =>
    all.flatMap(({ messages, branchOf }, at) =>
      branchOf === undefined ? [ofTranscript(all.length === 1 ? file : named(at), messages)] : [],
    ),
  )
}

/** The conversations of a file. A data set is recognized by its fields, unless a format is named. */
const conversationsIn = (
  file: string,
  text: string,
  options: LoadOptions,
): Either.Either<ReadonlyArray<Conversation>, UsageError | TranscriptError> =>
  Either.gen(function* () {
    const dataSet =
      options.format === "auto" ? readDataSet(valueOr(withoutMark(text), null)) : Either.right(null)
    const found = yield* Either.mapLeft(
      dataSet,
      ({ message }) => new UsageError({ problem: `${file}: ${message}` }),
    )
    if (found === null) return yield* transcriptsIn(file, text, options)
    const all = found.map((one) => ({ ...one, name: `${file}#${one.name}` }))
    if (Option.isNone(options.pick)) return all
    const one = all[options.pick.value]
    if (one !== undefined) return [one]
    const allowed = all.length === 1 ? "0" : `0 to ${all.length - 1}`
    return yield* Either.left(
      new UsageError({
        problem: `${file}: there is no conversation ${options.pick.value}, the file holds ${all.length}; allowed: ${allowed}`,
      }),
    )
  })

/** The conversations of all files, read before the first replay. With `--pick`, one conversation of each file. */
export const labConversations = (
  files: ReadonlyArray<string>,
  options: LoadOptions,
): Effect.Effect<ReadonlyArray<Conversation>, UsageError | TranscriptError> =>
  Effect.zipRight(
    noOptionAmong(files),
    Effect.forEach(files, (file) =>
      Effect.flatMap(readText(file), (text) => conversationsIn(file, text, options)),
    ),
  ).pipe(Effect.map((found) => found.flat()))
