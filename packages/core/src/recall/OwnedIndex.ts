/**
 * The indexes of the sessions of owners, in the process. A search over thousands of sessions would otherwise ask the store
 * for each of them. A session that is as it was when it was indexed, by what a list of sessions says about it, is not read.
 */
import type { Effect } from "effect"
import type { SessionInfo } from "@memfold/log/EventLog"
import type { Gap } from "../session/branches.js"
import { inSteps } from "@memfold/log/breathe"
import type { Postings } from "./FullTextIndex.js"
import { Newest } from "@memfold/log/Newest"
import { type SessionIndex, versionsBy } from "./SessionIndex.js"
import { type Numbered, Vocabulary } from "./Vocabulary.js"

interface Slot {
  readonly info: SessionInfo
  /** Whose session it is by its log. */
  readonly owner: string | null
  /** The id of the last event that it has. */
  readonly lastId: string | null
  readonly gaps: ReadonlyArray<Gap>
  readonly versions: ReadonlyArray<number>
  readonly times: Float64Array
  readonly lengths: Uint32Array
  /** The numbers of its terms, in ascending order. */
  readonly terms: Uint32Array
  /** Where the postings of each term end in `postings`. */
  readonly ends: Uint32Array
  /** Term by term: message index and count, one after the other. */
  readonly postings: Uint32Array
}

/** An indexed session, with the postings of the terms that were looked up. */
export interface Indexed extends Pick<Slot, "owner" | "lastId"> {
  /** What the branch that it has leaves out. */
  readonly gaps: ReadonlyArray<Gap>
  readonly before: number
  readonly postings: Postings<never>
}

/** What changes whenever a session does. */
type Compared = "version" | "updatedTime" | "createdTime"

const mostRefused = 100_000

const isSame = (one: Pick<SessionInfo, Compared>, other: SessionInfo): boolean =>
  one.version === other.version &&
  one.updatedTime === other.updatedTime &&
  one.createdTime === other.createdTime

const sizeOf = ({ postings }: Slot): number => postings.length / 2

/**
 * The place of the first of ascending numbers that is not below one.
 *
 * @param from - a place that is not behind it: ascending numbers are looked up one behind the other, with steps that grow
 */
const placeOf = (numbers: Uint32Array, wanted: number, from: number): number => {
  let [low, step] = [from, 1]
  while (low + step <= numbers.length && numbers[low + step - 1]! < wanted) {
    low += step
    step *= 2
  }
  let high = Math.min(low + step, numbers.length)
  while (low < high) {
    const middle = (low + high) >>> 1
    if (numbers[middle]! < wanted) low = middle + 1
    else high = middle
  }
  return low
}

/** Finds the terms that a session has of some: tells their places among those, and among the terms of the session. */
const findIn = ({ terms }: Slot, wanted: Numbered, found: (at: number, place: number) => void): void => {
  let place = 0
  for (let at = 0; at < wanted.length; at++) {
    const [, number] = wanted[at]!
    place = placeOf(terms, number, place)
    if (terms[place] === number) found(at, place)
  }
}

/** What a session answers for terms, each given with its number. */
const indexedIn = (slot: Slot, wanted: Numbered): Indexed => {
  const { owner, lastId, gaps, versions, times, lengths, ends, postings } = slot
  const found = new Map<string, Uint32Array>()
  findIn(slot, wanted, (at, place) => {
    found.set(wanted[at]![0], postings.subarray(ends[place - 1] ?? 0, ends[place]!))
  })
  return {
    owner,
    lastId,
    gaps,
    before: lengths.length,
    postings: { lengths, times, terms: found, versions: versionsBy((index) => versions[index]) },
  }
}

const sessionsPerStep = 64

export class OwnedIndex {
  private readonly slots = new Map<string, Slot>()
  private readonly vocabulary = new Vocabulary()
  private size = 0
  /** Sessions that it cannot have as they are. */
  private readonly refused = new Newest<Pick<SessionInfo, Compared>>(mostRefused)
  private forgotten = 0

  /** @param capacity - how many postings it holds: a message has one for each different term */
  constructor(private readonly capacity: number) {}

  /** How often a session was forgotten: what was read before may have words that are redacted now. */
  get forgets(): number {
    return this.forgotten
  }

