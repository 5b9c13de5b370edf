/**
 * The postings of the messages of a session on one branch, from some event on. Where the conversation goes on from an earlier
 * place, an index is cut there; what else changes the past makes a new index.
 */
import { Effect } from "effect"
import { appendedMessage, type RecordedEvent } from "../event/EventCodec.js"
import type { Lookup, Postings } from "./FullTextIndex.js"
import { countTerms } from "../search/postings.js"
import { beginningOf, divergence, type Gap, isOnBranch } from "../session/branches.js"
import { indexedOf } from "./searchText.js"

/** The postings of messages that follow each other. */
export interface Part {
  /** The message index of the first one. */
  readonly from: number
  /** The version of the event of each message. */
  readonly versions: ReadonlyArray<number>
  /** When each message was said, in milliseconds since the epoch. */
  readonly times: ReadonlyArray<number>
  /** How many terms the messages up to each one have together. */
  readonly lengths: ReadonlyArray<number>
  /** By term or mark: message index and count, one after the other. */
  readonly postings: ReadonlyMap<string, ReadonlyArray<number>>
}

/** Where an index starts: behind an event, with the number of messages of the branch before it. */
export interface Start {
  readonly version: number
  /** The id of the event; `null` at the beginning of a conversation. */
  readonly lastId: string | null
  readonly messages: number
}

/** The beginning of a conversation on the branch with these gaps. */
export const beginning = (gaps: ReadonlyArray<Gap>): Start => ({
  version: beginningOf(gaps),
  lastId: null,
  messages: 0,
})

export class SessionIndex implements Part {
  /** The last event in it; an event with another id at this version is of another log. */
  version: number
  lastId: string | null
  from: number
  /** Postings of all terms together. */
  size = 0
  versions: Array<number> = []
  times: Array<number> = []
  lengths: Array<number> = []
  postings = new Map<string, Array<number>>()

  constructor(
    readonly start: Start,
    /** What the branch leaves out. */
    public gaps: ReadonlyArray<Gap>,
  ) {
    const { version, lastId, messages } = start
    this.version = version
    this.lastId = lastId
    this.from = messages
  }

  /** Adds the next event; another one is left out. */
  add(recorded: RecordedEvent): void {
    if (recorded.version !== this.version + 1) return
    this.version = recorded.version
    this.lastId = recorded.id
    this.addMessage(recorded)
  }

  /** Adds the message of an event, if it is on the branch. */
  addMessage({ version, time, event }: RecordedEvent): void {
    // A message that cannot be read keeps its place, or the indexes of later messages would be wrong.
    const message = appendedMessage(event)
    if (message !== null && isOnBranch(this.gaps, version))
      this.addTerms({ version, time: message.time ?? time }, indexedOf(message))
  }

  /**
   * Makes it an index of another branch: leaves out the messages that this branch does not have.
   *
   * @returns the version from which on the messages of the branch have to be added again, up to the last event of the index;
   *   `null` if all of them are in it
   */
  moveTo(gaps: ReadonlyArray<Gap>): number | null {
    const from = divergence(this.gaps, gaps)
    this.gaps = gaps
    if (from > this.version) return null
    const kept = this.versions.findIndex((version) => version >= from)
    if (kept !== -1) this.cutTo(kept)
    return from
  }

  private cutTo(count: number): void {
    this.versions.length = count
    this.times.length = count
    this.lengths.length = count
    const end = this.from + count
    for (const [term, list] of this.postings) {
      const length = list.length
      let left = length
      while (left > 0 && list[left - 2]! >= end) left -= 2
      list.length = left
      this.size -= (length - left) / 2
      if (left === 0) this.postings.delete(term)
    }
  }

  addTerms(
    { version, time }: { readonly version: number; readonly time: number },
    { terms, marks }: { readonly terms: ReadonlyArray<string>; readonly marks: ReadonlyArray<string> },
  ): void {
    const index = this.from + this.lengths.length
    this.versions.push(version)
    this.times.push(time)
    this.lengths.push((this.lengths.at(-1) ?? 0) + terms.length)
    for (const [term, count] of countTerms([...terms, ...marks])) {
      const list = this.postings.get(term)
      if (list === undefined) this.postings.set(term, [index, count])
      else list.push(index, count)
      this.size++
    }
  }

  append({ versions, times, lengths, postings }: Part): void {
    const length = this.lengths.at(-1) ?? 0
    for (const version of versions) this.versions.push(version)
    for (const time of times) this.times.push(time)
    for (const one of lengths) this.lengths.push(length + one)
    for (const [term, added] of postings) {
      const list = this.postings.get(term)
      if (list === undefined) this.postings.set(term, [...added])
      else for (const value of added) list.push(value)
      this.size += added.length / 2
    }
  }
}

/** Finds the versions of messages by their indexes. */
export const versionsBy =
  (versionOf: (index: number) => number | undefined): Postings<never>["versions"] =>
  (indexes) =>
    Effect.sync(() => {
      const versions = new Map<number, number>()
      for (const index of indexes) {
        const version = versionOf(index)
        if (version !== undefined) versions.set(index, version)
      }
      return versions
    })

/** What parts that follow each other, from message 0 on, answer together. */
export const lookUp = (parts: ReadonlyArray<Part>, { terms, before }: Lookup): Postings<never> => {
  const found = new Map<string, Array<number>>()
  const last = parts.at(-1)
  const messages = last === undefined ? 0 : Math.max(0, Math.min(before, last.from + last.lengths.length))
  const lengths = new Uint32Array(messages)
  const times = new Float64Array(messages)
  for (const { from, times: said, lengths: upTo, postings } of parts) {
    const count = Math.min(Math.max(before - from, 0), upTo.length)
    for (let at = 0; at < count; at++) {
      lengths[from + at] = upTo[at]! - (upTo[at - 1] ?? 0)
      times[from + at] = said[at]!
    }
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
  return {
    lengths,
    times,
    terms: found,
    versions: versionsBy((index) => {
      const part = parts.findLast(({ from }) => from <= index)
      return part?.versions[index - part.from]
    }),
  }
}

/** The answer for a session that does not exist. */
export const nothing: Postings<never> = lookUp([], { terms: [], before: 0 })
