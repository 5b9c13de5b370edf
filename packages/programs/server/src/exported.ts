/** Events as lines of JSON, with a last line that says whether all of them came. */
import { HttpServerResponse } from "@effect/platform"
import type { Problem } from "@memfold/client/api"
import type { EventCodec } from "@memfold/core"
import { Cause, Stream } from "effect"

const line = (value: unknown): string => `${JSON.stringify(value)}\n`

/** The response with events. A response that breaks off would look like a whole one. */
export const exported = <E>(
  events: Stream.Stream<EventCodec.RecordedEvent, E>,
  problemFor: (error: unknown) => Problem,
) =>
  HttpServerResponse.stream(
    // One by one: the next event is written once the client has taken this one.
    Stream.concat(Stream.map(Stream.rechunk(events, 1), line), Stream.make(line({ complete: true }))).pipe(
      Stream.catchAllCause((cause) =>
        Cause.isInterruptedOnly(cause) ? Stream.empty : Stream.make(line(problemFor(Cause.squash(cause)))),
      ),
      Stream.encodeText,
    ),
    { contentType: "application/x-ndjson" },
  )
