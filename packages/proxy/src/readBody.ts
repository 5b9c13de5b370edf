/** The body of a request of a client. */
import type { IncomingMessage } from "node:http"
import { brotliDecompressSync, gunzipSync, inflateSync } from "node:zlib"

/** A body is larger than is allowed. */
export class BodyTooLarge extends Error {
  override readonly name = "BodyTooLarge"
}

/**
 * All bytes of a body.
 *
 * @param most - how many there may be
 * @throws BodyTooLarge; the error of the connection, if it broke off
 */
export const readBody = async (request: IncomingMessage, most: number): Promise<Buffer> => {
  const chunks: Array<Buffer> = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > most) throw new BodyTooLarge(`a body has at most ${most} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, size)
}

/** The text of a body; `null` if it is none in UTF-8, or is compressed in a way that Node does not know. */
export const textOf = (bytes: Buffer, encoding: string | undefined, most: number): string | null => {
  try {
    const limit = { maxOutputLength: most }
    const plain =
      encoding === undefined || encoding === "identity"
        ? bytes
        : encoding === "gzip"
          ? gunzipSync(bytes, limit)
          : encoding === "br"
            ? brotliDecompressSync(bytes, limit)
            : encoding === "deflate"
              ? inflateSync(bytes, limit)
              : null
    return plain === null ? null : new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(plain)
  } catch {
    return null
  }
}
