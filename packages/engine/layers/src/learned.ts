/** Turns the facts an extractor found into facts of the log. */
import { type Event, MemoryLayers, type Session } from "@memfold/core"
import type { NewFact } from "./Extractor.js"
import { factId } from "./identity.js"
import { clip } from "./text.js"

/** In UTF-16 units: a longer text or kind is clipped, a longer key is dropped. */
const longest = { text: 1_000, kind: 60, key: 400 }

/** At most this many facts of each layer are taken from one extraction, the newest. */
const most = 300

/** Facts that say the same: learning one when the other is known changes nothing. */
const same = (one: Omit<Event.Fact, "id" | "from" | "to">, other: Session.KnownFact): boolean =>
  one.layer === other.layer && one.kind === other.kind && one.key === other.key && one.text === other.text

/** The facts that are not known yet. */
export const unknownOf = (
  facts: ReadonlyArray<Event.Fact>,
  known: ReadonlyArray<Session.KnownFact>,
): ReadonlyArray<Event.Fact> => facts.filter((fact) => !known.some((older) => same(fact, older)))

const clamped = (value: number | undefined, otherwise: number, from: number, to: number): number =>
  value === undefined || !Number.isSafeInteger(value) ? otherwise : Math.min(Math.max(value, from), to)

/**
 * The facts of one layer, with ids and within the limits of length. Of facts with the same key, or without a key and
 * with the same text, the last one counts.
 */
export const toFacts = (
  found: ReadonlyArray<NewFact>,
  layer: Event.Fact["layer"],
  turns: MemoryLayers.CompletedTurns,
): ReadonlyArray<Event.Fact> => {
  const { state, from, to } = turns
  const facts = new Map<string, Omit<Event.Fact, "id">>()
  for (const fact of found) {
    if (fact.layer !== layer) continue
    const text = clip(fact.text, longest.text)
    const kind = clip(fact.kind, longest.kind)
    const key = fact.key?.toWellFormed().trim() ?? ""
    if (text === "" || kind === "") continue
    const keyed = key !== "" && key.length <= longest.key
    const identity = keyed ? `key ${key}` : `text ${kind} ${text}`
    const first = clamped(fact.from, from, from, to)
    const last = clamped(fact.to, to, first, to)
    facts.delete(identity)
    facts.set(identity, {
      layer,
      kind,
      text,
      ...(keyed ? { key } : {}),
      from: first,
      to: last,
      origin: MemoryLayers.originOf(turns, { from: first, to: last }),
    })
  }
  return [...facts.values()]
    .slice(-most)
    .map((fact, position) => ({ id: factId(layer, position, turns, state), ...fact }))
}
