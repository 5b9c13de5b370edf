/** Reads transcript files and derives a session id from each. */
import { Console, Effect, Either, Option } from "effect"
import { resolve } from "node:path"
import { parse, type TranscriptError } from "../transcript/Transcript.js"
import type { Message } from "@memfold/core"
import * as Input from "../input/Input.js"
import { clean } from "../terminal/terminal.js"
import { leftOutLine } from "../transcript/leftOut.js"
import { UsageError } from "./failure.js"

/** A file's conversation. `broken` is the error if the file could not be read to its end. */
export interface Loaded {
  readonly file: string
  /** Identifies this conversation among all files. */
  readonly source: string
  /** The default session id: the name of the file. */
  readonly session: string
  readonly messages: ReadonlyArray<Message.Message>
  readonly broken: TranscriptError | null
}

export interface LoadOptions {
  readonly format: string
  readonly pick: Option.Option<number>
  /** Whether lines and entries that cannot be read are left out, and named on standard error. */
  readonly skipDamaged?: boolean
}

export const readText = (file: string): Effect.Effect<string, UsageError> =>
  Effect.mapError(Input.readText(file), ({ message }) => new UsageError({ problem: message }))

const load = (
  file: string,
  { format, pick, skipDamaged = false }: LoadOptions,
): Effect.Effect<Loaded, UsageError | TranscriptError> =>
  Effect.gen(function* () {
    const text = yield* readText(file)
    const index = Option.getOrUndefined(pick)
    const name = Input.nameOf(file)
    const session = index === undefined ? name : `${name}-${index}`
    const parsed = parse(text, {
      file,
      format,
      skipDamaged,
      leftOut: false,
      ...(index === undefined ? {} : { pick: index }),
    })
    const source = `${resolve(file)}#${index ?? 0}`
    if (Either.isRight(parsed)) {
      const { messages, leftOut = [] } = parsed.right
      if (skipDamaged)
        yield* Effect.forEach(leftOut, (one) =>
          Console.error(clean(`memfold: ${file}: not read: ${leftOutLine(one)}`)),
        )
      return { file, source, session, messages, broken: null }
    }
    // The messages before the broken place can still be replayed.
    const { left: broken } = parsed
    return broken.readable.length === 0
      ? yield* broken
      : { file, source, session, messages: broken.readable, broken }
  })

/** Fails for an operand that was meant to be an option. */
export const noOptionAmong = (files: ReadonlyArray<string>): Effect.Effect<void, UsageError> => {
  const option = files.find((file) => file.startsWith("-"))
  return option === undefined
    ? Effect.void
    : new UsageError({
        problem: `${option} stands where a file is expected; see --help`,
      })
}

/** Reads all files before the first is used: a wrong name changes nothing. */
export const loadAll = (
  files: ReadonlyArray<string>,
  options: LoadOptions,
): Effect.Effect<ReadonlyArray<Loaded>, UsageError | TranscriptError> =>
  Effect.zipRight(
    noOptionAmong(files),
    Effect.forEach(files, (file) => load(file, options)),
  )
