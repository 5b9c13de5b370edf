/** Turns what an extractor found into facts of the log: those with quotes that stand, and with ends that have a beginning. */
import { type Event, MemoryLayers, type Message, Origin } from "@memfold/core"
import { Effect } from "effect"
import { byOf, type Extractor, type NewFact } from "./Extractor.js"
import type { Declarations } from "./Fact.js"
import { factId } from "./identity.js"
import { isMomentary } from "./momentary.js"
import { clip } from "./text.js"

/** In UTF-16 units: a longer text or kind is clipped, a longer key is dropped; a longer value or quote is refused. */
const longest = { text: 1_000, kind: 60, key: 400, value: 4_000, quote: 1_000 }

/** At most this many facts of each layer are taken from one extraction, the newest. */
const most = 300

/** A fact that is said again when it has this many sources tells nothing new. */
const mostSources = 20

type Known = ReadonlyArray<MemoryLayers.FactInTime>

/** What is known when facts are judged. */
export interface Ground {
  readonly turns: MemoryLayers.CompletedTurns
  readonly extractor: Pick<Extractor, "name" | "version">
  readonly declared: Declarations | null
  /** Whether words of tools and pages count. */
  readonly toolResults: boolean
  readonly known: Known
  /** When they are judged, in milliseconds since the epoch: nothing is assumed to be true or over later than that. */
  readonly now: number
  /** What the numbers of ids begin with; nothing by default. */
  readonly number?: string | undefined
}

/** What became of the facts that an extractor found. */
export interface Judged {
  readonly facts: ReadonlyArray<Event.Fact>
  readonly ended: ReadonlyArray<Event.FactEnded>
  readonly refused: Readonly<Record<string, number>>
}

type Unnamed = Omit<Event.Fact, "id">
type Evidence = MemoryLayers.Evidence

const clamped = (value: number | undefined, otherwise: number, from: number, to: number): number =>
  value === undefined || !Number.isSafeInteger(value) ? otherwise : Math.min(Math.max(value, from), to)

/** The messages that an extractor names, or else all that were read. */
const within = ({ from, to }: MemoryLayers.CompletedTurns, found: NewFact) => {
  const first = clamped(found.from, from, from, to)
  return { from: first, to: clamped(found.to, to, first, to) }
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""))

/** A time that a date can say. */
const times = (value: number | undefined): number | undefined =>
  typeof value === "number" && Number.isFinite(new Date(value).getTime()) ? value : undefined

/** A value as the log keeps it; it throws an error for what is not JSON. */
const jsonOf = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

/** The bounds of a fact: those that were said, or else from when it was said on. `null` if it ends before it begins. */
const boundsOf = (
  found: NewFact,
  evidence: ReadonlyArray<Evidence>,
  now: number,
): Pick<Event.Fact, "validFrom" | "validUntil" | "timeSource"> | null => {
  const [validFrom, validUntil] = [times(found.validFrom), times(found.validUntil)]
  if (validFrom !== undefined && validUntil !== undefined && validFrom >= validUntil) return null
  if (validFrom === undefined && validUntil === undefined)
    return { validFrom: Math.min(now, ...evidence.map(({ time }) => time)), timeSource: "assumed" }
  return {
    ...(validFrom === undefined ? {} : { validFrom }),
    ...(validUntil === undefined ? {} : { validUntil }),
    timeSource: "said",
  }
}

/**
 * The messages that a fact rests on: those that an extractor names, or those with its quotes if its value stands there, or else all
 * that were read. Redaction and branches reach the fact by them.
 */
