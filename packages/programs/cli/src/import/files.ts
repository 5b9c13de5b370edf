/** The files of an import, as text; and telling SQLite's apart. */
import { withoutPromptSize } from "@memfold/lab"
import { Effect, Either } from "effect"
import * as Input from "../input/Input.js"
import { messagesIn } from "../transcript/chat.js"
import { isObject, readSource, type Row, type Source } from "../transcript/source.js"
import { parse, type TranscriptError } from "../transcript/Transcript.js"
import { ImportError, inFile } from "./ImportError.js"
import { type OldMessage, readMessages } from "./messages.js"

/** The first bytes of every SQLite file. */
const magic = "SQLite format 3\0"

const failed = ({ file, problem }: Input.InputError): ImportError => new ImportError({ file, problem })

export const isSqlite = (file: string): Effect.Effect<boolean, ImportError> =>
  Input.firstBytes(file, magic.length).pipe(
    Effect.map((bytes) => bytes?.toString("latin1") === magic),
    Effect.mapError(failed),
  )

export const readText = (file: string): Effect.Effect<string, ImportError> =>
  Effect.mapError(Input.readText(file), failed)

/** Reads a file as JSON or JSON Lines. */
export const readJson = (file: string): Effect.Effect<Source, ImportError> =>
  Effect.flatMap(readText(file), (text) => Either.mapLeft(readSource(text), inFile(file)))

/** One of several documents of a file, one behind the other: each is a conversation. */
const documentAt = (source: Source, pick: number): Source => {
  const isWhole = ({ value }: Row) =>
    Array.isArray(value) || (isObject(value) && Array.isArray(value["messages"]))
  const isOfDocuments = source.document === undefined && source.rows.every(isWhole)
  return isOfDocuments ? { ...source, document: source.rows[pick]?.value } : source
}

/**
 * The messages of a transcript. Chat Completions messages keep their ids, because rolling summaries refer to them; other
 * formats have no ids.
 */
export const readTranscript = (
  file: string,
  options: { readonly format: string; readonly pick?: number },
): Effect.Effect<ReadonlyArray<OldMessage>, ImportError | TranscriptError> =>
  Effect.gen(function* () {
    const text = yield* readText(file)
    const { messages, format } = yield* parse(text, { file, ...options })
    if (format !== "openai") {
      return messages.map((message) => ({ message: withoutPromptSize(message), id: null }))
    }
    const entries: Either.Either<ReadonlyArray<Row>, ImportError> = Either.mapLeft(
      Either.flatMap(readSource(text), (source) => messagesIn(documentAt(source, options.pick ?? 0))),
      inFile(file),
    )
    return yield* Either.mapLeft(readMessages(yield* entries), inFile(file))
  })
