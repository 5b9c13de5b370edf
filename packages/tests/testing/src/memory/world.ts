/** A test world: a log, virtual time, and processes that open memories over the log. */
import {
  EchoSummarizer,
  Embedder,
  EventLog,
  FullTextIndex,
  InMemoryEventLog,
  Memory,
  MemoryLayers,
  Summarizer,
  TokenCounter,
  VectorIndex,
} from "@memfold/core"
import { Cause, Clock, Context, Effect, Exit, Layer, Logger, Random, Scope } from "effect"
import { quarter } from "../fakes/counter.js"
import type { MemoryPropertiesOptions } from "./input.js"
import { VirtualClock } from "./VirtualClock.js"

/** How a process opens a memory. */
export interface Opening extends Memory.Options {
  readonly summarizer?: Summarizer.Service
  /** The full-text index of the memory; its own by default. */
  readonly index?: FullTextIndex.Service | undefined
  /** None by default. */
  readonly embedder?: Embedder.Service | undefined
  /** The vector index of the memory; its own by default. */
  readonly vectors?: VectorIndex.Service | undefined
  /** None by default. */
  readonly layers?: Effect.Effect<MemoryLayers.Service, never, EventLog.EventLog> | undefined
  /** Wraps the log before the memory gets it. */
  readonly wrapLog?: (log: EventLog.Service) => EventLog.Service
}

/** A world, until it is closed. */
export interface World {
  readonly log: EventLog.Service
  readonly time: VirtualClock
  /** Runs an effect to its end in this world; throws its defect. */
  readonly run: <A, E>(effect: Effect.Effect<A, E>) => Promise<A>
  /** Runs an effect while time stands still, unless the effect itself moves it. */
  readonly watch: <A, E>(effect: Effect.Effect<A, E>) => Promise<A>
  /** Opens a memory as another process. It is closed with the world. */
  readonly open: (opening: Opening) => Promise<Memory.Service>
}

const orThrow = <A, E>(exit: Exit.Exit<A, E>): A => {
  if (Exit.isSuccess(exit)) return exit.value
  throw Cause.squash(exit.cause)
}

const live = Clock.make()

/** What a disk or a network does takes a time of its own: its timeouts are none of this world's, which waits for it. */
const ownTime =
  (time: VirtualClock) =>
  <A, E>(effect: Effect.Effect<A, E>) =>
    time.during(Effect.withClock(effect, live))

const logInItsOwnTime = (log: EventLog.Service, time: VirtualClock): EventLog.Service => {
  const own = ownTime(time)
  const ask = EventLog.openingOf(log)
  const timed: EventLog.Service = {
    ...log,
    append: (...args) => own(log.append(...args)),
    rewrite: (...args) => own(log.rewrite(...args)),
    finishRewrites: (session) => own(log.finishRewrites?.(session) ?? Effect.void),
    read: (...args) => own(log.read(...args)),
    head: (session) => own(log.head(session)),
    list: (...args) => own(log.list(...args)),
    delete: (...args) => own(log.delete(...args)),
    projections: {
      get: (...args) => own(log.projections.get(...args)),
      put: (...args) => own(log.projections.put(...args)),
      drop: (...args) => own(log.projections.drop(...args)),
    },
  }
  return ask === undefined ? timed : EventLog.withOpening(timed, (...args) => own(ask(...args)))
}

const vectorsInTheirOwnTime = (index: VectorIndex.Service, time: VirtualClock): VectorIndex.Service => {
  const own = ownTime(time)
  return {
    place: (session) => own(index.place(session)),
    write: (...args) => own(index.write(...args)),
    nearest: (...args) => own(index.nearest(...args)),
    forget: (...args) => own(index.forget(...args)),
    load: (session) => own(index.load(session)),
    sessions: index.sessions,
  }
}

/** Runs a test in a new world, and closes the world afterwards. */
export const inWorld = async <A>(
  { layer = InMemoryEventLog.layer, memory = Memory.layer }: MemoryPropertiesOptions,
  use: (world: World) => Promise<A>,
): Promise<A> => {
  const scope = await Effect.runPromise(Scope.make())
  const time = new VirtualClock()
  const random = Random.make("a world")
  const watch: World["watch"] = async (effect) =>
    orThrow(
      await Effect.runPromiseExit(
        effect.pipe(
          Effect.withClock(time.clock),
          Effect.withRandom(random),
          // Failures on purpose are not logged.
          Effect.provide(Logger.remove(Logger.defaultLogger)),
        ),
      ),
    )
  const run: World["run"] = (effect) => watch(time.through(effect))
  try {
    const built = await run(
      Effect.withClock(
        Layer.buildWithScope(Layer.fresh(typeof layer === "function" ? layer() : layer), scope),
        live,
      ),
    )
    const log = logInItsOwnTime(Context.get(built, EventLog.EventLog), time)
    const open: World["open"] = async ({
      summarizer = EchoSummarizer.make(),
      wrapLog,
      index,
      embedder,
      vectors,
      layers,
      ...options
    }) => {
      const opened = Layer.succeed(EventLog.EventLog, wrapLog === undefined ? log : wrapLog(log))
      const surroundings = Layer.mergeAll(
        opened,
        layers === undefined
          ? Layer.empty
          : Layer.provide(Layer.effect(MemoryLayers.MemoryLayers, layers), opened),
        Layer.succeed(Summarizer.Summarizer, summarizer),
        Layer.succeed(TokenCounter.TokenCounter, quarter),
        index === undefined ? Layer.empty : Layer.succeed(FullTextIndex.FullTextIndex, index),
        embedder === undefined ? Layer.empty : Layer.succeed(Embedder.Embedder, embedder),
        vectors === undefined
          ? Layer.empty
          : Layer.succeed(VectorIndex.VectorIndex, vectorsInTheirOwnTime(vectors, time)),
      )
      const built = Layer.buildWithScope(Layer.fresh(Layer.provide(memory(options), surroundings)), scope)
      return Context.get(await run(built), Memory.Memory)
    }
    return await use({ log, time, run, watch, open })
  } finally {
    await watch(time.through(Scope.close(scope, Exit.void)))
  }
}
