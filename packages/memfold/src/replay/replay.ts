/**
 * Replays a transcript: appends it message by message, finishes each compaction before the next message, and sums up the
 * costs of the strategy.
 */
import {
  CurrentSummarizer,
  type EventLog,
  Memory,
  type Message,
  type Outcome,
  type Render,
  type Session,
  type Strategy,
  type Summarizer,
} from "@memfold/core"
import { Clock, Effect, Stream } from "effect"
import { createHash } from "node:crypto"
import * as TranscriptClock from "./TranscriptClock.js"

/** The input of a replay. */
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
  readonly outcomes: ReadonlyArray<Outcome>
}

/** The sums of a replay. Each assistant message stands for one call of the model. */
export interface Totals {
  readonly messages: number
  /** How many messages were in the session already, from an earlier replay of the same transcript. */
  readonly skipped: number
  readonly compactions: number
  readonly summarizerCalls: number
  /** The tokens that the summarizer read. */
  readonly summarizerTokens: number
  /** The prompt tokens of all model calls together without memfold, and with it. */
  readonly tokensIfRaw: number
  readonly tokensSent: number
  readonly largestContext: number
}

/** The end of a replay. */
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
  summarizerTokens: 0,
  tokensIfRaw: 0,
  tokensSent: 0,
  largestContext: 0,
}

/**
 * Removes the prompt size from a message's usage: it counts the prompt of the program that recorded the transcript. The
 * tokens of the message itself stay.
 */
const withoutPromptSize = (message: Message.Message): Message.Message =>
  message.usage === undefined ? message : { ...message, usage: { output: message.usage.output } }

/** The steps of a replay, one for each message and one at the end. */
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
          totals.summarizerTokens += request.replacesTokens
          return options.summarizer.summarize(request)
        },
      }
      const memory = yield* Memory.make({ strategy: options.strategy, compaction: "manual" }).pipe(
        Effect.provideService(CurrentSummarizer, counting),
      )

      /** Counts a call of the model: the tokens of the context now, and those of all messages. */
      const callSize = Effect.gen(function* () {
        const { tokens } = yield* memory.context(session)
        const state = yield* memory.state(session)
        return { sent: tokens, raw: state.appendedTokens }
      })
      const hash = createHash("sha256").update(options.source)

      const one = (message: Message.Message) =>
        Effect.gen(function* () {
          time.moveTo(message.time)
          const size = message.role === "assistant" ? yield* callSize : { sent: 0, raw: 0 }
          const idempotencyKey = `replay-${hash.update(JSON.stringify(message)).copy().digest("hex").slice(0, 20)}`
          const { from, duplicate } = yield* memory.append(session, withoutPromptSize(message), {
            idempotencyKey,
          })
          const outcomes = yield* memory.compactDue(session)
          if (duplicate) {
            totals.skipped++
          } else {
            totals.messages++
            totals.tokensIfRaw += size.raw
            totals.tokensSent += size.sent
            totals.largestContext = Math.max(totals.largestContext, size.sent)
          }
          totals.compactions += outcomes.filter((outcome) => outcome._tag === "Committed").length
          return { _tag: "Message" as const, index: from, message, outcomes }
        }).pipe(Effect.withClock(time.clock))

      const end = Effect.gen(function* () {
        const context = yield* memory.context(session)
        const state = yield* memory.state(session)
        const largestContext = Math.max(totals.largestContext, context.tokens)
        return { _tag: "End" as const, context, state, totals: { ...totals, largestContext } }
      }).pipe(Effect.withClock(time.clock))

      return Stream.fromIterable(messages).pipe(Stream.mapEffect(one), Stream.concat(Stream.fromEffect(end)))
    }),
  )
