import { Effect, Stream } from "effect"
import { after, breather } from "@memfold/log/breathe"
import type { RecordedEvent } from "../event/EventCodec.js"

/**
 * Looks at each event of a stream, until a look returns `false`; with a pause wherever one is due.
 *
 * @param between - how many events there are between two looks at the clock; 1 where each is much work
 */
export const eachEvent = <E>(
  events: Stream.Stream<RecordedEvent, E>,
  look: (recorded: RecordedEvent) => boolean | void,
  between?: number,
): Effect.Effect<void, E> =>
  Effect.suspend(() => {
    const breathe = breather(between)
    return Stream.runForEachWhile(events, (recorded) =>
      after(
        breathe(),
        Effect.sync(() => look(recorded) !== false),
      ),
    )
  })
