/** Searching a session, or the sessions of an owner, and answering the calls of a model's search tool. */
import { Clock, Effect } from "effect"
import type { Message, ToolCall } from "@memfold/message/Message"
import { span } from "../observe/spans.js"
import { readRange, recallMessages, type Recalled } from "../recall/recallMessages.js"
import { type OwnedRecalled, recallOwned } from "../recall/recallOwned.js"
import { timeOf } from "../recall/timed.js"
import { answerCall } from "../recall/tools.js"
import { render, shownIndexes } from "../render/Render.js"
import { breathe } from "@memfold/log/breathe"
import {
  checkCount,
  checkOwner,
  checkSearched,
  checkSession,
  checkText,
  checkTimes,
  checkWithout,
} from "./input.js"
import type { MemoryParts } from "./MemoryParts.js"
import type { MemoryError, OwnerRecallOptions, RecallOptions, StrategyOptions } from "./MemoryOptions.js"
import { allOfOwned } from "./ownedSessions.js"
import { readState } from "./readState.js"

/** Searches the messages of a session. */
export const recall = (
  parts: MemoryParts,
  session: string,
  query: string,
  options: RecallOptions & StrategyOptions = {},
): Effect.Effect<Recalled, MemoryError> =>
  Effect.gen(function* () {
    const { tokens = 1_000, messages = "all" } = options
    // Searches that begin together take turns.
    yield* breathe
    const state = yield* readState(parts.sessions, session, options)
    const strategy = yield* parts.strategyOf(session, options)
    yield* checkText(session, "query", query)
    yield* checkCount(session, "tokens", tokens)
    yield* checkSearched(session, messages)
    yield* checkTimes(session, options)
    const now = yield* Clock.currentTimeMillis
    const asked = yield* timeOf(query, options, now)
    const style = parts.styleOf(strategy, state, now)
    const shown = messages === "outside-context" ? shownIndexes(render(state, style)) : new Set<number>()
    return yield* recallMessages(parts.reading, state, {
      ...asked,
      tokens,
      before: state.total,
      without: (index) => shown.has(index),
    })
  }).pipe(parts.reading.inPlace, span("memfold.recall", { session }))

/** Searches all sessions of an owner. */
export const recallOf = (
  { log, reading, ownerSearches }: MemoryParts,
  owner: string,
  query: string,
  { tokens = 1_000, without = [], ...times }: OwnerRecallOptions = {},
): Effect.Effect<OwnedRecalled, MemoryError> =>
  Effect.gen(function* () {
    yield* checkOwner(owner)
    yield* checkText("", "query", query)
    yield* checkCount("", "tokens", tokens)
    yield* checkWithout(without)
    yield* checkTimes("", times)
    yield* breathe
    const asked = yield* timeOf(query, times, yield* Clock.currentTimeMillis)
    const left = new Set(without)
    return yield* ownerSearches(
      Effect.flatMap(allOfOwned(log, owner), (all) =>
        recallOwned(
          reading,
          all.filter(({ session }) => !left.has(session)),
          { owner, ...asked, tokens },
        ),
      ),
    )
  }).pipe(span("memfold.recallOf"))

/** Answers a call of a tool of recall; `null` for a call of another tool. */
export const answerToolCall = (
  parts: MemoryParts,
  session: string,
  call: ToolCall,
  { tokens = 1_000, ...request }: StrategyOptions & { readonly tokens?: number } = {},
): Effect.Effect<Message | null, MemoryError> =>
  Effect.gen(function* () {
    yield* checkSession(session)
    yield* checkCount(session, "tokens", tokens)
    const read = (from: number, to: number) =>
      Effect.flatMap(readState(parts.sessions, session), (state) =>
        readRange(parts.reading, state, { from, to, tokens }),
      )
    const search = (query: string) =>
      recall(parts, session, query, { ...request, tokens, messages: "outside-context" })
    return yield* answerCall(
      {
        search: (query) =>
          Effect.map(search(query), ({ text, unsearched }) =>
            unsearched === undefined
              ? text
              : `${text}\n(${unsearched} later messages are not indexed yet.)`.trim(),
          ),
        read: (from, to) => Effect.map(parts.reading.inPlace(read(from, to)), ({ text }) => text),
      },
      call,
    )
  })
