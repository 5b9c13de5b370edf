/** Events as lines of JSON, with a last line that says whether all of them came. */
import { HttpServerResponse } from "@effect/platform"
import type { Problem } from "@memfold/client/api"
import type { EventCodec } from "@memfold/core"
import { Cause, Stream } from "effect"

const line = (value: unknown): string => `${JSON.stringify(value)}\n`

export const jsonLinesType = "application/x-ndjson"

/** The response with a line for each value, and one for the problem where there is one. */
export const jsonLines = <A, E>(
  values: Stream.Stream<A, E>,
  problemFor: (error: unknown) => Problem,
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.stream(
    // One by one: the next value is written once the client has taken this one.
    Stream.map(Stream.rechunk(values, 1), line).pipe(
      Stream.catchAllCause((cause) =>
        Cause.isInterruptedOnly(cause) ? Stream.empty : Stream.make(line(problemFor(Cause.squash(cause)))),
      ),
      Stream.encodeText,
    ),
    { contentType: jsonLinesType },
  )

/** The response with events. A response that breaks off would look like a whole one. */
export const exported = <E>(
  events: Stream.Stream<EventCodec.RecordedEvent, E>,
  problemFor: (error: unknown) => Problem,
) => jsonLines(Stream.concat(events, Stream.make({ complete: true })), problemFor)
