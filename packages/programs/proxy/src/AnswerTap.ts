/** Reads a copy of an answer, and has it stored before the client knows that it is whole. */
import { type Fields, isFields } from "@memfold/codec"
import type { Dialect } from "./dialects.js"
import type { Tap } from "./forward.js"
import { eventReader } from "./sse.js"

/** The largest answer that is read, in bytes; a larger one passes unread. */
const mostBytes = 64 * 2 ** 20

/** Reads the body of an answer. `take` returns the whole answer as soon as it is there. */
interface Reader {
  readonly take: (bytes: Uint8Array) => Fields | null
  readonly end: () => Fields | null
}

/** An answer that comes as events. */
const streamed = (dialect: Dialect): Reader => {
  const assembly = dialect.assembly()
  let isLast = false
  const read = eventReader((_, data) => {
    if (data === "[DONE]") {
      isLast = true
      return
    }
    const parsed: unknown = JSON.parse(data)
    if (!isFields(parsed)) return
    assembly.take(parsed)
    const { type } = parsed
    if (type === "message_stop" || type === "response.completed" || type === "response.incomplete")
      isLast = true
  })
  return {
    take: (bytes) => {
      read(bytes)
      return isLast ? assembly.whole() : null
    },
    end: () => assembly.whole(),
  }
}

/** An answer that is one object. */
const whole = (length: number): Reader => {
  const chunks: Array<Uint8Array> = []
  let size = 0
  const parsed = (): Fields | null => {
    const answer: unknown = JSON.parse(Buffer.concat(chunks).toString("utf8"))
    return isFields(answer) ? answer : null
  }
  return {
    take: (bytes) => {
      size += bytes.length
      if (size > mostBytes) throw new RangeError("the answer is too large to be read")
      chunks.push(bytes)
      return size === length ? parsed() : null
    },
    end: parsed,
  }
}

/**
 * A tap that hands over the answer once, if it is whole and no error. The last bytes wait for what is done with it: who has read an
 * answer to its end finds it in the memory.
 *
 * @param dialect - how to read it
 * @param onAnswer - what is done with it; it must not reject
 */
export const answerTap = (dialect: Dialect, onAnswer: (answer: Fields) => Promise<void>): Tap => {
  let reader: Reader | null = null
  const hand = (answer: Fields | null): Promise<void> | undefined => {
    if (answer === null) return undefined
    reader = null
    return onAnswer(answer)
  }
  const safely = (look: (reader: Reader) => Fields | null): Promise<void> | undefined => {
    if (reader === null) return undefined
    try {
      return hand(look(reader))
    } catch {
      // An answer that cannot be read passes all the same.
      reader = null
      return undefined
    }
  }
  return {
    head: (status, { "content-type": type = "", "content-length": length = "-1" }) => {
      if (status !== 200) return
      if (/^text\/event-stream\b/i.test(type)) reader = streamed(dialect)
      else if (/\bjson\b/i.test(type)) reader = whole(Number(length))
    },
    chunk: (bytes) => safely((reader) => reader.take(bytes)),
    end: () => safely((reader) => reader.end()),
  }
}
