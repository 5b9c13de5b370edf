/**
 * The events of a session as server-sent events, which go on where they stopped. A subscriber has what its connection takes, and nothing
 * beside. Those that are at one place of a session share what is read for them, and its bytes.
 */
import { HttpServerResponse } from "@effect/platform"
import type { EventCodec, Memory } from "@memfold/core"
import type { Problem } from "@memfold/client/api"
import { Cause, Duration, Effect, Fiber, Option, Stream } from "effect"
import { given } from "./requests.js"
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
type Step<At> = readonly [bytes: Uint8Array, next: At | null]

const encoder = new TextEncoder()

const said = <At>(text: string, next: At | null): Step<At> => [encoder.encode(text), next]

/** Something that comes, or a beat where nothing does; and the end where the service ends. */
const orBeat = <At>(come: Effect.Effect<Step<At>, unknown>, position: At, closing: Effect.Effect<void>) =>
  Effect.raceFirst(
    come,
    Effect.raceFirst(
      Effect.as(Effect.sleep(beat), said(":\n\n", position)),
      Effect.as(closing, said<At>("", null)),
    ),
  )

/** The next step of a subscription: what is there, as much as is taken at once; what comes later, event by event. */
const nextOf = (memory: TenantMemory, session: string, closing: Effect.Effect<void>) => {
  const read = (position: Position): Effect.Effect<Step<Position>, unknown> =>
    Effect.flatMap(readOn(memory, session, position), ({ text, next, isAgain }) =>
      text === "" ? (isAgain ? read(next) : wait(next)) : Effect.succeed(said<Position>(text, next)),
    )
  const wait = (position: Position): Effect.Effect<Step<Position>, unknown> => {
    const come = Effect.flatMap(
      Stream.runHead(eventBehind(memory, session, position)),
      Option.match({
        onNone: () => read(position),
        onSome: (event) =>
          event.version === (position.last?.version ?? position.from - 1) + 1
            ? Effect.succeed(said<Position>(written(event), { ...position, last: placeOf(event) }))
            : read(position),
      }),
    )
    return orBeat(come, position, closing)
  }
  return (position: Position): Effect.Effect<Step<Position>, unknown> =>
    Effect.flatMap(memory.state(session), ({ version }) =>
      version === position.last?.version ? wait(position) : read(position),
    )
}

/** The steps that subscribers of a service wait for, by where they begin. */
export type Steps<At = Position> = Map<
  string,
  { readonly fiber: Fiber.Fiber<Step<At>, unknown>; users: number }
>

/** Takes part in a step that others wait for, too. The last one that leaves ends it. */
const shared = <At>(steps: Steps<At>, key: string, step: Effect.Effect<Step<At>, unknown>) =>
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

export interface Subscription<At = Position> {
  readonly steps: Steps<At>
  /** What tells the session from those of other tenants. */
  readonly tenant: string | null
  /** The id of the event that came last, to go on behind it. */
  readonly lastEventId: string | undefined
  /** Ends the stream when the service ends. */
  readonly closing: Effect.Effect<void>
  readonly problemFor: (error: unknown) => Problem
}

