/**
 * One index of the sessions of owners, in the process. A search over thousands of sessions would otherwise ask the store
 * for each of them. A session that is as it was when it was indexed, by what a list of sessions says about it, is not read.
 */
import { Effect } from "effect"
import type { SessionInfo } from "../log/EventLog.js"
import { inSteps } from "../shell/breathe.js"
import type { Gap } from "../session/branches.js"
import type { Postings } from "./FullTextIndex.js"
import type { SessionIndex } from "./SessionIndex.js"

/** A session in the index. */
interface Slot {
  readonly info: SessionInfo
  readonly gaps: ReadonlyArray<Gap>
  readonly versions: ReadonlyArray<number>
  readonly lengths: Uint32Array
  /** How many postings it has. */
  readonly size: number
}

/** An indexed session, with the postings of the terms that were looked up. */
export interface Indexed {
  /** What the branch that it has leaves out. */
  readonly gaps: ReadonlyArray<Gap>
  readonly before: number
  readonly postings: Postings<never>
}

/** So many numbers stand for a posting: the slot, the message index, the count. */
const width = 3

const isSame = (one: SessionInfo, other: SessionInfo): boolean =>
  one.version === other.version &&
  one.updatedTime === other.updatedTime &&
  one.createdTime === other.createdTime

/** The index of many sessions. */
export class OwnedIndex {
  private slots = new Map<number, Slot>()
  private bySession = new Map<string, number>()
  private postings = new Map<string, Array<number>>()
  private next = 0
  private live = 0
  private dead = 0

  /** @param capacity - how many postings it holds: a message has one for each different term */
  constructor(private readonly capacity: number) {}

  /** Whether a session is in the index as it is now. */
  has(info: SessionInfo): boolean {
    const slot = this.slots.get(this.bySession.get(info.session) ?? -1)
    return slot !== undefined && isSame(slot.info, info)
  }

  /** Takes a session in; `false` if there is no room for it. */
  put(info: SessionInfo, { gaps, versions, lengths, postings, size }: SessionIndex): boolean {
    this.forget(info.session)
    if (this.live + size > this.capacity) return false
    const number = this.next++
    for (const [term, list] of postings) {
      const all = this.postings.get(term) ?? []
      if (all.length === 0) this.postings.set(term, all)
      for (let at = 0; at < list.length; at += 2) all.push(number, list[at]!, list[at + 1]!)
    }
    const each = Uint32Array.from(lengths, (upTo, at) => upTo - (lengths[at - 1] ?? 0))
    this.slots.set(number, { info, gaps, versions: [...versions], lengths: each, size })
    this.bySession.set(info.session, number)
    this.live += size
    return true
  }

  /** Drops a session. */
  forget(session: string): void {
    const number = this.bySession.get(session)
    const slot = number === undefined ? undefined : this.slots.get(number)
    if (number === undefined || slot === undefined) return
    this.bySession.delete(session)
    this.slots.delete(number)
    this.live -= slot.size
    this.dead += slot.size
    if (this.dead > this.live) this.sweep()
  }

  /** Removes the postings of sessions that were dropped. */
  sweep(): void {
    for (const [term, all] of this.postings) {
      const kept: Array<number> = []
      for (let at = 0; at < all.length; at += width)
        if (this.slots.has(all[at]!)) kept.push(all[at]!, all[at + 1]!, all[at + 2]!)
      if (kept.length === 0) this.postings.delete(term)
      else this.postings.set(term, kept)
    }
    this.dead = 0
  }

  /** Looks terms up in sessions of the index. Sessions that it does not have are left out of the answer. */
  lookUp(
    sessions: ReadonlyArray<string>,
    terms: ReadonlyArray<string>,
  ): Effect.Effect<ReadonlyMap<string, Indexed>> {
    return inSteps(() => this.lookUpInSteps(sessions, terms))
  }

  private *lookUpInSteps(sessions: ReadonlyArray<string>, terms: ReadonlyArray<string>) {
    const found = new Map<number, Map<string, Array<number>>>()
    const asked = new Map<string, Indexed>()
    for (const session of sessions) {
      const number = this.bySession.get(session)
      const slot = number === undefined ? undefined : this.slots.get(number)
      if (number === undefined || slot === undefined) continue
      const own = new Map<string, Array<number>>()
      found.set(number, own)
      const { gaps, lengths, versions } = slot
      const versionsOf: Postings<never>["versions"] = (indexes) =>
        Effect.sync(
          () =>
            new Map(
              indexes.flatMap((index) => (index in versions ? [[index, versions[index]!] as const] : [])),
            ),
        )
      asked.set(session, {
        gaps,
        before: lengths.length,
        postings: { lengths, terms: own, versions: versionsOf },
      })
    }
    yield
    for (const term of new Set(terms)) {
      const all = this.postings.get(term) ?? []
      for (let at = 0; at < all.length; at += width) {
        if (at % (8_192 * width) === 0) yield
        const own = found.get(all[at]!)
        if (own === undefined) continue
        const list = own.get(term)
        if (list === undefined) own.set(term, [all[at + 1]!, all[at + 2]!])
        else list.push(all[at + 1]!, all[at + 2]!)
      }
      yield
    }
    return asked
  }
}
