/** The signals that ask a command to end, which it does in order. */
import { Deferred, Effect, type Scope } from "effect"

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const

/**
 * Listens from now on for the first signal that asks the process to end; a second one ends it at once. Before a command says that it is ready,
 * or is: whoever has heard that may ask at once.
 *
 * @returns what waits for the signal
 */
export const listening: Effect.Effect<Effect.Effect<NodeJS.Signals>, never, Scope.Scope> = Effect.gen(
  function* () {
    const asked = yield* Deferred.make<NodeJS.Signals>()
    const unlisten = (): void => signals.forEach((signal) => process.off(signal, listen))
    const listen = (signal: NodeJS.Signals): void => {
      unlisten()
      Deferred.unsafeDone(asked, Effect.succeed(signal))
    }
    yield* Effect.acquireRelease(
      Effect.sync(() => signals.forEach((signal) => process.on(signal, listen))),
      () => Effect.sync(unlisten),
    )
    return Deferred.await(asked)
  },
)
