/** The timers of sessions: one for each, the earliest first. */
import { Option, Order, SortedMap } from "effect"

/** A queue of timers. Setting one and taking a due one cost the logarithm of their number. */
export class TimerQueue<A> {
  private readonly timers = new Map<string, { readonly time: number; value: A }>()
  /** The sessions with a timer at each time. One whose timer has another time by now, or is gone, is passed over. */
  private times = SortedMap.empty<number, Set<string>>(Order.number)

  /** Sets a session's timer, in milliseconds since the epoch. The earlier time and the newer value are kept. */
  set(session: string, time: number, value: A): void {
    const known = this.timers.get(session)
    if (known !== undefined && known.time <= time) {
      known.value = value
      return
    }
    this.timers.set(session, { time, value })
    const others = Option.getOrUndefined(SortedMap.get(this.times, time))
    if (others === undefined) this.times = SortedMap.set(this.times, time, new Set([session]))
    else others.add(session)
  }

  delete(session: string): void {
    this.timers.delete(session)
  }

  /** The earliest time; `undefined` if there is no timer. */
  get next(): number | undefined {
    return this.first?.time
  }

  /** Removes the timers that are due, and returns them in order. */
  take(now: number): ReadonlyArray<readonly [session: string, value: A]> {
    const due: Array<readonly [string, A]> = []
    for (let first = this.first; first !== undefined && first.time <= now; first = this.first)
      for (const session of first.sessions) {
        due.push([session, this.timers.get(session)!.value])
        this.timers.delete(session)
      }
    return due
  }

  private get first(): { readonly time: number; readonly sessions: ReadonlyArray<string> } | undefined {
    for (const [time, all] of this.times) {
      const sessions = [...all].filter((session) => this.timers.get(session)?.time === time)
      if (sessions.length > 0) return { time, sessions }
      this.times = SortedMap.remove(this.times, time)
    }
    return undefined
  }
}
