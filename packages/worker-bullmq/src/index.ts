/**
 * A queue of looks at sessions, in BullMQ on Redis. Processes that append put looks into it, and workers take them out.
 *
 * A look is a job. Until a worker takes it, the session's id is its deduplication key, so a session has one job that waits, and its
 * time and priority become those of the most urgent look. A worker gives the key back before it looks: what is dispatched from
 * then on is a new job, and no write is missed.
 */
import { Dispatcher } from "@memfold/core"
import { type Job, Queue, UnrecoverableError, Worker } from "bullmq"
import { Clock, Effect, Exit, type Fiber, FiberId, Layer, Random, Runtime, type Scope } from "effect"
import { type Connection, connect } from "./connection.js"
import { type Options, withDefaults } from "./Options.js"

export type { Options } from "./Options.js"

/** What a job carries. */
type Data = Pick<Dispatcher.Look, "session" | "time" | "fill">
type LookJob = Job<Data, void, "look">
type Settings = ReturnType<typeof withDefaults>

/** How long connections may take to close, in milliseconds. */
const patience = 10_000

/** How many dead letters are kept; older ones are dropped. */
const mostDeadLetters = 10_000

/** Priorities of BullMQ: 1 comes first. Contexts beyond their limit are equally urgent. */
const priorityOf = (fill: number): number => 1 + Math.round(1_000 * (1 - Math.min(Math.max(fill, 0), 1)))

const ask = Dispatcher.asking("Redis")

/** Makes the job that waits for a session at least as urgent as a look. It may have been taken meanwhile: then it sees everything. */
const hurry = async (waiting: LookJob, { time, fill }: Data, now: number): Promise<void> => {
  const { data } = waiting
  const isFuller = fill > data.fill
  const isEarlier = time < data.time
  if (!isFuller && !isEarlier) return
  try {
    await waiting.updateData({
      ...data,
      fill: Math.max(fill, data.fill),
      time: Math.min(time, data.time),
    })
    if (isFuller) await waiting.changePriority({ priority: priorityOf(fill) })
    if (isEarlier && (await waiting.isDelayed())) await waiting.changeDelay(Math.max(time - now, 0))
  } catch (error) {
    if ((await waiting.getState()) === "delayed") throw error
  }
}

/** Handles a job, and answers when it is done. */
const handled = (
  job: LookJob,
  runtime: Runtime.Runtime<never>,
  handle: Parameters<Dispatcher.Queue["work"]>[0],
  fibers: Set<Fiber.RuntimeFiber<void, Dispatcher.LookFailed>>,
): Promise<void> =>
  new Promise((resolve, reject) => {
    const fiber = Runtime.runFork(runtime)(handle(job.data))
    fibers.add(fiber)
    fiber.addObserver((exit) => {
      fibers.delete(fiber)
      if (Exit.isSuccess(exit)) return resolve()
      if (exit.cause._tag !== "Fail") return reject(new Error("the look threw, or its worker was stopped"))
      const { final, reason } = exit.cause.error
      return reject(final ? new UnrecoverableError(reason) : new Error(reason))
    })
  })

/** Ends a worker: its looks have the time of `shutdown` to end, then they are interrupted. */
const stop = (
  worker: Worker<Data, void, "look">,
  fibers: ReadonlySet<Fiber.RuntimeFiber<void, Dispatcher.LookFailed>>,
  shutdown: number,
): Effect.Effect<void> => {
  const closed = worker.close().catch(() => undefined)
  const closing = Effect.interruptible(Effect.promise(() => closed))
  return Effect.timeoutOption(closing, shutdown).pipe(
    Effect.zipRight(
      Effect.sync(() => {
        for (const fiber of fibers) fiber.unsafeInterruptAsFork(FiberId.none)
      }),
    ),
    Effect.zipRight(Effect.timeoutOption(closing, patience)),
    Effect.asVoid,
  )
}

const worksFor =
  (connection: Connection, { queue, prefix, lease, attempts }: Settings): Dispatcher.Queue["work"] =>
  (handle, { concurrency, shutdown }) =>
    Effect.gen(function* () {
      const runtime = yield* Effect.runtime<never>()
      const fibers = new Set<Fiber.RuntimeFiber<void, Dispatcher.LookFailed>>()
      yield* Effect.acquireRelease(
        Effect.sync(() => {
          const worker = new Worker<Data, void, "look">(
            queue,
            async (job) => {
              // Before the look: what is written from now on gets a look of its own.
              await job.removeDeduplicationKey()
              await handled(job, runtime, handle, fibers)
            },
            {
              connection: connection.forWorkers,
              prefix,
              concurrency,
              lockDuration: lease,
              stalledInterval: lease,
              maxStalledCount: attempts - 1,
            },
          )
          // BullMQ connects again by itself.
          worker.on("error", () => {})
          return worker
        }),
        (worker) => stop(worker, fibers, shutdown),
      )
    })

