/** The events of a stream, from its bytes. */
import { createParser } from "eventsource-parser"

/** Reads the events of a stream. */
export interface EventReader {
  /** Takes the next bytes, and tells each event once it is whole. */
  readonly take: (bytes: Uint8Array) => void
  /** The stream has come to its end: tells the last event, also if no empty line is behind it. */
  readonly end: () => void
}

/** How many characters the parser gets at a time: it looks for a carriage return up to the end of them, for each line again. */
const mostFed = 4_096

/** A reader that tells each event: its name, if the stream has one, and its data. */
export const eventReader = (onEvent: (name: string | undefined, data: string) => void): EventReader => {
  const decoder = new TextDecoder()
  const parser = createParser({ onEvent: ({ event, data }) => onEvent(event, data) })
  return {
    take: (bytes) => {
      const text = decoder.decode(bytes, { stream: true })
      for (let at = 0; at < text.length; at += mostFed) parser.feed(text.slice(at, at + mostFed))
    },
    end: () => parser.feed(`${decoder.decode()}\n\n`),
  }
}