/** The response of the steps from a place on. They are made when the connection takes more, and not before. */
const streamed = <At>(
  begin: At,
  step: (at: At) => Effect.Effect<Step<At>, unknown>,
  keyOf: (at: At) => string,
  { steps, problemFor }: Pick<Subscription<At>, "steps" | "problemFor">,
) => {
  const sent = Stream.unfoldEffect(begin as At | null, (at) =>
    at === null
      ? Effect.succeedNone
      : shared(steps, keyOf(at), step(at)).pipe(
          Effect.catchAllCause((cause): Effect.Effect<Step<At>> => {
            if (Cause.isInterruptedOnly(cause)) return Effect.interrupt
            // What fails in the middle is the last thing that is sent.
            const problem = JSON.stringify(problemFor(Cause.squash(cause)))
            return Effect.succeed(said<At>(`event: problem\ndata: ${problem}\n\n`, null))
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

/** The response with the events of a session. */
export const changes = (
  memory: TenantMemory,
  session: string,
  { fromVersion = 1, ...subscription }: Subscription & { readonly fromVersion: number | undefined },
) => {
  const { tenant, lastEventId, closing } = subscription
  const begin: Position = {
    last: lastEventId === undefined ? null : lastIn(lastEventId),
    from: lastEventId === undefined ? Math.max(fromVersion, 1) : 1,
    window: 1,
  }
  const keyOf = (position: Position) => JSON.stringify([tenant, session, position])
  return streamed(begin, nextOf(memory, session, closing), keyOf, subscription)
}

/** A place in the feed: a position, or the start. */
export interface FeedPlace {
  readonly after: string | undefined
}

/** The events of the feed that are there, as much as is taken at once. */
const readFeed = (memory: TenantMemory, place: FeedPlace) =>
  Effect.gen(function* () {
    let [text, last] = ["", place]
    const there = memory.feed({ ...given(place), follow: false })
    yield* Stream.runForEachWhile(there, ({ position, ...recorded }) =>
      Effect.sync(() => {
        const data = JSON.stringify({ ...recorded, position })
        text += `id: ${position}\nevent: ${recorded.event._tag}\ndata: ${data}\n\n`
        last = { after: position }
        return text.length <= mostText
      }),
    )
    return { text, last }
  }).pipe(reading.withPermits(1))

/** How much text a page of events or of messages has, in UTF-16 code units; what goes beyond it is the last of the page. */
export const mostPage = 2 ** 22

/** A page of events: the text of its list in JSON, and the last event, `null` where there is none. */
export interface PageText<Recorded> {
  readonly events: string
  readonly last: Recorded | null
}

/** The first of some events: so many at most, and fewer where they are large. Each is written once, and not kept. */
export const pageOf = <Recorded extends EventCodec.RecordedEvent, E>(
  events: Stream.Stream<Recorded, E>,
  limit: number,
): Effect.Effect<PageText<Recorded>, E> =>
  Effect.gen(function* () {
    let [text, last]: [string, Recorded | null] = ["", null]
    yield* Stream.runForEachWhile(Stream.take(events, limit), (recorded) =>
      Effect.sync(() => {
        text += `${last === null ? "" : ","}${JSON.stringify(recorded)}`
        last = recorded
        return text.length <= mostPage
      }),
    )
    return { events: `[${text}]`, last }
  }).pipe(reading.withPermits(1))

/** The response with a page, and with what stands beside it. */
export const paged = (
  { events }: Pick<PageText<unknown>, "events">,
  beside: object = {},
): HttpServerResponse.HttpServerResponse => {
  const fields = JSON.stringify(beside).slice(1, -1)
  return HttpServerResponse.text(`{"events":${events}${fields === "" ? "" : ","}${fields}}`, {
    contentType: "application/json",
  })
}

/** The first events behind a place. */
export const feedPage = (memory: TenantMemory, place: FeedPlace, limit: number) =>
  pageOf(memory.feed({ ...given(place), follow: false }), limit)

/** Waits until there is an event behind a place. */
export const fedBehind = (
  memory: TenantMemory,
  place: FeedPlace,
): Effect.Effect<Option.Option<Memory.FedEvent>, Memory.MemoryError> =>
  Stream.runHead(memory.feed(given(place)))

/** The response with the events of all sessions. */
export const feed = (memory: TenantMemory, subscription: Subscription<FeedPlace>) => {
  const { tenant, lastEventId, closing } = subscription
  const step = (place: FeedPlace): Effect.Effect<Step<FeedPlace>, unknown> =>
    Effect.flatMap(readFeed(memory, place), ({ text, last }) =>
      text === ""
        ? orBeat(
            Effect.zipRight(
              fedBehind(memory, place),
              Effect.suspend(() => step(place)),
            ),
            place,
            closing,
          )
        : Effect.succeed(said<FeedPlace>(text, last)),
    )
  return streamed({ after: lastEventId }, step, ({ after }) => JSON.stringify([tenant, after]), subscription)
}
