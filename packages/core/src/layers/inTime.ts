/**
 * When facts are true: a pure function of what was learned. Each observation stays as it was learned, so that one whose source is
 * redacted, or on another branch, is left out with all that followed from it.
 */
import { Array } from "effect"
import { lowest } from "@memfold/message/Origin"
import type { TimeSource } from "../event/Event.js"
import type { KnownFact } from "../session/SessionState.js"

/**
 * A fact, and when it is true: `[validFrom, validUntil)`.
 *
 * - `observed`: the ids of all facts that say it, if several do; its sources are theirs, and its id is that of the first one
 * - `endedBy`: the id of the fact that has taken its place
 * - `conflicts`: the ids of facts that say something else of the subject and are true at the time, up to ten
 */
export interface FactInTime extends Omit<KnownFact, "notEnded"> {
  readonly observed?: ReadonlyArray<string>
  readonly endedBy?: string
  readonly conflicts?: ReadonlyArray<string>
}

/** A bound of time. An open one is infinite, and nobody said it. */
interface Bound {
  readonly time: number
  readonly said: boolean
}

const bound = (time: number | undefined, said: boolean, open: number): Bound =>
  time === undefined ? { time: open, said: false } : { time, said }

/** One interval of one value, as one or several facts say it. */
interface Interval {
  readonly value: string
  readonly facts: Array<KnownFact>
  from: Bound
  until: Bound
  /** The interval that takes its place, and from when. */
  cut: { readonly by: Interval; readonly time: number } | null
}

/** A text that is equal for equal JSON, whatever the order of the fields of its objects. */
export const sameText = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : inner,
  ) ?? ""

/**
 * Bounds in their order. What is said to be over before it is assumed to begin has begun at a time that nobody has said; of anything else
 * that ends before it begins, no time is left.
 */
const inOrder = (from: Bound, until: Bound): Pick<Interval, "from" | "until"> => {
  if (from.time <= until.time) return { from, until }
  return until.said && !from.said
    ? { from: { time: Number.NEGATIVE_INFINITY, said: false }, until }
    : { from, until: { ...until, time: from.time } }
}

const subjectOf = ({ layer, subject = "user" }: KnownFact): string => JSON.stringify([layer, subject])

/** A text that is equal for facts of which one can take the place of another, or contradict it. */
const slotOf = (fact: KnownFact): string =>
  `${subjectOf(fact)} ${fact.key === undefined ? `. ${fact.predicate ?? fact.kind}` : `: ${fact.key}`}`

const valueOf = (fact: KnownFact): string =>
  // A fact without sources and without a key is nothing but itself.
  fact.sources === undefined && fact.key === undefined
    ? `id ${fact.id}`
    : sameText([fact.key === undefined ? fact.predicate : null, fact.value ?? fact.text])

const intervalOf = (fact: KnownFact): Interval => {
  const said = fact.timeSource === "said"
  const { ended, validFrom, validUntil } = fact
  const until = bound(validUntil, said, Number.POSITIVE_INFINITY)
  // Of a fact without sources, nobody knows more than when it was learned.
  const begin = validFrom ?? (fact.sources === undefined ? fact.time : undefined)
  const isOver = ended !== undefined && !(until.said && ended.timeSource === "assumed")
  return {
    value: valueOf(fact),
    facts: [fact],
    ...inOrder(
      bound(begin, said, Number.NEGATIVE_INFINITY),
      isOver ? { time: ended.until, said: ended.timeSource === "said" } : until,
    ),
    cut: null,
  }
}

const endOf = ({ until, cut }: Interval): number =>
  Math.min(until.time, cut?.time ?? Number.POSITIVE_INFINITY)

/** The bound of two facts that say the same: the newest that was said, or else the wider one. */
const joined = (older: Bound, newer: Bound, wider: (one: number, other: number) => number): Bound => {
  if (newer.said) return newer
  return older.said ? older : { time: wider(older.time, newer.time), said: false }
}

/** Lets the newer of two values of one slot take the place of the other one, where their times meet. */
const relate = (older: Interval, newer: Interval): void => {
  if (older.cut?.by === newer) older.cut = null
  if (newer.cut?.by === older) newer.cut = null
  const begin = newer.from.time
  const cut = (cutOff: Interval, by: Interval, time: number): void => {
    // What was said to end later does so, whatever somebody has assumed.
    if (cutOff.until.said && !by.from.said && cutOff.until.time > time) return
    if (time < endOf(cutOff)) cutOff.cut = { by, time }
  }
  if (older.from.time < begin) cut(older, newer, begin)
  else if (endOf(newer) <= older.from.time) return
  // The newer one tells of a time before: it was learned late, or the other one was said to begin then.
  else if (begin < older.from.time && (older.from.said || !newer.from.said))
    cut(newer, older, older.from.time)
  else cut(older, newer, older.from.time)
}

