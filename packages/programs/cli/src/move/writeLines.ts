/** Writes a file of lines: the whole file or none. */
import { Chunk, Effect, Exit, Schema, Stream } from "effect"
import { existsSync } from "node:fs"
import { type FileHandle, open, rename, rm } from "node:fs/promises"

/** The file could not be written; no part of it is left. */
export class NotWritten extends Schema.TaggedError<NotWritten>()("NotWritten", {
  file: Schema.String,
  problem: Schema.String,
}) {
  override get message(): string {
    return `${this.file} ${this.problem}`
  }
}

/** Cannot be interrupted: a file must not be closed or renamed during a write. */
const attempt = <A>(file: string, work: () => Promise<A>): Effect.Effect<A, NotWritten> =>
  Effect.uninterruptible(
    Effect.tryPromise({
      try: work,
      catch: (error) => new NotWritten({ file, problem: `cannot be written: ${(error as Error).message}` }),
    }),
  )

const notThere = (file: string, problem = "exists already"): Effect.Effect<void, NotWritten> =>
  Effect.suspend(() => (existsSync(file) ? new NotWritten({ file, problem }) : Effect.void))

/**
 * Writes lines to a new file. They go to `FILE.partial`, which is renamed when all of them are on the disk, and removed
 * on a failure or an interruption.
 */
export const writeLines = <E>(
  file: string,
  lines: Stream.Stream<string, E>,
): Effect.Effect<void, E | NotWritten> => {
  const partial = `${file}.partial`
  const write = (handle: FileHandle) =>
    Effect.gen(function* () {
      yield* Stream.runForEachChunk(lines, (chunk) =>
        attempt(file, () =>
          handle.appendFile(
            Chunk.toReadonlyArray(chunk)
              .map((line) => `${line}\n`)
              .join(""),
          ),
        ),
      )
      yield* attempt(file, () => handle.sync())
      yield* notThere(file)
      yield* attempt(file, () => rename(partial, file))
    })
  const begun =
    "exists already: another export is writing it, or was stopped before it could remove it; remove it"
  return notThere(file).pipe(
    Effect.zipRight(notThere(partial, begun)),
    Effect.zipRight(
      Effect.acquireUseRelease(
        // Conversations are for the eyes of their owner.
        attempt(file, () => open(partial, "wx", 0o600)),
        write,
        (handle, exit) =>
          Effect.promise(async () => {
            await handle.close().catch(() => {})
            if (Exit.isFailure(exit)) await rm(partial, { force: true }).catch(() => {})
          }),
      ),
    ),
  )
}
