/** Reads a copy of an answer, and has it stored before the client knows that it is whole. */
import { type Fields, isFields } from "@memfold/codec"
import type { Dialect } from "./dialects.js"
import { mostRead, type Tap } from "./forward.js"
import { eventReader } from "./sse.js"
import { answerIn, checkNotFailed, ofModel, Unclear } from "./Unclear.js"

/** Reads the body of an answer. `take` returns the whole answer as soon as it is there. */
interface Reader {
  readonly take: (bytes: Uint8Array) => Fields | null
  readonly end: () => Fields | null
}

/** Data of these events is the last one. */
const lastEvents: ReadonlySet<unknown> = new Set([
  "message_stop",
  "response.completed",
  "response.incomplete",
])

const streamed = (dialect: Dialect): Reader => {
  const assembly = dialect.assembly()
  let isLast = false
  const events = eventReader((name, text) => {
    const data = text.trim()
    isLast ||= data === "[DONE]"
    if (isLast || data === "") return
    const parsed = answerIn(data)
    if (!isFields(parsed)) return
    const event = name === undefined || "type" in parsed ? parsed : { type: name, ...parsed }
    assembly.take(event)
    isLast = lastEvents.has(event["type"])
  })
  return {
    take: (bytes) => {
      events.take(bytes)
      return isLast ? assembly.whole() : null
    },
    end: () => {
      events.end()
      return assembly.whole()
    },
  }
}

const whole = (length: number): Reader => {
  const chunks: Array<Uint8Array> = []
  let size = 0
  const parsed = (): Fields | null => {
    const answer = answerIn(Buffer.concat(chunks).toString("utf8"))
    if (!isFields(answer)) return null
    checkNotFailed(answer)
    return answer
  }
  return {
    take: (bytes) => {
      size += bytes.length
      chunks.push(bytes)
      return size === length ? parsed() : null
    },
    end: parsed,
  }
}

export interface AnswerUse {
  /** It is whole. It must not reject. */
  readonly onAnswer: (answer: Fields) => Promise<void>
  /** It cannot be read to its end: why, in a word. */
  readonly onNone?: (reason: Unclear["reason"] | "unreadable") => void
}

/**
 * A tap that hands over the answer once, if it is whole and no error. The last bytes wait for what is done with it: who has read an
 * answer to its end finds it in the memory.
 *
 * @param dialect - how to read it
 * @param use - what is done with it
 */
export const answerTap = (dialect: Dialect, { onAnswer, onNone }: AnswerUse): Tap => {
  let reader: Reader | null = null
  let size = 0
  const safely = (look: (reader: Reader) => Fields | null): Promise<void> | undefined => {
    if (reader === null) return undefined
    try {
      const answer = look(reader)
      if (answer === null) return undefined
      reader = null
      return onAnswer(ofModel(answer))
    } catch (error) {
      // An answer that cannot be read passes all the same.
      reader = null
      onNone?.(error instanceof Unclear ? error.reason : "unreadable")
      return undefined
    }
  }
  return {
    head: (status, { "content-type": type = "", "content-length": length = "-1" }) => {
      if (status !== 200) return
      if (/^text\/event-stream\b/i.test(type)) reader = streamed(dialect)
      else if (/\bjson\b/i.test(type)) reader = whole(Number(length))
      else onNone?.("unreadable")
    },
    chunk: (bytes) =>
      safely((reader) => {
        size += bytes.length
        if (size > mostRead) throw new Unclear("too-large")
        return reader.take(bytes)
      }),
    end: () =>
      safely((reader) => {
        const answer = reader.end()
        if (answer === null) throw new Unclear("broken-off")
        return answer
      }),
  }
}
