/** A map that keeps the entries that were set last. */
export class Newest<Value, Key = string> {
  private readonly entries = new Map<Key, Value>()

  /** @param most how many entries are kept */
  constructor(private readonly most: number) {}

  get(key: Key): Value | undefined {
    return this.entries.get(key)
  }

  delete(key: Key): void {
    this.entries.delete(key)
  }

  set(key: Key, value: Value): void {
    this.entries.delete(key)
    this.entries.set(key, value)
    for (const oldest of this.entries.keys()) {
      if (this.entries.size <= this.most) break
      this.entries.delete(oldest)
    }
  }
}
