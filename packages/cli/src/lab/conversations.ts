/** The conversations of files: transcripts in every format that the other commands read, and data sets with questions. */
import { type Conversation, ofTranscript, readDataSet } from "@memfold/lab"
import { Effect, Either, Option } from "effect"
import { withoutMark } from "../transcript/source.js"
import { parseAll, type TranscriptError } from "../transcript/Transcript.js"
import { UsageError } from "../command/failure.js"
import { type LoadOptions, noOptionAmong, readText } from "../command/transcripts.js"

const parsed = (text: string): unknown =>
  Either.getOrNull(Either.try(() => JSON.parse(withoutMark(text)) as unknown))

/** All conversations of a file. A data set is recognized by its fields, unless a format is named. */
const conversationsIn = (
  file: string,
  text: string,
  format: string,
): Either.Either<ReadonlyArray<Conversation>, UsageError | TranscriptError> => {
  const dataSet = format === "auto" ? readDataSet(parsed(text)) : Either.right(null)
  return Either.flatMap(
    Either.mapLeft(dataSet, ({ message }) => new UsageError({ problem: `${file}: ${message}` })),
    (found): Either.Either<ReadonlyArray<Conversation>, UsageError | TranscriptError> => {
      const named = (name: string | number) => `${file}#${name}`
      if (found !== null) return Either.right(found.map((one) => ({ ...one, name: named(one.name) })))
      return Either.map(parseAll(text, { file, format }), (all) =>
        all.map(({ messages }, at) => ofTranscript(all.length === 1 ? file : named(at), messages)),
      )
    },
  )
}

/** The conversations of all files, read before the first replay. With `--pick`, one conversation of each file. */
export const labConversations = (
  files: ReadonlyArray<string>,
  { format, pick }: LoadOptions,
): Effect.Effect<ReadonlyArray<Conversation>, UsageError | TranscriptError> =>
  Effect.zipRight(
    noOptionAmong(files),
    Effect.forEach(files, (file) =>
      Effect.gen(function* () {
        const all = yield* conversationsIn(file, yield* readText(file), format)
        if (Option.isNone(pick)) return all
        const one = all[pick.value]
        if (one !== undefined) return [one]
        const allowed = all.length === 1 ? "0" : `0 to ${all.length - 1}`
        return yield* new UsageError({
          problem: `${file}: there is no conversation ${pick.value}, the file holds ${all.length}; allowed: ${allowed}`,
        })
      }),
    ),
  ).pipe(Effect.map((found) => found.flat()))
