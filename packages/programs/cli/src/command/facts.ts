/** `memfold facts`: what is known, with quotes, how much of it is true, and what another extractor would make of it. */
import { Args, Options } from "@effect/cli"
import { EventLog, Memory, type MemoryLayers } from "@memfold/core"
import { layer as memoryLayers, userHome } from "@memfold/layers"
import { Console, Effect, Number as Numbers, Option, Random, Record, Stream } from "effect"
import { clean, color, json as toJson, several, shownId, table } from "../terminal/terminal.js"
import { UsageError } from "./failure.js"
import * as options from "./options.js"
import { labExtractor } from "../lab/modules.js"

/** A date such as 2024-03-01, in UTC. */
const timeOf = (text: string): Effect.Effect<number, UsageError> => {
  const time = Date.parse(text)
  return Number.isNaN(time)
    ? new UsageError({ problem: `--at: "${text}" is no date; write one such as 2024-03-01` })
    : Effect.succeed(time)
}

const dayOf = (time: number | undefined): string =>
  time === undefined ? "" : new Date(time).toISOString().slice(0, 10)

const spanOf = ({ validFrom, validUntil, timeSource }: MemoryLayers.FactInTime): string =>
  validFrom === undefined && validUntil === undefined
    ? "-"
    : `${dayOf(validFrom)}..${dayOf(validUntil)}${timeSource === "said" ? " said" : ""}`

const quoteOf = ({ sources = [] }: MemoryLayers.FactInTime): string => {
  const [first, ...more] = sources
  if (first === undefined) return "(no quote: learned by an earlier version)"
  const others = more.length === 0 ? "" : ` (+${more.length})`
  return `"${first.quote}" ${shownId(first.session)}@${first.event}${others}`
}

const print = (facts: ReadonlyArray<MemoryLayers.FactInTime>) =>
  Console.log(
    table(
      ["fact", "what", "true", "said"],
      facts.map((fact) => [
        clean(fact.id),
        clean(`${fact.text}${fact.conflicts === undefined ? "" : ` (conflicts: ${fact.conflicts.length})`}`),
        spanOf(fact),
        clean(quoteOf(fact)),
      ]),
    ),
  )

/** What somebody can do with facts besides reading them. */
const acts = ["audit", "rebuild", "diff", "take", "drop"] as const
type Act = (typeof acts)[number]

const isAct = (word: string | undefined): word is Act => acts.some((act) => act === word)

const printDiff = (diff: MemoryLayers.FactsDiff | null, whose: string, json: boolean) =>
  Effect.gen(function* () {
    if (json) return yield* Console.log(toJson({ type: "diff", diff }))
    if (diff === null)
      return yield* Console.log(`Nothing was learned anew: memfold facts rebuild ${whose} does that.`)
    const { by, come, go, change, refused } = diff
    const line = (mark: string, fact: MemoryLayers.FactInTime) => [
      mark,
      clean(fact.text),
      spanOf(fact),
      clean(quoteOf(fact)),
    ]
    const rows = [
      ...come.map((fact) => line("+", fact)),
      ...go.map((fact) => line("-", fact)),
      ...change.flatMap(({ before, after }) => [line("<", before), line(">", after)]),
    ]
    if (rows.length > 0) yield* Console.log(table(["", "what", "true", "said"], rows))
    yield* Console.log(
      `${clean(by.extractor)} ${clean(by.version)}: ${several(come.length, "fact")} would come, ${go.length} go, ${change.length} change` +
        (Object.keys(refused).length === 0 ? "" : ` (refused: ${countsOf(refused)})`),
    )
  })

/** Learns the facts of an owner, or of a session without one, anew, and takes or drops that. */
const rebuild = (
  act: Exclude<Act, "audit">,
  id: string,
  options: Memory.RebuildFactsOptions & { readonly json: boolean },
) =>
  Effect.gen(function* () {
    const memory = yield* Memory.Memory
    const { json, extractor, of } = options
    const whose = of === "session" ? shownId(id) : `--owner ${shownId(id)}`
    if (act === "rebuild")
      return yield* printDiff(yield* memory.rebuildFacts(id, { extractor, of }), whose, json)
    if (act === "diff") return yield* printDiff(yield* memory.diffFacts(id, { of }), whose, json)
    const isDone = yield* act === "take" ? memory.takeFacts(id, { of }) : memory.dropFacts(id, { of })
    if (json) return yield* Console.log(toJson({ type: act, done: isDone }))
    yield* Console.log(
      !isDone
        ? "Nothing was learned anew."
        : act === "take"
          ? "What was learned anew is in the place of what was known."
          : "What was learned anew is dropped; the facts are as they were.",
    )
  })

/** What was found and not taken, by why, and what became of the rest. */
const tallyOf = (log: string) =>
  Effect.gen(function* () {
    const memory = yield* Memory.Memory
    let refused: Readonly<Record<string, number>> = {}
    const [taken, wrong, right] = [new Set<string>(), new Set<string>(), new Set<string>()]
    yield* Stream.runForEach(memory.events(log), ({ event }) =>
      Effect.sync(() => {
        if (event._tag === "FactsLearned") {
          for (const { id } of event.facts) taken.add(id)
          refused = Record.union(refused, event.refused ?? {}, Numbers.sum)
        } else if (event._tag === "FactRetracted") wrong.add(event.fact)
        else if (event._tag === "FactConfirmed") right.add(event.fact)
        else if (event._tag === "FactReverted") wrong.delete(event.fact)
      }),
    )
    for (const fact of wrong) right.delete(fact)
    return { taken: taken.size, wrong: wrong.size, right: right.size, refused }
  })

