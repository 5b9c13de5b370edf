/** A conversation under a strategy: what its calls cost, and what stands in its contexts when it is needed. */
import {
  type CompactionOutcome,
  type EventLog,
  FullTextIndex,
  InContext,
  InMemoryEventLog,
  Memory,
  MemoryLayers,
  Message,
  Policy,
  Prompt,
  Recall,
  type Render,
  type Strategy,
  Summarizer,
  TokenCounter,
  withMargin,
} from "@memfold/core"
import { ExtractiveSummarizer } from "@memfold/summarizer-extractive"
import { Cost, type Prices } from "@memfold/prices"
import { Effect, Layer, Logger, LogLevel } from "effect"
import type { Conversation } from "./Conversation.js"
import {
  type AnswerWord,
  answerWords,
  newestWithin,
  share,
  type Shown,
  shownText,
  textOf,
  wantedOf,
  wordsIn,
} from "./evidence.js"
import type { FoundWords, Prepared } from "./prepare.js"
import { promptsOf } from "./prompt.js"
import { withoutPromptSize } from "./recordedUsage.js"
import * as TranscriptClock from "./TranscriptClock.js"

/** Makes memory layers over the log of a replay, as `make` of `@memfold/layers` does. */
export type MakeLayers = Effect.Effect<MemoryLayers.Service, never, EventLog.EventLog>

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

/** What stood of expected answers in one kind of text: the shares of their words, from 0 to 1, and the tokens, summed up. */
export interface AnswerSum {
  readonly words: number
  readonly tokens: number
}

/** The texts in which the words of an answer are looked for. */
export const answerTexts = [
  "context",
  "newest",
  "summaries",
  "summariesWithRecall",
  "recall",
  "oracle",
] as const

/**
 * What stood of the answers that are expected, over the questions that have one.
 *
 * - `context`: all that the context says
 * - `newest`: the newest messages of its size
 * - `summaries`: its summaries alone
 * - `recall`: what a search for the question finds; `summariesWithRecall`: that and the summaries
 * - `oracle`: the messages that answer the question, and nothing else
 */
export interface Answers extends Readonly<Record<(typeof answerTexts)[number], AnswerSum>> {
  readonly asked: number
}

/** What the questions came to. The shares of evidence are sums over `asked`, each from 0 to 1. */
export interface Answered {
  readonly answers: Answers
  /** How many times a question was asked. */
  readonly asked: number
  /** The tokens of the contexts. */
  readonly tokens: number
  /** Evidence in uncovered messages, word for word. */
  readonly raw: number
  /** Evidence in uncovered messages or in summaries. */
  readonly kept: number
  /** Evidence in the context at all: also in what it recalled by itself. */
  readonly said: number
  /** Evidence in the newest messages of the same size as the context. */
  readonly newest: number
  /** Evidence in the context, or found by a search. */
  readonly found: number
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

/** A call of a summarizer, as a model would have had it. */
interface SummarizerCall {
  /** The tokens of a prompt of its own, and of the text that it wrote. */
  readonly input: number
  readonly output: number
  /** The context with the question at its end, where that is possible. */
  readonly inContext: ReadonlyArray<Message.Message> | null
}

/** The sections of what a context shows besides the conversation and its summary. */
const isAdded: ReadonlySet<Render.SectionName> = new Set([
  "user-memory",
  "scope-memory",
  "session-memory",
  "recalled",
])

/** Whether a message of a context is what it recalled by itself. */
const isRecalled = (message: Message.Message): boolean =>
  message.role === "user" && Message.text(message).startsWith(Recall.recalledHeading)

/** A summarizer and its fallbacks. Their calls are counted like calls of a model: the prompt, and the written text. */
const counted = (
  summarizer: Summarizer.Service,
  asksInContext: boolean,
  count: (call: SummarizerCall) => void,
): Summarizer.Service => {
  const { count: tokensOf } = TokenCounter.estimating
  return {
    ...summarizer,
    asksInContext: asksInContext || summarizer.asksInContext === true,
    summarize: (request) =>
      Effect.tap(summarizer.summarize(request), ({ text }) =>
        Effect.sync(() => {
          const { system, user } = Prompt.forRequest(request)
          const hasCache = asksInContext && (request.wholeContext?.lastCallTime ?? null) !== null
          count({
            input: tokensOf(system) + tokensOf(user),
            output: tokensOf(text),
            inContext: hasCache ? (InContext.forRequest(request)?.messages ?? null) : null,
          })
        }),
      ),
    ...(summarizer.fallback === undefined
      ? {}
      : { fallback: counted(summarizer.fallback, asksInContext, count) }),
  }
}

/** The texts of a context in which evidence is looked for. */
interface Texts extends Readonly<Record<"raw" | "kept" | "all" | "newest", string>> {
  readonly tokens: number
  readonly shown: Readonly<Record<"context" | "newest" | "summaries", Shown>>
}

/** @param shown the messages of the conversation until then */
const textsOf = (
  { messages, sources, tokens }: Pick<Render.Context, "messages" | "sources" | "tokens">,
  shown: ReadonlyArray<Message.Message>,
): Texts => {
  const [all, newest] = [textOf(messages), newestWithin(shown, tokens)]
  const summaries = messages.filter((message, at) => sources[at] === null && !isRecalled(message))
  return {
    tokens,
    raw: textOf(messages.filter((_, at) => sources[at] !== null)),
    kept: textOf(messages.filter((message) => !isRecalled(message))),
    all,
    newest,
    shown: {
      context: shownText(all, tokens),
      newest: shownText(newest, tokens),
      summaries: shownText(textOf(summaries)),
    },
  }
}

/** What the questions have come to so far. */
class Evidence {
  readonly answers = {
    asked: 0,
    ...(Object.fromEntries(answerTexts.map((name) => [name, { words: 0, tokens: 0 }])) as Record<
      (typeof answerTexts)[number],
      { words: number; tokens: number }
    >),
  }
  readonly answered = {
    asked: 0,
    tokens: 0,
    raw: 0,
    kept: 0,
    said: 0,
    newest: 0,
    found: 0,
    answers: this.answers as Answers,
  }

