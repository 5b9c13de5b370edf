/** The life of a memory with Promises: opened by the first call, used by calls in their order, closed once. */
import type { StoreError } from "@memfold/catalog"
import { Audit, type Dispatcher, Memory } from "@memfold/core"
import { Cause, Deferred, Effect, Exit, type Fiber, FiberId, Runtime, Schema, Scope, Stream } from "effect"

/** The memory was closed before this call. Create another one. */
export class Closed extends Schema.TaggedError<Closed>()("Closed", {}) {
  override get message(): string {
    return "This memory was closed; create another one"
  }
}

/** A memory with its store open, and the runtime that its operations run in. */
export interface Running {
  readonly memory: Memory.Service
  readonly runtime: Runtime.Runtime<never>
}

/** The opening of a memory: under way, or done. */
interface Opening {
  readonly running: Promise<Running>
  /** Ends it, and everything that it opened. */
  readonly close: () => Promise<void>
}

const settled = <A, E>(fiber: Fiber.RuntimeFiber<A, E>): Promise<Exit.Exit<A, E>> =>
  new Promise((resolve) => fiber.addObserver(resolve))

/**
 * Runs an operation. It rejects with the error of the operation, and with `Closed` when the memory is closed.
 *
 * @param options - `finishes`: the operation goes on when the memory is closed, and the memory waits for it
 */
export type Run<Operations> = <A>(
  use: (memory: Operations) => Effect.Effect<A, Error>,
  options?: { readonly finishes?: boolean },
) => Promise<A>

/** Runs operations in a transaction of the application, which the first of them hands to the store. */
export const runWithin = (run: Run<Memory.Service>, transaction: unknown): Run<Memory.TransactionMemory> => {
  let joined: Promise<Memory.TransactionMemory> | null = null
  return async (use, options) => {
    const inside = await (joined ??= run((memory) => memory.within(transaction)))
    return run(() => use(inside), options)
  }
}

/** What uses the memory, and closes it. */
export interface LifeCycle {
  readonly run: Run<Memory.Service>
  /** Loops over a stream. The loop ends when the memory is closed. */
  readonly iterate: <A>(
    use: (memory: Memory.Service) => Stream.Stream<A, Memory.MemoryError>,
  ) => AsyncIterable<A>
  readonly close: () => Promise<void>
}

/**
 * What a life cycle runs, as done by somebody.
 *
 * @throws InvalidOption: the actor has no id
 */
export const livingAs = (life: LifeCycle, actor: Audit.Actor): LifeCycle => {
  if (!Schema.is(Audit.Actor)(actor) || actor.id === "")
    throw new Memory.InvalidOption({ option: "actor", allowed: 'an object like { id: "ann", via: "web" }' })
  return {
    ...life,
    run: (use, options) => life.run((memory) => Audit.as(actor)(use(memory)), options),
    iterate: (use) => life.iterate((memory) => Stream.provideService(use(memory), Audit.CurrentActor, actor)),
  }
}

/** Makes the life of a memory. Nothing is opened before the first call. */
export const makeLifeCycle = (
  start: Effect.Effect<Running, StoreError | Dispatcher.DispatchError, Scope.Scope>,
): LifeCycle => {
  let opening: Opening | null = null
  let closed = false
  /** The calls that are interrupted when the memory is closed: all but appends, which finish. */
  const interruptible = new Set<Fiber.RuntimeFiber<unknown, unknown>>()
  const closing = Deferred.unsafeMake<void>(FiberId.none)

  const open = (): Opening => {
    const scope = Effect.runSync(Scope.make())
    const fiber = Effect.runFork(Scope.extend(start, scope))
    const ended = settled(fiber)
    const end = async () => {
      fiber.unsafeInterruptAsFork(FiberId.none)
      await Effect.runPromise(Scope.close(scope, await ended))
    }
    const running = ended.then(async (exit) => {
      if (Exit.isSuccess(exit)) return exit.value
      await end()
      opening = null
      throw closed ? new Closed() : Cause.squash(exit.cause)
    })
    return { running, close: end }
  }
  /**
   * The running memory. If opening fails, the next call tries again. All calls wait for the same promise, so they go on in
   * the order in which they were made.
   */
  const opened = async () => {
    if (closed) throw new Closed()
    const running = await (opening ??= open()).running
    if (closed) throw new Closed()
    return running
  }
  /** The running memory; `null` while calls wait for it, because a direct call would overtake the waiting calls. */
  let known: Running | null = null
  let waiting = 0
  const run = async <A>(
    use: (memory: Memory.Service) => Effect.Effect<A, Error>,
    { finishes = false } = {},
  ): Promise<A> => {
    if (closed) throw new Closed()
    let running = known
    if (running === null) {
      waiting++
      try {
        running = await opened()
      } finally {
        waiting--
      }
      if (waiting === 0) known = running
    }
    const { memory, runtime } = running
    const effect = use(memory)
    // What is known already takes no fiber.
    if (Exit.isExit(effect) && Exit.isSuccess(effect)) return effect.value as A
    const fiber = Runtime.runFork(runtime)(effect)
    if (!finishes) interruptible.add(fiber)
    const exit = await settled(fiber)
    interruptible.delete(fiber)
    if (Exit.isSuccess(exit)) return exit.value
    throw closed && Cause.isInterrupted(exit.cause) ? new Closed() : Cause.squash(exit.cause)
  }
  const iterate = <A>(
    use: (memory: Memory.Service) => Stream.Stream<A, Memory.MemoryError>,
  ): AsyncIterable<A> => ({
    async *[Symbol.asyncIterator]() {
      const { memory, runtime } = await opened()
      yield* Stream.toAsyncIterableRuntime(Stream.interruptWhenDeferred(use(memory), closing), runtime)
    },
  })
  const close = async () => {
    closed = true
    // Ends the loops over events before the store is closed.
    await Effect.runPromise(Deferred.succeed(closing, undefined))
    for (const fiber of interruptible) fiber.unsafeInterruptAsFork(FiberId.none)
    await opening?.close()
  }
  return { run, iterate, close }
}
