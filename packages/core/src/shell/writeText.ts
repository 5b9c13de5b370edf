/**
 * Calls the summarizers for one text: with input in chunks that fit their windows, with retries and a timeout, and with each
 * summarizer's fallback. What was finished is kept when the rest fails.
 */
import { Duration, Effect, Either, Exit, Schedule, Schema } from "effect"
import { breathe, inSteps } from "@memfold/log/breathe"
import { noFiles, ProviderData, type Segment } from "../summary/Summary.js"
import type { Message } from "@memfold/message/Message"
import { hasRest, leaveOutInvalid } from "../render/boundParts.js"
import { leaveOutUnpaired } from "../render/unpairedItems.js"
import { pairResults } from "../render/pairResults.js"
import type { Context } from "../render/Render.js"
import { summaryMessages } from "../render/shownSummary.js"
import { preambleEnd } from "../render/window.js"
import {
  marginOf,
  messageOverhead,
  ofMessage,
  type Service as TokenCounter,
} from "@memfold/message/TokenCounter"
import * as metrics from "../observe/metrics.js"
import type { Strategy } from "../policy/Strategy.js"
import { type Entry, type SessionState, boundaryBefore } from "../session/SessionState.js"
import {
  type Conversation,
  type Request,
  type Result,
  type Service as Summarizer,
  SummarizerError,
} from "../summarize/Summarizer.js"
import type { Assignment } from "../engine/Composition.js"
import type { FailureNotes } from "../policy/ToolNotes.js"
import type { CompactionSettings } from "./CompactionSettings.js"
import { type CallTokens, isUnavailable, type Spend } from "./Spend.js"
import { chunks, fitting, maxInputOf, smallestRoom } from "../engine/chunks.js"
import { failureNotes, splitNotes } from "../engine/toolNotes.js"
import { wholeContext } from "../engine/wholeContext.js"

export interface SummaryWriters {
  readonly summarizer: Summarizer
  readonly counter: TokenCounter
  readonly settings: CompactionSettings
  readonly spend: Spend
  /** The context of a state, as a model would get it now. */
  readonly contextOf: (state: SessionState, strategy: Strategy) => Effect.Effect<Context>
}

export interface Writers extends SummaryWriters {
  readonly strategy: Strategy
}

/** The segments of an assignment, as far as they were finished before every summarizer had failed. */
export interface Progress {
  readonly segments: ReadonlyArray<Segment>
  readonly calls: number
  readonly by: ReadonlyArray<string>
  readonly failure: SummarizerError | null
}

/** A text, its form for a provider, and the index where the coverage of both ends. */
interface Text {
  readonly text: string | undefined
  readonly providerData?: ProviderData | undefined
  readonly to: number
}

/** What a segment is written of, without pinned messages, and how its failures are noted, if they are. */
export interface Source {
  readonly entries: ReadonlyArray<Entry>
  readonly notes: FailureNotes | undefined
  readonly instructions: string | undefined
}

export const isSeparate = ({ strategy }: Writers): boolean => strategy.context.trust === "separate"

/**
 * Writes one text. Input that is too large for one call is divided into several, and each is merged into the text
 * before it. A call ends where a group does, if possible, since only there can the text be kept if the next call fails.
 */
