/**
 * One writer at a time in each session, within a process, in the order in which they came.
 *
 * When a turn ends, only the next writer wakes up: waiting costs each of them the same, however many there are. A writer
 * can leave its job to others: whoever has the turn may do the jobs right behind it together with its own.
 *
 * A turn that has begun is finished, even if its caller is interrupted: an append in progress would be one of unknown outcome.
 */
import { Deferred, Effect, FiberId } from "effect"

/** Makes an effect of an uninterruptible region interruptible again, as `Effect.uninterruptibleMask` gives it. */
export type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** Runs an effect in the uninterruptible region of its caller, or in one of its own. */
const inRegion = <A, E, R>(
  given: Restore | undefined,
  use: (restore: Restore) => Effect.Effect<A, E, R>,
): Effect.Effect<A, E, R> => (given === undefined ? Effect.uninterruptibleMask(use) : use(given))

interface Waiter<Job> {
  /** What the one before may do on behalf of this one; `null` if it wants a turn of its own. */
  readonly job: Job | null
  /** `true`: it has the turn now; `false`: its job was done by another. */
  readonly woken: Deferred.Deferred<boolean>
  /** `taken`: another does its job; `left`: its caller was interrupted. */
  state: "waiting" | "its turn" | "taken" | "left"
  next: Waiter<Job> | null
}

/** The writers that wait behind the one that has the turn, as a linked list. */
interface Queue<Job> {
  first: Waiter<Job> | null
  last: Waiter<Job> | null
}

/** The jobs that were left to whoever has the turn, and how to tell their owners that they are done. */
export interface Taken<Job> {
  readonly jobs: ReadonlyArray<Job>
  readonly done: () => void
}

/** The turns of all sessions. */
export class Turns<Job> {
  private readonly queues = new Map<string, Queue<Job>>()

  /**
   * Waits for the session's turn and runs an effect in it. A caller that is interrupted while it waits gives up its place.
   *
   * @param session the session
   * @param effect runs in the turn
   * @param restore for a caller in an uninterruptible region, who has its place from now on: makes the wait interruptible
   */
  alone<A, E, R>(session: string, effect: Effect.Effect<A, E, R>, restore?: Restore): Effect.Effect<A, E, R> {
    return inRegion(restore, (restore) => this.enter(session, null, () => effect, effect, restore))
  }

  /**
   * Waits until a job is done: in a turn of its own, or together with that of another.
   *
   * @param session the session
   * @param job what others may do for the caller
   * @param inTurn does the job when it is its turn. With `take`, it takes jobs from right behind it, as long as they are
   *   wanted; it has to call `done` when they are done.
   * @param done the answer when another did the job
   * @param restore as for {@link alone}
   */
  together<A, E, R>(
    session: string,
    job: Job,
    inTurn: (take: (wanted: (job: Job) => boolean) => Taken<Job>) => Effect.Effect<A, E, R>,
    done: Effect.Effect<A, E, R>,
    restore?: Restore,
  ): Effect.Effect<A, E, R> {
    const work = () => inTurn((wanted) => this.take(session, wanted))
    return inRegion(restore, (restore) => this.enter(session, job, work, done, restore))
  }

  private enter<A, E, R>(
    session: string,
    job: Job | null,
    inTurn: () => Effect.Effect<A, E, R>,
    done: Effect.Effect<A, E, R>,
    restore: Restore,
  ): Effect.Effect<A, E, R> {
    const queue = this.queues.get(session)
    const work = Effect.matchCauseEffect(Effect.suspend(inTurn), {
      onFailure: (cause) => {
        this.end(session)
        return Effect.failCause(cause)
      },
      onSuccess: (answer) => {
        this.end(session)
        return Effect.succeed(answer)
      },
    })
    if (queue === undefined) {
      this.queues.set(session, { first: null, last: null })
      return work
    }
    const waiter: Waiter<Job> = {
      job,
      woken: Deferred.unsafeMake(FiberId.none),
      state: "waiting",
      next: null,
    }
    if (queue.last === null) queue.first = waiter
    else queue.last.next = waiter
    queue.last = waiter
    return restore(Deferred.await(waiter.woken)).pipe(
      Effect.onInterrupt(() => this.leave(session, waiter)),
      Effect.flatMap((isItsTurn) => (isItsTurn ? work : done)),
    )
  }

  /** A caller that waits was interrupted. A job that another does already is waited for: it cannot be undone. */
  private leave(session: string, waiter: Waiter<Job>): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (waiter.state === "taken") return Effect.asVoid(Deferred.await(waiter.woken))
      if (waiter.state === "its turn") this.end(session)
      else waiter.state = "left"
      return Effect.void
    })
  }

  /** The first writer in the queue that still waits; `null` if there is none. */
  private firstOf(queue: Queue<Job>): Waiter<Job> | null {
    while (queue.first !== null && queue.first.state !== "waiting") queue.first = queue.first.next
    if (queue.first === null) queue.last = null
    return queue.first
  }

  /** Ends a turn: the next one has it. */
  private end(session: string): void {
    const queue = this.queues.get(session)
    const next = queue === undefined ? null : this.firstOf(queue)
    if (next === null) {
      this.queues.delete(session)
      return
    }
    next.state = "its turn"
    Deferred.unsafeDone(next.woken, Effect.succeed(true))
  }

  private take(session: string, wanted: (job: Job) => boolean): Taken<Job> {
    const queue = this.queues.get(session)
    const taken: Array<Waiter<Job>> = []
    const jobs: Array<Job> = []
    for (;;) {
      const waiter = queue === undefined ? null : this.firstOf(queue)
      if (waiter === null || waiter.job === null || !wanted(waiter.job)) break
      waiter.state = "taken"
      taken.push(waiter)
      jobs.push(waiter.job)
    }
    return {
      jobs,
      done: () => {
        for (const { woken } of taken) Deferred.unsafeDone(woken, Effect.succeed(false))
      },
    }
  }
}
