/** The files of an import, as text; and telling SQLite's apart. */
import { Effect, Either } from "effect"
import { open, readFile } from "node:fs/promises"
import { type ChatEntry, entriesOf } from "../transcript/chat.js"
import { readSource, type Source } from "../transcript/source.js"
import { parse, type TranscriptError } from "../transcript/Transcript.js"
import { ImportError, inFile } from "./ImportError.js"
import { type OldMessage, readMessages, withoutPromptSize } from "./messages.js"

const failed = (file: string, error: unknown): ImportError => {
  const code = error instanceof Error && "code" in error ? error.code : ""
  switch (code) {
    case "ENOENT":
      return new ImportError({ file, problem: "there is no such file" })
    case "EISDIR":
      return new ImportError({ file, problem: "it is a folder" })
    case "ERR_ENCODING_INVALID_ENCODED_DATA":
      return new ImportError({ file, problem: "it is not UTF-8 text; convert it first" })
    default:
      return new ImportError({ file, problem: `it cannot be read (${String(code)})` })
  }
}

/** The first bytes of every SQLite file. */
const magic = "SQLite format 3\0"

/** Whether a file is a SQLite database. */
export const isSqlite = (file: string): Effect.Effect<boolean, ImportError> =>
  Effect.tryPromise({
    try: async () => {
      const handle = await open(file)
      try {
        const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(magic.length) })
        return buffer.toString("latin1", 0, bytesRead) === magic
      } finally {
        await handle.close()
      }
    },
    catch: (error) => failed(file, error),
  })

/** The text of a file. Fails if it is not UTF-8: another encoding would lose characters silently. */
export const readText = (file: string): Effect.Effect<string, ImportError> =>
  Effect.tryPromise({
    try: async () => new TextDecoder("utf-8", { fatal: true }).decode(await readFile(file)),
    catch: (error) => failed(file, error),
  })

/** Reads a file as JSON or JSON Lines. */
export const readJson = (file: string): Effect.Effect<Source, ImportError> =>
  Effect.flatMap(readText(file), (text) => Either.mapLeft(readSource(text), inFile(file)))

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
    const entries: Either.Either<ReadonlyArray<ChatEntry>, ImportError> = Either.mapLeft(
      Either.flatMap(readSource(text), entriesOf),
      inFile(file),
    )
    return yield* Either.mapLeft(readMessages(yield* entries), inFile(file))
  })
