/**
 * Reading the files that a command is given. Whatever they are, a read ends: a file, a pipe or standard input is read up to a
 * limit, and a device, which may have no end, is not read at all.
 */
import { Context, Effect, Schema } from "effect"
import { constants, type Stats } from "node:fs"
import { type FileHandle, open } from "node:fs/promises"
import { parse } from "node:path"
import { isatty } from "node:tty"
import { TextDecoder } from "node:util"

/** The name of a file without its folder and its ending. */
export const nameOf = (file: string): string => parse(file).name

const mebibyte = 2 ** 20

/** The most MiB of a text: a JavaScript string cannot be longer in this version of Node. */
export const largestLimit = 511

/** How many MiB are read by default. The largest data set that `memfold lab` reads as it is has 265. */
export const defaultLimit = 400

/** The most MiB of a file that are read; of an export, of each line. */
export class InputLimit extends Context.Reference<InputLimit>()("memfold/cli/InputLimit", {
  defaultValue: () => defaultLimit,
}) {}

/** A file cannot be read, or is not one to read. */
export class InputError extends Schema.TaggedError<InputError>()("InputError", {
  file: Schema.String,
  problem: Schema.String,
}) {
  override get message(): string {
    return `${this.file}: ${this.problem}`
  }
}

/** What is said of a file, or of a line, that is longer than the limit. */
export const tooLarge = (limit: number): string =>
  `it is larger than ${limit} MiB` +
  (limit < largestLimit ? `; --input-limit N reads up to N MiB, at most ${largestLimit}` : "")

/** Why a file could not be read, by the error of Node. */
export const problemOf = (error: unknown): string => {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error"
  switch (code) {
    case "ENOENT":
      return "there is no such file"
    case "EISDIR":
      return "it is a folder"
    case "ERR_ENCODING_INVALID_ENCODED_DATA":
      return "it is neither UTF-8 nor UTF-16 text; convert it first"
    default:
      return `it cannot be read (${code})`
  }
}

/** What begins with these bytes is no text, and how to get at what it holds. */
const packed: ReadonlyArray<readonly [first: string, problem: string]> = [
  ["1f8b", "it is compressed with gzip; unpack it first (gunzip -k)"],
  ["504b0304", "it is a ZIP archive; unpack it first (unzip), and name the file in it"],
  ["28b52ffd", "it is compressed with Zstandard; unpack it first (unzstd)"],
  ["fd377a585a00", "it is compressed with xz; unpack it first (unxz -k)"],
  ["425a68", "it is compressed with bzip2; unpack it first (bunzip2 -k)"],
]

/**
 * The decoder of a file's text, by its first bytes: of UTF-16, which PowerShell writes, with or without a byte order mark, or of
 * UTF-8. It fails at bytes of another encoding. Throws an {@link InputError} for a file that has to be unpacked first.
 */
export const decoderOf = (file: string, first: Buffer): TextDecoder => {
  const hex = first.toString("hex", 0, 6)
  const problem = packed.find(([start]) => hex.startsWith(start))?.[1]
  if (problem !== undefined) throw new InputError({ file, problem })
  // JSON and its lists begin with ASCII.
  const encoding = /^(fffe|(?!00)..00)/.test(hex)
    ? "utf-16le"
    : /^(feff|00(?!00)..)/.test(hex)
      ? "utf-16be"
      : "utf-8"
  return new TextDecoder(encoding, { fatal: true })
}

/** Why something is not to be read; `null` if it is. A terminal is: somebody types, and ends it. */
const refusal = (stats: Stats, fd: number, limit: number): string | null => {
  if (stats.isDirectory()) return "it is a folder"
  if ((stats.isCharacterDevice() || stats.isBlockDevice()) && !isatty(fd)) return "it is a device, not a file"
  return stats.size > limit * mebibyte ? tooLarge(limit) : null
}

/** Reads to the end, or to the first byte beyond the limit. */
const bytesOf = async (handle: FileHandle, limit: number): Promise<Buffer | null> => {
  const chunks: Array<Buffer> = []
  let size = 0
  for (;;) {
    const { bytesRead, buffer } = await handle.read({ buffer: Buffer.allocUnsafe(2 ** 18) })
    if (bytesRead === 0) return Buffer.concat(chunks, size)
    chunks.push(buffer.subarray(0, bytesRead))
    size += bytesRead
    if (size > limit * mebibyte) return null
  }
}

/** Opens something that may be read, and closes it afterwards. */
const opened = <A>(
  file: string,
  limit: number,
  use: (handle: FileHandle, stats: Stats) => Promise<A>,
): Effect.Effect<A, InputError> =>
  Effect.tryPromise({
    try: async () => {
      const handle = await open(file, constants.O_RDONLY)
      try {
        const stats = await handle.stat()
        const problem = refusal(stats, handle.fd, limit)
        if (problem !== null) throw new InputError({ file, problem })
        return await use(handle, stats)
      } finally {
        await handle.close()
      }
    },
    catch: (error) =>
      error instanceof InputError ? error : new InputError({ file, problem: problemOf(error) }),
  })

/** The text of a file, a pipe or standard input. Fails if it is neither UTF-8 nor UTF-16: another encoding would lose characters silently. */
export const readText = (file: string): Effect.Effect<string, InputError> =>
  Effect.flatMap(InputLimit, (limit) =>
    opened(file, limit, async (handle) => {
      const bytes = await bytesOf(handle, limit)
      if (bytes === null) throw new InputError({ file, problem: tooLarge(limit) })
      return decoderOf(file, bytes).decode(bytes)
    }),
  )

/** The first bytes of a file; `null` of a pipe, which can be read once only. */
export const firstBytes = (file: string, count: number): Effect.Effect<Buffer | null, InputError> =>
  opened(file, Number.POSITIVE_INFINITY, async (handle, stats) => {
    if (!stats.isFile()) return null
    const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(count), position: 0 })
    return buffer.subarray(0, bytesRead)
  })

/** Fails unless it is a file of UTF-8 text, as far as its first bytes tell, and none that is read once only. */
export const requireText = (file: string): Effect.Effect<void, InputError> =>
  opened(file, Number.POSITIVE_INFINITY, async (handle, stats) => {
    if (!stats.isFile()) throw new InputError({ file, problem: "it is not a file; write it to one first" })
    const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(6), position: 0 })
    const { encoding } = decoderOf(file, buffer.subarray(0, bytesRead))
    if (encoding !== "utf-8")
      throw new InputError({ file, problem: "it is UTF-16 text; convert it to UTF-8 first" })
  })
