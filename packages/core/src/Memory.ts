/**
 * The memory of conversations, and the whole flow on one page:
 *
 * ```text
 * append ─► log ─► fold ─► decide ─► start ─► summarize ─► commit
 *                   └────► render ─► context
 * ```
 */
import { Cause, Context, Effect, Either, Layer, Option, ParseResult, Schema, Stream } from "effect"
import * as Background from "./compact/Background.js"
import type { Dependencies, Outcome, RunOptions, Settings } from "./compact/Compaction.js"
import { defaultSettings, run } from "./compact/Compaction.js"
import { settle } from "./compact/settle.js"
import type { MessageAppended } from "./event/Event.js"
import type { Recorded } from "./event/EventCodec.js"
import { EventLog, type ReadOptions, type SessionInfo } from "./log/EventLog.js"
import { Message } from "./message/Message.js"
import { guarded, ofMessage, TokenCounter } from "./message/TokenCounter.js"
import { decide } from "./policy/decide.js"
import type { Strategy } from "./policy/Strategy.js"
import { type Context as RenderedContext, render } from "./render/Render.js"
import { make as makeSessions, type SessionError } from "./session/Sessions.js"
import type { SessionState } from "./session/SessionState.js"
import { CurrentSummarizer } from "./summarize/CurrentSummarizer.js"

/** What was passed in is not a session id or not a message. Nothing was written. */
export class InvalidInput extends Schema.TaggedError<InvalidInput>()("InvalidInput", {
  session: Schema.String,
  detail: Schema.String,
}) {
  override get message(): string {
    return this.session === "" ? this.detail : `Session "${this.session}": ${this.detail}`
  }
}

/** What every operation can fail with: bad input, a store that cannot work, a damaged log. */
export type MemoryError = InvalidInput | SessionError

/** The messages `[from, to)` are durable, at this version of the session. */
export interface Appended {
  readonly from: number
  readonly to: number
  readonly version: number
  /** The commit id had been applied before; nothing was written this time. */
  readonly duplicate: boolean
}

/** An operation on the past: as things were at this sequence number. */
export interface AtOptions {
  readonly at?: number
}

/** How a memory works. */
export interface Options extends Partial<Settings> {
  readonly strategy: Strategy
  /**
   * When compactions run.
   *
   * - `background` (default): beside the conversation; `append` returns once the messages are durable
   * - `inline`: `append` returns when nothing is due any more
   * - `manual`: only through `settle` and `compact`
   */
  readonly compaction?: "background" | "inline" | "manual"
  /** How many sessions are kept in memory between calls; 1,000 by default. */
  readonly cachedSessions?: number
}

/** The operations of a memory. */
export interface Service {
  /**
   * Appends messages, all or none. With a `commit` id of your own, a retry after a lost answer is applied once
   * (law L12). No summarizer can make it fail or, unless compaction is inline, wait (law L8).
   */
  readonly append: (
    session: string,
    messages: Message | ReadonlyArray<Message>,
    options?: { readonly commit?: string },
  ) => Effect.Effect<Appended, MemoryError>
  /** The messages a model should get now, with their layout; or those it would have got at a version. */
  readonly context: (session: string, options?: AtOptions) => Effect.Effect<RenderedContext, MemoryError>
  /** The folded state, now or at a version. */
  readonly state: (session: string, options?: AtOptions) => Effect.Effect<SessionState, MemoryError>
  /** The decoded events of a session. */
  readonly events: (session: string, options?: ReadOptions) => Stream.Stream<Recorded, MemoryError>
  /** Runs every compaction that is due, and answers with what was done. */
  readonly settle: (session: string) => Effect.Effect<ReadonlyArray<Outcome>, MemoryError>
  /** Compacts now, whatever the trigger says; the tail stays raw all the same. */
  readonly compact: (
    session: string,
    options?: Pick<RunOptions, "instructions">,
  ) => Effect.Effect<Outcome, MemoryError>
  /** Starts the session over. The log keeps what was. */
  readonly clear: (session: string) => Effect.Effect<void, MemoryError>
  /** Removes the session with its log; `false` if there was none. */
  readonly delete: (session: string) => Effect.Effect<boolean, MemoryError>
  /** Every session of the store. */
  readonly sessions: Stream.Stream<SessionInfo, MemoryError>
}

