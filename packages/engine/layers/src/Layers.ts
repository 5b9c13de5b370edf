/**
 * The memory layers. They keep facts as events: in the session's own log, or in a log shared by the sessions of one
 * user or one scope.
 */
import { EventLog, MemoryLayers, OptionGroup, Session } from "@memfold/core"
import { Duration, Effect, Layer } from "effect"
import { failing } from "./failing.js"
import { forget, ofMessage, ofSessions } from "./forget.js"
import { userHome } from "./homes.js"
import { extract, keep } from "./learn.js"
import { allFacts, factsToRemove, layers } from "./places.js"
import { makeIndexes } from "./recall/Indexes.js"
import { makeEarlier } from "./recall/Earlier.js"
import { select } from "./recall/recall.js"
import { checkOptions, optionGroup, type Options } from "./options.js"
import { makeSharedLogs } from "./SharedLogs.js"

/** Facts in all indexes together: some tens of megabytes. */
const indexedFacts = 20_000

/** Shared logs kept folded in memory. */
const cachedHomes = 500

/**
 * Makes memory layers over the event log of the environment. When the effect runs, an option that is not allowed is a
 * defect (an `InvalidOption`).
 *
 * @example
 * ```ts
 * import { InMemoryEventLog, MemoryLayers } from "@memfold/core"
 * import { make } from "@memfold/layers"
 * import { Effect } from "effect"
 *
 * const program = Effect.gen(function* () {
 *   const layers: MemoryLayers.Service = yield* make({ mostUser: 8 })
 *   return layers
 * })
 * const layers = await Effect.runPromise(program.pipe(Effect.provide(InMemoryEventLog.layer)))
 * console.log(typeof layers.recall)
 * ```
 */
export const make = (options: Options = {}): Effect.Effect<MemoryLayers.Service, never, EventLog.EventLog> =>
  Effect.gen(function* () {
    const wrong = checkOptions(options)
    if (wrong !== null) return yield* Effect.die(wrong)
    const log = yield* EventLog.EventLog
    const given = OptionGroup.withDefaults(optionGroup, options)
    const { extractor } = given
    const timeout = Duration.decode(given.extractorTimeout)
    const most = { user: given.mostUser, scope: given.mostScope }
    const sessions = Session.make(log, { capacity: cachedHomes })
    const shared = makeSharedLogs(sessions, given)
    const indexes = makeIndexes(indexedFacts)
    const earlier = makeEarlier(cachedHomes)

    const service: MemoryLayers.Service = {
      isFree: extractor.isFree === true,
      learn: (turns) =>
        Effect.gen(function* () {
          const places = yield* shared.placesOf(turns.state, "learn")
          const found = yield* extract(extractor, timeout, turns, allFacts(places))
          return yield* keep(sessions, places, found, turns)
        }).pipe(Effect.withSpan("memfold.layers.learn", { attributes: { session: turns.state.session } })),
      recall: (query) =>
        shared.placesOf(query.state, "recall", query.untilTime).pipe(
          Effect.map((places) => {
            // Facts of the past have an index of their own. From one question to the next, it only grows.
            const past = makeIndexes(Number.POSITIVE_INFINITY)
            return earlier.recall(query, places, (question) => {
              const isNow = question.orLater === true && query.untilTime === undefined
              return select(query.state, question, places, isNow ? indexes : past, most)
            })
          }),
          Effect.withSpan("memfold.layers.recall", { attributes: { session: query.state.session } }),
        ),
      facts: (state) => Effect.map(shared.placesOf(state, "facts"), allFacts),
      remove: (state, { id, reason }) =>
        Effect.gen(function* () {
          const places = yield* shared.placesOf(state, "remove")
          const gone = factsToRemove(places, id)
          for (const { log: place, facts } of gone) {
            yield* sessions
              .transact(place, (now) => ({
                events: facts
                  .filter((fact) => now.facts.some((other) => other.id === fact))
                  .map((fact) => ({ _tag: "FactRemoved", fact, reason })),
                answer: undefined,
              }))
              .pipe(Effect.mapError(({ message }) => failing(state.session, "remove")(message)))
          }
          return gone.length > 0
        }),
      forgetMessage: (state, index) =>
        Effect.gen(function* () {
          indexes.drop(state.session)
          for (const layer of layers) {
            const home = yield* shared.homeOf(layer, state.session, "forget")
            if (home === null) continue
            yield* forget(log, sessions, home, ofMessage(state, index)).pipe(
              Effect.mapError(({ message }) => failing(state.session, "forget")(message)),
            )
            indexes.drop(home)
          }
        }).pipe(Effect.withSpan("memfold.layers.forget", { attributes: { session: state.session } })),
      logOf: userHome,
      forgetSessions: (learnedIn) =>
        Effect.gen(function* () {
          const homes = new Set<string>()
          for (const session of learnedIn) {
            indexes.drop(session)
            for (const layer of layers) {
              const home = yield* shared.homeOf(layer, session, "forget")
              if (home !== null) homes.add(home)
            }
          }
          for (const home of homes) {
            yield* forget(log, sessions, home, ofSessions(learnedIn)).pipe(
              Effect.mapError(({ message }) => failing(home, "forget")(message)),
            )
            indexes.drop(home)
          }
        }).pipe(Effect.withSpan("memfold.layers.forget")),
    }
    return service
  })

/**
 * Provides the memory layers to a memory, with `Layer.provide`. Both must use the same event log.
 *
 * @example
 * ```ts
 * import { InMemoryEventLog, Keep, Memory, Strategy, SummaryMode, Trigger } from "@memfold/core"
 * import { layer as memoryLayers } from "@memfold/layers"
 * import { ExtractiveSummarizer } from "@memfold/summarizer-extractive"
 * import { Layer } from "effect"
 *
 * const strategy = Strategy.make({
 *   name: "short",
 *   when: Trigger.backlog({ messages: 12 }),
 *   keep: Keep.lastMessages(40),
 *   summaryMode: SummaryMode.rolling,
 * })
 *
 * const memory = Memory.layer({ strategy }).pipe(
 *   Layer.provide(memoryLayers({ userOf: (session) => session.split("/")[0] })),
 *   Layer.provide([InMemoryEventLog.layer, ExtractiveSummarizer.layer()]),
 * )
 * ```
 */
export const layer = (
  options: Options = {},
): Layer.Layer<MemoryLayers.MemoryLayers, never, EventLog.EventLog> =>
  Layer.effect(MemoryLayers.MemoryLayers, make(options))
