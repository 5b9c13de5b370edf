/** The body of a request of a client. */
import type { IncomingMessage } from "node:http"
import { brotliDecompressSync, gunzipSync, inflateSync } from "node:zlib"

/** A body is larger than is allowed. */
export class BodyTooLarge extends Error {
  override readonly name = "BodyTooLarge"
}

/** There is no memory for a body now. */
export class NoRoom extends Error {
  override readonly name = "NoRoom"
}

/** A body ended before its end. */
export class BodyBroken extends Error {
  override readonly name = "BodyBroken"
}

/**
 * All bytes of a body. What is left of one that is too large, or is not waited for any more, stays unread: the connection is not ended,
 * so that its client can be told why.
 *
 * @param most - how many there may be
 * @param signal - ends the wait
 * @param take - takes memory for so many bytes that have come, or says that there is none
 * @throws BodyTooLarge, BodyBroken, NoRoom; the reason of the signal
 */
export const readBody = (
  source: IncomingMessage,
  most: number,
  signal?: AbortSignal,
  take: (bytes: number) => boolean = () => true,
): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const chunks: Array<Buffer> = []
    let size = 0
    const stop = (): void => {
      source.off("data", onData).off("end", onEnd).off("close", onClose)
      signal?.removeEventListener("abort", onAbort)
      source.pause()
    }
    const fail = (error: unknown): void => {
      stop()
      reject(error instanceof Error ? error : new BodyBroken("the body was not waited for"))
    }
    const tooLarge = (): void => fail(new BodyTooLarge(`a body has at most ${most} bytes`))
    const onData = (chunk: Buffer): void => {
      if (!take(chunk.length)) return fail(new NoRoom("there is no memory for a body now"))
      size += chunk.length
      chunks.push(chunk)
      if (size > most) tooLarge()
    }
    const onEnd = (): void => {
      stop()
      resolve(Buffer.concat(chunks, size))
    }
    const onClose = (): void => fail(new BodyBroken("the body ended before its end"))
    const onAbort = (): void => fail(signal?.reason)
    // Whoever reads it no more must not fail because of it.
    source.on("error", () => undefined)
    if (Number(source.headers["content-length"] ?? 0) > most) return tooLarge()
    signal?.addEventListener("abort", onAbort)
    source.on("data", onData).once("end", onEnd).once("close", onClose)
  })

/** The encodings that Node takes apart. */
const unpackers: ReadonlyMap<string, typeof gunzipSync> = new Map([
  ["gzip", gunzipSync],
  ["x-gzip", gunzipSync],
  ["br", brotliDecompressSync],
  ["deflate", inflateSync],
])

/** The text of a body; `null` if it is none in UTF-8, or is compressed in a way that Node does not know. */
export const textOf = (bytes: Buffer, encoding: string | undefined, most: number): string | null => {
  try {
    const limit = { maxOutputLength: most }
    const name = (encoding ?? "identity").trim().toLowerCase()
    const plain = name === "identity" ? bytes : unpackers.get(name)?.(bytes, limit)
    return plain === undefined
      ? null
      : new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(plain)
  } catch {
    return null
  }
}