const rangeOf = (
  { turns, toolResults }: Ground,
  found: NewFact,
  said: ReadonlyArray<unknown>,
  evidence: ReadonlyArray<Evidence>,
): Pick<Event.Fact, "from" | "to" | "origin"> => {
  const { from, messages } = turns
  const quoted = new Set(evidence.map(({ index }) => index))
  const isNamed = found.from !== undefined || found.to !== undefined
  const isQuoted =
    !isNamed &&
    MemoryLayers.restsOn(
      said,
      [...quoted].map((index) => MemoryLayers.readIn(messages[index - from]!)),
    )
  const named = within(turns, found)
  const first = isQuoted ? Math.min(...quoted) : named.from
  const last = isQuoted ? Math.max(...quoted) + 1 : named.to
  // Beside a quote of the user, a message can have a document, and beside one of the assistant a page: either can be what the fact says.
  const isSaid = MemoryLayers.restsOn(
    said,
    evidence.map(({ index, origin }) => {
      const message = messages[index - from]!
      const parts = message.parts.filter((part) => !Origin.isBelow(Origin.ofPart(message, part), origin))
      return MemoryLayers.readIn({ ...message, parts })
    }),
  )
  const read = messages.slice(first - from, last - from).flatMap((message: Message.Message, position) => {
    if (quoted.has(first + position) ? isSaid : isQuoted) return []
    // Results of tools are all that an extractor does not read: attached documents and pages of a provider's search are read.
    const seen = message.parts.filter(({ type }) => toolResults || type !== "tool-result")
    return seen.map((part) => Origin.ofPart(message, part))
  })
  const origin = Origin.lowest([...evidence.map((one) => one.origin), ...read]) ?? "external"
  return { from: first, to: last, origin }
}

/** A fact with its evidence, or why it is not taken. */
const judge = (
  ground: Ground,
  found: NewFact,
): Effect.Effect<
  { readonly fact: Unnamed; readonly evidence: ReadonlyArray<Evidence> },
  MemoryLayers.Refusal
> =>
  Effect.gen(function* () {
    const { turns, extractor, declared, toolResults } = ground
    const layer = found.layer ?? "user"
    const kind = clip(found.kind ?? "fact", longest.kind)
    const predicate = clip(found.predicate ?? kind, longest.kind)
    const given = found.text === undefined ? undefined : clip(found.text, longest.text)
    const value = jsonOf(found.value ?? given ?? null)
    const text = given ?? clip(`${predicate}: ${textOf(value)}`, longest.text)
    const subject = found.subject === undefined ? "" : clip(found.subject, longest.kind)
    if (layer !== "user" && layer !== "scope") return yield* Effect.fail("not-valid" as const)
    const isEmpty = text === "" || kind === "" || (value === null && found.ended !== true)
    if (isEmpty || textOf(value).length > longest.value) return yield* Effect.fail("not-valid" as const)
    const declaration =
      declared !== null && Object.hasOwn(declared, predicate) ? declared[predicate] : undefined
    if (declared !== null && layer === "user" && declaration === undefined)
      return yield* Effect.fail("not-declared" as const)
    if (declaration === undefined ? isMomentary(predicate) : !declaration.durable)
      return yield* Effect.fail("momentary" as const)
    if (declaration !== undefined && (found.ended !== true || found.value !== undefined))
      yield* Effect.mapError(declaration.check(value), () => "not-valid" as const)
    const quotes = typeof found.quote === "string" ? [found.quote] : (found.quote ?? [])
    if (quotes.some((quote) => typeof quote !== "string" || quote.length > longest.quote))
      return yield* Effect.fail("no-quote" as const)
    const options = { ...within(turns, found), byUser: layer === "user", material: toolResults }
    const evidence = MemoryLayers.evidenceOf(turns, quotes, options)
    if (typeof evidence === "string") return yield* Effect.fail(evidence)
    const bounds = boundsOf(found, evidence, ground.now)
    if (bounds === null) return yield* Effect.fail("not-valid" as const)
    const key =
      (declaration === undefined ? found.key?.toWellFormed().trim() : declaration.single ? predicate : "") ??
      ""
    const said = [value, subject, found.text === undefined ? "" : text]
    return {
      evidence,
      fact: {
        layer,
        kind,
        text: subject === "" || subject === "user" ? text : clip(`${subject}: ${text}`, longest.text),
        ...(key !== "" && key.length <= longest.key ? { key } : {}),
        ...rangeOf(ground, found, said, evidence),
        ...(subject === "" ? {} : { subject }),
        predicate,
        value,
        ...bounds,
        sources: evidence.map(({ source }) => source),
        by: byOf(extractor),
      },
    }
  })

