/** A conversation under a strategy: what its calls cost, and what stands in its contexts when it is needed. */
import {
  type CompactionOutcome,
  Policy,
  type Render,
  type Strategy,
  type Summarizer,
  TokenCounter,
  withMargin,
} from "@memfold/core"
import { ExtractiveSummarizer } from "@memfold/summarizer-extractive"
import { Cost, type Prices } from "@memfold/prices"
import { Effect, Logger, LogLevel } from "effect"
import { type Answered, Evidence, textsOf } from "./answered.js"
import type { Conversation } from "./Conversation.js"
import { answerWords, shownText, textOf, wantedOf } from "./evidence.js"
import type { Prepared } from "./prepare.js"
import { promptsOf } from "./prompt.js"
import { withoutPromptSize } from "./recordedUsage.js"
import { makeStage, type MakeLayers } from "./stage.js"
import { counted } from "./summarizerCalls.js"
import * as TranscriptClock from "./TranscriptClock.js"

/** What is asked for besides the cost. */
export interface ReplayOptions {
  /** Each of them counts the cost, by how its cache works. */
  readonly prices: ReadonlyArray<Prices.Prices>
  /** The questions, and what recall finds for them; without it, none is asked, and no identifier is looked for. */
  readonly prepared?: Prepared
  /**
   * The tokens that each context may recall by itself, from 1; without it, none. A question is then the newest user
   * message of the context in which its evidence is looked for.
   */
  readonly automaticRecall?: number
  /** Makes the memory layers of the replay; without it, there are none. */
  readonly layers?: MakeLayers
  /** The summarizer; the extractive summarizer by default. Its calls are charged like calls of a model. */
  readonly summarizer?: Summarizer.Service
  /** Whether the calls of the summarizer are charged as questions in context, while the cache is alive; `false` by default. */
  readonly askInContext?: boolean
  /** Whether the result has a point for each call, for curves; `false` by default. */
  readonly curve?: boolean
  /** Ends the replay early; its promise rejects with the reason of the signal. */
  readonly signal?: AbortSignal
  /** Called after each message, with how many are replayed. */
  readonly onMessage?: (done: number) => void
}

/** A call of the model, and what all calls up to it came to. */
export interface CallPoint {
  /** The index of the message that the call answered with. */
  readonly index: number
  /** The tokens of its context. */
  readonly tokens: number
  /** What was spent up to here, for each of the prices. */
  readonly spent: ReadonlyArray<Omit<Cost.Spent, "newest">>
  /** How many identifiers were needed up to here, and how many of them were in the context. */
  readonly needed: number
  readonly there: number
  readonly compactions: number
}

/** What a replay came to. It is plain data, so it can be sent from another thread. */
export interface Replayed {
  /** What was spent, for each of the prices. */
  readonly spent: ReadonlyArray<Omit<Cost.Spent, "newest">>
  /** The tokens of the context of each call, in order. */
  readonly contexts: ReadonlyArray<number>
  /** A point for each call, if they were asked for. */
  readonly curve?: ReadonlyArray<CallPoint>
  /** The tokens of all calls that memory layers and automatic recall added to the conversation. */
  readonly added: number
  readonly compactions: number
  /** Compactions that failed; the messages stayed in the context. */
  readonly failures: number
  /** Why the first of them failed; `null` if none did. */
  readonly firstFailure: string | null
  /** How many identifiers were needed again, and how many of them were in the context. */
  readonly identifiers: { readonly needed: number; readonly there: number }
  readonly answered: Answered
}

/** The sections of what a context shows besides the conversation and its summary. */
const isAdded: ReadonlySet<Render.SectionName> = new Set([
  "user-memory",
  "scope-memory",
  "session-memory",
  "recalled",
])

/** What is summed up over a replay. */
type Sums = { -readonly [Name in "added" | "compactions" | "failures" | "firstFailure"]: Replayed[Name] }

/** Counts compactions that ended. */
const count = (sums: Sums, outcomes: ReadonlyArray<CompactionOutcome>): void => {
  sums.compactions += outcomes.filter(({ _tag }) => _tag === "Committed" || _tag === "Pruned").length
  for (const outcome of outcomes) {
    if (outcome._tag !== "Failed") continue
    sums.failures++
    sums.firstFailure ??= outcome.error.message
  }
}

/** Lets what waits in this thread have its turn: a service that replays a long conversation goes on answering. */
const letOthers = Effect.async<void>((resume) => {
  const turn = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(turn))
})

/** A memory looks again at most so often while nobody says anything: a trigger that never ends would hold up the replay. */
const mostChecks = 8

/**
 * Replays a conversation under a strategy, in memory. Each assistant message stands for a call of the model, made with the
 * context at that point. The same input always gives the same result: the only clock shows the times of the messages.
 *
 * @param conversation - The messages, and the questions that `prepared` is about.
 * @param strategy - The strategy.
 * @param options - The prices, and what else is measured.
 *
 * @example
 * ```ts
 * import { Message } from "@memfold/core"
 * import { Prices } from "@memfold/prices"
 * import { fullHistory, ofTranscript, replay } from "@memfold/lab"
 *
 * const chat = ofTranscript("chat", [Message.user("Hello"), Message.assistant("Hello to you")])
 * const { contexts } = await replay(chat, fullHistory, { prices: [Prices.presets["claude-sonnet-5.5"]] })
 * console.log(contexts.length) // 1
 * ```
 */
