/** The timers of sessions: one for each, the earliest first. */

interface Timer<A> {
  readonly time: number
  value: A
}

interface Item {
  readonly time: number
  readonly session: string
}

/** A queue of timers. Setting one and taking a due one cost the logarithm of their number. */
export class TimerQueue<A> {
  private readonly timers = new Map<string, Timer<A>>()
  /** A binary heap by time. An item without a timer of the same time is outdated, and skipped. */
  private readonly heap: Array<Item> = []

  /** Sets a session's timer, in milliseconds since the epoch. The earlier time and the newer value are kept. */
  set(session: string, time: number, value: A): void {
    const known = this.timers.get(session)
    if (known !== undefined && known.time <= time) {
      known.value = value
      return
    }
    this.timers.set(session, { time, value })
    this.push({ time, session })
  }

  delete(session: string): void {
    this.timers.delete(session)
  }

  /** The earliest time; `undefined` if there is no timer. */
  get next(): number | undefined {
    for (;;) {
      const [first] = this.heap
      if (first === undefined) return undefined
      if (this.timers.get(first.session)?.time === first.time) return first.time
      this.pop()
    }
  }

  /** Removes the timers that are due, and returns them in order. */
  take(now: number): ReadonlyArray<readonly [session: string, value: A]> {
    const due: Array<readonly [string, A]> = []
    for (let next = this.next; next !== undefined && next <= now; next = this.next) {
      const { session } = this.heap[0]!
      due.push([session, this.timers.get(session)!.value])
      this.timers.delete(session)
    }
    return due
  }

  private push(item: Item): void {
    const { heap } = this
    let at = heap.length
    heap.push(item)
    for (let up = (at - 1) >> 1; at > 0 && heap[up]!.time > item.time; up = (at - 1) >> 1) {
      heap[at] = heap[up]!
      heap[up] = item
      at = up
    }
  }

  private pop(): void {
    const { heap } = this
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return
    let at = 0
    for (;;) {
      const [left, right] = [2 * at + 1, 2 * at + 2]
      const less = (heap[right]?.time ?? Infinity) < (heap[left]?.time ?? Infinity) ? right : left
      if ((heap[less]?.time ?? Infinity) >= last.time) break
      heap[at] = heap[less]!
      at = less
    }
    heap[at] = last
  }
}
