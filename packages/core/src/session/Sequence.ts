/**
 * An immutable list with appends in constant time.
 *
 * Old and new lists share one buffer. An append writes after the end that older lists see; it copies the buffer only if
 * another append to the same list has written there before. Therefore a session with 100,000 uncovered messages appends
 * as fast as an empty one.
 *
 * Positions are absolute: dropping elements from the front does not renumber the others.
 */
export class Sequence<A> implements Iterable<A> {
  private constructor(
    private readonly shared: Array<A>,
    /** The position of the first element. */
    readonly from: number,
    /** The position after the last element. */
    readonly to: number,
  ) {}

  /** A sequence of `items` whose first element has the position `from`. */
  static of<A>(items: Iterable<A> = [], from = 0): Sequence<A> {
    const shared = [...items]
    return new Sequence(shared, from, from + shared.length)
  }

  get length(): number {
    return this.to - this.from
  }

  /** The element at a position; `undefined` outside `[from, to)`. */
  at(position: number): A | undefined {
    return position >= this.from && position < this.to ? this.shared[position - this.from] : undefined
  }

  get last(): A | undefined {
    return this.at(this.to - 1)
  }

  append(item: A): Sequence<A> {
    const shared = this.shared.length === this.length ? this.shared : this.shared.slice(0, this.length)
    shared.push(item)
    return new Sequence(shared, this.from, this.to + 1)
  }

  /** The list without the elements before a position. Takes time linear in the remaining elements. */
  dropBefore(position: number): Sequence<A> {
    const from = Math.min(Math.max(position, this.from), this.to)
    return from === this.from ? this : Sequence.of(this.slice(from, this.to), from)
  }

  /** The list without the elements from a position on. Takes constant time. */
  dropFrom(position: number): Sequence<A> {
    return new Sequence(this.shared, this.from, Math.max(Math.min(position, this.to), this.from))
  }

  /** The elements in `[from, to)`, clamped to the existing positions. */
  slice(from: number = this.from, to: number = this.to): ReadonlyArray<A> {
    return this.shared.slice(Math.max(from - this.from, 0), Math.max(Math.min(to, this.to) - this.from, 0))
  }

  /**
   * The first position whose element satisfies a condition; `to` if none does. It is a binary search: after an element
   * that satisfies the condition, all others must satisfy it too.
   */
  firstWhere(condition: (item: A) => boolean): number {
    let low = this.from
    let high = this.to
    while (low < high) {
      const middle = (low + high) >>> 1
      if (condition(this.shared[middle - this.from] as A)) high = middle
      else low = middle + 1
    }
    return low
  }

  /** As JSON: the elements, and the position of the first. The shared buffer can hold more than this version has. */
  toJSON(): { readonly from: number; readonly items: ReadonlyArray<A> } {
    return { from: this.from, items: this.slice() }
  }

  [Symbol.iterator](): Iterator<A> {
    return this.slice()[Symbol.iterator]()
  }
}
