/**
 * A queue of looks at sessions, on Effect Cluster. Every session is an entity; a look is a message to it, which the storage of the
 * cluster keeps in PostgreSQL or SQLite until the entity has carried it out.
 *
 * A message has the primary key of its session until its look begins, so a session has one that waits, and its time and fullness
 * become those of the most urgent look. When the look begins, the key is given back: what is dispatched from then on is a new
 * message, and no write is missed.
 */
import { Dispatcher } from "@memfold/log"
import { Cause, Effect, Exit, Layer, ManagedRuntime, Random, Runtime, Schedule, type Scope } from "effect"
import { connected } from "./cluster.js"
import { makeLine } from "./line.js"
import {
  kinds,
  type Options,
  type Settings,
  withDefaults,
  withinDefaults,
  withinKinds,
  type WithinOptions,
} from "./Options.js"
import { LookMessage } from "./Session.js"
import { type Cluster, looksIn } from "./storage.js"
import { entities } from "./work.js"

export type { Options, WithinOptions } from "./Options.js"
export type { Cluster } from "./storage.js"

type Operation = Dispatcher.DispatchError["operation"]

type Run = <A, E>(effect: Effect.Effect<A, E, Cluster>) => Promise<Exit.Exit<A, unknown>>

/** Why an effect failed: errors of the storage have the error of the database within. */
const innermost = (error: unknown): Error => {
  const { cause } = error instanceof Error ? error : {}
  if (cause !== undefined) return innermost(cause)
  return error instanceof Error ? error : new Error("the database gave no reason")
}

/** What an effect that ended answered with; throws why it failed. */
const answerOf = <A>(exit: Exit.Exit<A, unknown>): A => {
  if (Exit.isSuccess(exit)) return exit.value
  throw innermost(Cause.squash(exit.cause))
}

/** A queue, over what runs effects on the cluster and what becomes a runner. */
const queueOver = (run: Run, settings: Settings, work: Dispatcher.Queue["work"]): Dispatcher.Queue => {
  const asking = Dispatcher.asking("the database of the cluster")
  const ask = <A, E>(operation: Operation, session: string | null, effect: Effect.Effect<A, E, Cluster>) =>
    asking(operation, session, async () => answerOf(await run(effect)))
  const looks = looksIn(settings)
  const dispatch: Dispatcher.Service["dispatch"] = ({ session, time, fill }) =>
    ask("dispatch", session, looks.save(new LookMessage({ session, time, fill, attempt: 0 })))
  return {
    dispatch,
    work,
    ...Dispatcher.deadLettersOf(
      dispatch,
      (operation, session) => ask(operation, session, looks.dead),
      (session, dead) => ask("revive", session, looks.remove(dead.map(({ id }) => id))),
    ),
  }
}

/** Connects with its first use, and again after a failure. */
const lazily = (connection: Layer.Layer<Cluster, unknown>): Effect.Effect<Run, never, Scope.Scope> =>
  Effect.gen(function* () {
    let open: ManagedRuntime.ManagedRuntime<Cluster, unknown> | null = null
    yield* Effect.addFinalizer(() => Effect.promise(async () => open?.dispose().catch(() => undefined)))
    return async (effect) => {
      const runtime = (open ??= ManagedRuntime.make(connection))
      const opened = await Effect.runPromiseExit(runtime.runtimeEffect)
      if (Exit.isSuccess(opened)) return Runtime.runPromiseExit(opened.value)(effect)
      if (open === runtime) open = null
      await runtime.dispose().catch(() => undefined)
      return Exit.failCause(opened.cause)
    }
  })

/** Carries out looks in a line until the scope closes. */
const working =
  (
    settings: Settings,
    start: (entities: Layer.Layer<never, never, Cluster>) => Effect.Effect<void, never, Scope.Scope>,
  ): Dispatcher.Queue["work"] =>
  (handle, { concurrency, shutdown }) => {
    const line = makeLine(concurrency)
    return Effect.zipRight(
      start(entities(handle, line, settings)),
      // Before the cluster closes: it would interrupt the looks.
      Effect.addFinalizer(() => Effect.timeoutOption(Effect.interruptible(line.close), shutdown)),
    )
  }

