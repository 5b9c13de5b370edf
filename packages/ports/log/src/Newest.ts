/** A map that keeps the entries that were set last. */
export class Newest<Value> {
  private readonly entries = new Map<string, Value>()

  /** @param most how many entries are kept */
  constructor(private readonly most: number) {}

  get(key: string): Value | undefined {
    return this.entries.get(key)
  }

  delete(key: string): void {
    this.entries.delete(key)
  }

  set(key: string, value: Value): void {
    this.entries.delete(key)
    this.entries.set(key, value)
    for (const oldest of this.entries.keys()) {
      if (this.entries.size <= this.most) break
      this.entries.delete(oldest)
    }
  }
}
