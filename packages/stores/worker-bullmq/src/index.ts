/**
 * A queue of looks at sessions, in BullMQ on Redis. Processes that append put looks into it, and workers take them out.
 *
 * A look is a job. Until a worker takes it, the session's id is its deduplication key, so a session has one job that waits. A worker
 * gives the key back before it looks: what is dispatched from then on is a new job, and no write is missed.
 *
 * The time of a job never changes: a look that is earlier gets a job of its own, which takes the key, and only then the later job
 * is removed. BullMQ changes the time of a job in several steps, so a connection that breaks in between, or two processes at once,
 * could leave a look for now waiting for an hour.
 */
import { Dispatcher } from "@memfold/log"
import { type ConnectionOptions, type Job, Queue, UnrecoverableError, Worker } from "bullmq"
import { Clock, Effect, Exit, type Fiber, FiberId, Layer, Random, Runtime, type Scope } from "effect"
import { connect } from "./connection.js"
import { kinds, type Options, withDefaults } from "./Options.js"

export type { Options } from "./Options.js"

type Data = Pick<Dispatcher.Look, "session" | "time" | "fill">
type LookJob = Job<Data, void, "look">
type Settings = ReturnType<typeof withDefaults>

/** How long connections may take to close, in milliseconds. */
const patience = 10_000

/** How many dead letters are kept; older ones are dropped. */
const mostDeadLetters = 10_000

/** How often a look is put into the queue while other processes put looks at the same session there. */
const mostTries = 20

/** Priorities of BullMQ: 1 comes first. Contexts beyond their limit are equally urgent. */
const priorityOf = (fill: number): number => 1 + Math.round(1_000 * (1 - Math.min(Math.max(fill, 0), 1)))

const ask = Dispatcher.asking("Redis")

/** Gives the job that waits for a session the priority of a fuller context. */
const hurry = async (waiting: LookJob, { fill }: Data): Promise<void> => {
  if (fill <= waiting.data.fill) return
  try {
    await waiting.updateData({ ...waiting.data, fill })
    await waiting.changePriority({ priority: priorityOf(fill) })
  } catch (error) {
    // A worker has taken it, and sees everything.
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
  (connection: ConnectionOptions, { queue, prefix, lease, attempts }: Settings): Dispatcher.Queue["work"] =>
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
              connection,
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

const deadLetterOf = (job: LookJob) => ({
  job,
  session: job.data.session,
  fill: job.data.fill,
  time: job.finishedOn ?? job.timestamp,
  attempts: Math.max(job.attemptsMade, job.attemptsStarted, 1),
  reason: job.failedReason,
})

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
    yield* Dispatcher.checkOptions(options, kinds)
    const settings = withDefaults(options)
    const connection = yield* connect(options)
    const { prefix, attempts, backOff } = settings
    const queue = yield* Effect.acquireRelease(
      Effect.sync(() => {
        const opened = new Queue<Data, void, "look">(settings.queue, {
          connection,
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

    const dispatch: Dispatcher.Service["dispatch"] = (look) =>
      Effect.gen(function* () {
        const { session } = look
        const now = yield* Clock.currentTimeMillis
        const id = `${now.toString(36)}-${yield* Random.nextIntBetween(0, Number.MAX_SAFE_INTEGER)}`
        yield* ask("dispatch", session, () => put(look, id, now))
      })

    /** Puts a look into the queue, unless a job waits for its session that is as early. */
    const put = async (look: Data, id: string, now: number): Promise<void> => {
      const later: Array<LookJob> = []
      for (let tries = 0; tries < mostTries; tries++) {
        const added = await add(look, id, now)
        if (added.id === id) {
          for (const job of later) await job.remove().catch(() => undefined)
          return
        }
        const waiting = added.id === undefined ? undefined : await queue.getJob(added.id)
        // It has been taken or removed since: perhaps for a look that is later than this one.
        if (waiting === undefined) continue
        if (waiting.data.time <= Math.max(look.time, now)) return await hurry(waiting, look)
        later.push(waiting)
        await waiting.removeDeduplicationKey()
      }
      throw new Error(`other processes changed the look of this session ${mostTries} times meanwhile`)
    }

    const failed = (operation: "deadLetters" | "revive", session: string | null) =>
      ask(operation, session, async () => {
        const jobs = await queue.getFailed(0, mostDeadLetters)
        return (jobs as ReadonlyArray<LookJob>).map(deadLetterOf)
      })

    return {
      dispatch,
      work: worksFor(connection, settings),
      ...Dispatcher.deadLettersOf(dispatch, failed, (session, letters) =>
        ask("revive", session, () => Promise.all(letters.map(({ job }) => job.remove()))),
      ),
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
