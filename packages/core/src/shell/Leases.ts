/**
 * How long a process respects the lock of a running compaction.
 *
 * A lease ends at a time of the clock of its owner. That clock may be wrong: a clock that is a year ahead must not block a
 * session for a year. So a process also measures the length of the lease by its own clock, from when it first saw it.
 */
import { Newest } from "@memfold/log/Newest"
import type { Running, SessionState } from "../session/SessionState.js"

/** The longest lease that is respected, in milliseconds: an hour. A compaction that works longer renews its lease. */
export const longestLease = 3_600_000

/** The length of a lease, in milliseconds. The clock of its owner cancels out. */
const lengthOf = ({ leaseFrom, leaseUntil }: Running): number =>
  Math.min(Math.max(leaseUntil - leaseFrom, 0), longestLease)

/**
 * Whether a lease ends so late that only a wrong clock can have set it. Processes that see it wait for its length, and
 * not until its end.
 */
export const isFromWrongClock = ({ leaseUntil }: Running, now: number): boolean =>
  leaseUntil > now + longestLease

/** The most leases that are remembered. A forgotten lease counts from when it is seen again. */
const mostSeen = 10_000

/** Remembers when this process first saw the lease of each session. */
export class Leases {
  private readonly seen = new Newest<{
    readonly compaction: string
    readonly leaseUntil: number
    readonly time: number
  }>(mostSeen)

  /**
   * Until when the lock of a session is respected, in milliseconds since the epoch; negative infinity if no compaction
   * runs. A lease that was renewed counts from when this process first saw the renewal.
   */
  until({ session, running }: SessionState, now: number): number {
    if (running === null) {
      this.seen.delete(session)
      return Number.NEGATIVE_INFINITY
    }
    const { compaction, leaseUntil } = running
    let lease = this.seen.get(session)
    // A time in the future was seen before this process's own clock was set back.
    if (lease?.compaction !== compaction || lease.leaseUntil !== leaseUntil || lease.time > now) {
      lease = { compaction, leaseUntil, time: now }
      this.seen.set(session, lease)
    }
    return Math.min(leaseUntil, lease.time + lengthOf(running))
  }

  forget(session: string): void {
    this.seen.delete(session)
  }
}
