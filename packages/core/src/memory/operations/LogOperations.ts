/** What a session consists of: its events, and their fold. */
import type { RecordedEvent } from "../../event/EventCodec.js"
import type { ReadOptions } from "@memfold/log/EventLog"
import type { SessionState } from "../../session/SessionState.js"
import type { ConsumeOptions, Consumer, ConsumerFailed, FedEvent, FeedRange } from "../feed.js"
import type { SubscribeOptions } from "../../shell/subscribe.js"
import type { AtVersionOptions, MemoryError } from "../MemoryOptions.js"
import type { Answer, Answers, Face } from "./Face.js"

/** Reads of the log. */
export interface LogOperations<F extends Face> {
  /**
   * The folded state of a session, now or at a version: its uncovered messages, the active summary, the running compaction.
   *
   * @param session - the id of the session
   * @param options - `atVersion`: a version of the session, from 0 to the newest; the newest by default
   * @returns the state
   *
   * @example
   * ```ts
   * const { total, coveredTo, version } = await memory.state("chat-1")
   * console.log(`a summary covers ${coveredTo} of ${total} messages, at version ${version}`)
   * ```
   */
  state(session: string, options?: AtVersionOptions): Answer<F, SessionState, MemoryError>
  /**
   * The events of a session, decoded and in order. They are read from the store as they are asked for; the events before a damaged one
   * are delivered.
   *
   * @param session - the id of the session
   * @param options - `fromVersion` and `toVersion`, both inclusive and from 1; `reverse: true` for the newest first
   * @returns the events, one by one
   *
   * @example
   * ```ts
   * for await (const { version, time, event } of memory.events("chat-1"))
   *   console.log(version, new Date(time).toISOString(), event._tag)
   * ```
   */
  events(session: string, options?: ReadOptions): Answers<F, RecordedEvent, MemoryError>
  /**
   * The stored events and then new ones as they come, each once and in order, without a gap. It does not end by itself. Events of
   * other processes are polled for, unless the store reports them.
   *
   * @param session - the id of the session
   * @param options - `fromVersion`: the first version to deliver, 1 by default; `pollInterval`: 1 second by default
   * @returns the events, one by one
   *
   * @example
   * ```ts
   * for await (const { version, event } of memory.subscribe("chat-1")) {
   *   console.log(version, event._tag)
   *   if (event._tag === "SummaryCommitted") break
   * }
   * ```
   */
  subscribe(session: string, options?: SubscribeOptions): Answers<F, RecordedEvent, MemoryError>
  /**
   * Every event of the store: of all sessions in one order, in which the events of a session are in the order of their versions, and then
   * new ones as they come. It does not end by itself. No event is missing behind a position, whatever was written meanwhile; after a crash
   * of the reader, those behind the position that it has kept come again (at least once). Events of deleted sessions are not in it, and
   * those that cannot be read come as `UnknownEvent`. Logs of memfold itself, whose ids begin with `memfold:`, are in it, too.
   *
   * @param options - `after`: the `position` of the last event that is done, from the first event by default; `follow: false` ends at the
   *   last event; `pollInterval`: how often to ask for new events at the end, 250 milliseconds by default
   * @returns the events, one by one, each with its `position`
   *
   * @example
   * ```ts
   * let position: string | undefined
   * for await (const fed of memory.feed({ follow: false })) {
   *   console.log(fed.session, fed.version, fed.event._tag)
   *   position = fed.position
   * }
   * for await (const fed of memory.feed(position === undefined ? {} : { after: position })) console.log(fed.id)
   * ```
   */
  feed(options?: FeedRange): Answers<F, FedEvent, MemoryError>
  /**
   * Consumes the feed as one of a group. The store keeps how far the group has come: it goes on there after a restart. One consumer of a group
   * reads at a time, and another one takes over when it ends or is killed. Each event comes at least once, and the events of a session in order.
   * It ends with the memory. While it follows the feed, it goes on after failures of the store.
   *
   * @param group - the name of the group
   * @param handle - what is done with events. What it returns is kept: nothing for all of them, the `position` of the last one that is done,
   *   or `null` for none yet. If it fails, nothing of this call is kept, and the consumption fails
   * @param options - `from: "end"`: a new group begins with what comes from now on, and not with the first event; `batch`: the most events in
   *   a call, 64 by default; `follow: false` ends at the last event; `lease`: after how long another consumer takes over from one that was
   *   killed, 30 seconds by default; `attempts`: how often a call that fails is tried before its events are given up, and the group goes on
   *   behind them
   * @throws ConsumerFailed: `handle` failed, with its error as the `cause`; its events come again
   *
   * @example
   * ```ts
   * const words = new Map<string, number>()
   * await memory.consume(
   *   "counts",
   *   async (events) => {
   *     for (const { session } of events) words.set(session, (words.get(session) ?? 0) + 1)
   *   },
   *   { follow: false },
   * )
   * ```
   */
  consume(
    group: string,
    handle: Consumer,
    options?: ConsumeOptions,
  ): Answer<F, void, MemoryError | ConsumerFailed>
  /**
   * Every event of an owner: of all sessions, newest activity first, and of the log with the facts about the user of that name. Each
   * session's events come together, in their order. For an owner who asks for a copy; `memfold export --owner` writes a file that can
   * be imported.
   *
   * @param owner - the owner, an id of the application
   * @returns the events, one by one
   *
   * @example
   * ```ts
   * for await (const { session, version, event } of memory.eventsOf("ann")) console.log(session, version, event._tag)
   * ```
   */
  eventsOf(owner: string): Answers<F, RecordedEvent, MemoryError>
}