/**
 * Opens a queue with a cluster of its own, which is closed with the scope. It does not wait for the database: while that is gone,
 * looks are refused, and whoever dispatches tries again. The first use makes the tables, if they are missing.
 *
 * @param options - The database, and how patient the queue is.
 *
 * @example
 * ```ts
 * import { Dispatcher, Memory } from "@memfold/core"
 * import * as Cluster from "@memfold/worker-cluster"
 * import { Effect } from "effect"
 *
 * declare const strategy: Memory.Options["strategy"]
 *
 * export const worker = Effect.gen(function* () {
 *   const queue = yield* Cluster.make({ url: "cluster:postgres://localhost/app" })
 *   const memory = yield* Effect.provideService(
 *     Memory.make({ strategy, compaction: { mode: "dispatch" } }),
 *     Dispatcher.Dispatcher,
 *     queue,
 *   )
 *   yield* Dispatcher.work(queue, memory)
 *   return yield* Effect.never
 * }).pipe(Effect.scoped)
 * ```
 */
export const make = (
  options: Options,
): Effect.Effect<Dispatcher.Queue, Dispatcher.DispatchError, Scope.Scope> =>
  Effect.gen(function* () {
    yield* Dispatcher.checkOptions({ ...options, url: options.url ?? null }, kinds)
    const settings = withDefaults(options)
    const run = yield* lazily(connected(settings, null))
    const start = (session: Layer.Layer<never, never, Cluster>) =>
      Effect.gen(function* () {
        const numbers = yield* Effect.replicateEffect(Random.nextIntBetween(0, 2 ** 30), 4)
        const runner = `memfold-${numbers.map((number) => number.toString(36)).join("")}`
        yield* Layer.launch(Layer.provide(session, connected(settings, runner))).pipe(
          // The database may be back later.
          Effect.retry(Schedule.spaced(settings.pollInterval)),
          Effect.ignore,
          Effect.interruptible,
          Effect.forkScoped,
        )
      })
    return queueOver(run, settings, working(settings, start))
  })

/**
 * Makes a queue within a cluster that the application runs. Every process of it dispatches; one that calls `Dispatcher.work`, once,
 * has entities of sessions. The messages wait until the cluster polls its storage (`entityMessagePollInterval`).
 *
 * @param options - The tables, and how patient the queue is.
 *
 * @example
 * ```ts
 * import { SingleRunner } from "@effect/cluster"
 * import { SqliteClient } from "@effect/sql-sqlite-node"
 * import { Dispatcher, Memory } from "@memfold/core"
 * import * as Cluster from "@memfold/worker-cluster"
 * import { Effect, Layer } from "effect"
 *
 * declare const strategy: Memory.Options["strategy"]
 *
 * export const worker = Effect.gen(function* () {
 *   const queue = yield* Cluster.within()
 *   const memory = yield* Effect.provideService(
 *     Memory.make({ strategy, compaction: { mode: "dispatch" } }),
 *     Dispatcher.Dispatcher,
 *     queue,
 *   )
 *   yield* Dispatcher.work(queue, memory)
 *   return yield* Effect.never
 * }).pipe(
 *   Effect.scoped,
 *   Effect.provide(Layer.provideMerge(SingleRunner.layer(), SqliteClient.layer({ filename: "cluster.db" }))),
 * )
 * ```
 */
export const within = (
  options: WithinOptions = {},
): Effect.Effect<Dispatcher.Queue, Dispatcher.DispatchError, Cluster> =>
  Effect.gen(function* () {
    yield* Dispatcher.checkOptions(options, withinKinds)
    const runtime = yield* Effect.runtime<Cluster>()
    const settings = withinDefaults(options)
    const start = (session: Layer.Layer<never, never, Cluster>) =>
      Effect.asVoid(Effect.provide(Layer.build(session), runtime))
    return queueOver(Runtime.runPromiseExit(runtime), settings, working(settings, start))
  })

/**
 * A layer that hands the work of a memory in the mode `dispatch` to a cluster of its own.
 *
 * @param options - The database, and how patient the queue is.
 *
 * @example
 * ```ts
 * import * as Cluster from "@memfold/worker-cluster"
 * import { createMemory } from "memfold"
 *
 * const memory = createMemory({
 *   store: "postgres://localhost/app",
 *   queue: Cluster.layer({ url: "cluster:postgres://localhost/app", queue: "chats" }),
 *   compaction: { mode: "dispatch" },
 * })
 * await memory.close()
 * ```
 */
export const layer = (options: Options): Layer.Layer<Dispatcher.Dispatcher, Dispatcher.DispatchError> =>
  Layer.scoped(Dispatcher.Dispatcher, make(options))
