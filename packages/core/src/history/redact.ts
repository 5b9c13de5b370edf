/**
 * Redaction: erases a message's text from its event, from the summaries that cover it, and from the facts learned from
 * it. Afterwards the text is nowhere in the log (law L15), and the log still passes verification.
 */
import { Clock, Effect, Schema, Stream } from "effect"
import type {
  Event,
  FactsLearned,
  MessageAppended,
  SummaryCommitted,
  SummaryInvalidated,
} from "../event/Event.js"
import { makeId } from "../event/id.js"
import { batchIdOf, encode, eventId, type RecordedEvent } from "../event/EventCodec.js"
import type { NewRecord, RewrittenRecord, Service as EventLog } from "../log/EventLog.js"
import type { Message, Part } from "../message/Message.js"
import type { Service as TokenCounter } from "../message/TokenCounter.js"
import { ofMessage } from "../message/TokenCounter.js"
import { retryTransient, type SessionError, type Sessions } from "../session/Sessions.js"
import { summaryRows } from "../session/summaries.js"

/** The text in place of an erased one. */
export const redacted = "[redacted]"

/** The session has no message with this index. Indexes count from the start or the last clear. */
export class UnknownMessage extends Schema.TaggedError<UnknownMessage>()("UnknownMessage", {
  session: Schema.String,
  index: Schema.Number,
  total: Schema.Number,
}) {
  /** The session, the index and the number of messages, in words. */
  override get message(): string {
    return `Session "${this.session}" has no message ${this.index}: it has ${this.total}, counted from 0`
  }
}

/** The session has an event of an unknown type, written by a newer memfold. It may contain the text, so nothing was redacted. */
export class CannotRedact extends Schema.TaggedError<CannotRedact>()("CannotRedact", {
  session: Schema.String,
  version: Schema.Number,
}) {
  /** The session, the version of the event, and what to do, in words. */
  override get message(): string {
    return `Nothing was redacted in session "${this.session}": event ${this.version} was written by a newer memfold and may contain the text; update memfold`
  }
}

/**
 * A part without its text. Calls and results keep their ids, so they stay pairs. A file becomes a text; reasoning and
 * opaque parts are removed.
 */
const withoutPartText = (part: Part): ReadonlyArray<Part> => {
  switch (part.type) {
    case "text":
    case "file":
      return [{ type: "text", text: redacted }]
    case "tool-call":
      return [{ ...part, arguments: "{}" }]
    case "tool-result":
      return [{ ...part, output: redacted }]
    case "reasoning":
    case "opaque":
      return []
  }
}

/** Adds a text to a message without parts: codecs would leave such a message out, and with it a turn. */
const noneEmpty = (parts: ReadonlyArray<Part>): ReadonlyArray<Part> =>
  parts.length === 0 ? [{ type: "text", text: redacted }] : parts

/** A message without its text, and without its name and metadata, which may have copies of it. */
const withoutText = ({ role, parts, time, pinned }: Message): Message => ({
  role,
  parts: noneEmpty(parts.flatMap(withoutPartText)),
  ...(time === undefined ? {} : { time }),
  ...(pinned === undefined ? {} : { pinned }),
})

const covers = (index: number, range: { readonly from: number; readonly to: number }): boolean =>
  range.from <= index && index < range.to

/** The event without the message's text; `null` if it has none of it. */
const rewritten = (event: RecordedEvent["event"], index: number, counter: TokenCounter): Event | null => {
  switch (event._tag) {
    case "MessageAppended": {
      if (event.index !== index) return null
      const message = withoutText(event.message)
      if (JSON.stringify(message) === JSON.stringify(event.message)) return null
      return { ...event, message, tokens: ofMessage(counter, message) } satisfies MessageAppended
    }
    case "SummaryCommitted": {
      // Its list of files covers everything up to `coveredTo`, including carried segments.
      if (event.coveredTo <= index) return null
      return {
        ...event,
        segments: event.segments.map((segment) =>
          covers(index, segment) ? { ...segment, text: redacted } : segment,
        ),
        files: { read: [], modified: [] },
      } satisfies SummaryCommitted
    }
    case "FactsLearned": {
      const facts = event.facts.filter((fact) => !covers(index, fact))
      return facts.length === event.facts.length ? null : ({ ...event, facts } satisfies FactsLearned)
    }
    default:
      return null
  }
}

/** The changes that a redaction makes to a session's log. */
interface Changes {
  readonly version: number
  readonly rewritten: ReadonlyArray<RewrittenRecord>
  readonly invalidated: ReadonlyArray<SummaryInvalidated>
  /** The version of the event that appended the message; `null` if there is none. */
  readonly messageVersion: number | null
  readonly total: number
  readonly lastBatchId: string
  /** All events, with the rewritten ones changed. */
  readonly events: ReadonlyArray<RecordedEvent>
  /** The version of the first event of an unknown type; `null` if there is none. */
  readonly unknown: number | null
}

