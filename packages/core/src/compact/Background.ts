/**
 * Compactions beside the conversation: at most one at a time for a session in this process (the log sees to the
 * other processes). What comes due meanwhile is looked at when it ends (law L11).
 */
import { Deferred, type Duration, Effect, FiberId, FiberSet, type Scope } from "effect"

export interface Background<Request> {
  /** Looks at a session soon; returns at once. Of several requests while one is at work, the newest counts. */
  readonly look: (session: string, request: Request) => Effect.Effect<void>
  /** Waits until nothing is at work for a session. */
  readonly ended: (session: string) => Effect.Effect<void>
}

interface Entry<Request> {
  again: boolean
  request: Request
  readonly ended: Deferred.Deferred<void>
}

/**
 * Runs `work` for every session that is looked at. Its fibers live in the scope: when it closes, they have the time
 * of `finish` to end; then they are interrupted, and give back what they hold.
 */
export const make = <Request>(
  work: (session: string, request: Request) => Effect.Effect<void>,
  { finish }: { readonly finish: Duration.DurationInput },
): Effect.Effect<Background<Request>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const fibers = yield* FiberSet.make<void>()
    yield* Effect.addFinalizer(() =>
      FiberSet.awaitEmpty(fibers).pipe(Effect.interruptible, Effect.timeoutOption(finish)),
    )
    /** The sessions at work, and whether another look is due. */
    const atWork = new Map<string, Entry<Request>>()

    const loop = (session: string, entry: Entry<Request>): Effect.Effect<void> =>
      Effect.suspend(() => {
        entry.again = false
        return work(session, entry.request)
      }).pipe(
        Effect.repeat({
          while: () => {
            // Looking again and leaving are decided in one step: a look between them would be lost.
            if (!entry.again) atWork.delete(session)
            return entry.again
          },
        }),
        Effect.ensuring(
          Effect.suspend(() => {
            if (atWork.get(session) === entry) atWork.delete(session)
            return Deferred.succeed(entry.ended, undefined)
          }),
        ),
        // Whoever asks for a look may be uninterruptible; the work must not be.
        Effect.interruptible,
      )

    return {
      look: (session, request) =>
        Effect.suspend(() => {
          const running = atWork.get(session)
          if (running !== undefined) {
            running.again = true
            running.request = request
            return Effect.void
          }
          const entry = { again: false, request, ended: Deferred.unsafeMake<void>(FiberId.none) }
          atWork.set(session, entry)
          return Effect.asVoid(FiberSet.run(fibers, loop(session, entry)))
        }).pipe(Effect.uninterruptible),
      ended: (session) =>
        Effect.suspend(() => {
          const running = atWork.get(session)
          return running === undefined ? Effect.void : Deferred.await(running.ended)
        }),
    }
  })
