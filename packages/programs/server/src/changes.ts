/** The events of a session as server-sent events, which go on where they stopped. */
import { HttpServerResponse } from "@effect/platform"
import type { EventCodec } from "@memfold/core"
import type { Problem } from "@memfold/client/api"
import { Cause, Chunk, Duration, Effect, Option, Schedule, Stream } from "effect"
import type { TenantMemory } from "./TenantMemory.js"

/** How often something is sent to a connection that would be silent otherwise: proxies end what is silent. */
const beat = Duration.seconds(15)

/** The id of an event in the stream: its version and its id, because a session that was started again has other events. */
const idOf = ({ version, id }: EventCodec.RecordedEvent): string => `${version}:${encodeURIComponent(id)}`

const parse = (id: string): { readonly version: number; readonly id: string } | null => {
  const [, version, event] = /^(\d{1,15}):(.+)$/.exec(id) ?? []
  return event === undefined ? null : { version: Number(version), id: event }
}

const written = (recorded: EventCodec.RecordedEvent): string =>
  `id: ${idOf(recorded)}\nevent: ${recorded.event._tag}\ndata: ${JSON.stringify(recorded)}\n\n`

/** The events behind an event that came last; from the first one, if the log has another event there now. */
const behind = (memory: TenantMemory, session: string, last: string) =>
  Stream.unwrap(
    Effect.gen(function* () {
      const known = parse(last)
      if (known === null || known.version < 1) return memory.subscribe(session)
      const { version } = known
      const there = yield* Stream.runHead(
        memory.events(session, { fromVersion: version, toVersion: version }),
      )
      const goesOn = Option.exists(there, (recorded) => idOf(recorded) === last)
      // Subscribed from the event itself, so that what is deleted and started again is noticed; it is not sent twice.
      return goesOn
        ? Stream.filter(
            memory.subscribe(session, { fromVersion: version }),
            (recorded) => idOf(recorded) !== last,
          )
        : memory.subscribe(session)
    }),
  )

/**
 * The response with the events of a session.
 *
 * @param lastEventId - the id of the event that came last, to go on behind it
 * @param closing - ends the stream when the service ends
 */
export const changes = (
  memory: TenantMemory,
  session: string,
  {
    lastEventId,
    fromVersion,
    closing,
    problemFor,
  }: {
    readonly lastEventId: string | undefined
    readonly fromVersion: number | undefined
    readonly closing: Effect.Effect<void>
    readonly problemFor: (error: unknown) => Problem
  },
) => {
  const events =
    lastEventId === undefined
      ? memory.subscribe(session, fromVersion === undefined ? {} : { fromVersion })
      : behind(memory, session, lastEventId)
  const sent = Stream.merge(
    // What fails in the middle is the last thing that is sent.
    Stream.catchAllCause(Stream.map(events, written), (cause) =>
      Cause.isInterruptedOnly(cause)
        ? Stream.empty
        : Stream.make(`event: problem\ndata: ${JSON.stringify(problemFor(Cause.squash(cause)))}\n\n`),
    ),
    // The first line tells the client at once that the stream is there.
    Stream.concat(Stream.make(":\n\n"), Stream.as(Stream.fromSchedule(Schedule.spaced(beat)), ":\n\n")),
    { haltStrategy: "left" },
  ).pipe(
    Stream.interruptWhen(closing),
    Stream.chunks,
    Stream.map((chunk) => Chunk.join(chunk, "")),
    Stream.encodeText,
  )
  return HttpServerResponse.stream(sent, {
    contentType: "text/event-stream",
    headers: { "cache-control": "no-store", "x-accel-buffering": "no" },
  })
}
