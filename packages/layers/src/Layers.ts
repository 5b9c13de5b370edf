/**
 * The memory layers. They keep facts as events: in the session's own log, or in a log shared by the sessions of one
 * user or one scope.
 */
import { EventLog, MemoryLayers, Session } from "@memfold/core"
import { Duration, Effect, Layer, Stream } from "effect"
import type { NewFact } from "./Extractor.js"
import { forget } from "./forget.js"
import { isHome, scopeHome, userHome } from "./homes.js"
import { batchIdOf } from "./identity.js"
import { toFacts, unknownOf } from "./learned.js"
import type { LogFacts, Places } from "./places.js"
import { activeFacts, factsToRemove } from "./places.js"
import { makeIndexes } from "./recall/Indexes.js"
import { makeEarlier } from "./recall/Earlier.js"
import { select } from "./recall/recall.js"
import { checkOptions, type Options } from "./options.js"
import { rules } from "./rules/index.js"

type Operation = MemoryLayers.LayersError["operation"]
type Name = "user" | "scope"
const layers: ReadonlyArray<Name> = ["user", "scope"]

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
    const extractor = options.extractor ?? rules
    const timeout = Duration.decode(options.extractorTimeout ?? "1 minute")
    const most = {
      user: options.mostUser ?? 20,
      scope: options.mostScope ?? 10,
    }
    const sessions = Session.make(log, { capacity: cachedHomes })
    const indexes = makeIndexes(indexedFacts)
    const earlier = makeEarlier(cachedHomes)

    /** The error of an operation. Its detail must not contain text of messages or facts. */
    const failing =
      (session: string, operation: Operation) =>
      (detail: string): MemoryLayers.LayersError =>
        new MemoryLayers.LayersError({ session, operation, detail })

    /** The id of the layer's shared log, `null` if the session has none. A shared log itself has none. */
    const homeOf = (
      layer: Name,
      session: string,
      operation: Operation,
    ): Effect.Effect<string | null, MemoryLayers.LayersError> => {
      const ask = layer === "user" ? options.userOf : options.scopeOf
      if (ask === undefined || isHome(session)) return Effect.succeed(null)
      const fail = failing(session, operation)
      return Effect.try({
        try: () => ask(session) ?? "",
        catch: () => fail(`${layer}Of threw an error for this session; let it return undefined instead`),
      }).pipe(
        Effect.filterOrFail(
          (name) => typeof name === "string" && name.isWellFormed(),
          () => fail(`${layer}Of has to return a well-formed string, or undefined`),
        ),
        Effect.map((name) => (name === "" ? null : layer === "user" ? userHome(name) : scopeHome(name))),
      )
    }

    /** The state of a shared log, now or at a time. */
    const folded = (home: string, until: number | undefined) =>
      until === undefined
        ? sessions.load(home)
        : sessions.events(home).pipe(
            Stream.filter(({ time }) => time <= until),
            Stream.runFold(Session.empty(home), (state, recorded) => Session.evolve(state, recorded)),
          )

    const placesOf = (
      state: Session.SessionState,
      operation: Operation,
      until?: number,
    ): Effect.Effect<Places, MemoryLayers.LayersError> => {
      const fail = failing(state.session, operation)
      const shared = (layer: Name): Effect.Effect<LogFacts | null, MemoryLayers.LayersError> =>
        Effect.flatMap(homeOf(layer, state.session, operation), (home) =>
          home === null
            ? Effect.succeed(null)
            : folded(home, until).pipe(
                Effect.map(({ facts }) => ({ log: home, facts })),
                Effect.mapError(({ message }) => fail(message)),
              ),
        )
      return Effect.all({ user: shared("user"), scope: shared("scope") }, { concurrency: 2 }).pipe(
        Effect.map((homes) => ({ own: { log: state.session, facts: state.facts }, ...homes })),
      )
    }

    const extract = (
      turns: MemoryLayers.CompletedTurns,
      known: ReadonlyArray<Session.KnownFact>,
    ): Effect.Effect<ReadonlyArray<NewFact>, MemoryLayers.LayersError> => {
      const fail = failing(turns.state.session, "learn")
      return Effect.suspend(() => extractor.extract({ ...turns, known })).pipe(
        // A thrown error may contain text of messages, so it is dropped.
        Effect.catchAllDefect(() => fail(`the extractor "${extractor.name}" threw an error`)),
        Effect.timeoutFail({
          duration: timeout,
          onTimeout: () =>
            fail(
              `the extractor "${extractor.name}" took longer than ${Duration.format(timeout)}; the turns are tried again with the next one`,
            ),
        }),
      )
    }

    const service: MemoryLayers.Service = {
      learn: (turns) =>
        Effect.gen(function* () {
          const { state, from, to } = turns
          const places = yield* placesOf(state, "learn")
          const found = yield* extract(
            turns,
            layers.flatMap((layer) => activeFacts(places, layer)),
          )
          const own: Array<ReturnType<typeof toFacts>[number]> = []
          for (const layer of layers) {
            const facts = toFacts(found, layer, turns)
            const home = places[layer]
            if (home === null) own.push(...unknownOf(facts, state.facts))
            else if (facts.length > 0) {
              yield* sessions
                .transact(
                  home.log,
                  (now) => {
                    const fresh = unknownOf(facts, now.facts)
                    return {
                      events:
                        fresh.length === 0
                          ? []
                          : [{ _tag: "FactsLearned", from, to, facts: fresh, session: state.session }],
                      answer: undefined,
                    }
                  },
                  batchIdOf(layer, turns, state),
                )
                .pipe(Effect.mapError(({ message }) => failing(state.session, "learn")(message)))
            }
          }
          return own
        }).pipe(Effect.withSpan("memfold.layers.learn", { attributes: { session: turns.state.session } })),
      recall: (query) =>
        placesOf(query.state, "recall", query.untilTime).pipe(
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
      facts: (state) =>
        Effect.map(placesOf(state, "facts"), (places) =>
          layers.flatMap((layer) => activeFacts(places, layer)),
        ),
      remove: (state, { id, reason }) =>
        Effect.gen(function* () {
          const places = yield* placesOf(state, "remove")
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
            const home = yield* homeOf(layer, state.session, "forget")
            if (home === null) continue
            yield* forget(log, sessions, home, state, index).pipe(
              Effect.mapError(({ message }) => failing(state.session, "forget")(message)),
            )
            indexes.drop(home)
          }
        }).pipe(Effect.withSpan("memfold.layers.forget", { attributes: { session: state.session } })),
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