export const writeText = (
  writers: Writers,
  before: SessionState,
  assignment: Assignment,
  source: Source,
): Effect.Effect<Progress> =>
  Effect.gen(function* () {
    const { entries, notes } = source
    const { part, from, previous } = assignment
    const earlier = notes === undefined || previous === undefined ? undefined : splitNotes(previous)
    let finished: Text = { text: earlier?.text ?? previous, to: part.from }
    let calls = 0
    const by = new Set<string>()
    let failure: SummarizerError | null = null
    for (
      let summarizer: Summarizer | undefined = writers.summarizer;
      summarizer !== undefined;
      summarizer = summarizer.fallback
    ) {
      const rest: ReadonlyArray<Entry> = entries.filter(({ index }) => index >= finished.to)
      const called: CallResult = yield* callFor({ ...writers, summarizer }, before, assignment, finished, {
        ...source,
        entries: rest,
      })
      calls += called.calls
      if (called.finished.to > finished.to) by.add(summarizer.name)
      finished = called.finished
      failure = called.failure
      // A cap counts all summarizers of a chain. To go on with a lesser one would hide that it was reached.
      if (failure === null || failure.reason === "spend-reached") break
    }
    if (finished.to === part.from) return { segments: [], calls, by: [], failure }
    const covered = entries.filter(({ index }) => index < finished.to).map(({ message }) => message)
    const noted = notes === undefined ? "" : failureNotes(covered, notes, earlier?.failures)
    const text = (finished.text ?? "") + noted
    const { providerData } = finished
    const native = part.kind === "history" && from === 0 && providerData !== undefined ? { providerData } : {}
    return {
      segments: [{ kind: part.kind, from, to: finished.to, text, ...native }],
      calls,
      by: [...by],
      failure,
    }
  })

interface CallResult {
  readonly finished: Text
  readonly calls: number
  readonly failure: SummarizerError | null
}

/** What a summarizer reads in place of a message that cannot be read. */
const missingMessage: Message = {
  role: "system",
  parts: [{ type: "text", text: "[A message is missing here: it cannot be read.]" }],
}

/**
 * Calls one summarizer for the rest of a segment. It fails if the text written so far leaves no room for new messages:
 * that text is never cut.
 */
const callFor = (
  writers: Writers,
  before: SessionState,
  { part, from, previous }: Assignment,
  start: Text,
  { entries: rest, instructions }: Source,
): Effect.Effect<CallResult> =>
  Effect.gen(function* () {
    const { counter, summarizer } = writers
    const { session } = before
    const maxInputTokens = maxInputOf(summarizer, writers.strategy)
    const least = smallestRoom(maxInputTokens)
    const window = (maxInputTokens ?? Number.POSITIVE_INFINITY) / marginOf(counter)
    const said = rest.map(({ message }) => message)
    const all = yield* inSteps(() => chunks(counter, said, least ?? window))
    /** The index before which every message is complete when the chunks before this position are written. */
    const reached = (position: number): number => {
      const next = all[position]
      if (next === undefined) return part.to
      // If the next chunk continues a message, that message is not complete.
      return rest[next.position]?.index ?? part.to
    }
    const endsGroup = (position: number): boolean => {
      const inside = position > 0 && all[position]?.position === all[position - 1]?.position
      return !inside && boundaryBefore(before, reached(position)) === reached(position)
    }

    const isMissing = (index: number | null | undefined) =>
      before.unreadable.some((one) => one.index === index)

    /** The messages of the chunks `[position, end)` as a conversation; `null` if messages or groups are divided. */
    const contextOf = (position: number, end: number): Conversation | null => {
      // The conversation has its material in it.
      if (isSeparate(writers) || !endsGroup(position) || !endsGroup(end)) return null
      const since = position === 0 ? start.to : reached(position)
      const to = reached(end)
      const preambleTo = Math.min(preambleEnd(before), to)
      const whole = position === 0 && start.to === part.from && from === 0 ? before.summary : null
      const bound = leaveOutInvalid(before, () => "")
      const paired = (all: ReadonlyArray<Entry>): ReadonlyArray<Message> => {
        const shown = leaveOutUnpaired(all, null, "leave-out").entries.map(bound.check)
        return pairResults(shown.filter((entry, at) => hasRest(entry, all[at]))).map(({ message, source }) =>
          isMissing(source) ? missingMessage : message,
        )
      }
      const earlier = whole ?? asSummary(writers, { part, from, text, providerData })
      return {
        pinned: paired([...before.pinned, ...before.uncovered.slice(before.coveredTo, preambleTo)]),
        summary: earlier === null ? [] : summaryMessages(earlier),
        messages: paired(before.uncovered.slice(Math.max(since, preambleTo), to)),
      }
    }

    // A call for a part of the messages, or behind a text that was only now written, is about more than contexts show.
    const isOneCall = start.to === part.from && start.text === previous && !isSeparate(writers)
    const shown =
      summarizer.asksInContext === true && isOneCall
        ? yield* writers.contextOf(before, writers.strategy)
        : null

    let finished = start
    let text = start.text
    let providerData = start.providerData
    let calls = 0
    let position = 0
    while (position < all.length) {
      const written = text === undefined ? 0 : counter.count(text) + messageOverhead
      if (least !== undefined && window - written < least) {
        const detail = `the summary so far takes ${written} of the summarizer's ${Math.floor(window)} tokens`
        return { finished, calls, failure: new SummarizerError({ session, reason: "too-large", detail }) }
      }
      const most = position + fitting(all, position, window - written)
      let end = most
      while (end > position + 1 && !endsGroup(end)) end--
      if (!endsGroup(end)) end = most
      const taken = all.slice(position, end)
      calls++
      // A conversation is made of all that is covered.
      yield* breathe
      const context = contextOf(position, end)
      yield* breathe
      const range = {
        from,
        to: reached(end),
        previous: text,
        messagesFrom: rest[all[position]?.position ?? 0]?.index ?? part.from,
      }
      const isWhole = position === 0 && end === all.length
      const whole =
        shown === null || !isWhole || shown.tokens > window ? null : wholeContext(shown, before, range)
      const answer: Either.Either<Answer, SummarizerError> = yield* Effect.either(
        callSummarizer(writers, {
          session,
          kind: part.kind,
          ...range,
          messages: taken.map(({ message, position: at }) =>
            isMissing(rest[at]?.index) ? missingMessage : message,
          ),
          replacesTokens: taken.reduce((sum, { tokens }) => sum + tokens, written),
          ...sizeOf(writers.strategy, part.kind),
          instructions,
          ...(context === null ? {} : { context }),
          ...(whole === null ? {} : { wholeContext: whole }),
        }),
      )
      if (Either.isLeft(answer)) return { finished, calls, failure: answer.left }
      ;({ text, providerData } = answer.right)
      position = end
      if (endsGroup(position)) finished = { text, providerData, to: reached(position) }
    }
    return { finished: { text, providerData, to: part.to }, calls, failure: null }
  })

