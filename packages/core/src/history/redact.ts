/**
 * Redaction: erases a message's text from its event, from the summaries that cover it, and from the facts learned from
 * it. Afterwards the text is nowhere in the log (law L15), and the log still passes verification.
 */
import { type Array, Clock, Effect, Schema, Stream } from "effect"
import {
  type Event,
  type MessageAppended,
  schemaVersions,
  type SummaryCommitted,
  type SummaryInvalidated,
} from "../event/Event.js"
import { releaseRunning } from "../engine/compaction.js"
import { breathing } from "@memfold/log/breathe"
import { makeId } from "../shell/id.js"
import {
  appendedMessage,
  batchIdOf,
  encodeBatch,
  encodeRewritten,
  recordedAfter,
  type RecordedEvent,
  timedNow,
} from "../event/EventCodec.js"
import type { RewrittenRecord, Service as EventLog } from "@memfold/log/EventLog"
import type { Message, Part } from "@memfold/message/Message"
import { type Service as TokenCounter, ofMessage } from "@memfold/message/TokenCounter"
import { withoutFacts } from "../layers/withoutFacts.js"
import { retryTransient } from "../shell/retry.js"
import type { SessionError, Sessions } from "../shell/Sessions.js"
import { gapsOf, projectionsOf } from "../shell/replay.js"
import { isOnBranch } from "../session/branches.js"
import type { Segment } from "../summary/Summary.js"

/** The text in place of an erased one. */
const redacted = "[redacted]"

/**
 * Names a message: by its index, counted from the start or the last clear, or by the version of the event that appended
 * it (see `events`), which also names messages from before a clear.
 */
export type MessageName = number | { readonly version: number }

/** The session has no message with this index, or no message was appended at this version. */
export class UnknownMessage extends Schema.TaggedError<UnknownMessage>()("UnknownMessage", {
  session: Schema.String,
  /** The index that was asked for, counted from the start or the last clear; absent if a version was. */
  index: Schema.optional(Schema.Number),
  /** The version that was asked for; absent if an index was. */
  version: Schema.optional(Schema.Number),
  /** The number of messages since the start or the last clear. */
  total: Schema.Number,
}) {
  /** The session, what was asked for, and the number of messages, in words. */
  override get message(): string {
    return this.version === undefined
      ? `Session "${this.session}" has no message ${this.index}: it has ${this.total}, counted from 0`
      : `Session "${this.session}" has no message at version ${this.version}`
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
    case "tool-call": {
      const { type, id, name } = part
      return [{ type, id, name, arguments: "{}" }]
    }
    case "tool-result": {
      const { content: _content, providerData: _providerData, ...result } = part
      return [{ ...result, output: redacted }]
    }
    case "reasoning":
    case "opaque":
      return []
  }
}

/** Adds a text to a message without parts: codecs would leave such a message out, and with it a turn. */
const noneEmpty = (parts: ReadonlyArray<Part>): ReadonlyArray<Part> =>
  parts.length === 0 ? [{ type: "text", text: redacted }] : parts

/**
 * A message as a redaction leaves it: without its text, and without its name and metadata, which may have copies of the text.
 *
 * @example
 * ```ts
 * import { Message } from "@memfold/core"
 *
 * console.log(Message.text(Message.withoutText(Message.user("My card is 4111 1111 1111 1111.")))) // "[redacted]"
 * ```
 */
export const withoutText = ({ role, parts, time, pinned, origin }: Message): Message => ({
  role,
  parts: noneEmpty(parts.flatMap(withoutPartText)),
  ...(time === undefined ? {} : { time }),
  ...(pinned === undefined ? {} : { pinned }),
  ...(origin === undefined ? {} : { origin }),
})

/** A segment without its content. The provider data goes, too: it has the text in a form that only the provider can read. */
const withoutContent = ({ kind, from, to }: Segment): Segment => ({ kind, from, to, text: redacted })