/** The fact that is ended; `null` if there is none, or more than one that could be meant. */
const begunBefore = (known: Known, { fact, ended }: { fact: Unnamed; ended: NewFact }, until: number) => {
  const isSaid = times(ended.validUntil) !== undefined
  const isMeant = (one: MemoryLayers.FactInTime): boolean =>
    one.layer === fact.layer &&
    (one.subject ?? "user") === (fact.subject ?? "user") &&
    (one.predicate ?? one.kind) === fact.predicate &&
    (ended.value === undefined ||
      MemoryLayers.sameText(one.value ?? one.text) === MemoryLayers.sameText(ended.value)) &&
    (one.validUntil === undefined || one.validUntil > until) &&
    // Of an end and a beginning that are both assumed, the end may be at the time of the beginning.
    (one.validFrom === undefined ||
      (one.timeSource === "assumed" ? isSaid || one.validFrom <= until : one.validFrom < until))
  const meant = known.filter(isMeant)
  return meant.length === 1 ? meant[0]! : null
}

/** Facts that say nothing new: learned again from what they were learned from, or from many places already. */
const isNew = (fact: Unnamed, known: Known): boolean =>
  !known.some((one) => {
    const isSame =
      one.layer === fact.layer &&
      (one.subject ?? "user") === (fact.subject ?? "user") &&
      one.key === fact.key &&
      one.predicate === fact.predicate &&
      MemoryLayers.sameText(one.value) === MemoryLayers.sameText(fact.value)
    if (!isSame || fact.timeSource === "said" || one.validUntil !== undefined) return false
    const had = new Set((one.sources ?? []).map(MemoryLayers.sameText))
    return (
      had.size >= mostSources ||
      (fact.sources ?? []).every((source) => had.has(MemoryLayers.sameText(source)))
    )
  })

/** Judges what an extractor found. */
export const judged = (ground: Ground, found: ReadonlyArray<NewFact>): Effect.Effect<Judged> =>
  Effect.gen(function* () {
    const { turns, now, number = "" } = ground
    const refused: Record<string, number> = {}
    const refuse = (why: MemoryLayers.Refusal): void => void (refused[why] = (refused[why] ?? 0) + 1)
    const facts = new Map<string, Unnamed>()
    const ends: Array<{ readonly fact: Unnamed; readonly evidence: Evidence; readonly ended: NewFact }> = []
    for (const one of found) {
      // What an extractor answers with may be anything, and one fact that is none must not cost the others.
      const result = yield* Effect.either(
        Effect.catchAllDefect(
          Effect.suspend(() => judge(ground, one)),
          () => Effect.fail("not-valid" as const),
        ),
      )
      if (result._tag === "Left") {
        refuse(result.left)
        continue
      }
      const { fact, evidence } = result.right
      if (one.ended === true) {
        ends.push({ fact, evidence: evidence.at(-1)!, ended: one })
        continue
      }
      const { layer, subject, key, predicate, value, sources } = fact
      const identity = MemoryLayers.sameText([layer, subject, key, predicate, value, sources])
      facts.delete(identity)
      if (isNew(fact, ground.known)) facts.set(identity, fact)
    }
    const named = (["user", "scope"] as const).flatMap((layer) =>
      [...facts.values()]
        .filter((fact) => fact.layer === layer)
        .slice(-most)
        .map((fact, position) => ({
          id: factId(layer, `${number}${position}`, turns, turns.state),
          ...fact,
        })),
    )
    const ended = ends.flatMap(({ fact, evidence, ended }): ReadonlyArray<Event.FactEnded> => {
      const until = times(ended.validUntil) ?? Math.min(now, evidence.time)
      const begun = begunBefore(
        [...ground.known, ...named.map((one) => ({ ...one, time: until }))],
        { fact, ended },
        until,
      )
      if (begun === null) refuse("no-beginning")
      const timeSource = times(ended.validUntil) === undefined ? "assumed" : "said"
      return (begun?.observed ?? (begun === null ? [] : [begun.id])).map((id) => ({
        _tag: "FactEnded",
        fact: id,
        until,
        timeSource,
        source: evidence.source,
      }))
    })
    return { facts: named, ended, refused }
  })
