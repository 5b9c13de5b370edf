/**
 * Replays a transcript: appends it message by message, finishes each compaction before the next message, and sums up the
 * costs of the strategy.
 */
import {
  EventLog,
  Memory,
  type Message,
  type CompactionOutcome,
  type Render,
  type Session,
  type Strategy,
  Summarizer,
} from "@memfold/core"
import { TranscriptClock, withoutPromptSize } from "@memfold/lab"
import { Clock, Effect, Option, Stream } from "effect"
import { createHash } from "node:crypto"

export interface ReplayOptions {
  readonly session: string
  /**
   * The name of the transcript. The idempotency key of each message is derived from it and all messages up to there, so
   * replaying into the same session again continues where it stopped.
   */
  readonly source: string
  readonly messages: ReadonlyArray<Message.Message>
  readonly strategy: Strategy.Strategy
  readonly summarizer: Summarizer.Service
}

/** An appended message, the state after it, and the compactions that it caused. */
export interface MessageStep {
  readonly _tag: "Message"
  readonly index: number
  readonly message: Message.Message
  readonly outcomes: ReadonlyArray<CompactionOutcome>
}

/** The sums of a replay. Each assistant message stands for one call of the model. */
export interface Totals {
  readonly messages: number
  /** How many messages were in the session already, from an earlier replay of the same transcript. */
  readonly skipped: number
  readonly compactions: number
  readonly summarizerCalls: number
  /** The prompt tokens of all model calls together without memfold, and with it. */
  readonly tokensIfRaw: number
  readonly tokensSent: number
}

export interface EndStep {
  readonly _tag: "End"
  readonly context: Render.Context
  readonly state: Session.SessionState
  readonly totals: Totals
}

const noTotals: Totals = {
  messages: 0,
  skipped: 0,
  compactions: 0,
  summarizerCalls: 0,
  tokensIfRaw: 0,
  tokensSent: 0,
}

/** The idempotency key of each message: a hash of the name of the transcript and all messages up to there. */
const keysOf = ({ source, messages }: ReplayOptions): ReadonlyArray<string> => {
  const hash = createHash("sha256").update(source)
  return messages.map(
    (message) => `replay-${hash.update(JSON.stringify(message)).copy().digest("hex").slice(0, 20)}`,
  )
}

/**
 * The position of the last message that the session has already. Earlier messages are there as well, with everything that
 * they caused, because a replay finishes one message before the next. A replay that has ended is found at the end of the
 * log, and not read through again.
 */
const lastThere = (session: string, keys: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const positions = new Map(keys.map((key, position) => [key, position]))
    const log = yield* EventLog.EventLog
    const found = yield* EventLog.records(log, session, { reverse: true }).pipe(
      Stream.filterMap(({ batchId }) => Option.fromNullable(positions.get(batchId))),
      Stream.runHead,
    )
    return Option.getOrElse(found, () => 0)
  })

/**
 * The steps of a replay, one for each message and one at the end. Messages that the session has from an earlier replay
 * have no step, except for the last of them: what it causes may not be finished.
 */
export const replay = (
  options: ReplayOptions,
): Stream.Stream<MessageStep | EndStep, Memory.MemoryError, EventLog.EventLog> =>
  Stream.unwrapScoped(
    Effect.gen(function* () {
      const { session, messages } = options
      const started = yield* Clock.currentTimeMillis
      const firstTime = messages.find((message) => message.time !== undefined)?.time
      const time = TranscriptClock.make(Math.trunc(firstTime ?? started))
      const totals = { ...noTotals }
      const counting: Summarizer.Service = {
        ...options.summarizer,
        summarize: (request) => {
          totals.summarizerCalls++
          return options.summarizer.summarize(request)
        },
      }
      const memory = yield* Memory.make({ strategy: options.strategy, compaction: { mode: "manual" } }).pipe(
        Effect.provideService(Summarizer.Summarizer, counting),
      )

      /** The size of a call of the model: the tokens of the context now, and the tokens of all messages. */
      const callSize = Effect.gen(function* () {
        const { tokens } = yield* memory.context(session)
        const state = yield* memory.state(session)
        return { sent: tokens, raw: state.appendedTokens }
      })
      const keys = keysOf(options)
      const start = yield* lastThere(session, keys)
      totals.skipped = start
      for (const message of messages.slice(0, start)) time.moveTo(message.time)

      const one = (message: Message.Message, position: number) =>
        Effect.gen(function* () {
          time.moveTo(message.time)
          const size = message.role === "assistant" ? yield* callSize : { sent: 0, raw: 0 }
          // The key is a hash of the messages so far, so it is never used for another one.
          const { from, duplicate } = yield* memory
            .append(session, withoutPromptSize(message), { idempotencyKey: keys[start + position] ?? "" })
            .pipe(
              Effect.catchTags({
                IdempotencyKeyReused: Effect.die,
                GuardRefused: Effect.die,
                OwnerMismatch: Effect.die,
                VersionMismatch: Effect.die,
              }),
            )
          const outcomes = yield* memory.compact(session, { which: "due" })
          if (duplicate) {
            totals.skipped++
          } else {
            totals.messages++
            totals.tokensIfRaw += size.raw
            totals.tokensSent += size.sent
          }
          totals.compactions += outcomes.filter((outcome) => outcome._tag === "Committed").length
          return { _tag: "Message" as const, index: from, message, outcomes }
        }).pipe(Effect.withClock(time.clock))

      const end = Effect.gen(function* () {
        const context = yield* memory.context(session)
        const state = yield* memory.state(session)
        return { _tag: "End" as const, context, state, totals: { ...totals } }
      }).pipe(Effect.withClock(time.clock))

      return Stream.fromIterable(messages.slice(start)).pipe(
        Stream.zipWithIndex,
        Stream.mapEffect(([message, position]) => one(message, position)),
        Stream.concat(Stream.fromEffect(end)),
      )
    }),
  )
