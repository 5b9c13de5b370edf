/** The events of a session as they come. */
import { followChanges } from "@memfold/client/changes"
import type { EventCodec } from "@memfold/core"
import { addressOf, authorization, ofSession } from "./ask.js"

/**
 * Calls back for each event of a session behind a version, until it is aborted.
 *
 * @param onEvent - gets each event, in order
 * @param onEnd - gets why no more events come, if the service refuses
 */
export const follow = async (
  session: string,
  fromVersion: number,
  {
    signal,
    onEvent,
    onEnd,
  }: {
    readonly signal: AbortSignal
    readonly onEvent: (recorded: EventCodec.RecordedEvent) => void
    readonly onEnd: (error: unknown) => void
  },
): Promise<void> => {
  try {
    const url = `${addressOf(ofSession(session, "/changes"))}?fromVersion=${fromVersion}`
    const source = { url, headers: authorization(), fetch: fetch.bind(window) }
    for await (const recorded of followChanges(source, signal))
      onEvent(recorded as unknown as EventCodec.RecordedEvent)
  } catch (error) {
    if (!signal.aborted) onEnd(error)
  }
}
