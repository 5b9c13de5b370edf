/**
 * What a worker process does: it takes looks out of a queue, and compacts the sessions for which that is due. From time to time it
 * sweeps, for the looks that were lost.
 */
import { Duration, Effect, Schedule, type Schema, type Scope } from "effect"
import type { CompactionOutcome } from "../shell/CompactionOutcome.js"
import { Callable, duration, durationWithin, numberOf, problemIn } from "../options/OptionGroup.js"
import { DispatchError, type Look, LookFailed, type Queue } from "@memfold/log/Dispatcher"
import { isGivenUp } from "../shell/dispatch.js"
import type { Service as Memory } from "./MemoryService.js"
import { sweepSession, sweepsOf } from "./sweep.js"

/** Options of {@link work}. */
export interface WorkerOptions {
  /** How many sessions are compacted at once, 1 or more; 8 by default. */
  readonly concurrency?: number
  /** How long running compactions may take to end when the scope closes; 30 seconds by default. */
  readonly shutdown?: Duration.DurationInput
  /**
   * How often a worker looks at the sessions that were active lately, by the feed of the store, for the case that a look was lost; 5 minutes by default,
   * `Duration.infinity` for never. It is once for all workers of a queue, which therefore have the same time here.
   */
  readonly sweepEvery?: Duration.DurationInput
  /** Called after each look that found something due, with what was done. */
  readonly onOutcomes?: (session: string, outcomes: ReadonlyArray<CompactionOutcome>) => Effect.Effect<void>
}

/** What each option must be. */
const workerOptions = {
  concurrency: numberOf({ from: 1, to: 1_000_000 }),
  shutdown: duration(),
  sweepEvery: durationWithin((millis) => millis > 0, 'a duration of more than 0, such as "5 minutes"'),
  onOutcomes: Callable,
} satisfies Record<keyof WorkerOptions, Schema.Schema.AnyNoContext>

/**
 * Works for a queue until the scope closes: looks at the sessions that it names, with a memory in the mode `dispatch`, which
 * hands the next look of each session to the queue.
 *
 * @param queue - The queue, which the memory dispatches to as well.
 * @param memory - The memory, over the log that the other processes append to.
 * @param options - How much at once.
 *
 * @example
 * ```ts
 * import { Dispatcher, Memory } from "@memfold/core"
 * import { Effect } from "effect"
 *
 * declare const queue: Dispatcher.Queue
 * declare const strategy: Memory.Options["strategy"]
 *
 * export const worker = Effect.gen(function* () {
 *   const memory = yield* Memory.make({ strategy, compaction: { mode: "dispatch" } })
 *   yield* Dispatcher.work(queue, memory, { concurrency: 4 })
 *   return yield* Effect.never
 * }).pipe(Effect.provideService(Dispatcher.Dispatcher, queue), Effect.scoped)
 * ```
 */
export const work = (
  queue: Queue,
  memory: Pick<Memory, "compact" | "state" | "look" | "sessions" | "consume">,
  options: WorkerOptions = {},
): Effect.Effect<void, DispatchError, Scope.Scope> =>
  Effect.gen(function* () {
    const wrong = problemIn(workerOptions, options)
    if (wrong !== null)
      return yield* new DispatchError({ operation: "work", session: null, reason: wrong.message })
    const {
      concurrency = 8,
      shutdown = "30 seconds",
      sweepEvery = "5 minutes",
      onOutcomes = () => Effect.void,
    } = options
    const sweeps = sweepsOf(queue, memory, Duration.toMillis(sweepEvery))
    const swept = (look: Look) =>
      Effect.mapError(
        sweeps.run(look),
        ({ message }) => new LookFailed({ session: sweepSession, reason: message, final: false }),
      )
    yield* queue.work(
      (look) => (look.session === sweepSession ? swept(look) : compactDue(memory, look, onOutcomes)),
      { concurrency, shutdown: Duration.toMillis(shutdown) },
    )
    // The queue may be gone for a while. Workers take what it has when it is back.
    yield* sweeps.begin.pipe(Effect.retry(untilTaken), Effect.ignore, Effect.forkScoped)
  })

/** How often the next sweep is tried to be put into the queue: for as long as it takes. */
const untilTaken = Schedule.spaced("10 seconds")

const compactDue = (
  memory: Pick<Memory, "compact" | "state">,
  { session }: Look,
  onOutcomes: Required<WorkerOptions>["onOutcomes"],
): Effect.Effect<void, LookFailed> =>
  Effect.gen(function* () {
    const outcomes = yield* memory.compact(session, { which: "due" })
    if (outcomes.length > 0) yield* onOutcomes(session, outcomes)
    const last = outcomes.at(-1)
    if (last?._tag !== "Failed") return
    const state = yield* memory.state(session)
    if (!isGivenUp(state)) return
    const reason = `${state.failures?.count} compactions in a row failed; the last one: ${last.error.reason}`
    return yield* new LookFailed({ session, reason, final: true })
  }).pipe(
    Effect.catchTags({
      LogError: (error) => new LookFailed({ session, reason: error.message, final: false }),
      Overloaded: (error) => new LookFailed({ session, reason: error.message, final: false }),
      DamagedEvent: (error) => new LookFailed({ session, reason: error.message, final: true }),
      InvalidInput: (error) => new LookFailed({ session, reason: error.message, final: true }),
    }),
  )
