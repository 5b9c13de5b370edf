/**
 * What a memory does when it is too much: beyond a number of appends that wait, it refuses another one at once, before its store, its memory
 * and its callers' patience run out. What can wait goes first: background compactions, then searches.
 */
import { Clock, Deferred, Effect, FiberId, Schema } from "effect"

/** How many appends may wait: from their call to their answer. */
export interface LoadOptions {
  /**
   * In this process; 10,000 by default. From half of them on, no compaction begins in the background, and from three quarters on, searches
   * are refused.
   */
  readonly appends?: number
  /** In a session, whose appends come one after another; 1,000 by default. */
  readonly appendsPerSession?: number
}

/** As many appends wait as may. Nothing was written. */
export class Overloaded extends Schema.TaggedError<Overloaded>()("Overloaded", {
  /** The session; empty for a search over the sessions of an owner. */
  session: Schema.String,
  /** After how many milliseconds to come again: as long as an append waits now. */
  retryAfter: Schema.Number,
}) {
  override get message(): string {
    const where = this.session === "" ? "" : `Session "${this.session}": `
    return `${where}as many appends wait as may, and nothing was done; try again after ${Math.ceil(this.retryAfter / 1_000)} s`
  }
}

/** The appends of a memory that wait. */
export interface Load {
  /** Runs an append, or refuses it. */
  readonly appending: <A, E>(session: string, append: Effect.Effect<A, E>) => Effect.Effect<A, E | Overloaded>
  /** Refuses a search, which is for a session or for an owner. */
  readonly searching: (session?: string) => Effect.Effect<void, Overloaded>
  /** Waits until fewer appends wait. */
  readonly calm: Effect.Effect<void>
}

/** The bounds of the time after which to come again, in milliseconds. */
const comeAgain = { atLeast: 100, atMost: 60_000 }

export const makeLoad = ({ appends = 10_000, appendsPerSession = 1_000 }: LoadOptions = {}): Load => {
  /** When each began, oldest first. */
  const waiting = new Set<{ readonly began: number }>()
  const perSession = new Map<string, number>()
  let [lastTook, calmed]: [number, Deferred.Deferred<void> | null] = [0, null]

  const isCalm = () => waiting.size < appends / 2

  const refused = (session: string) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const [oldest] = waiting
      const waits = Math.max(lastTook, oldest === undefined ? 0 : now - oldest.began)
      const retryAfter = Math.min(Math.max(waits, comeAgain.atLeast), comeAgain.atMost)
      return new Overloaded({ session, retryAfter })
    })

  const enter = (session: string) =>
    Effect.flatMap(Clock.currentTimeMillis, (began) => {
      const before = perSession.get(session) ?? 0
      if (waiting.size >= appends || before >= appendsPerSession) return refused(session)
      const one = { began }
      waiting.add(one)
      perSession.set(session, before + 1)
      return Effect.succeed(one)
    })

  const leave = (session: string, one: { readonly began: number }) =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      waiting.delete(one)
      lastTook = now - one.began
      const left = (perSession.get(session) ?? 1) - 1
      if (left === 0) perSession.delete(session)
      else perSession.set(session, left)
      if (calmed === null || !isCalm()) return
      Deferred.unsafeDone(calmed, Effect.void)
      calmed = null
    })

  return {
    appending: (session, append) =>
      Effect.acquireUseRelease(
        enter(session),
        () => append,
        (one) => leave(session, one),
      ),
    searching: (session = "") =>
      Effect.suspend(() => (waiting.size >= (appends * 3) / 4 ? refused(session) : Effect.void)),
    calm: Effect.suspend(() => {
      if (isCalm()) return Effect.void
      calmed ??= Deferred.unsafeMake<void>(FiberId.none)
      return Deferred.await(calmed)
    }),
  }
}