/** The size that the strategy asks for: merged blocks have one of their own. */
const sizeOf = (
  { summaryMode, summarySize, mergeBlocks }: Strategy,
  kind: Segment["kind"],
): Pick<Request, "size"> => {
  if (summarySize === undefined) return {}
  const merges = summaryMode === "blocks" && kind === "history" && mergeBlocks !== undefined
  return { size: merges ? { ...summarySize, maxTokens: mergeBlocks.maxTokens } : summarySize }
}

/** The text written so far as a summary; `null` if there is none. */
const asSummary = (
  { strategy }: Writers,
  written: Pick<Assignment, "part" | "from"> & Pick<Text, "text" | "providerData">,
): Parameters<typeof summaryMessages>[0] | null => {
  const { part, from, text, providerData } = written
  if (text === undefined) return null
  const data = providerData === undefined ? {} : { providerData }
  return {
    segments: [{ kind: part.kind, from, to: part.from, text, ...data }],
    files: noFiles,
    wording: strategy.context.wording,
  }
}

/** What a summarizer wrote, checked. */
interface Answer {
  readonly text: string
  readonly providerData: ProviderData | undefined
}

/**
 * The provider data of a result as it will be read back; none if it is no smaller than what it replaces.
 *
 * @throws if JSON cannot hold it; that counts as a failure of the summarizer
 */
const keptData = ({ providerData }: Result, replacesTokens: number): ProviderData | undefined =>
  providerData === undefined || (providerData.tokens ?? 0) >= replacesTokens
    ? undefined
    : Schema.decodeUnknownSync(ProviderData)(JSON.parse(JSON.stringify(providerData)))

