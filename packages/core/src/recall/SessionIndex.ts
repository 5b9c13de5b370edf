/** The postings of the messages of a session, from some event on. An index only grows: what changes the past makes a new one. */
import { Effect } from "effect"
import type { RecordedEvent } from "../event/EventCodec.js"
import type { Lookup, Postings } from "./FullTextIndex.js"
import { countTerms } from "../search/postings.js"
import { messageTerms } from "./searchText.js"

/** The postings of messages that follow each other. */
export interface Part {
  /** The message index of the first one. */
  readonly from: number
  /** The version of the event of each message. */
  readonly versions: ReadonlyArray<number>
  /** How many terms the messages up to each one have together. */
  readonly lengths: ReadonlyArray<number>
  /** By term: message index and count, one after the other. */
  readonly postings: ReadonlyMap<string, ReadonlyArray<number>>
}

/** Where an index starts: behind an event, with the number of clears before it and of messages since the last clear. */
export interface Start {
  readonly version: number
  /** The id of the event; `null` at the start of the log. */
  readonly lastId: string | null
  readonly clears: number
  readonly messages: number
}

/** The start of a log. */
export const beginning: Start = { version: 0, lastId: null, clears: 0, messages: 0 }

/** The index of the events behind a start. */
export class SessionIndex implements Part {
  /** The last event in it; an event with another id at this version is of another log. */
  version: number
  lastId: string | null
  clears: number
  from: number
  /** Postings of all terms together. */
  size = 0
  versions: Array<number> = []
  lengths: Array<number> = []
  postings = new Map<string, Array<number>>()

  constructor(readonly start: Start) {
    const { version, lastId, clears, messages } = start
    this.version = version
    this.lastId = lastId
    this.clears = clears
    this.from = messages
  }

  /** Adds the next event; another one is left out. */
  add({ id, version, event }: RecordedEvent): void {
    if (version !== this.version + 1) return
    this.version = version
    this.lastId = id
    if (event._tag === "SessionCleared") {
      this.clears++
      this.from = 0
      this.size = 0
      this.versions = []
      this.lengths = []
      this.postings = new Map()
    } else if (event._tag === "MessageAppended") this.addTerms(version, messageTerms(event.message))
  }

  /** Adds the terms of the next message, or of another text that is to be ranked. */
  addTerms(version: number, terms: ReadonlyArray<string>): void {
    const index = this.from + this.lengths.length
    this.versions.push(version)
    this.lengths.push((this.lengths.at(-1) ?? 0) + terms.length)
    for (const [term, count] of countTerms(terms)) {
      const list = this.postings.get(term)
      if (list === undefined) this.postings.set(term, [index, count])
      else list.push(index, count)
      this.size++
    }
  }

  /** Adds the messages of the part behind the last one. */
  append({ versions, lengths, postings }: Part): void {
    const length = this.lengths.at(-1) ?? 0
    for (const version of versions) this.versions.push(version)
    for (const one of lengths) this.lengths.push(length + one)
    for (const [term, added] of postings) {
      const list = this.postings.get(term)
      if (list === undefined) this.postings.set(term, [...added])
      else for (const value of added) list.push(value)
      this.size += added.length / 2
    }
  }
}

/** What parts that follow each other, from message 0 on, answer together. */
export const lookUp = (parts: ReadonlyArray<Part>, { terms, before }: Lookup): Postings<never> => {
  const found = new Map<string, Array<number>>()
  const last = parts.at(-1)
  const messages = last === undefined ? 0 : Math.max(0, Math.min(before, last.from + last.lengths.length))
  const lengths = new Uint32Array(messages)
  for (const { from, lengths: upTo, postings } of parts) {
    const count = Math.min(Math.max(before - from, 0), upTo.length)
    for (let at = 0; at < count; at++) lengths[from + at] = upTo[at]! - (upTo[at - 1] ?? 0)
    for (const term of terms) {
      const list = postings.get(term) ?? []
      let end = list.length
      while (end > 0 && list[end - 2]! >= before) end -= 2
      if (end === 0) continue
      const into = found.get(term)
      // A copy, since the index goes on growing.
      if (into === undefined) found.set(term, list.slice(0, end))
      else for (let at = 0; at < end; at++) into.push(list[at]!)
    }
  }
  const versionOf = (index: number): number | undefined => {
    const part = parts.findLast(({ from }) => from <= index)
    return part?.versions[index - part.from]
  }
  return {
    lengths,
    terms: found,
    versions: (indexes) =>
      Effect.sync(
        () =>
          new Map(
            indexes.flatMap((index) => {
              const version = versionOf(index)
              return version === undefined ? [] : [[index, version] as const]
            }),
          ),
      ),
  }
}

/** The answer for a session without messages: it was cleared since, or is cleared at this moment. */
export const nothing: Postings<never> = lookUp([], { terms: [], before: 0 })