type Tally = Effect.Effect.Success<ReturnType<typeof tallyOf>>

const together = (tallies: ReadonlyArray<Tally>): Tally =>
  tallies.reduce((sum, one) => ({
    taken: sum.taken + one.taken,
    wrong: sum.wrong + one.wrong,
    right: sum.right + one.right,
    refused: Record.union(sum.refused, one.refused, Numbers.sum),
  }))

const countsOf = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(", ")

const share = (part: number, whole: number): string =>
  whole === 0 ? "0 %" : `${Math.round((1_000 * part) / whole) / 10} %`

export const command = options.command(
  "facts",
  "Show the facts about an owner or of a session with their quotes: those that are true now, then, or ever. " +
    "With audit, show a random sample to be judged (--right FACT, --wrong FACT), how many were judged, and what was refused. " +
    "With rebuild, learn the facts of an owner, or of a session without one, anew, by the rules or by --extractor, beside those that " +
    "are known; diff shows what would come, go and change, take puts it in their place, and drop drops it.",
  {
    words: Args.repeated(Args.text({ name: "[audit|rebuild|diff|take|drop] SESSION" })),
    owner: options.owner("An owner, in place of a session."),
    at: options.optionalText("at", "DATE", "What was true then, such as 2024-03-01; now by default."),
    always: options.flag("always", "Also what is no longer true."),
    asOf: options.optionalInteger("as-of", "VERSION", "As it was known at this version of the log."),
    sample: options
      .integer("sample", "N", "With audit: how many facts to judge.")
      .pipe(Options.withDefault(10)),
    right: options.repeatedText("right", "FACT", "With audit: this fact is true; may be repeated."),
    wrong: options.repeatedText("wrong", "FACT", "With audit: this fact was never true; may be repeated."),
    extractor: options.optionalText(
      "extractor",
      "FILE",
      "With rebuild: a module whose default export is an extractor, or a function from { messages } to facts.",
    ),
    ...options.stored,
    json: options.json,
  },
  ({ words, owner, at, always, asOf, sample, right, wrong, extractor, json, ...stored }) => {
    const act = isAct(words[0]) ? words[0] : null
    const isAudit = act === "audit"
    const judges = right.length + wrong.length > 0
    return Effect.gen(function* () {
      const [session, ...more] = act === null ? words : words.slice(1)
      if (more.length > 0 || (session === undefined) === Option.isNone(owner))
        return yield* new UsageError({ problem: "name a session, or --owner ID" })
      if (judges && !isAudit)
        return yield* new UsageError({ problem: "--right and --wrong belong to memfold facts audit" })
      if (Option.isSome(extractor) && act !== "rebuild")
        return yield* new UsageError({ problem: "--extractor belongs to memfold facts rebuild" })
      if (Option.exists(asOf, (version) => version < 0))
        return yield* new UsageError({ problem: "--as-of is a version, 0 or more" })
      if (session !== undefined) yield* options.requireSession(session, stored.store)
      if (act !== null && !isAudit) {
        const given = Option.getOrUndefined(yield* Effect.transposeMapOption(extractor, labExtractor))
        const of = session === undefined ? "owner" : "session"
        const id = session ?? Option.getOrElse(owner, () => "")
        return yield* rebuild(act, id, { json, extractor: given, of })
      }
      const memory = yield* Memory.Memory
      const place = session ?? userHome(Option.getOrElse(owner, () => ""))
      for (const fact of right) yield* memory.confirmFact(place, fact)
      for (const fact of wrong) yield* memory.removeFact(place, fact, { reason: "judged wrong" })
      const time = Option.isSome(at) ? yield* timeOf(at.value) : undefined
      const facts = yield* memory.facts(place, {
        at: always || isAudit ? null : time,
        asOfVersion: Option.getOrUndefined(asOf),
      })
      const shown = isAudit
        ? [...(yield* Random.shuffle(facts.filter(({ confirmed }) => confirmed !== true)))].slice(0, sample)
        : facts
      if (json) for (const fact of shown) yield* Console.log(toJson({ type: "fact", ...fact }))
      else if (shown.length > 0) yield* print(shown)
      if (!isAudit) {
        if (!json) yield* Console.log(color.dim(several(shown.length, "fact")))
        return
      }
      const log = yield* EventLog.EventLog
      const sessions =
        session === undefined
          ? yield* EventLog.sessions(log, Option.getOrUndefined(owner)).pipe(Stream.runCollect)
          : []
      const logs = [place, ...[...sessions].map((info) => info.session)]
      const tally = together(yield* Effect.forEach(logs, tallyOf))
      const { taken, refused } = tally
      const [judged, found] = [
        tally.right + tally.wrong,
        taken + Object.values(refused).reduce((sum, count) => sum + count, 0),
      ]
      if (json) return yield* Console.log(toJson({ type: "audit", ...tally, judged }))
      const why = countsOf(refused)
      yield* Console.log(
        `${several(found, "fact")} found, ${share(found - taken, found)} refused${why === "" ? "" : ` (${why})`}`,
      )
      yield* Console.log(
        `${share(judged, taken)} of ${several(taken, "fact")} judged: ${tally.right} right, ${tally.wrong} wrong`,
      )
    }).pipe(
      Effect.provide(
        options.quietMemory(stored, {
          readonly: !judges && (act === null || isAudit || act === "diff"),
          layers: memoryLayers(),
        }),
      ),
    )
  },
)