const changesFor = (
  sessions: Sessions,
  counter: TokenCounter,
  session: string,
  index: number,
): Effect.Effect<Changes, SessionError> =>
  Effect.gen(function* () {
    const events = [...(yield* Stream.runCollect(sessions.events(session)))]
    const start = events.findLastIndex(({ event }) => event._tag === "SessionCleared") + 1
    const current = events.slice(start)
    const invalid = new Set(
      current.flatMap(({ event }) => (event._tag === "SummaryInvalidated" ? [event.version] : [])),
    )
    const last = events.at(-1)
    const changed = new Map(
      current.flatMap(({ event, version }) => {
        const after = rewritten(event, index, counter)
        return after === null ? [] : [[version, after] as const]
      }),
    )
    return {
      version: last?.version ?? 0,
      events: events.map((recorded) => ({
        ...recorded,
        event: changed.get(recorded.version) ?? recorded.event,
      })),
      rewritten: current.flatMap(({ event, version }) => {
        // Damaged data can hold anything, the message's text included.
        if (event._tag === "DamagedSummary") return [{ version, data: "{}" }]
        const after = changed.get(version)
        if (after === undefined) return []
        const { data, checksum } = encode(after)
        return [{ version, data, checksum }]
      }),
      invalidated: current.flatMap(({ event, version }): ReadonlyArray<SummaryInvalidated> =>
        event._tag === "SummaryCommitted" && event.coveredTo > index && !invalid.has(version)
          ? [{ _tag: "SummaryInvalidated", version, summary: event.summary, reason: "redacted" }]
          : [],
      ),
      messageVersion:
        current.find(({ event }) => event._tag === "MessageAppended" && event.index === index)?.version ??
        null,
      total: current.filter(({ event }) => event._tag === "MessageAppended").length,
      lastBatchId: last === undefined ? "" : batchIdOf(last),
      unknown: current.find(({ event }) => event._tag === "UnknownEvent")?.version ?? null,
    }
  })

/**
 * Redacts the message at an index, and returns how many summaries became invalid. A running compaction is released, and
 * its result will be thrown away, because its summarizer may have read the text.
 */
export const redact = (
  log: EventLog,
  sessions: Sessions,
  counter: TokenCounter,
  session: string,
  index: number,
): Effect.Effect<{ readonly invalidated: number }, SessionError | UnknownMessage | CannotRedact> =>
  Effect.gen(function* () {
    const batchId = yield* makeId
    for (;;) {
      const { running, version } = yield* sessions.load(session)
      const changes = yield* changesFor(sessions, counter, session, index)
      // Otherwise, a compaction that started in between would not be released, and could write the text into a summary.
      if (changes.version !== version) continue
      const { messageVersion, invalidated } = changes
      if (messageVersion === null) return yield* new UnknownMessage({ session, index, total: changes.total })
      // The message was redacted before, so no later event has its text.
      if (!changes.rewritten.some((one) => one.version === messageVersion)) return { invalidated: 0 }
      if (changes.unknown !== null) return yield* new CannotRedact({ session, version: changes.unknown })
      const time = yield* Clock.currentTimeMillis
      const redaction: Event = {
        _tag: "MessageRedacted",
        version: messageVersion,
        rewritten: changes.rewritten.map((one) => one.version),
      }
      // A summarizer that runs now has read the text.
      const released: ReadonlyArray<Event> =
        running === null ? [] : [{ _tag: "CompactionReleased", compaction: running.compaction }]
      const rest = [...released, ...invalidated]
      const added = [redaction, ...rest].map((event, position): RecordedEvent => {
        const place = { batchId, version: version + 1 + position }
        return { session, version: place.version, id: eventId(place), time, event }
      })
      const summaries = yield* summaryRows(session, Stream.fromIterable([...changes.events, ...added]))
      const recordOf = (event: Event): NewRecord => ({ time, ...encode(event) })
      const done = yield* retryTransient(
        log.rewrite(session, changes.rewritten, [recordOf(redaction), ...rest.map(recordOf)], {
          expectedVersion: changes.version,
          lastBatchId: changes.lastBatchId,
          batchId,
          summaries,
        }),
      ).pipe(
        Effect.as(true),
        // Another writer appended an event meanwhile, which may be another summary of the message.
        Effect.catchTag("VersionConflict", () => Effect.succeed(false)),
      )
      if (done) {
        yield* sessions.load(session)
        sessions.notifyChange(session)
        return { invalidated: invalidated.length }
      }
    }
  })
