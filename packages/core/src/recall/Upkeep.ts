/**
 * Keeps the stored full-text indexes up with their logs, in whole parts: behind appends, so that the first search of another process
 * reads few messages, and for a search that finds its index far behind.
 */
import { Deferred, Effect, Option, type Scope } from "effect"
import { logFailures } from "../shell/logBackgroundFailure.js"
import type { IndexError, Lookup, Postings, Service, Source } from "./FullTextIndex.js"
import { Newest } from "./Newest.js"

/** How many events an index may be behind before it is brought up: sessions that are shorter are never indexed ahead. */
export const eventsBehind = 1_024

/** A search waits for so many events to be taken in, which takes some tenths of a second. */
const mostAtOnce = 2 * eventsBehind

/** How long a search waits for an index that is further behind; then it answers from what there is. */
const patience = "250 millis"

/** How many indexes a memory brings up at once. */
export const upkeepsAtOnce = 2

/** How many sessions are known by when they were last looked at. */
const mostSessions = 10_000

/** Brings indexes up. What is under way ends with the scope; what is written by then stays. */
export class Upkeep {
  private readonly underWay = new Map<string, Deferred.Deferred<void, IndexError>>()
  /** The version at which a session was last known to be near its index. */
  private readonly near = new Newest<number>(mostSessions)

  /**
   * @param permits one for each index that is brought up
   * @param isAhead whether indexes follow the appends
   */
  constructor(
    private readonly index: Service,
    private readonly scope: Scope.Scope,
    private readonly permits: Effect.Semaphore,
    private readonly isAhead: boolean,
  ) {}

  /** How many events of the log the index has not; 0 if that is not known. */
  behind(source: Source): Effect.Effect<number, IndexError> {
    return this.index.behind?.(source) ?? Effect.succeed(0)
  }

  /** Begins to bring an index up if it is far behind a session that was just written. It never fails, and returns at once. */
  written(source: Source): Effect.Effect<void> {
    const { session, version } = source
    if (!this.isAhead || version - (this.near.get(session) ?? 0) < eventsBehind) return Effect.void
    this.near.set(session, version)
    const look = Effect.flatMap(this.behind(source), (behind) =>
      behind < eventsBehind ? Effect.void : Effect.flatMap(this.start(source), Deferred.await),
    )
    return Effect.asVoid(Effect.forkIn(Effect.interruptible(look.pipe(logFailures(session))), this.scope))
  }

  /**
   * Looks terms up. An index that is far behind goes on being brought up, and the answer is about the messages that it has by then:
   * it has fewer lengths than there are messages.
   */
  lookUp(source: Source, lookup: Lookup): Effect.Effect<Postings<IndexError>, IndexError> {
    return Effect.gen(this, function* () {
      const { session, version } = source
      const isNear =
        version - (this.near.get(session) ?? 0) <= mostAtOnce || (yield* this.behind(source)) <= mostAtOnce
      if (!isNear) {
        const work = yield* this.start(source)
        const done = yield* Effect.exit(Deferred.await(work)).pipe(Effect.timeoutOption(patience))
        if (Option.isNone(done)) return yield* this.index.lookUp(source, { ...lookup, writtenOnly: true })
      }
      const found = yield* this.index.lookUp(source, lookup)
      this.near.set(session, version)
      return found
    })
  }

  /** The work on a session, which goes on when nobody waits for it any more. */
  private start(source: Source): Effect.Effect<Deferred.Deferred<void, IndexError>> {
    return Effect.suspend(() => {
      const { session } = source
      const other = this.underWay.get(session)
      if (other !== undefined) return Effect.succeed(other)
      return Effect.flatMap(Deferred.make<void, IndexError>(), (done) => {
        this.underWay.set(session, done)
        const work = this.permits
          .withPermits(1)(this.index.keepUp?.(source) ?? Effect.void)
          .pipe(Effect.intoDeferred(done), Effect.ensuring(Effect.sync(() => this.underWay.delete(session))))
        return Effect.as(Effect.uninterruptible(Effect.forkIn(Effect.interruptible(work), this.scope)), done)
      })
    })
  }
}
