/**
 * Recall: finds the messages of a session that fit a query, within a budget of tokens. It reads the log, so every message is
 * found word for word, covered by a summary or not.
 */
import { Effect } from "effect"
import type { InPlace } from "@memfold/log/atMost"
import type { Service as TokenCounter } from "@memfold/message/TokenCounter"
import { breathe } from "@memfold/log/breathe"
import type { SessionError, Sessions } from "../shell/Sessions.js"
import type { SessionState } from "../session/SessionState.js"
import { candidatesInTime } from "./candidates.js"
import { choose, fewestTokens } from "./choose.js"
import { excerpt } from "./excerpt.js"
import type { Service as FullTextIndex } from "./FullTextIndex.js"
import type { Meaning } from "./Meaning.js"
import type { Service as Reranker } from "./Reranker.js"
import { readAt, readerOf, sourceOf } from "./readLog.js"
import type { OwnedIndex } from "./OwnedIndex.js"
import { readableText } from "./searchText.js"
import { asks } from "../search/marks.js"
import type { Upkeep } from "./Upkeep.js"
import { queryTermsOf } from "../search/terms.js"
import type { SearchedTime } from "./timed.js"
import { partOf, type RecalledMessage, transcript, whole } from "./transcript.js"
import { speakersIn } from "./whoSaid.js"

/** The messages that were found, in the order of the conversation. */
export interface Recalled {
  readonly messages: ReadonlyArray<RecalledMessage>
  /** All of them as one text for a prompt: each with its message index, author and text, below the day it was written. */
  readonly text: string
  /** The tokens of `text`, at most the requested number. */
  readonly tokens: number
  /**
   * How many messages were not searched, or not by their meaning, since the index of the session or its vectors are still being made:
   * the newest ones. Search again later. Left out if all were.
   */
  readonly unsearched?: number
}

export interface RecallRequest {
  readonly query: string
  /** The most tokens of the result. */
  readonly tokens: number
  /** When the messages were said; `null` for any time. */
  readonly time?: SearchedTime | null
  /** Only messages before this index are found. */
  readonly before: number
  /** Messages that are not wanted, because the context has them already. */
  readonly without: (index: number) => boolean
  /** The question of an automatic search, by a name of its own in the session. Only what is relevant is found then. */
  readonly question?: string
}

export interface Reading {
  /** Reads a session when there is a place: whoever reads one holds its messages, and whoever waits should hold none. */
  readonly inPlace: InPlace
  readonly sessions: Sessions
  readonly index: FullTextIndex
  /** What keeps the index up with the log. */
  readonly upkeep: Upkeep
  /** The sessions of owners that were searched. */
  readonly owned: OwnedIndex
  readonly meaning: Meaning
  readonly counter: TokenCounter
  /** Puts the best candidates of a search in order; `null` without one. */
  readonly reranker: Reranker | null
}

/** What a search without anything to search for, or without room, finds. */
export const nothing: Recalled = { messages: [], text: "", tokens: 0 }

/**
 * Searches a session.
 *
 * @param state - the state of the session, which says how many messages there are since which clear
 */
export const recallMessages = (
  { sessions, index, upkeep, meaning, counter, reranker }: Reading,
  state: SessionState,
  { query, tokens, time = null, before, without, question }: RecallRequest,
): Effect.Effect<Recalled, SessionError> =>
  Effect.gen(function* () {
    const terms = queryTermsOf(query)
    const isOfTimeAlone = terms.length === 0 && time?.only === true
    if ((terms.length === 0 && !meaning.isOn && !isOfTimeAlone) || tokens < fewestTokens) return nothing
    const source = sourceOf(sessions, state)
    yield* breathe
    const speakers = speakersIn(query, terms)
    const searched = { terms: [...terms, asks, ...speakers], before: Math.min(before, state.total) }
    // Contexts of one turn recall the same, however far the index is.
    const postings = yield* question === undefined
      ? upkeep.lookUp(source, searched)
      : index.lookUp(source, searched)
    yield* breathe
    const near = yield* candidatesInTime(meaning, { query, terms, speakers, question, time }, [
      { source, postings },
    ])
    const unsearched = searched.before - postings.lengths.length + (near.unsearched[0] ?? 0)
    const fitting = near.candidates.filter(({ index }) => index < before && !without(index))
    const reader = readerOf(sessions, state)
    const one = { reader, postings, before, without, heading: null }
    const { found, ...rest } = yield* choose(counter, () => one, fitting, {
      terms,
      tokens,
      query,
      // Contexts of one turn recall the same, whatever a model says meanwhile.
      reranker: question === undefined && !isOfTimeAlone ? reranker : null,
    })
    return { messages: found[0]?.[1] ?? [], ...rest, ...(unsearched > 0 ? { unsearched } : {}) }
  })

/**
 * Reads the messages `[from, to)` of a session as they would be recalled, in order, until the budget is used up. A message
 * that is too long is cut at its end.
 */
export const readRange = (
  { sessions, index, counter }: Pick<Reading, "sessions" | "index" | "counter">,
  state: SessionState,
  { from, to, tokens }: { readonly from: number; readonly to: number; readonly tokens: number },
): Effect.Effect<Recalled, SessionError> =>
  Effect.gen(function* () {
    const asked = Array.from({ length: Math.max(Math.min(to, state.total) - from, 0) }, (_, at) => from + at)
    const postings = yield* index.lookUp(sourceOf(sessions, state), { terms: [], before: state.total })
    const versions = yield* postings.versions(asked)
    const reads = yield* readAt(readerOf(sessions, state), [...versions.values()])
    const messages: Array<RecalledMessage> = []
    for (const position of asked) {
      const read = reads.get(versions.get(position) ?? -1)
      if (read?.index !== position) continue
      const sizeWith = (one: RecalledMessage) => counter.count(transcript([...messages, one]))
      if (sizeWith(whole(read)) <= tokens) {
        messages.push(whole(read))
        continue
      }
      const text = excerpt(readableText(read.message), [], (part) => sizeWith(partOf(read, part)), tokens)
      if (text !== "") messages.push(partOf(read, text))
      break
    }
    const text = transcript(messages)
    return { messages, text, tokens: text === "" ? 0 : counter.count(text) }
  })
