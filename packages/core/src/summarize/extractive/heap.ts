/** A binary heap: the best element is always at hand. */
export class Heap<A> {
  readonly #items: Array<A> = []
  readonly #better: (a: A, b: A) => boolean

  /** `better` has to be a strict order, so that the result does not depend on the order of insertion. */
  constructor(better: (a: A, b: A) => boolean) {
    this.#better = better
  }

  /** Adds an element, in logarithmic time. */
  push(item: A): void {
    const items = this.#items
    let at = items.push(item) - 1
    while (at > 0) {
      const above = (at - 1) >> 1
      const parent = items[above] as A
      if (!this.#better(item, parent)) break
      items[at] = parent
      at = above
    }
    items[at] = item
  }

  /** Takes the best element out, in logarithmic time. */
  pop(): A | undefined {
    const items = this.#items
    const top = items[0]
    const item = items.pop()
    if (item === undefined || items.length === 0) return top
    let at = 0
    for (;;) {
      let below = 2 * at + 1
      if (below >= items.length) break
      const right = below + 1
      if (right < items.length && this.#better(items[right] as A, items[below] as A)) below = right
      const child = items[below] as A
      if (!this.#better(child, item)) break
      items[at] = child
      at = below
    }
    items[at] = item
    return top
  }
}