const covers = (index: number, range: { readonly from: number; readonly to: number }): boolean =>
  range.from <= index && index < range.to

/** A later message: its bound parts were produced behind the erased text, so they are valid in no context any more. */
const unbound = (event: MessageAppended): MessageAppended | null =>
  event.bound?.head === undefined ? null : { ...event, bound: { tokens: event.bound.tokens } }

/** A message that is to be redacted: its index, and the version of the event that appended it. */
interface Place {
  readonly index: number
  readonly version: number
}

/** The event without the message's text; `null` if it has none of it. The message is on the branch of the event. */
const rewritten = (
  { event, version: at }: RecordedEvent,
  { index, version }: Place,
  counter: TokenCounter,
): Event | null => {
  switch (event._tag) {
    case "MessageAppended": {
      if (at !== version) return at > version ? unbound(event) : null
      const message = withoutText(event.message)
      if (JSON.stringify(message) === JSON.stringify(event.message)) return null
      const { bound: _bound, ...rest } = event
      return { ...rest, message, tokens: ofMessage(counter, message) } satisfies MessageAppended
    }
    case "SummaryCommitted": {
      // Its list of files covers everything up to `coveredTo`, including carried segments.
      if (event.coveredTo <= index) return null
      return {
        ...event,
        segments: event.segments.map((segment) =>
          covers(index, segment) ? withoutContent(segment) : segment,
        ),
        files: { read: [], modified: [] },
      } satisfies SummaryCommitted
    }
    default:
      return withoutFacts(event, {
        erases: (fact) =>
          covers(index, fact) || (fact.sources ?? []).some((source) => source.event === version),
        erasesEnd: (source) => source.event === version,
      })
  }
}

interface Changes {
  readonly version: number
  readonly rewritten: ReadonlyArray<RewrittenRecord>
  readonly invalidated: ReadonlyArray<SummaryInvalidated>
  readonly message: Place
  readonly lastBatchId: string
  /** All events, with the rewritten ones changed. */
  readonly events: ReadonlyArray<RecordedEvent>
  /** The version of the first event of an unknown type; `null` if there is none. */
  readonly unknown: number | null
}

const isMessage = ({ event }: RecordedEvent): boolean => appendedMessage(event) !== null

const changesFor = (
  sessions: Sessions,
  counter: TokenCounter,
  session: string,
  name: MessageName,
): Effect.Effect<Changes, SessionError | UnknownMessage> =>
  Effect.gen(function* () {
    const events = [...(yield* Stream.runCollect(sessions.events(session)))]
    const last = events.at(-1)
    const gaps = yield* gapsOf(session, events)
    /** The messages of the branch that was in force with the event at a position. */
    const messagesAt = (position: number) =>
      events
        .slice(0, position + 1)
        .filter((one) => isMessage(one) && isOnBranch(gaps[position] ?? [], one.version))
    const inForce = messagesAt(events.length - 1)
    const asked =
      typeof name === "number" ? inForce[name] : events.find(({ version }) => version === name.version)
    if (last === undefined || asked === undefined || !isMessage(asked)) {
      const unknown = typeof name === "number" ? { index: name } : name
      return yield* new UnknownMessage({ session, ...unknown, total: inForce.length })
    }
    const index = messagesAt(events.indexOf(asked)).length - 1
    const message = { index, version: asked.version }
    // The events since, on the branches that the message is on: the ranges of their summaries and facts count there.
    const current = events.filter(
      ({ version }, at) => version >= asked.version && isOnBranch(gaps[at] ?? [], asked.version),
    )
    const invalid = new Set(
      events.flatMap(({ event }) => (event._tag === "SummaryInvalidated" ? [event.version] : [])),
    )
    const changed = new Map(
      current.flatMap((recorded) => {
        const { version } = recorded
        const redactedEvent = rewritten(recorded, message, counter)
        return redactedEvent === null ? [] : [[version, redactedEvent] as const]
      }),
    )
    return {
      version: last.version,
      lastBatchId: batchIdOf(last),
      message,
      events: events.map((recorded) => ({
        ...recorded,
        event: changed.get(recorded.version) ?? recorded.event,
      })),
      rewritten: current.flatMap((recorded) => {
        const { event, version } = recorded
        // Damaged data can hold anything, the message's text included.
        if (event._tag === "DamagedSummary")
          return [{ version, schemaVersion: schemaVersions.SummaryCommitted, data: "{}" }]
        if (event._tag === "DamagedMessage")
          return [{ version, schemaVersion: schemaVersions.MessageAppended, data: "{}" }]
        const redactedEvent = changed.get(version)
        if (redactedEvent === undefined) return []
        return [encodeRewritten({ ...recorded, event: redactedEvent })]
      }),
      invalidated: current.flatMap(({ event, version }): ReadonlyArray<SummaryInvalidated> =>
        event._tag === "SummaryCommitted" && event.coveredTo > index && !invalid.has(version)
          ? [{ _tag: "SummaryInvalidated", version, summary: event.summary, reason: "redacted" }]
          : [],
      ),
      unknown: current.find(({ event }) => event._tag === "UnknownEvent")?.version ?? null,
    }
  })

