/** Events as lines of JSON, with a last line that says whether all of them came. */
import { HttpServerResponse } from "@effect/platform"
import { type Problem, problem } from "@memfold/client/api"
import type { EventCodec } from "@memfold/core"
import { Cause, Effect, Stream } from "effect"
import type { Room } from "./limits.js"

const line = (value: unknown): string => `${JSON.stringify(value)}\n`

const busy = problem(503, "Busy", "As many exports are under way as may be; ask again when one has ended")

/** A stream that is one of so many at a time: each has a page of a log in memory, as long as its client reads. */
const oneOf = <A, E>(room: Room, key: string, stream: Stream.Stream<A, E>) =>
  Stream.unwrapScoped(
    Effect.acquireRelease(
      Effect.sync(() => room.take(key, 1)),
      (taken) => Effect.sync(() => taken && room.give(key, 1)),
    ).pipe(Effect.map((taken): Stream.Stream<A, E | Problem> => (taken ? stream : Stream.fail(busy)))),
  )

/** The response with events. A response that breaks off would look like a whole one. */
export const exported = <E>(
  events: Stream.Stream<EventCodec.RecordedEvent, E>,
  problemFor: (error: unknown) => Problem,
  room: Room,
  key: string,
) =>
  HttpServerResponse.stream(
    // One by one: the next event is written once the client has taken this one.
    Stream.concat(
      Stream.map(Stream.rechunk(oneOf(room, key, events), 1), line),
      Stream.make(line({ complete: true })),
    ).pipe(
      Stream.catchAllCause((cause) =>
        Cause.isInterruptedOnly(cause) ? Stream.empty : Stream.make(line(problemFor(Cause.squash(cause)))),
      ),
      Stream.encodeText,
    ),
    { contentType: "application/x-ndjson" },
  )
