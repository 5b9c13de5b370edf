/**
 * Does the work of a run in worker threads. A strategy consists of functions, which cannot be sent to a thread: each
 * thread loads a module that makes the policies again and calls {@link serve}.
 */
import { Schema } from "effect"
import { parentPort, Worker } from "node:worker_threads"
import { type Setup, type Executor, inThisThread, type PrepareJob, type ReplayJob } from "./jobs.js"

/** A worker thread stopped, or its work failed. */
export class WorkerError extends Schema.TaggedError<WorkerError>()("WorkerError", {
  detail: Schema.String,
}) {
  /** The failure, in words. */
  override get message(): string {
    return `a worker thread of the lab failed: ${this.detail}`
  }
}

type Request =
  | { readonly task: "prepare"; readonly job: PrepareJob }
  | { readonly task: "replay"; readonly job: ReplayJob }

type Answer = { readonly result: unknown } | { readonly failed: string }

/**
 * Does the work that the main thread sends. Call it once, in the module of a worker thread.
 *
 * @param setup - The same policies, by the same names, as in the main thread.
 * @throws WorkerError in a thread that is not a worker.
 *
 * @example
 * ```ts
 * import { serve } from "@memfold/lab"
 * import { BreakEven } from "memfold"
 *
 * serve({ policies: [{ name: "large blocks", strategy: BreakEven({ blockTokens: 12_000 }) }] })
 * ```
 */
export const serve = (setup: Setup): void => {
  const port = parentPort
  if (port === null) throw new WorkerError({ detail: "serve was called in the main thread" })
  const executor = inThisThread(setup)
  port.on("message", ({ task, job }: Request) => {
    const answer = (answer: Answer) => port.postMessage(answer)
    const work = task === "prepare" ? executor.prepare(job) : executor.replay(job)
    work.then(
      (result) => answer({ result }),
      (error: unknown) => answer({ failed: error instanceof Error ? error.message : String(error) }),
    )
  })
}

/** Worker threads that do the work of a run. Close them at the end. */
export interface Workers extends Executor {
  readonly close: () => Promise<void>
}

/** A thread, and the work that it does now. */
interface Thread {
  readonly worker: Worker
  working: {
    readonly resolve: (result: unknown) => void
    readonly reject: (error: WorkerError) => void
  } | null
  failed: WorkerError | null
}

const start = (module: URL, data: unknown): Thread => {
  const thread: Thread = { worker: new Worker(module, { workerData: data }), working: null, failed: null }
  const fail = (detail: string): void => {
    thread.failed ??= new WorkerError({ detail })
    thread.working?.reject(thread.failed)
    thread.working = null
  }
  thread.worker.on("message", (answer: Answer) => {
    const { working } = thread
    thread.working = null
    if ("failed" in answer) working?.reject(new WorkerError({ detail: answer.failed }))
    else working?.resolve(answer.result)
  })
  thread.worker.on("error", (error) => fail(error.message))
  thread.worker.on("exit", (code) => fail(`it stopped with exit code ${code}`))
  return thread
}

/**
 * Starts worker threads.
 *
 * @param options - `module`: the module that each thread loads, which calls {@link serve}. `size`: how many threads, from
 *   1. `data`: what the module finds in `workerData` of `node:worker_threads`.
 *
 * @example
 * ```ts
 * import { startWorkers } from "@memfold/lab"
 *
 * const workers = startWorkers({ module: new URL("./policies.js", import.meta.url), size: 4 })
 * await workers.close()
 * ```
 */
export const startWorkers = ({
  module,
  size,
  data,
}: {
  readonly module: URL
  readonly size: number
  readonly data?: unknown
}): Workers => {
  const threads = Array.from({ length: size }, () => start(module, data))
  const send = (request: Request): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const thread = threads.find(({ working, failed }) => working === null && failed === null)
      if (thread === undefined) {
        reject(threads.find(({ failed }) => failed)?.failed ?? new WorkerError({ detail: "all are at work" }))
        return
      }
      thread.working = { resolve, reject }
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread of Node has no origin
      thread.worker.postMessage(request)
    })
  return {
    size,
    prepare: (job) => send({ task: "prepare", job }) as ReturnType<Executor["prepare"]>,
    replay: (job) => send({ task: "replay", job }) as ReturnType<Executor["replay"]>,
    close: async () => {
      await Promise.all(threads.map(({ worker }) => worker.terminate()))
    },
  }
}