  /** Counts a question: how much of the wanted sentences the texts have, and which of them a search finds. */
  add(texts: Texts, wanted: ReadonlyArray<string>, finds: ReadonlyArray<boolean>): void {
    const { answered } = this
    const isIn = (text: string) => wanted.map((sentence) => text.includes(sentence))
    const said = isIn(texts.all)
    answered.asked++
    answered.tokens += texts.tokens
    answered.raw += share(isIn(texts.raw))
    answered.kept += share(isIn(texts.kept))
    answered.said += share(said)
    answered.newest += share(isIn(texts.newest))
    answered.found += share(said.map((isSaid, at) => isSaid || finds[at] === true))
  }

  /** Counts an answer: which of its words the texts have, and a search finds, and the evidence has. */
  addAnswer(words: ReadonlyArray<AnswerWord>, { shown }: Texts, found: FoundWords, oracle: Shown): void {
    if (words.length === 0) return
    const { answers } = this
    answers.asked++
    const add = (name: (typeof answerTexts)[number], isThere: ReadonlyArray<boolean>, tokens: number) => {
      answers[name].words += share(isThere)
      answers[name].tokens += tokens
    }
    for (const name of ["context", "newest", "summaries"] as const)
      add(name, wordsIn(words, shown[name]), shown[name].tokens)
    const inSummaries = wordsIn(words, shown.summaries)
    add("recall", found.words, found.tokens)
    add(
      "summariesWithRecall",
      inSummaries.map((isThere, at) => isThere || found.words[at] === true),
      shown.summaries.tokens + found.tokens,
    )
    add("oracle", wordsIn(words, oracle), oracle.tokens)
  }
}

/** The session that is replayed. Its forks have other names. */
const session = "s"

/**
 * A full-text index of the session that answers for its forks as well: they have its messages, in the same places, and only
 * what was said before the question is searched. Otherwise, it would be built again for each fork.
 */
const indexForForks = (): FullTextIndex.Service => {
  const index = Recall.inProcess()
  let own: FullTextIndex.Source | null = null
  return {
    lookUp: (source, lookup) => {
      if (source.session === session) own = source
      return index.lookUp(own ?? source, lookup)
    },
    forget: () => Effect.void,
  }
}

/** A memory over a log of its own, which compacts when it is asked to. */
const memoryOf = (strategy: Strategy.Strategy, summarizer: Summarizer.Service, layers?: MakeLayers) =>
  Memory.layer({ strategy, compaction: { mode: "manual" } }).pipe(
    Layer.provide(layers === undefined ? Layer.empty : Layer.effect(MemoryLayers.MemoryLayers, layers)),
    Layer.provide(InMemoryEventLog.layer),
    Layer.provide(Layer.succeed(Summarizer.Summarizer, summarizer)),
    Layer.provide(Layer.sync(FullTextIndex.FullTextIndex, indexForForks)),
  )

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
  }: ReplayOptions,
): Promise<Replayed> => {
  const { messages, questions } = conversation
  const { clock, now, moveTo } = TranscriptClock.make(
    messages.find(({ time }) => time !== undefined)?.time ?? 0,
  )
  const promptOf = promptsOf()
  const asInMemory = withMargin(strategy, TokenCounter.marginOf(TokenCounter.estimating))
  let spent = prices.map((): Cost.Spent => Cost.nothing)
  const contexts: Array<number> = []
  const points: Array<CallPoint> = []
  const sums: Sums = { added: 0, compactions: 0, failures: 0, firstFailure: null }
  const identifiers = { needed: 0, there: 0 }
  const evidence = new Evidence()
  const recall = automaticRecall === undefined ? {} : { recall: { tokens: automaticRecall } }
  const momentOf = () => ({ now: now(), asksInContext: charged.asksInContext === true })

  const program = Effect.gen(function* () {
    const memory = yield* Memory.Memory
    const compactDue = Effect.map(memory.compact(session, { which: "due" }), (outcomes) =>
      count(sums, outcomes),
    )

    /** Most messages make nothing due, which the state alone can say: facts are learned whenever a turn has ended. */
    const compact = Effect.flatMap(memory.state(session), (state) =>
      layers === undefined && Policy.decide(asInMemory, state, momentOf())._tag === "Idle"
        ? Effect.void
        : compactDue,
    )

    /** What a memory does by itself when nothing is said for a while. */
    const waitUntil = (time: number) =>
      Effect.gen(function* () {
        for (let checks = 0; checks < mostChecks; checks++) {
          const due = Policy.nextCheck(asInMemory, yield* memory.state(session), momentOf())
          if (due === null || due >= time) break
          moveTo(due)
          yield* compact
        }
        moveTo(time)
      })

    const call = (index: number, needed: ReadonlyArray<string>) =>
      Effect.gen(function* () {
        const context = yield* memory.context(session, recall)
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

    /** The context of a fork in which the question is the newest message: with it, automatic recall searches. */
    const contextFor = (question: string, fork: string) =>
      Effect.gen(function* () {
        yield* memory.fork(session, fork)
        yield* memory.append(fork, Message.user(question, { time: now() }))
        const context = yield* memory.context(fork, recall)
        yield* memory.delete(fork)
        const newest = context.messages.length - 1
        return {
          ...context,
          messages: context.messages.slice(0, newest),
          sources: context.sources.slice(0, newest),
          tokens: context.tokens - TokenCounter.ofMessage(TokenCounter.estimating, context.messages[newest]!),
        }
      })

    const ask = (asked: number, total: number) =>
      Effect.gen(function* () {
        const shown = messages.slice(0, total)
        const plain = textsOf(yield* memory.context(session), shown)
        for (const [position, question] of questions.entries()) {
          const finds = prepared?.found[asked]?.[position]
          if (finds === null || finds === undefined) continue
          const texts =
            automaticRecall === undefined
              ? plain
              : textsOf(yield* contextFor(question.text, `${session}-${total}-${position}`), shown)
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
      const origin =
        message.role === "assistant" ? { prefix: yield* call(index, prepared?.needed[index] ?? []) } : {}
      yield* memory.append(session, withoutPromptSize(message), origin)
      yield* compact
      yield* letOthers
      const total = index + 1
      const asked = prepared?.asked.indexOf(total) ?? -1
      if (asked !== -1) yield* ask(asked, total)
    }
  }).pipe(Effect.withClock(clock))

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
  const quiet = Effect.provide(program, memoryOf(strategy, charged, layers)).pipe(
    Logger.withMinimumLogLevel(LogLevel.None),
  )
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
