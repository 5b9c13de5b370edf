/**
 * Forgetting a message (law L15): its words leave the event that brought it in, the summaries that cover it, and the
 * facts that were learned from it. The log stays in order and still verifies.
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
import { commitOf, encode, eventId, type Recorded } from "../event/EventCodec.js"
import type { NewRecord, Rewritten, Service as EventLog } from "../log/EventLog.js"
import type { Message, Part } from "../message/Message.js"
import type { Service as TokenCounter } from "../message/TokenCounter.js"
import { ofMessage } from "../message/TokenCounter.js"
import { persistently, type SessionError, type Sessions } from "../session/Sessions.js"
import { summaryRows } from "../session/summaries.js"

/** What stands where something was forgotten. */
export const redacted = "[redacted]"

/** There is no such message. */
export class UnknownMessage extends Schema.TaggedError<UnknownMessage>()("UnknownMessage", {
  session: Schema.String,
  index: Schema.Number,
  total: Schema.Number,
}) {
  override get message(): string {
    return `Session "${this.session}" has no message ${this.index}: it has ${this.total}, counted from 0`
  }
}

/** The session holds what this memfold cannot read, and so cannot forget. */
export class CannotRedact extends Schema.TaggedError<CannotRedact>()("CannotRedact", {
  session: Schema.String,
  seq: Schema.Number,
}) {
  override get message(): string {
    return `Nothing was redacted in session "${this.session}": event ${this.seq} was written by a newer memfold and may hold the words; update memfold`
  }
}

/**
 * A part without its words. Calls and results keep their ids, so that pairs stay pairs; what cannot be read here, or
 * lies elsewhere, becomes a note.
 */
const withoutWords = (part: Part): ReadonlyArray<Part> => {
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

/** A message of nothing would be left out by codecs, and with it a turn. */
const noneEmpty = (parts: ReadonlyArray<Part>): ReadonlyArray<Part> =>
  parts.length === 0 ? [{ type: "text", text: redacted }] : parts

/** A message without its words; its metadata may hold copies of them, and goes. */
const withoutText = ({ role, parts, at, pinned }: Message): Message => ({
  role,
  parts: noneEmpty(parts.flatMap(withoutWords)),
  ...(at === undefined ? {} : { at }),
  ...(pinned === undefined ? {} : { pinned }),
})

const covers = (index: number, range: { readonly from: number; readonly to: number }): boolean =>
  range.from <= index && index < range.to

/** The event as it is to stand in the log; `null` where it has no word of the message. */
const rewritten = (event: Recorded["event"], index: number, counter: TokenCounter): Event | null => {
  switch (event._tag) {
    case "MessageAppended": {
      if (event.index !== index) return null
      const message = withoutText(event.message)
      if (JSON.stringify(message) === JSON.stringify(event.message)) return null
      return { ...event, message, tokens: ofMessage(counter, message) } satisfies MessageAppended
    }
    case "SummaryCommitted": {
      // Its list of files goes back to the start, whatever its own segments cover.
      if (event.through <= index) return null
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

/** What has to be done in the log of a session. */
interface Changes {
  readonly version: number
  readonly rewritten: ReadonlyArray<Rewritten>
  readonly invalidated: ReadonlyArray<SummaryInvalidated>
  /** The event that brought the message in; `null` while it has not been seen. */
  readonly seq: number | null
  readonly total: number
  readonly lastCommit: string
  /** The events as they will be once they are rewritten. */
  readonly events: ReadonlyArray<Recorded>
  /** An event that cannot be read by this memfold. */
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
      current.flatMap(({ event }) => (event._tag === "SummaryInvalidated" ? [event.seq] : [])),
    )
    const last = events.at(-1)
    const changed = new Map(
      current.flatMap(({ event, seq }) => {
        const after = rewritten(event, index, counter)
        return after === null ? [] : [[seq, after] as const]
      }),
    )
    return {
      version: last?.seq ?? 0,
      events: events.map((recorded) => ({ ...recorded, event: changed.get(recorded.seq) ?? recorded.event })),
      rewritten: current.flatMap(({ event, seq }) => {
        // Damaged data can hold anything, the message's text included.
        if (event._tag === "DamagedSummary") return [{ seq, data: "{}" }]
        const after = changed.get(seq)
        if (after === undefined) return []
        const { data, checksum } = encode(after)
        return [{ seq, data, checksum }]
      }),
      invalidated: current.flatMap(({ event, seq }): ReadonlyArray<SummaryInvalidated> =>
        event._tag === "SummaryCommitted" && event.through > index && !invalid.has(seq)
          ? [{ _tag: "SummaryInvalidated", seq, summary: event.summary, reason: "redacted" }]
          : [],
      ),
      seq:
        current.find(({ event }) => event._tag === "MessageAppended" && event.index === index)?.seq ?? null,
      total: current.filter(({ event }) => event._tag === "MessageAppended").length,
      lastCommit: last === undefined ? "" : commitOf(last),
      unknown: current.find(({ event }) => event._tag === "UnknownEvent")?.seq ?? null,
    }
  })

/**
 * Forgets the message at an index, and answers with how many summaries have to be written anew. A compaction that
 * runs meanwhile comes to nothing: it has read what is to be forgotten.
 */
export const redact = (
  log: EventLog,
  sessions: Sessions,
  counter: TokenCounter,
  session: string,
  index: number,
): Effect.Effect<{ readonly invalidated: number }, SessionError | UnknownMessage | CannotRedact> =>
  Effect.gen(function* () {
    const commit = yield* makeId
    for (;;) {
      const { running, version } = yield* sessions.load(session)
      const changes = yield* changesFor(sessions, counter, session, index)
      // A compaction that started in between would not be released, and write down what is to be forgotten.
      if (changes.version !== version) continue
      const { seq, invalidated } = changes
      if (seq === null) return yield* new UnknownMessage({ session, index, total: changes.total })
      // Forgotten already; what was written since has never seen the words.
      if (!changes.rewritten.some((one) => one.seq === seq)) return { invalidated: 0 }
      if (changes.unknown !== null) return yield* new CannotRedact({ session, seq: changes.unknown })
      const at = yield* Clock.currentTimeMillis
      const redaction: Event = {
        _tag: "MessageRedacted",
        seq,
        rewritten: changes.rewritten.map((one) => one.seq),
      }
      // A summarizer that runs now has read the text.
      const released: ReadonlyArray<Event> =
        running === null ? [] : [{ _tag: "CompactionReleased", compaction: running.compaction }]
      const rest = [...released, ...invalidated]
      const added = [redaction, ...rest].map((event, position): Recorded => {
        const place = { commit, seq: version + 1 + position }
        return { session, seq: place.seq, id: eventId(place), at, event }
      })
      const summaries = yield* summaryRows(session, Stream.fromIterable([...changes.events, ...added]))
      const recordOf = (event: Event): NewRecord => ({ at, ...encode(event) })
      const done = yield* persistently(
        log.rewrite(session, changes.rewritten, [recordOf(redaction), ...rest.map(recordOf)], {
          expected: changes.version,
          after: changes.lastCommit,
          commit,
          summaries,
        }),
      ).pipe(
        Effect.as(true),
        // Somebody appended meanwhile, perhaps another summary of it.
        Effect.catchTag("VersionConflict", () => Effect.succeed(false)),
      )
      if (done) {
        yield* sessions.load(session)
        sessions.announce(session)
        return { invalidated: invalidated.length }
      }
    }
  })
