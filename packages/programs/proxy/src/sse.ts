/** The events of a stream, from its bytes. */
import { createParser } from "eventsource-parser"

/** Reads the events of a stream. */
export interface EventReader {
  /** Takes the next bytes, and tells each event once it is whole. */
  readonly take: (bytes: Uint8Array) => void
  /** The stream has come to its end: tells the last event, also if no empty line is behind it. */
  readonly end: () => void
}

/** A reader that tells each event: its name, if the stream has one, and its data. */
export const eventReader = (onEvent: (name: string | undefined, data: string) => void): EventReader => {
  const decoder = new TextDecoder()
  const parser = createParser({ onEvent: ({ event, data }) => onEvent(event, data) })
  return {
    take: (bytes) => parser.feed(decoder.decode(bytes, { stream: true })),
    end: () => parser.feed(`${decoder.decode()}\n\n`),
  }
}
