/** What is to be looked at when: one time for each session, the earliest first. */

interface Entry<A> {
  readonly time: number
  value: A
}

interface Item {
  readonly time: number
  readonly session: string
}

/** Setting a time and taking what is due cost the logarithm of how many there are. */
export class Timetable<A> {
  private readonly entries = new Map<string, Entry<A>>()
  /** A binary heap by time; what is not in `entries` with the same time any more is passed over. */
  private readonly heap: Array<Item> = []

  /** Has a session looked at by then. An earlier time stays; the value is the newer one. */
  set(session: string, time: number, value: A): void {
    const known = this.entries.get(session)
    if (known !== undefined && known.time <= time) {
      known.value = value
      return
    }
    this.entries.set(session, { time, value })
    this.push({ time, session })
  }

  delete(session: string): void {
    this.entries.delete(session)
  }

  /** The earliest time. */
  get next(): number | undefined {
    for (;;) {
      const [first] = this.heap
      if (first === undefined) return undefined
      if (this.entries.get(first.session)?.time === first.time) return first.time
      this.pop()
    }
  }

  /** Takes out everything that is due. */
  take(now: number): ReadonlyArray<readonly [session: string, value: A]> {
    const due: Array<readonly [string, A]> = []
    for (let next = this.next; next !== undefined && next <= now; next = this.next) {
      const { session } = this.heap[0]!
      due.push([session, this.entries.get(session)!.value])
      this.entries.delete(session)
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
