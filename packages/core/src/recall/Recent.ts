/** The indexes that a process keeps, of the sessions that were searched last. All of them together are bounded. */
import type { SessionIndex } from "./SessionIndex.js"

/** An index that was taken to be used: while it grows, nobody else has it. */
export interface BorrowedIndex<Index> {
  /** `null` if none was kept. */
  readonly index: Index | null
  /** How often something had been forgotten by then. */
  readonly forgets: number
}

/** Keeps indexes with up to `capacity` postings. */
export class Recent<Index extends Pick<SessionIndex, "size"> = SessionIndex> {
  private readonly indexes = new Map<string, Index>()
  private size = 0
  /** How often something was forgotten: what was read before may have redacted words, and is not kept. */
  private forgets = 0

  constructor(private readonly capacity: number) {}

  private drop(session: string): void {
    this.size -= this.indexes.get(session)?.size ?? 0
    this.indexes.delete(session)
  }

  take(session: string): BorrowedIndex<Index> {
    const index = this.indexes.get(session) ?? null
    this.drop(session)
    return { index, forgets: this.forgets }
  }

  keep(session: string, index: Index, { forgets }: Pick<BorrowedIndex<Index>, "forgets">): void {
    if (forgets !== this.forgets) return
    this.drop(session)
    this.indexes.set(session, index)
    this.size += index.size
    for (const oldest of this.indexes.keys()) {
      if (this.size <= this.capacity) break
      this.drop(oldest)
    }
  }

  forget(session: string): void {
    this.forgets++
    this.drop(session)
  }
}