/** The outcome of a redaction: how many summaries became invalid, and which message it was. */
export interface Redacted {
  readonly invalidated: number
  readonly message: Place
}

/**
 * Redacts a message in the log. A running compaction is released, and its result will be thrown away, because its
 * summarizer may have read the text. The store's files may still have the text: see `finishRewrites` of the log.
 *
 * @param first - what is done before: where else words of the message are. Killed in between, nothing says that they are erased
 */
export const redact = (
  log: EventLog,
  sessions: Sessions,
  counter: TokenCounter,
  session: string,
  name: MessageName,
  first: (message: Place) => Effect.Effect<void> = () => Effect.void,
): Effect.Effect<Redacted, SessionError | UnknownMessage | CannotRedact> =>
  Effect.gen(function* () {
    const batchId = yield* makeId
    for (;;) {
      const { running, version } = yield* sessions.load(session)
      const changes = yield* changesFor(sessions, counter, session, name)
      // Otherwise, a compaction that started in between would not be released, and could write the text into a summary.
      if (changes.version !== version) continue
      const { message, invalidated } = changes
      // The message was redacted before, so no later event has its text.
      const isDone = !changes.rewritten.some((one) => one.version === message.version)
      if (!isDone && changes.unknown !== null)
        return yield* new CannotRedact({ session, version: changes.unknown })
      yield* first(message)
      if (isDone) return { invalidated: 0, message }
      const time = yield* Clock.currentTimeMillis
      const redaction: Event = {
        _tag: "MessageRedacted",
        version: message.version,
        rewritten: changes.rewritten.map((one) => one.version),
      }
      // A summarizer that runs now has read the text.
      const released = releaseRunning({ running })
      const list: Array.NonEmptyReadonlyArray<Event> = [redaction, ...released, ...invalidated]
      const timed = yield* timedNow(time, list)
      const added = recordedAfter({ session, version }, batchId, timed)
      const projections = yield* projectionsOf(
        session,
        breathing(Stream.fromIterable([...changes.events, ...added])),
      )
      const records = encodeBatch({ session, version }, batchId, timed)
      const done = yield* retryTransient(
        log.rewrite(session, changes.rewritten, records, {
          expectedVersion: changes.version,
          lastBatchId: changes.lastBatchId,
          batchId,
          projections,
        }),
      ).pipe(
        Effect.as(true),
        // Another writer appended an event meanwhile, which may be another summary of the message.
        Effect.catchTag("VersionConflict", () => Effect.succeed(false)),
      )
      if (done) {
        yield* sessions.load(session)
        sessions.notifyChange(session)
        return { invalidated: invalidated.length, message }
      }
    }
  })
