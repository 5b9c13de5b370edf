/** The events of a stream, from its bytes. */
import { createParser } from "eventsource-parser"

/** Reads bytes of a stream, and tells each event once it is whole. */
export const eventReader = (onEvent: (name: string | undefined, data: string) => void) => {
  const decoder = new TextDecoder()
  const parser = createParser({ onEvent: ({ event, data }) => onEvent(event, data) })
  return (bytes: Uint8Array): void => parser.feed(decoder.decode(bytes, { stream: true }))
}