/** What a call reads: the context, or what it replaces in a prompt. */
const inputTokens = (counter: TokenCounter, request: Request): number => {
  const { wholeContext, instructions = "", replacesTokens } = request
  const shown = wholeContext?.messages.reduce((sum, message) => sum + ofMessage(counter, message), 0)
  return (shown ?? replacesTokens) + counter.count(instructions) + promptTokens
}

/** The most that a call costs: no answer is accepted that is as long as what it replaces. */
const mostTokens = (counter: TokenCounter, request: Request): CallTokens => {
  const margin = marginOf(counter)
  return {
    input: Math.ceil(margin * inputTokens(counter, request)),
    output: Math.ceil(margin * request.replacesTokens),
  }
}

/** What a call did cost: what the provider charges, or what was read and written. */
const costOf = (
  counter: TokenCounter,
  request: Request,
  most: CallTokens,
  exit: Exit.Exit<Result, SummarizerError>,
): CallTokens => {
  if (Exit.isSuccess(exit)) {
    const { usage, text } = exit.value
    return usage ?? { input: inputTokens(counter, request), output: counter.count(text) }
  }
  // A summarizer that could not be called has cost nothing. What a call wrote that was broken off, nobody knows.
  return isUnavailable(exit) ? { input: 0, output: 0 } : most
}

/** What a prompt says besides the conversation, in tokens: the prompts of `Prompt` have some 300. */
const promptTokens = 300

const callSummarizer = (
  { summarizer, counter, settings, spend }: Writers,
  request: Request,
): Effect.Effect<Answer, SummarizerError> => {
  const refuse = (reason: SummarizerError["reason"], detail: string) =>
    new SummarizerError({ session: request.session, reason, detail })
  const uncounted = ({ message }: Error) => refuse("unavailable", `the spend of the day: ${message}`)
  const answered = Effect.suspend(() => summarizer.summarize(request)).pipe(
    Effect.timeoutFail({
      duration: settings.summarizerTimeout,
      onTimeout: () =>
        refuse(
          "timeout",
          `no answer within ${Duration.format(settings.summarizerTimeout)}; the limit is a setting`,
        ),
    }),
  )
  const most = mostTokens(counter, request)
  const paid =
    summarizer.isFree === true
      ? answered
      : spend
          .charge(request.session, { part: "summarizer", most, run: answered }, (exit) =>
            costOf(counter, request, most, exit),
          )
          .pipe(
            Effect.catchTags({
              CapReached: ({ message }) => refuse("spend-reached", message),
              // Without the count, nobody knows whether the call may be made.
              LogError: uncounted,
              DamagedEvent: uncounted,
            }),
          )
  const checked = Effect.flatMap(paid, (result) => {
    if (typeof result !== "object" || result === null)
      return refuse("unavailable", `"${summarizer.name}" answered with nothing`)
    const { text, finish } = result
    if (finish === "length") return refuse("truncated", "the model was cut off; allow it more output tokens")
    if (finish === "refused") return refuse("refused", "the model refused to write the summary")
    if (typeof text !== "string" || text.trim() === "") return refuse("empty", "the summary has no text")
    const tokens = counter.count(text)
    return tokens < request.replacesTokens
      ? Effect.succeed({ text, providerData: keptData(result, request.replacesTokens) })
      : refuse("not-smaller", `${tokens} tokens in place of ${request.replacesTokens}`)
  })
  // A summarizer that throws, or returns no effect, has failed. A thrown value may quote the conversation, so
  // it is not passed on.
  const known = Effect.catchAllDefect(checked, () =>
    refuse("unavailable", `"${summarizer.name}" threw instead of answering`),
  )
  const counted = Effect.zipRight(
    metrics.count(metrics.summarizerCalls),
    Effect.tapError(known, ({ reason }) => metrics.count(metrics.summarizerFailures, { reason })),
  )
  return Effect.retry(counted, { times: settings.summarizerRetries, while: passes, schedule: pauses })
}

/** Whether a failure may pass. Any other failure would come again with the same input. */
const passes = ({ reason }: SummarizerError): boolean => reason === "unavailable" || reason === "timeout"

const pauses = Schedule.jittered(Schedule.exponential("500 millis"))