/** The intervals of one slot, in the order in which they were learned first. */
const intervalsOf = (facts: ReadonlyArray<KnownFact>, isSingle: boolean): ReadonlyArray<Interval> => {
  const intervals: Array<Interval> = []
  for (const fact of facts) {
    let next = intervalOf(fact)
    const same = intervals.findLast(
      (one) => one.value === next.value && next.from.time < endOf(one) && one.from.time < endOf(next),
    )
    if (same === undefined) intervals.push(next)
    else if (same.facts.some(({ id }) => id === fact.id)) continue
    else {
      same.facts.push(fact)
      const from = joined(same.from, next.from, Math.min)
      Object.assign(same, inOrder(from, joined(same.until, next.until, Math.max)))
      next = same
    }
    if (!isSingle) continue
    for (const other of intervals) if (other.value !== next.value) relate(other, next)
  }
  return intervals
}

/** What an interval is to a reader: the fact as it was learned, if that says all. */
const factOf = (interval: Interval, isSingle: boolean): FactInTime => {
  const { facts, cut, from } = interval
  const [first] = facts as [KnownFact]
  const until = endOf(interval)
  const isPlain = first.ended === undefined && first.notEnded === undefined
  if (facts.length === 1 && cut === null && isPlain) return first
  const { validFrom: _from, validUntil: _until, ended: _ended, notEnded: _notEnded, ...rest } = first
  const sources = facts.flatMap((fact) => fact.sources ?? [])
  const distinct = new Map(sources.map((source) => [sameText(source), source]))
  const origin = lowest(facts.map((fact) => fact.origin ?? "external"))
  const timeSource: TimeSource = from.said || interval.until.said ? "said" : "assumed"
  return {
    ...rest,
    ...(origin === undefined || first.origin === undefined ? {} : { origin }),
    ...(Number.isFinite(from.time) ? { validFrom: from.time } : {}),
    ...(Number.isFinite(until) ? { validUntil: until } : {}),
    ...(first.sources === undefined ? {} : { timeSource, sources: [...distinct.values()] }),
    ...(facts.length === 1 ? {} : { observed: facts.map(({ id }) => id) }),
    ...(facts.some(({ confirmed }) => confirmed === true) ? { confirmed: true } : {}),
    ...(isSingle && cut !== null && cut.time === until ? { endedBy: cut.by.facts[0]!.id } : {}),
  }
}

/** Whether a fact is true at a time, in milliseconds since the epoch. */
export const isTrueAt = ({ validFrom, validUntil }: FactInTime, at: number): boolean =>
  (validFrom === undefined || validFrom <= at) && (validUntil === undefined || at < validUntil)

/** Whether two facts are true at one time, if they are ever true. */
const meet = (one: FactInTime, other: FactInTime): boolean =>
  (one.validFrom ?? -Infinity) < (other.validUntil ?? Infinity) &&
  (other.validFrom ?? -Infinity) < (one.validUntil ?? Infinity)

const mostConflicts = 10

const withConflicts = (facts: ReadonlyArray<FactInTime>): ReadonlyArray<FactInTime> =>
  facts.map((fact) => {
    const conflicts: Array<string> = []
    for (const other of facts) {
      if (conflicts.length === mostConflicts) break
      if (other !== fact && valueOf(other) !== valueOf(fact) && meet(fact, other)) conflicts.push(other.id)
    }
    return conflicts.length === 0 ? fact : { ...fact, conflicts }
  })

/** Lists of facts do not change, and a list is asked for at each question. */
const known = new WeakMap<ReadonlyArray<KnownFact>, ReadonlyArray<FactInTime>>()

/**
 * The facts of a log in time, in the order in which they were learned first: also those that are no longer true. What was never true
 * is left out.
 *
 * - Facts that say the same, without an end between them, are one with several sources. Said again after its end, it begins anew.
 * - A fact with a key ends an older one of its layer, subject and key that says something else; of facts without one, all stay.
 * - A bound that was said is never overwritten by one that is assumed.
 *
 * @param observed - the facts as they were learned, oldest first
 */
export const inTime = (observed: ReadonlyArray<KnownFact>): ReadonlyArray<FactInTime> => {
  const before = known.get(observed)
  if (before !== undefined) return before
  const slots = Array.groupBy(
    observed.filter(({ retracted }) => retracted !== true),
    slotOf,
  )
  const order = new Map(observed.map(({ id }, position) => [id, position]))
  const all = Object.values(slots)
    .flatMap((facts) => {
      const isSingle = facts[0].key !== undefined
      const found = intervalsOf(facts, isSingle)
        .filter((interval) => endOf(interval) > Number.NEGATIVE_INFINITY)
        .map((interval) => factOf(interval, isSingle))
      return facts.some(({ sources }) => sources !== undefined) ? withConflicts(found) : found
    })
    .toSorted((one, other) => (order.get(one.id) ?? 0) - (order.get(other.id) ?? 0))
  known.set(observed, all)
  return all
}
