/** What the operations of a memory work with. */
import { Effect, type Exit, type Scope } from "effect"
import { MemoryLayers } from "../layers/MemoryLayers.js"
import { atMost, type InPlace } from "@memfold/log/atMost"
import { EventLog, type Service as Log } from "@memfold/log/EventLog"
import { guarded, marginOf, TokenCounter } from "@memfold/message/TokenCounter"
import { withDefaults } from "../options/OptionGroup.js"
import { contextStyle } from "../policy/contextStyle.js"
import type { Strategy } from "../policy/Strategy.js"
import { withMargin } from "../policy/withMargin.js"
import { Embedder } from "../recall/Embedder.js"
import { FullTextIndex } from "../recall/FullTextIndex.js"
import { OwnedIndex } from "../recall/OwnedIndex.js"
import { inStore } from "../recall/inStore.js"
import { Upkeep } from "../recall/Upkeep.js"
import { make as makeMeaning } from "../recall/Meaning.js"
import { Reranker } from "../recall/Reranker.js"
import type { Reading } from "../recall/recallMessages.js"
import { VectorIndex } from "@memfold/log/VectorIndex"
import { vectorsInProcess } from "../recall/vectorsInProcess.js"
import * as CompactionSchedule from "../shell/CompactionSchedule.js"
import { Dispatcher } from "@memfold/log/Dispatcher"
import { type Load, makeLoad } from "../shell/Load.js"
import type { CompactionMode } from "../shell/modes.js"
import { make as makeSessions } from "../shell/Sessions.js"
import { makeSpend, type Spend } from "../shell/Spend.js"
import * as UnderWay from "../shell/UnderWay.js"
import * as Summarizer from "../summarize/Summarizer.js"
import { contextNow, type RenderingParts } from "./plainContext.js"
import type { Entrance } from "./entrance.js"
import type { InvalidInput } from "./input.js"
import type { Options, StrategyOptions } from "./MemoryOptions.js"
import { checkOptions, compactionOptions, InvalidOption, missingPrice } from "./options.js"
import { requestStrategy } from "./requestStrategy.js"

/**
 * How many postings of owners' sessions the process holds. Thousands of sessions share the lists of their terms, so these take
 * some 100 MB.
 */
const ownedPostings = 4_000_000

/** How many searches over the sessions of an owner run at once; others wait. */
const ownerSearchesAtOnce = 2

/** How many sessions are searched or traced at once; others wait. */
const searchesAtOnce = 32

/** How many previews run at once; others wait. */
const previewsAtOnce = 16

/** What the operations of a memory work with. */
export interface MemoryParts extends RenderingParts, Entrance {
  readonly log: Log
  readonly schedule: CompactionSchedule.CompactionSchedule
  /** What keeps the spend below its caps; `null` without caps. */
  readonly spend: Spend | null
  readonly underWay: UnderWay.UnderWay
  readonly load: Load
  readonly summarizer: Summarizer.Service
  readonly reading: Reading
  /** Searches over all sessions of an owner, a few at a time: each holds what it has read of every session. */
  readonly ownerSearches: InPlace
  /** Previews, a few at a time: each holds the states that it goes through. */
  readonly previews: InPlace
  readonly mode: CompactionMode
  readonly strategyOf: (session: string, request?: StrategyOptions) => Exit.Exit<Strategy, InvalidInput>
}

/** Puts the parts of a memory together. They end with the scope. It dies with an `InvalidOption` if an option is not allowed. */
export const makeParts = (
  options: Options,
): Effect.Effect<MemoryParts, never, EventLog | Summarizer.Summarizer | Scope.Scope> =>
  Effect.gen(function* () {
    const log = yield* EventLog
    const tokenCounter = yield* TokenCounter
    const summarizer = yield* Summarizer.Summarizer
    const embedder = yield* Embedder
    const reranker = yield* Reranker
    const wrong = checkOptions({
      ...options,
      tokenCounter,
      summarizer,
      ...(embedder === null ? {} : { embedder }),
      ...(reranker === null ? {} : { reranker }),
    })
    if (wrong !== null) return yield* Effect.die(wrong)
    const counter = guarded(tokenCounter)
    const margin = marginOf(counter)
    const layers = yield* MemoryLayers
    const sessions = makeSessions(log, { capacity: options.cachedSessions ?? 1_000 })
    const missing = missingPrice(options.spend, { summarizer, embedder, layers })
    if (missing !== null) return yield* Effect.die(missing)
    const spend = makeSpend(sessions, options.spend)
    const load = makeLoad(options.load)
    const compaction = withDefaults(compactionOptions, options.compaction ?? {})
    const { mode } = compaction
    const dispatcher = yield* Dispatcher
    if (mode === "dispatch" && dispatcher === null)
      return yield* Effect.die(
        new InvalidOption({
          option: "compaction.mode",
          allowed:
            "background, inline, manual, or off, unless there is a queue: dispatch hands its work to one",
        }),
      )
    const boundReasoning = options.boundReasoning ?? "leave-out"
    const circumstances = {
      budget: options.budget?.tokens,
      asksInContext: summarizer.asksInContext === true,
    }
    const styleOf: MemoryParts["styleOf"] = (strategy, state, now) =>
      contextStyle(strategy, state, {
        ...circumstances,
        now,
        compactions: mode === "manual" || mode === "off" ? mode : "automatic",
      })
    const rendering = { counter, layers, styleOf, boundReasoning }
    const schedule = yield* CompactionSchedule.make({
      sessions,
      summarizer,
      counter,
      spend,
      layers,
      mode,
      dispatcher,
      settings: compaction,
      hooks: compaction.hooks,
      shadow: options.shadow === undefined ? undefined : withMargin(options.shadow, margin),
      budget: options.budget,
      circumstances,
      shutdown: compaction.shutdown,
      concurrency: compaction.concurrency,
      calm: load.calm,
      contextOf: (state, strategy) => contextNow(rendering, state, strategy),
    })
    const underWay = yield* UnderWay.make
    const givenVectors = yield* VectorIndex
    const meaning = yield* makeMeaning({
      sessions,
      embedder,
      spend,
      counter,
      index: givenVectors ?? (embedder === null ? null : vectorsInProcess()),
    })
    // What an earlier process could not tell the index before it ended.
    if (givenVectors !== null) yield* Effect.forkScoped(meaning.forgetErased)
    const index = (yield* FullTextIndex) ?? inStore(log.projections)
    const upkeep = new Upkeep(index, yield* Effect.scope, options.indexAhead ?? true)
    return {
      log,
      sessions,
      schedule,
      spend: options.spend === undefined ? null : spend,
      underWay,
      load,
      summarizer,
      counter,
      layers,
      beforeAppend: options.beforeAppend,
      reading: {
        inPlace: atMost(searchesAtOnce),
        sessions,
        index,
        upkeep,
        owned: new OwnedIndex(ownedPostings),
        meaning,
        counter,
        reranker,
      },
      ownerSearches: atMost(ownerSearchesAtOnce),
      previews: atMost(previewsAtOnce),
      mode,
      boundReasoning,
      strategyOf: requestStrategy(options, margin),
      styleOf,
    }
  })
