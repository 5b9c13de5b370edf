/**
 * Keeps full-text indexes up with their logs: behind appends, in whole parts, so that the first search of another process reads few
 * messages, and for a search that finds an index far behind.
 */
import { atMost } from "@memfold/log/atMost"
import { Deferred, Effect, Option, type Scope } from "effect"
import { logFailures } from "../shell/logBackgroundFailure.js"
import type { SessionError } from "../shell/Sessions.js"
import type { IndexError, Lookup, Postings, Service, Source } from "./FullTextIndex.js"
import { Newest } from "@memfold/log/Newest"

/** How many events an index may be behind before it is brought up: sessions that are shorter are never indexed ahead. */
export const eventsBehind = 1_024

/** A search waits for so many events to be taken in, which takes some tenths of a second. */
export const mostAtOnce = 2 * eventsBehind

/** How long a search waits for an index that is further behind; then it answers from what there is. */
const patience = "150 millis"

/** How many indexes a memory brings up at once. */
const upkeepsAtOnce = 2

/** How many sessions are known by when they were last looked at. */
const mostSessions = 10_000

/** What goes on when nobody waits for it any more. */
type Work = Deferred.Deferred<void, SessionError>

/** The names of the work on a session and on the sessions of an owner. */
const ofSession = (session: string) => `session:${session}`
const ofOwner = (owner: string) => `owner:${owner}`

/** Brings indexes up. What is under way ends with the scope; what is written by then stays. */
export class Upkeep {
  private readonly underWay = new Map<string, Work>()
  private readonly inPlace = atMost(upkeepsAtOnce)
  /** The version at which a session was last known to be near its index. */
  private readonly near = new Newest<number>(mostSessions)

  /** @param isAhead whether indexes follow the appends */
  constructor(
    private readonly index: Service,
    private readonly scope: Scope.Scope,
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
      behind < eventsBehind ? Effect.void : Effect.flatMap(this.bringUp(source), Deferred.await),
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
      if (!isNear && !(yield* inTime(this.bringUp(source))))
        return yield* this.index.lookUp(source, { ...lookup, writtenOnly: true })
      const found = yield* this.index.lookUp(source, lookup)
      this.near.set(session, version)
      return found
    })
  }

  /**
   * Takes the sessions of an owner in, which goes on behind a search that does not wait for all of them.
   *
   * @returns whether it is done
   */
  takeIn(owner: string, work: Effect.Effect<void, SessionError>): Effect.Effect<boolean> {
    return inTime(this.start(ofOwner(owner), work))
  }

  private bringUp(source: Source): Effect.Effect<Work> {
    return this.start(ofSession(source.session), this.index.keepUp?.(source) ?? Effect.void)
  }

  /** Begins with work, if none of this name is under way. */
  private start(name: string, work: Effect.Effect<void, SessionError>): Effect.Effect<Work> {
    return Effect.suspend(() => {
      const other = this.underWay.get(name)
      if (other !== undefined) return Effect.succeed(other)
      return Effect.flatMap(Deferred.make<void, SessionError>(), (done) => {
        this.underWay.set(name, done)
        const permitted = this.inPlace(work).pipe(
          Effect.intoDeferred(done),
          Effect.ensuring(Effect.sync(() => this.underWay.delete(name))),
        )
        return Effect.as(
          Effect.uninterruptible(Effect.forkIn(Effect.interruptible(permitted), this.scope)),
          done,
        )
      })
    })
  }
}

/** Whether work ends while a search waits. A search that goes on hears by itself why it failed. */
const inTime = (started: Effect.Effect<Work>): Effect.Effect<boolean> =>
  Effect.flatMap(started, (work) =>
    Effect.exit(Deferred.await(work)).pipe(Effect.timeoutOption(patience), Effect.map(Option.isSome)),
  )
