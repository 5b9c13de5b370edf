/** Full-text indexes of facts, kept from one context to the next. */
import type { Session } from "@memfold/core"
import MiniSearch from "minisearch"
import { words } from "./words.js"

type Facts = ReadonlyArray<Session.KnownFact>

/** How well a fact fits a question, by fact id; more is better. Only facts that share a word with it have a score. */
export type Scores = ReadonlyMap<string, number>

interface Entry {
  readonly search: MiniSearch<{ readonly id: string; readonly text: string }>
  /** The texts in the index, by id. */
  readonly held: Map<string, string>
  facts: Facts
}

/** A prefix of four letters and more finds longer words, too: "deploy" finds "deployment". */
const shortestPrefix = 4

const make = (): Entry => ({
  search: new MiniSearch({
    fields: ["text"],
    tokenize: (text) => [...words(text)],
    processTerm: (term) => term,
    // A question is given as terms, with spaces between them.
    searchOptions: {
      tokenize: (terms) => terms.split(" "),
      prefix: (term) => term.length >= shortestPrefix,
    },
    autoVacuum: false,
  }),
  held: new Map(),
  facts: [],
})

/** Updates an index to the facts: removes and adds only the differences. */
const update = (entry: Entry, facts: Facts): void => {
  if (entry.facts === facts) return
  const { search, held } = entry
  const wanted = new Map(facts.map(({ id, text }) => [id, text]))
  for (const [id, text] of held) {
    if (wanted.get(id) === text) continue
    search.remove({ id, text })
    held.delete(id)
  }
  for (const [id, text] of wanted) {
    if (held.has(id)) continue
    search.add({ id, text })
    held.set(id, text)
  }
  entry.facts = facts
}

/** Six digits: further ones depend on the order of additions and removals, and must not decide. */
const rounded = (score: number): number => Number(score.toPrecision(6))

const score = (entry: Entry, query: string): Scores =>
  new Map(entry.search.search(query).map(({ id, score }) => [id as string, rounded(score)]))

export interface Indexes {
  /** The scores of a log's facts for a question (terms, with spaces between them). Keeps and updates its index. */
  readonly scores: (log: string, facts: Facts, query: string) => Scores
  /** Drops the index of a log. */
  readonly drop: (log: string) => void
}

/** Indexes of at most `capacity` facts together; the least recently used are dropped. */
export const makeIndexes = (capacity: number): Indexes => {
  const entries = new Map<string, Entry>()
  let size = 0

  const drop = (log: string): void => {
    size -= entries.get(log)?.held.size ?? 0
    entries.delete(log)
  }

  const entryOf = (log: string, facts: Facts): Entry => {
    const entry = entries.get(log) ?? make()
    drop(log)
    update(entry, facts)
    entries.set(log, entry)
    size += entry.held.size
    for (const oldest of entries.keys()) {
      if (size <= capacity || oldest === log) break
      drop(oldest)
    }
    return entry
  }

  return {
    scores: (log, facts, query) => score(entryOf(log, facts), query),
    drop,
  }
}