const deadLetterOf = (job: LookJob): Dispatcher.DeadLetter => ({
  session: job.data.session,
  time: job.finishedOn ?? job.timestamp,
  attempts: Math.max(job.attemptsMade, job.attemptsStarted, 1),
  reason: job.failedReason,
})

const uniqueBySession = (
  letters: ReadonlyArray<Dispatcher.DeadLetter>,
): ReadonlyArray<Dispatcher.DeadLetter> => {
  const known = new Set<string>()
  return letters.filter(({ session }) => !known.has(session) && known.add(session))
}

/**
 * Opens a queue, which is closed with the scope. It does not wait for the server: while that is gone, looks are refused, and
 * whoever dispatches tries again.
 *
 * @param options - The server, and how patient the queue is.
 *
 * @example
 * ```ts
 * import { Dispatcher, Memory } from "@memfold/core"
 * import * as BullMQ from "@memfold/worker-bullmq"
 * import { Effect } from "effect"
 *
 * declare const strategy: Memory.Options["strategy"]
 *
 * export const worker = Effect.gen(function* () {
 *   const queue = yield* BullMQ.make({ url: "redis://localhost" })
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
    const settings = withDefaults(options)
    const connection = yield* connect(options)
    const { prefix, attempts, backOff } = settings
    const queue = yield* Effect.acquireRelease(
      Effect.sync(() => {
        const opened = new Queue<Data, void, "look">(settings.queue, {
          connection: connection.forQueue,
          prefix,
        })
        opened.on("error", () => {})
        return opened
      }),
      (opened) =>
        Effect.interruptible(Effect.promise(() => opened.close().catch(() => undefined))).pipe(
          Effect.timeoutOption("2 seconds"),
        ),
    )

    /** Adds a job; the job that waits for the session already, if there is one. */
    const add = (look: Data, id: string, now: number) =>
      queue.add("look", look, {
        jobId: id,
        delay: Math.max(look.time - now, 0),
        priority: priorityOf(look.fill),
        deduplication: { id: look.session },
        attempts,
        backoff: { type: "exponential", delay: backOff },
        removeOnComplete: true,
        removeOnFail: { count: mostDeadLetters },
      })

    const dispatch: Dispatcher.Service["dispatch"] = ({ session, time, fill }) =>
      Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        const id = `${now.toString(36)}-${yield* Random.nextIntBetween(0, Number.MAX_SAFE_INTEGER)}`
        const look = { session, time, fill }
        yield* ask("dispatch", session, async () => {
          const added = await add(look, id, now)
          if (added.id === id) return
          const waiting = added.id === undefined ? undefined : await queue.getJob(added.id)
          if (waiting !== undefined) await hurry(waiting, look, now)
        })
      })

    const failed = (operation: "deadLetters" | "revive", session: string | null) =>
      ask(operation, session, async () => {
        const jobs = await queue.getFailed(0, mostDeadLetters)
        return jobs as ReadonlyArray<LookJob>
      })

    return {
      dispatch,
      work: worksFor(connection, settings),
      deadLetters: Effect.map(failed("deadLetters", null), (jobs) => uniqueBySession(jobs.map(deadLetterOf))),
      revive: (session) =>
        Effect.gen(function* () {
          const jobs = (yield* failed("revive", session)).filter(({ data }) => data.session === session)
          const [newest] = jobs
          if (newest === undefined) return false
          yield* dispatch({ session, time: 0, fill: newest.data.fill })
          yield* ask("revive", session, () => Promise.all(jobs.map((job) => job.remove())))
          return true
        }),
    }
  })

/**
 * A layer that hands the work of a memory in the mode `dispatch` to a queue.
 *
 * @param options - The server, and how patient the queue is.
 *
 * @example
 * ```ts
 * import * as BullMQ from "@memfold/worker-bullmq"
 * import { createMemory } from "memfold"
 *
 * const memory = createMemory({
 *   store: "redis://localhost",
 *   queue: BullMQ.layer({ url: "redis://localhost", queue: "chats" }),
 *   compaction: { mode: "dispatch" },
 * })
 * await memory.close()
 * ```
 */
export const layer = (options: Options): Layer.Layer<Dispatcher.Dispatcher, Dispatcher.DispatchError> =>
  Layer.scoped(Dispatcher.Dispatcher, make(options))