  has(info: SessionInfo): boolean {
    const slot = this.slots.get(info.session)
    return slot !== undefined && isSame(slot.info, info)
  }

  /** Notes that a session cannot be taken in as it is now: it is damaged, there is no room for it, or the list is wrong about it. */
  refuse({ session, version, updatedTime, createdTime }: SessionInfo): void {
    this.drop(session)
    this.refused.set(session, { version, updatedTime, createdTime })
  }

  isRefused(info: SessionInfo): boolean {
    const refused = this.refused.get(info.session)
    return refused !== undefined && isSame(refused, info)
  }

  /**
   * Takes a session in; `false` if there is no room for it.
   *
   * @param owner - whose it is by its log
   */
  put(
    info: SessionInfo,
    owner: string | null,
    { lastId, gaps, versions, times, lengths, postings, size }: SessionIndex,
  ): boolean {
    this.drop(info.session)
    if (this.size + size > this.capacity) return false
    const terms = Uint32Array.from(postings.keys(), (term) => this.vocabulary.add(term)).toSorted()
    const ends = new Uint32Array(terms.length)
    const all = new Uint32Array(2 * size)
    let end = 0
    for (const [place, number] of terms.entries()) {
      const list = postings.get(this.vocabulary.term(number)) ?? []
      all.set(list, end)
      ends[place] = end += list.length
    }
    this.slots.set(info.session, {
      info,
      owner,
      lastId,
      gaps,
      versions: [...versions],
      times: Float64Array.from(times),
      lengths: Uint32Array.from(lengths, (upTo, at) => upTo - (lengths[at - 1] ?? 0)),
      terms,
      ends,
      postings: all,
    })
    this.size += size
    return true
  }

  /** Drops a session. Nothing that it said stays in the process. */
  forget(session: string): void {
    this.forgotten++
    this.drop(session)
  }

  private drop(session: string): void {
    const slot = this.slots.get(session)
    if (slot === undefined) return
    this.slots.delete(session)
    this.size -= sizeOf(slot)
    for (const number of slot.terms) this.vocabulary.remove(number)
  }

  /** How many messages of sessions of the index have each of some terms. Terms that no message has are left out. */
  counts(
    sessions: ReadonlyArray<string>,
    terms: ReadonlyArray<string>,
  ): Effect.Effect<ReadonlyMap<string, number>> {
    return inSteps(() => this.countInSteps(sessions, terms))
  }

  private *countInSteps(sessions: ReadonlyArray<string>, terms: ReadonlyArray<string>) {
    const numbers = this.vocabulary.numbersOf(terms)
    const counts = new Map<string, number>()
    for (let from = 0; from < sessions.length; from += sessionsPerStep) {
      const wanted = numbers()
      const counted = new Uint32Array(wanted.length)
      for (const session of sessions.slice(from, from + sessionsPerStep)) {
        const slot = this.slots.get(session)
        if (slot === undefined) continue
        const { ends } = slot
        findIn(slot, wanted, (at, place) => {
          counted[at]! += (ends[place]! - (ends[place - 1] ?? 0)) / 2
        })
      }
      for (const [at, [term]] of wanted.entries())
        if (counted[at]! > 0) counts.set(term, (counts.get(term) ?? 0) + counted[at]!)
      yield
    }
    return counts
  }

  /** Looks terms up in sessions of the index. Sessions that it does not have are left out of the answer. */
  lookUp(
    sessions: ReadonlyArray<string>,
    terms: ReadonlyArray<string>,
  ): Effect.Effect<ReadonlyMap<string, Indexed>> {
    return inSteps(() => this.lookUpInSteps(sessions, terms))
  }

  private *lookUpInSteps(sessions: ReadonlyArray<string>, terms: ReadonlyArray<string>) {
    const numbers = this.vocabulary.numbersOf(terms)
    const found = new Map<string, Indexed>()
    for (let from = 0; from < sessions.length; from += sessionsPerStep) {
      // Between two steps, a session can be dropped, and the number of a term be given to another one.
      const wanted = numbers()
      for (const session of sessions.slice(from, from + sessionsPerStep)) {
        const slot = this.slots.get(session)
        if (slot !== undefined) found.set(session, indexedIn(slot, wanted))
      }
      yield
    }
    return found
  }
}