/**
 * The memory.
 *
 * @example
 * ```ts
 * import { Fold, InMemoryEventLog, Keep, Memory, Message, Strategy, Trigger } from "@memfold/core"
 * import { Effect, Layer } from "effect"
 *
 * const strategy = Strategy.make({
 *   name: "short",
 *   when: Trigger.backlog({ messages: 10 }),
 *   keep: Keep.lastMessages(20),
 *   fold: Fold.rolling,
 * })
 *
 * const program = Effect.gen(function* () {
 *   const memory = yield* Memory.Memory
 *   yield* memory.append("chat-1", [Message.user("Hello"), Message.assistant("Hello to you")])
 *   return yield* memory.context("chat-1")
 * })
 *
 * const live = Memory.layer({ strategy }).pipe(Layer.provide(InMemoryEventLog.layer))
 * const context = await Effect.runPromise(program.pipe(Effect.provide(live)))
 * console.log(context.messages.length, context.layout)
 * ```
 */
export class Memory extends Context.Tag("@memfold/core/Memory")<Memory, Service>() {}

const parseMessages = Schema.decodeUnknownEither(Schema.Array(Message))

/**
 * The messages as they will be read back: as plain JSON, in copies of their own. What a caller does to an object
 * later on, or what JSON cannot hold, must not make the state differ from the log (law L6).
 */
const plain = (session: string, messages: unknown): Effect.Effect<unknown, InvalidInput> =>
  Effect.try({
    try: () => JSON.parse(JSON.stringify(messages) ?? "null") as unknown,
    catch: () =>
      new InvalidInput({ session, detail: "a message holds what JSON cannot; nothing was appended" }),
  })

const checked = (session: string, messages: unknown): Effect.Effect<ReadonlyArray<Message>, InvalidInput> =>
  Either.match(parseMessages(messages), {
    onRight: Effect.succeed,
    onLeft: (error) => {
      const path = ParseResult.ArrayFormatter.formatErrorSync(error)[0]?.path ?? []
      const detail = `message ${path.map(String).join(".")} does not fit the form of a message; nothing was appended`
      return Effect.fail(new InvalidInput({ session, detail }))
    },
  })

/** A session id is any text but an empty one; it is never guessed and never replaced by a default. */
const checkSession = (session: unknown): Effect.Effect<string, InvalidInput> =>
  typeof session === "string" && session.trim() !== "" && session.isWellFormed()
    ? Effect.succeed(session)
    : Effect.fail(
        new InvalidInput({ session: "", detail: "A session id is required: a text that is not empty" }),
      )

/** An empty commit id is a missing one: two of them would be taken for the same batch. */
const checkCommit = (session: string, commit: unknown): Effect.Effect<void, InvalidInput> =>
  typeof commit === "string" && commit.trim() !== "" && commit.isWellFormed()
    ? Effect.void
    : Effect.fail(new InvalidInput({ session, detail: "A commit id has to be a text that is not empty" }))