export const replay = async (
  conversation: Conversation,
  strategy: Strategy.Strategy,
  {
    prices,
    prepared,
    automaticRecall,
    layers,
    summarizer = ExtractiveSummarizer.make(),
    askInContext = false,
    curve = false,
    signal,
    onMessage,
  }: ReplayOptions,
): Promise<Replayed> => {
  const { messages, questions } = conversation
  const { clock, now, moveTo } = TranscriptClock.make(
    messages.find(({ time }) => time !== undefined)?.time ?? 0,
  )
  const counter = TokenCounter.remembering(TokenCounter.estimating)
  const promptOf = promptsOf(counter)
  const asInMemory = withMargin(strategy, TokenCounter.marginOf(TokenCounter.estimating))
  let spent = prices.map((): Cost.Spent => Cost.nothing)
  const contexts: Array<number> = []
  const points: Array<CallPoint> = []
  const sums: Sums = { added: 0, compactions: 0, failures: 0, firstFailure: null }
  const identifiers = { needed: 0, there: 0 }
  const evidence = new Evidence()
  const momentOf = () => ({ now: now(), asksInContext: charged.asksInContext === true })

  const program = Effect.gen(function* () {
    const stage = yield* makeStage({ strategy, summarizer: charged, automaticRecall, layers })
    const compactDue = Effect.map(stage.compactDue, (outcomes) => count(sums, outcomes))

    /** Most messages make nothing due, which the state alone can say: facts are learned whenever a turn has ended. */
    const compact = Effect.flatMap(stage.state, (state) =>
      layers === undefined && Policy.decide(asInMemory, state, momentOf())._tag === "Idle"
        ? Effect.void
        : compactDue,
    )

    /** What a memory does by itself when nothing is said for a while. */
    const waitUntil = (time: number) =>
      Effect.gen(function* () {
        for (let checks = 0; checks < mostChecks; checks++) {
          const due = Policy.nextCheck(asInMemory, yield* stage.state, momentOf())
          if (due === null || due >= time) break
          moveTo(due)
          yield* compact
        }
        moveTo(time)
      })

    const call = (index: number, needed: ReadonlyArray<string>) =>
      Effect.gen(function* () {
        const context = yield* stage.context
        const prompt = promptOf(context)
        contexts.push(context.tokens)
        for (const { section, tokens } of context.layout) if (isAdded.has(section)) sums.added += tokens
        spent = spent.map((before, at) => Cost.call(before, { time: now(), prompt }, prices[at]!))
        identifiers.needed += needed.length
        identifiers.there += needed.filter((one) => prompt.some(({ text }) => text.includes(one))).length
        if (curve)
          points.push({
            index,
            tokens: context.tokens,
            spent: spent.map(({ newest: _newest, ...sums }) => sums),
            ...identifiers,
            compactions: sums.compactions,
          })
        return context.prefix
      })

    const ask = (asked: number, total: number) =>
      Effect.gen(function* () {
        const shown = messages.slice(0, total)
        const plain = textsOf(yield* stage.context, shown)
        for (const [position, question] of questions.entries()) {
          const finds = prepared?.found[asked]?.[position]
          if (finds === null || finds === undefined) continue
          const texts =
            automaticRecall === undefined
              ? plain
              : textsOf(yield* stage.contextFor(question.text, `${total}-${position}`), shown)
          evidence.add(texts, wantedOf(conversation, question), finds)
          const words = prepared?.answers[asked]?.[position]
          if (words !== null && words !== undefined) {
            const oracle = shownText(textOf(question.evidence.flatMap((one) => messages[one] ?? [])))
            evidence.addAnswer(answerWords(question), texts, words, oracle)
          }
        }
      })

    for (const [index, message] of messages.entries()) {
      if (message.time !== undefined && index > 0) yield* waitUntil(message.time)
      // Signed reasoning stays in later contexts only if its memory knows what it was produced behind.
      const prefix =
        message.role === "assistant" ? yield* call(index, prepared?.needed[index] ?? []) : undefined
      yield* stage.append(withoutPromptSize(message), prefix)
      yield* compact
      yield* letOthers
      const total = index + 1
      onMessage?.(total)
      const asked = prepared?.asked.indexOf(total) ?? -1
      if (asked !== -1) yield* ask(asked, total)
    }
  }).pipe(Effect.scoped, Effect.withClock(clock), Effect.provideService(TokenCounter.TokenCounter, counter))

  const charged = counted(summarizer, askInContext, ({ inContext, ...tokens }) => {
    const time = now()
    const prompt = inContext === null ? null : promptOf({ messages: inContext })
    spent = spent.map((before, at) =>
      prompt !== null && Cost.isCached(before, time, prices[at]!)
        ? Cost.summarizerInContext(before, { time, prompt, output: tokens.output }, prices[at]!)
        : Cost.summarizer(before, tokens),
    )
  })
  // Failures are in the result; a line for each of hundreds would hide the report.
  const quiet = Logger.withMinimumLogLevel(program, LogLevel.None)
  await Effect.runPromise(quiet, { signal }).catch((error: unknown) => {
    signal?.throwIfAborted()
    throw error
  })
  return {
    spent: spent.map(({ newest: _newest, ...sums }) => sums),
    contexts,
    ...(curve ? { curve: points } : {}),
    ...sums,
    identifiers,
    answered: evidence.answered,
  }
}
