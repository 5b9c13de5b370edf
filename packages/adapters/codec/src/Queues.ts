/** Things that wait under a name, the oldest first: adding and taking one takes a constant time, however many wait. */
export class Queues<A> {
  private readonly queues = new Map<string, { readonly items: Array<A>; taken: number }>()

  add(name: string, item: A): void {
    const queue = this.queues.get(name)
    if (queue === undefined) this.queues.set(name, { items: [item], taken: 0 })
    else queue.items.push(item)
  }

  /** The oldest of a name, which waits no longer; `undefined` if none does. */
  take(name: string): A | undefined {
    const queue = this.queues.get(name)
    return queue === undefined || queue.taken === queue.items.length ? undefined : queue.items[queue.taken++]
  }

  clear(): void {
    this.queues.clear()
  }
}