/** A memory over the event log, the summarizer and the token counter of the context. */
export const make = Effect.fnUntraced(function* (options: Options) {
  const log = yield* EventLog
  const counter = guarded(yield* TokenCounter)
  const summarizer = yield* CurrentSummarizer
  const { strategy, compaction = "background" } = options
  const sessions = makeSessions(log, { capacity: options.cachedSessions ?? 1_000 })
  const settings: Settings = {
    summarizerTimeout: options.summarizerTimeout ?? defaultSettings.summarizerTimeout,
    summarizerRetries: options.summarizerRetries ?? defaultSettings.summarizerRetries,
    lease: options.lease ?? defaultSettings.lease,
    backOff: options.backOff ?? defaultSettings.backOff,
  }
  const dependencies: Dependencies = { sessions, strategy, summarizer, counter, settings }

  const background = yield* Background.make((session) =>
    settle(dependencies, session).pipe(
      Effect.catchAllCause((cause) =>
        Effect.logError("a compaction could not run", cause).pipe(Effect.annotateLogs({ session })),
      ),
      Effect.asVoid,
    ),
  )

  /**
   * Leaves at once when nothing is due, which is nearly always: deciding costs no read. The messages are durable:
   * whatever goes wrong now, a strategy that throws included, is not the append's failure.
   */
  const lookAt = (state: SessionState): Effect.Effect<void> =>
    Effect.gen(function* () {
      if (compaction === "manual") return
      const now = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
      const decision = decide(strategy, state, { now })
      if (decision._tag === "Idle" && decision.why !== "running") return
      if (compaction === "background") return yield* background.look(state.session)
      yield* settle(dependencies, state.session)
    }).pipe(
      Effect.catchAllCause((cause) =>
        Cause.isInterruptedOnly(cause)
          ? Effect.interrupt
          : Effect.logError("a compaction could not run", cause).pipe(
              Effect.annotateLogs({ session: state.session }),
            ),
      ),
    )

  const load = (session: string, { at }: AtOptions = {}) =>
    Effect.flatMap(checkSession(session), () =>
      at === undefined ? sessions.load(session) : sessions.at(session, at),
    )

  /** Where the messages of a batch stand that had been appended before. */
  const positionsOf = (session: string, from: number, to: number) =>
    sessions.events(session, { from, to }).pipe(
      Stream.filterMap(({ event }) =>
        event._tag === "MessageAppended" ? Option.some(event.index) : Option.none(),
      ),
      Stream.runFold({ from: Number.POSITIVE_INFINITY, to: 0 }, (range, index) => ({
        from: Math.min(range.from, index),
        to: Math.max(range.to, index + 1),
      })),
    )

  const append: Service["append"] = (session, given, { commit } = {}) =>
    Effect.gen(function* () {
      yield* checkSession(session)
      if (commit !== undefined) yield* checkCommit(session, commit)
      const messages = yield* checked(session, yield* plain(session, Array.isArray(given) ? given : [given]))
      const counted = messages.map((message) => ({ message, tokens: ofMessage(counter, message) }))
      const { answer, state, appended } = yield* sessions.transact(
        session,
        ({ total }) => ({
          events: counted.map(({ message, tokens }, position): MessageAppended => ({
            _tag: "MessageAppended",
            index: total + position,
            message,
            tokens,
          })),
          answer: { from: total, to: total + counted.length },
        }),
        { commit },
      )
      yield* lookAt(state)
      const duplicate = appended?.duplicate === true
      const range = duplicate ? yield* positionsOf(session, appended.from, appended.version) : answer
      return { ...range, version: appended?.version ?? state.version, duplicate }
    }).pipe(Effect.withSpan("memfold.append", { attributes: { session } }))

  const service: Service = {
    append,
    context: (session, at) =>
      load(session, at).pipe(
        Effect.map((state) => render(state, strategy.context)),
        Effect.withSpan("memfold.context", { attributes: { session } }),
      ),
    state: load,
    events: (session, range) => Stream.flatMap(checkSession(session), () => sessions.events(session, range)),
    settle: (session) => Effect.flatMap(load(session), () => settle(dependencies, session)),
    compact: (session, { instructions } = {}) =>
      Effect.flatMap(load(session), () => run(dependencies, session, { demanded: true, instructions })),
    clear: (session) =>
      Effect.flatMap(load(session), () =>
        sessions.transact(session, ({ total }) => ({
          events: total === 0 ? [] : [{ _tag: "SessionCleared" }],
          answer: undefined,
        })),
      ).pipe(Effect.asVoid),
    delete: (session) => Effect.flatMap(checkSession(session), () => sessions.delete(session)),
    sessions: log.sessions,
  }
  return service
})

/** Provides the memory. Compactions in the background end with the layer's scope. */
export const layer = (options: Options): Layer.Layer<Memory, never, EventLog> =>
  Layer.scoped(Memory, make(options))
