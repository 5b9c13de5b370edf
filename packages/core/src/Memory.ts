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
import { learn } from "./layers/learn.js"
import { due, LayersError, MemoryLayers } from "./layers/MemoryLayers.js"
import { remember } from "./layers/remember.js"
import { Message } from "./message/Message.js"
import { place } from "./message/Structure.js"
import { guarded, ofMessage, TokenCounter } from "./message/TokenCounter.js"
import { decide } from "./policy/decide.js"
import type { Strategy } from "./policy/Strategy.js"
import { type Context as RenderedContext, render } from "./render/Render.js"
import type { Wording } from "./render/Wording.js"
import { make as makeSessions, type SessionError } from "./session/Sessions.js"
import type { KnownFact, SessionState } from "./session/SessionState.js"
import { summariesOf, type SummaryRecord } from "./session/summaries.js"
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

/** For one request: another strategy than the memory's. The session does not remember it. */
export interface StrategyOptions {
  readonly strategy?: Strategy | undefined
}

/** How a memory works. */
export interface Options extends Partial<Settings> {
  readonly strategy: Strategy
  /** How summaries are worded from now on, in place of the strategy's own way. */
  readonly wording?: Wording
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
    options?: StrategyOptions & { readonly commit?: string },
  ) => Effect.Effect<Appended, MemoryError>
  /** The messages a model should get now, with their layout; or those it would have got at a version. */
  readonly context: (
    session: string,
    options?: AtOptions & StrategyOptions,
  ) => Effect.Effect<RenderedContext, MemoryError>
  /** The folded state, now or at a version. */
  readonly state: (session: string, options?: AtOptions) => Effect.Effect<SessionState, MemoryError>
  /** The decoded events of a session. */
  readonly events: (session: string, options?: ReadOptions) => Stream.Stream<Recorded, MemoryError>
  /** Every summary the session ever had, oldest first, with what has become of each. */
  readonly summaries: (session: string) => Effect.Effect<ReadonlyArray<SummaryRecord>, MemoryError>
  /** The facts that the memory layers know for a session; none without layers. */
  readonly facts: (session: string) => Effect.Effect<ReadonlyArray<KnownFact>, MemoryError | LayersError>
  /** Takes a wrong or outdated fact out of force; `false` if the session knows no such fact. */
  readonly retire: (
    session: string,
    fact: string,
    options?: { readonly reason?: string },
  ) => Effect.Effect<boolean, MemoryError | LayersError>
  /** Runs every compaction that is due, and answers with what was done. */
  readonly settle: (
    session: string,
    options?: StrategyOptions,
  ) => Effect.Effect<ReadonlyArray<Outcome>, MemoryError>
  /** Compacts now, whatever the trigger says; the tail stays raw all the same. */
  readonly compact: (
    session: string,
    options?: StrategyOptions & Pick<RunOptions, "instructions">,
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

/** The events of an append: each message in its place, and pinned where the strategy says so. */
const pinning = (
  { pin }: Strategy,
  before: SessionState,
  counted: ReadonlyArray<{ readonly message: Message; readonly tokens: number }>,
): ReadonlyArray<MessageAppended> => {
  let structure = before.structure
  return counted.map(({ message, tokens }, position) => {
    const index = before.total + position
    const pinned = pin?.pins(message, structure) === true
    structure = pin === undefined ? structure : place(structure, index, message).structure
    return { _tag: "MessageAppended", index, message: pinned ? { ...message, pinned } : message, tokens }
  })
}

/** A memory over the event log, the summarizer and the token counter of the context. */
export const make = Effect.fnUntraced(function* (options: Options) {
  const log = yield* EventLog
  const counter = guarded(yield* TokenCounter)
  const summarizer = yield* CurrentSummarizer
  const layers = yield* MemoryLayers
  const { compaction = "background" } = options
  const sessions = makeSessions(log, { capacity: options.cachedSessions ?? 1_000 })
  const settings: Settings = {
    summarizerTimeout: options.summarizerTimeout ?? defaultSettings.summarizerTimeout,
    summarizerRetries: options.summarizerRetries ?? defaultSettings.summarizerRetries,
    lease: options.lease ?? defaultSettings.lease,
    backOff: options.backOff ?? defaultSettings.backOff,
  }
  const worded = (strategy: Strategy): Strategy =>
    options.wording === undefined
      ? strategy
      : { ...strategy, context: { ...strategy.context, wording: options.wording } }
  const ownStrategy = worded(options.strategy)
  const strategyOf = ({ strategy }: StrategyOptions): Strategy =>
    strategy === undefined ? ownStrategy : worded(strategy)
  const dependencies = (strategy: Strategy): Dependencies => ({
    sessions,
    strategy,
    summarizer,
    counter,
    settings,
  })

  /** Learns before it compacts: what a summary covers can only be read in the log. */
  const work = (session: string, strategy: Strategy) =>
    Effect.andThen(
      layers === null ? Effect.void : learn(sessions, layers, session),
      settle(dependencies(strategy), session),
    )

  const background = yield* Background.make<Strategy>((session, strategy) =>
    work(session, strategy).pipe(
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
  const lookAt = (state: SessionState, strategy: Strategy): Effect.Effect<void> =>
    Effect.gen(function* () {
      if (compaction === "manual") return
      const now = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
      const decision = decide(strategy, state, { now })
      const toCompact = decision._tag === "Due" || decision.why === "running"
      const toLearn = layers !== null && due(state) !== null
      if (!toCompact && !toLearn && state.damaged.length === 0) return
      if (compaction === "background") return yield* background.look(state.session, strategy)
      yield* work(state.session, strategy)
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

  /** When the event at a version was written. */
  const timeOf = (session: string, { at }: AtOptions) =>
    at === undefined
      ? Effect.succeed(undefined)
      : sessions.events(session, { to: at, reverse: true }).pipe(
          Stream.runHead,
          Effect.map((newest) => Option.getOrUndefined(Option.map(newest, (recorded) => recorded.at))),
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

  const append: Service["append"] = (session, given, { commit, ...request } = {}) =>
    Effect.gen(function* () {
      const strategy = strategyOf(request)
      yield* checkSession(session)
      if (commit !== undefined) yield* checkCommit(session, commit)
      const messages = yield* checked(session, yield* plain(session, Array.isArray(given) ? given : [given]))
      const counted = messages.map((message) => ({ message, tokens: ofMessage(counter, message) }))
      const { answer, state, appended } = yield* sessions.transact(
        session,
        (before) => ({
          events: pinning(strategy, before, counted),
          answer: { from: before.total, to: before.total + counted.length },
        }),
        { commit },
      )
      yield* lookAt(state, strategy)
      const duplicate = appended?.duplicate === true
      const range = duplicate ? yield* positionsOf(session, appended.from, appended.version) : answer
      return { ...range, version: appended?.version ?? state.version, duplicate }
    }).pipe(Effect.withSpan("memfold.append", { attributes: { session } }))

  const service: Service = {
    append,
    context: (session, request = {}) =>
      Effect.gen(function* () {
        const state = yield* load(session, request)
        const remembered =
          layers === null ? [] : yield* remember(layers, counter, state, yield* timeOf(session, request))
        return render(state, strategyOf(request).context, remembered)
      }).pipe(Effect.withSpan("memfold.context", { attributes: { session } })),
    state: load,
    events: (session, range) => Stream.flatMap(checkSession(session), () => sessions.events(session, range)),
    summaries: (session) =>
      Effect.flatMap(checkSession(session), () => summariesOf(sessions.events(session))),
    facts: (session) =>
      Effect.flatMap(load(session), (state) => (layers === null ? Effect.succeed([]) : layers.facts(state))),
    retire: (session, id, { reason = "retired" } = {}) =>
      Effect.flatMap(load(session), (state) =>
        layers === null ? Effect.succeed(false) : layers.retire(state, { id, reason }),
      ),
    settle: (session, request = {}) =>
      Effect.flatMap(load(session), () => work(session, strategyOf(request))),
    compact: (session, { instructions, ...request } = {}) =>
      Effect.flatMap(load(session), () =>
        run(dependencies(strategyOf(request)), session, { demanded: true, instructions }),
      ),
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
