/** An import of a file that has grown: what the session has of it stays, and the rest comes behind. */
import { EventCodec, EventLog, Memory, type Message, Summarizer } from "@memfold/core"
import { SlidingWindow } from "@memfold/strategy-sliding-window"
import { ExtractiveSummarizer } from "@memfold/summarizer-extractive"
import { Effect, Either, Option, Stream } from "effect"
import type { Imported } from "./events.js"
import { SessionTaken } from "./ImportError.js"
import { write } from "./write.js"

/** What a message says, without what programs noted of it. */
const said = ({ role, parts }: Message.Message): string => JSON.stringify([role, parts])

/** Writes the events behind the known ones, if those are the first of them; `false` if they are not. */
const continuedEvents = (
  log: EventLog.Service,
  session: string,
  batchId: string,
  { events }: Imported,
  known: number,
): Effect.Effect<boolean, SessionTaken | EventLog.LogError> =>
  Effect.gen(function* () {
    if (known > events.length) return false
    const stored = [...(yield* Stream.runCollect(EventLog.records(log, session)))]
    // What is there may have been imported by somebody else.
    const by = events.map((one, at) => {
      const record = stored[at]
      if (record === undefined) return one
      const actor = Either.getOrNull(EventCodec.decode(record))?.actor
      return { time: one.time, event: one.event, ...(actor === undefined ? {} : { actor }) }
    })
    const wanted = EventCodec.encodeBatch({ session, version: 0 }, batchId, by)
    const isBegin = stored.every(({ type, data }, at) => {
      const { type: wantedType, data: wantedData } = wanted[at]!
      return type === wantedType && data === wantedData
    })
    if (!isBegin) return false
    yield* write(log, session, batchId, by, known)
    return true
  })

/** Which session is continued, by which batch, and the program of its file. */
export interface Continuing {
  readonly session: string
  readonly batchId: string
  readonly from: string
}

/**
 * Continues an import: event by event where the log is the beginning of what it would be from the start, with the program's summaries, or
 * else message by message, where the last message of before has grown. Fails if the session has gone on in another way.
 *
 * @returns whether something was written
 */
export const continued = (
  log: EventLog.Service,
  { session, batchId, from }: Continuing,
  imported: Imported,
  known: number,
): Effect.Effect<boolean, SessionTaken | Memory.MemoryError> =>
  Effect.gen(function* () {
    if (yield* continuedEvents(log, session, batchId, imported, known)) return known < imported.events.length
    // What the state of another program says of its summaries can have changed, and not only grown.
    if (from !== "transcript") return yield* new SessionTaken({ session, events: known })
    const messages = imported.events.flatMap(({ event }) =>
      event._tag === "MessageAppended" ? [event.message] : [],
    )
    const memory = yield* Memory.make({ strategy: SlidingWindow(), compaction: { mode: "off" } })
    const pages = yield* Stream.runCollect(
      Stream.paginateEffect(undefined as string | undefined, (before) =>
        Effect.map(
          memory.messages(session, { limit: 500, ...(before === undefined ? {} : { before }) }),
          (page) => [page.messages, Option.fromNullable(page.before)] as const,
        ),
      ),
    )
    const there = [...pages].toReversed().flat()
    const other = there.findIndex(
      (message, at) => messages[at] === undefined || said(message) !== said(messages[at]),
    )
    const keep = other === -1 ? there.length : other
    const rest = messages.slice(keep)
    if (keep < there.length - 1 || there[keep]?.role === "user" || (keep < there.length && rest.length === 0))
      return yield* new SessionTaken({ session, events: known })
    if (rest.length === 0) return false
    if (keep < there.length) yield* memory.edit(session, keep, rest)
    else yield* memory.append(session, rest, { idempotencyKey: batchId })
    return true
  }).pipe(
    Effect.catchTags({
      IdempotencyKeyReused: Effect.die,
      GuardRefused: Effect.die,
      OwnerMismatch: Effect.die,
      UnknownMessage: Effect.die,
      UnknownBranch: Effect.die,
      VersionMismatch: () => new SessionTaken({ session, events: known }),
    }),
    Effect.scoped,
    Effect.provideService(EventLog.EventLog, log),
    Effect.provideService(Summarizer.Summarizer, ExtractiveSummarizer.make()),
  )
