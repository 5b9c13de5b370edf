/**
 * Replays a transcript: message by message into a session, each compaction finished before the next message,
 * and the sums that tell what a policy costs.
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

/** What is replayed, where, and how. */
export interface ReplayOptions {
  readonly session: string
  /**
   * Names the transcript. Replaying it into the same session again, after a kill for example, goes on where it
   * ended: each message's commit id follows from this name and all messages up to it.
   */
  readonly source: string
  readonly messages: ReadonlyArray<Message.Message>
  readonly strategy: Strategy.Strategy
  readonly summarizer: Summarizer.Service
}

/** A message that came in, the state after it, and the compactions that followed it. */
export interface MessageStep {
  readonly _tag: "Message"
  readonly index: number
  readonly message: Message.Message
  readonly outcomes: ReadonlyArray<Outcome>
}

/** The sums of a replay. Each assistant message stands for one call of the model. */
export interface Totals {
  readonly messages: number
  /** Messages that were in the session already, from an earlier replay of the same transcript. */
  readonly skipped: number
  readonly compactions: number
  readonly summarizerCalls: number
  /** What the summarizer read, in tokens. */
  readonly summarizerTokens: number
  /** What all model calls together would have been sent without memfold, and were sent with it. */
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
 * The size of the prompt as its provider counted it belongs to the program that recorded the transcript, which
 * had a context of its own. What it counted for the message itself holds anywhere.
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

      /** What a call of the model takes now, and would take with everything in it. */
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
