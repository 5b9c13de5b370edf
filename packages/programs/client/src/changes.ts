/** The events of a session as they come, over connections that may break. */
import { createParser, type EventSourceMessage } from "eventsource-parser"
import type { Problem } from "./statuses.js"
import { isPassing, ServiceError } from "./ServiceError.js"
import { isProblem } from "./statuses.js"

/** Where the events come from. */
export interface ChangesSource {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly fetch: typeof globalThis.fetch
  /** The id of the event to go on behind; from where the URL begins by default. */
  readonly after?: string | undefined
}

/** How long a client waits before it connects again, in milliseconds: at first, and at the most. */
const pauses = { first: 250, most: 10_000 }

/** Waits, or returns at once when it is stopped. */
export const wait = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const timer = setTimeout(resolve, milliseconds)
    signal.addEventListener("abort", () => {
      clearTimeout(timer)
      resolve()
    })
  })

const problemOf = async (response: Response): Promise<ServiceError> => {
  const body: unknown = await response.json().catch(() => null)
  return new ServiceError(
    isProblem(body) ? { problem: body } : { status: response.status, detail: "The service sent no events" },
  )
}

/**
 * Follows a stream of events. When a connection breaks, it connects again and goes on behind the event that came last. It ends when the
 * caller stops, and fails if the service refuses.
 */
export const followChanges = async function* <Recorded>(
  { url, headers, fetch, after }: ChangesSource,
  signal: AbortSignal,
): AsyncGenerator<Recorded, void, undefined> {
  let last = after
  let pause = pauses.first
  while (!signal.aborted) {
    const response = await fetch(url, {
      headers: {
        ...headers,
        accept: "text/event-stream",
        ...(last === undefined ? {} : { "last-event-id": last }),
      },
      signal,
    }).catch(() => null)
    if (response !== null && !response.ok && !isPassing(response)) throw await problemOf(response)
    if (response?.ok === true && response.body !== null) {
      const ready: Array<EventSourceMessage> = []
      const parser = createParser({ onEvent: (event) => ready.push(event) })
      const decoder = new TextDecoder()
      try {
        for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
          parser.feed(decoder.decode(chunk, { stream: true }))
          for (const { id, event, data } of ready.splice(0)) {
            if (event === "problem") throw new ServiceError({ problem: JSON.parse(data) as Problem })
            last = id ?? last
            pause = pauses.first
            yield JSON.parse(data) as Recorded
          }
        }
      } catch (error) {
        // All else is a connection that broke.
        if (error instanceof ServiceError && error.status !== 503) throw error
      }
    }
    await wait(pause, signal)
    pause = Math.min(pause * 2, pauses.most)
  }
}
