/**
 * The memory layers. They keep facts as events: in the session's own log, or in a log shared by the sessions of one
 * user or one scope.
 */
import { EventLog, MemoryLayers, OptionGroup, Session } from "@memfold/core"
import { Clock, Duration, Effect, Layer, Stream } from "effect"
import { inWords } from "./failing.js"
import { change } from "./change.js"
import { forget, ofMessage, ofSessions } from "./forget.js"
import { userHome } from "./homes.js"
import { isRedacted } from "./identity.js"
import { learn, type Teaching } from "./learn.js"
import { allFacts, knownIn, layers, type Places } from "./places.js"
import { makeIndexes } from "./recall/Indexes.js"
import { makeEarlier } from "./recall/Earlier.js"
import { select } from "./recall/recall.js"
import { checkOptions, optionGroup, type Options } from "./options.js"
import { makeRebuilding } from "./rebuild/rebuilding.js"
import { leftSessions, makeSharedLogs, withoutLeft } from "./SharedLogs.js"

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
    const sessions = Session.make(log, { capacity: cachedHomes })
    const shared = makeSharedLogs(sessions, given)
    const indexes = makeIndexes(indexedFacts)
    const earlier = makeEarlier(cachedHomes)

    const teaching: Teaching = {
      extractor,
      timeout,
      declared: given.facts ?? null,
      toolResults: given.toolResults,
    }
    const inBatches = (given.learnAt ?? extractor.learnAt) === "compaction"

    /** The places of a session, without what other sessions have said on branches that they have left, or that were erased. */
    const inForce = (state: Session.SessionState, places: Places, facts: ReadonlyArray<Session.KnownFact>) =>
      Effect.map(leftSessions(sessions, state.session, facts), (left) =>
        left.states.length + left.erased.size === 0 ? places : withoutLeft(places, left),
      )

    /** The shared logs in which facts from sessions may be, whoever of the owners they had. */
    const homesOf = (learnedIn: Iterable<string>, owners: Iterable<string | null>) =>
      Effect.gen(function* () {
        const homes = new Set<string>()
        for (const session of learnedIn)
          for (const owner of [null, ...owners])
            for (const layer of layers) {
              const description = { owner, title: null }
              const home = yield* shared.homeOf(layer, { session, description }, "forget")
              if (home !== null) homes.add(home)
            }
        return homes
      })

    const service: MemoryLayers.Service = {
      isFree: extractor.isFree === true,
      inBatches,
      learn: (turns) =>
        Effect.gen(function* () {
          const places = yield* shared.placesOf(turns.state, "learn")
          return yield* learn({ log, sessions }, places, teaching, turns)
        }).pipe(Effect.withSpan("memfold.layers.learn", { attributes: { session: turns.state.session } })),
      recall: (query) =>
        Effect.gen(function* () {
          const places = yield* shared.placesOf(query.state, "recall", query.untilTime)
          // Facts of the past have an index of their own. From one question to the next, it only grows.
          const past = makeIndexes(Number.POSITIVE_INFINITY)
          const found = earlier.recall(query, places, (question) => {
            const isNow = question.orLater === true && query.untilTime === undefined
            return select(query.state, question, places, isNow ? indexes : past, given)
          })
          if (query.untilTime !== undefined) return found
          const shown = found.flatMap(({ user, scope }) => [...user, ...scope])
          if ((yield* inForce(query.state, places, shown)) === places) return found
          const rest = yield* inForce(query.state, places, knownIn(places))
          return query.questions.map((question) => select(query.state, question, rest, past, given))
        }).pipe(
          inWords(query.state.session, "recall"),
          Effect.withSpan("memfold.layers.recall", { attributes: { session: query.state.session } }),
        ),
      facts: (state, { at, untilTime } = {}) =>
        Effect.gen(function* () {
          const places = yield* shared.placesOf(state, "facts", untilTime)
          const now = yield* Clock.currentTimeMillis
          const facts = allFacts(
            untilTime === undefined ? yield* inForce(state, places, knownIn(places)) : places,
          )
          if (at === null) return facts
          // What was learned is true since, by the clock of whoever has learned it.
          const time = at ?? untilTime ?? Math.max(now, ...facts.map((fact) => fact.time))
          return facts.filter((fact) => MemoryLayers.isTrueAt(fact, time))
        }).pipe(inWords(state.session, "facts")),
      change: (state, given) =>
        Effect.flatMap(shared.placesOf(state, "change"), (places) =>
          change({ log, sessions, indexes }, places, given),
        ).pipe(inWords(state.session, "change")),
      forgetMessage: (state, place) =>
        Effect.gen(function* () {
          indexes.drop(state.session)
          // It may have had other owners when facts were learned.
          const owners = yield* Stream.runCollect(EventLog.ownersIn(log, state.session))
          for (const home of yield* homesOf([state.session], owners)) {
            // First: whoever has read the message writes nothing of it any more.
            yield* sessions.transact(home, ({ redactions }) => ({
              events: isRedacted(redactions, state.session, place.version)
                ? []
                : [
                    {
                      _tag: "FactRedacted",
                      fact: "",
                      places: [{ session: state.session, event: place.version }],
                    },
                  ],
              answer: undefined,
            }))
            yield* forget(log, sessions, home, ofMessage(state, place))
            indexes.drop(home)
          }
        }).pipe(
          inWords(state.session, "forget"),
          Effect.withSpan("memfold.layers.forget", { attributes: { session: state.session } }),
        ),
      logOf: userHome,
      rebuilding: makeRebuilding({ log, sessions, shared, teaching }),
      forgetSessions: (learnedIn, owners = new Set()) =>
        Effect.gen(function* () {
          for (const session of learnedIn) indexes.drop(session)
          // The log of an owner goes with the owner.
          for (const home of yield* homesOf(learnedIn, owners)) {
            yield* forget(log, sessions, home, ofSessions(learnedIn)).pipe(
              // Its owner was erased, too.
              Effect.catchIf(Session.isErased, () => Effect.void),
              inWords(home, "forget"),
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
