/** Full-text indexes of facts, kept from one context to the next. */
import { Search, type Session } from "@memfold/core"

type Facts = ReadonlyArray<Session.KnownFact>

/** How well a fact fits a question, by fact id; more is better. Only facts that share a term with it have a score. */
export type Scores = ReadonlyMap<string, number>

class FactIndex {
  facts: Facts = []
  private readonly texts = new Map<string, string>()
  /** By term the facts that have it, and how often. */
  private readonly postings = new Map<string, Map<string, number>>()
  /** How many terms each fact has, and all facts together. */
  private readonly lengths = new Map<string, number>()
  private length = 0

  get size(): number {
    return this.texts.size
  }

  /** Updates the index to the facts: removes and adds only the differences. */
  update(facts: Facts): void {
    if (this.facts === facts) return
    const wanted = new Map(facts.map(({ id, text }) => [id, text]))
    for (const [id, text] of this.texts) if (wanted.get(id) !== text) this.remove(id, text)
    for (const [id, text] of wanted) if (!this.texts.has(id)) this.add(id, text)
    this.facts = facts
  }

  private add(id: string, text: string): void {
    const terms = Search.termsOf(text)
    this.texts.set(id, text)
    this.lengths.set(id, terms.length)
    this.length += terms.length
    for (const term of terms) {
      const having = this.postings.get(term) ?? new Map<string, number>()
      having.set(id, (having.get(id) ?? 0) + 1)
      this.postings.set(term, having)
    }
  }

  private remove(id: string, text: string): void {
    this.texts.delete(id)
    this.length -= this.lengths.get(id) ?? 0
    this.lengths.delete(id)
    for (const term of new Set(Search.termsOf(text))) {
      const having = this.postings.get(term)
      having?.delete(id)
      if (having?.size === 0) this.postings.delete(term)
    }
  }

  scores(terms: ReadonlyArray<string>): Scores {
    const scores = new Map<string, number>()
    const average = this.length / Math.max(this.size, 1)
    for (const term of terms) {
      const having = this.postings.get(term) ?? new Map<string, number>()
      const weight = Search.termWeight(this.size, having.size)
      for (const [id, count] of having) {
        const score = Search.termScore(weight, count, (this.lengths.get(id) ?? 0) / average)
        scores.set(id, (scores.get(id) ?? 0) + score)
      }
    }
    return scores
  }
}

export interface Indexes {
  /** The scores of a log's facts for the terms of a question. Keeps and updates its index. */
  readonly scores: (log: string, facts: Facts, terms: ReadonlyArray<string>) => Scores
  readonly drop: (log: string) => void
}

/** Indexes of at most `capacity` facts together; the least recently used are dropped. */
export const makeIndexes = (capacity: number): Indexes => {
  const indexes = new Map<string, FactIndex>()
  let size = 0

  const drop = (log: string): void => {
    size -= indexes.get(log)?.size ?? 0
    indexes.delete(log)
  }

  return {
    scores: (log, facts, terms) => {
      const index = indexes.get(log) ?? new FactIndex()
      drop(log)
      index.update(facts)
      indexes.set(log, index)
      size += index.size
      for (const oldest of indexes.keys()) {
        if (size <= capacity || oldest === log) break
        drop(oldest)
      }
      return index.scores(terms)
    },
    drop,
  }
}
