/**
 * The events of a session as server-sent events, which go on where they stopped. A subscriber has what its connection takes, and nothing
 * beside. Those that are at one place of a session share what is read for them, and its bytes.
 */
import { HttpServerResponse } from "@effect/platform"
import type { EventCodec } from "@memfold/core"
import type { Problem } from "@memfold/client/api"
import { Cause, Duration, Effect, Fiber, Option, Stream } from "effect"
import type { TenantMemory } from "./TenantMemory.js"

/** How often something is sent to a connection that would be silent otherwise: proxies end what is silent. */
const beat = Duration.seconds(15)

/** How much text is made at a time, in UTF-16 code units; one event that is larger is a text of its own. */
const mostText = 2 ** 16

/** How many events are read at a time, at most. */
const mostEvents = 128

/** How many subscribers read at the same time: nobody else has events in memory. */
const reading = Effect.unsafeMakeSemaphore(8)

/** The event that came last, or the version to begin at. How many are read next follows from how large the last ones were. */
interface Position {
  readonly last: { readonly version: number; readonly id: string } | null
  readonly from: number
  readonly window: number
}

/** The id of an event in the stream: its version and its id, because a session that was started again has other events. */
const idOf = ({ version, id }: EventCodec.RecordedEvent): string => `${version}:${encodeURIComponent(id)}`

const placeOf = (recorded: EventCodec.RecordedEvent) => ({ version: recorded.version, id: idOf(recorded) })

const lastIn = (id: string): Position["last"] => {
  const [, digits] = /^(\d{1,15}):./.exec(id) ?? []
  return digits === undefined || Number(digits) < 1 ? null : { version: Number(digits), id }
}

const written = (recorded: EventCodec.RecordedEvent): string =>
  `id: ${idOf(recorded)}\nevent: ${recorded.event._tag}\ndata: ${JSON.stringify(recorded)}\n\n`

/** Reads on. The log may have another event where the last one was, or none: then it was started again, and is read from the first. */
const readOn = (memory: TenantMemory, session: string, { last, from, window }: Position) =>
  Effect.gen(function* () {
    const first = last?.version ?? from
    const range = { fromVersion: first, toVersion: first + window }
    let [text, count, isThere, newest] = ["", 0, last === null, last]
    // One by one, and none behind what is sent: each may be as large as a body.
    yield* Stream.runForEachWhile(memory.events(session, range), (recorded) =>
      Effect.sync(() => {
        if (recorded.version === last?.version) isThere = idOf(recorded) === last.id
        else {
          text += written(recorded)
          count++
          newest = placeOf(recorded)
        }
        return isThere && text.length <= mostText
      }),
    )
    if (!isThere) return { text: "", next: { last: null, from: 1, window }, isAgain: true }
    const next = {
      last: newest,
      from,
      window: text.length > mostText ? count : Math.min(window * 2, mostEvents),
    }
    return { text, next, isAgain: false }
  }).pipe(reading.withPermits(1))

/** Waits for an event behind a position. Subscribed from the last event itself, so that a log that is started again is noticed. */
const eventBehind = (memory: TenantMemory, session: string, { last, from }: Position) =>
  memory
    .subscribe(session, { fromVersion: last?.version ?? from })
    .pipe(Stream.filter((recorded) => idOf(recorded) !== last?.id))

/** What is sent next, and where that ends; `null` at the end of the stream. */
type Step = readonly [bytes: Uint8Array, next: Position | null]

const encoder = new TextEncoder()

/** The next step of a subscription: what is there, as much as is taken at once; what comes later, event by event. */
const nextOf = (memory: TenantMemory, session: string, closing: Effect.Effect<void>) => {
  const said = (text: string, next: Position | null): Step => [encoder.encode(text), next]
  const read = (position: Position): Effect.Effect<Step, unknown> =>
    Effect.flatMap(readOn(memory, session, position), ({ text, next, isAgain }) =>
      text === "" ? (isAgain ? read(next) : wait(next)) : Effect.succeed(said(text, next)),
    )
  const wait = (position: Position): Effect.Effect<Step, unknown> => {
    const come = Effect.flatMap(
      Stream.runHead(eventBehind(memory, session, position)),
      Option.match({
        onNone: () => read(position),
        onSome: (event) =>
          event.version === (position.last?.version ?? position.from - 1) + 1
            ? Effect.succeed(said(written(event), { ...position, last: placeOf(event) }))
            : read(position),
      }),
    )
    const silence = Effect.as(Effect.sleep(beat), said(":\n\n", position))
    return Effect.raceFirst(come, Effect.raceFirst(silence, Effect.as(closing, said("", null))))
  }
  return (position: Position): Effect.Effect<Step, unknown> =>
    Effect.flatMap(memory.state(session), ({ version }) =>
      version === position.last?.version ? wait(position) : read(position),
    )
}

/** The steps that subscribers of a service wait for, by where they begin. */
export type Steps = Map<string, { readonly fiber: Fiber.Fiber<Step, unknown>; users: number }>

/** Takes part in a step that others wait for, too. The last one that leaves ends it. */
const shared = (steps: Steps, key: string, step: Effect.Effect<Step, unknown>) =>
  Effect.acquireUseRelease(
    Effect.gen(function* () {
      const known = steps.get(key) ?? {
        fiber: yield* Effect.forkDaemon(Effect.interruptible(step)),
        users: 0,
      }
      steps.set(key, known)
      known.users++
      return known
    }),
    ({ fiber }) => Fiber.join(fiber),
    (known) =>
      Effect.suspend(() => {
        known.users--
        if (known.users > 0) return Effect.void
        if (steps.get(key) === known) steps.delete(key)
        return Fiber.interruptFork(known.fiber)
      }),
  )

/** A subscription. */
export interface Subscription {
  readonly steps: Steps
  /** What tells the session from those of other tenants. */
  readonly tenant: string | null
  /** The id of the event that came last, to go on behind it. */
  readonly lastEventId: string | undefined
  readonly fromVersion: number | undefined
  /** Ends the stream when the service ends. */
  readonly closing: Effect.Effect<void>
  readonly problemFor: (error: unknown) => Problem
}

/** The response with the events of a session. They are read when the connection takes more, and not before. */
export const changes = (
  memory: TenantMemory,
  session: string,
  { steps, tenant, lastEventId, fromVersion = 1, closing, problemFor }: Subscription,
) => {
  const step = nextOf(memory, session, closing)
  const begin: Position = {
    last: lastEventId === undefined ? null : lastIn(lastEventId),
    from: lastEventId === undefined ? Math.max(fromVersion, 1) : 1,
    window: 1,
  }
  const sent = Stream.unfoldEffect(begin as Position | null, (position) =>
    position === null
      ? Effect.succeedNone
      : shared(steps, JSON.stringify([tenant, session, position]), step(position)).pipe(
          Effect.catchAllCause((cause): Effect.Effect<Step> => {
            if (Cause.isInterruptedOnly(cause)) return Effect.interrupt
            // What fails in the middle is the last thing that is sent.
            const problem = JSON.stringify(problemFor(Cause.squash(cause)))
            return Effect.succeed([encoder.encode(`event: problem\ndata: ${problem}\n\n`), null])
          }),
          Effect.map(Option.some),
        ),
  )
  // The first line tells the client at once that the stream is there.
  return HttpServerResponse.stream(Stream.concat(Stream.make(encoder.encode(":\n\n")), sent), {
    contentType: "text/event-stream",
    headers: { "cache-control": "no-store", "x-accel-buffering": "no" },
  })
}
