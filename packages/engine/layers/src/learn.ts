/** Learns facts from turns: asks the extractor, and writes what belongs in a shared log into it. */
import { type Event, type EventLog, type MemoryLayers, Message, Session } from "@memfold/core"
import { Clock, Duration, Effect, Either } from "effect"
import { byOf, type Extractor, type Found } from "./Extractor.js"
import type { Declarations } from "./Fact.js"
import { failing, inWords } from "./failing.js"
import { forget, ofFacts } from "./forget.js"
import { batchIdOf, standing } from "./identity.js"
import { type Ground, type Judged, judged } from "./learned.js"
import { allFacts, layers, type Places } from "./places.js"

/** How facts are learned. */
export interface Teaching {
  readonly extractor: Extractor
  readonly timeout: Duration.Duration
  readonly declared: Declarations | null
  readonly toolResults: boolean
}

/** A message without what its tools have answered. Whether they failed stays known. */
const withoutResults = (message: Message.Message): Message.Message =>
  message.parts.every(({ type }) => type !== "tool-result")
    ? message
    : {
        ...message,
        parts: message.parts.map((part) => {
          if (part.type !== "tool-result") return part
          const { type, id, isError } = part
          return { type, id, output: "", isError: isError === true || Message.failed(part) }
        }),
      }

/** Asks an extractor for the facts of turns. */
const extract = (
  { extractor, timeout, declared, toolResults }: Teaching,
  turns: MemoryLayers.CompletedTurns,
  known: ReadonlyArray<MemoryLayers.FactInTime>,
): Effect.Effect<Found, MemoryLayers.LayersError> => {
  const fail = failing(turns.state.session, "learn")
  const messages = toolResults ? turns.messages : turns.messages.map(withoutResults)
  return Effect.suspend(() => extractor.extract({ ...turns, messages, known, declared })).pipe(
    // A thrown error may contain text of messages, so it is dropped.
    Effect.catchAllDefect(() => fail(`the extractor "${extractor.name}" threw an error`)),
    Effect.timeoutFail({
      duration: timeout,
      onTimeout: () =>
        fail(
          `the extractor "${extractor.name}" took longer than ${Duration.format(timeout)}; the turns are tried again with the next one`,
        ),
    }),
    Effect.map((found): Found => ("facts" in found ? found : { facts: found })),
    Effect.filterOrFail(
      ({ facts }) => Array.isArray(facts),
      () => fail(`the extractor "${extractor.name}" has to return a list of facts`),
    ),
    // What is no list of facts may be anything.
    Effect.catchAllDefect(() => fail(`the extractor "${extractor.name}" has to return a list of facts`)),
  )
}

/** What an extractor finds in turns, judged. */
export const find = (
  teaching: Teaching,
  ground: Pick<Ground, "turns" | "known" | "now" | "number">,
): Effect.Effect<MemoryLayers.Learned & Judged, MemoryLayers.LayersError> =>
  Effect.gen(function* () {
    const current = ground.known.filter(({ validUntil }) => validUntil === undefined)
    const { facts, usage } = yield* extract(teaching, ground.turns, current)
    const found = yield* judged({ ...ground, ...teaching }, facts)
    return { ...found, by: byOf(teaching.extractor), ...(usage === undefined ? {} : { usage }) }
  })

/** Learns from turns: writes what belongs in the shared logs into them, and returns what belongs in the session's own log. */
export const learn = (
  { log, sessions }: { readonly log: EventLog.Service; readonly sessions: Session.Sessions },
  places: Places,
  teaching: Teaching,
  turns: MemoryLayers.CompletedTurns,
): Effect.Effect<MemoryLayers.Learned, MemoryLayers.LayersError> =>
  Effect.gen(function* () {
    const { state, from, to } = turns
    const now = yield* Clock.currentTimeMillis
    const found = yield* find(teaching, { turns, known: allFacts(places), now })
    const { facts, ended } = found
    const [own, ownEnded]: [Array<Event.Fact>, Array<Event.FactEnded>] = [[], []]
    const [inHomes, written] = [new Set<string>(), new Set<string>()]
    for (const layer of layers) {
      const home = places[layer]
      const learned = facts.filter((fact) => fact.layer === layer)
      if (home === null) {
        own.push(...learned)
        continue
      }
      const ids = new Set([...learned, ...home.facts].map(({ id }) => id))
      const ends = ended.filter(({ fact }) => ids.has(fact))
      for (const { fact } of ends) inHomes.add(fact)
      if (learned.length + ends.length === 0) continue
      const { session } = state
      const versionAt = (index: number) => state.uncovered.at(index)?.version
      written.add(home.log)
      yield* sessions
        .transact(
          home.log,
          ({ redactions }) => {
            const { facts, ended } = standing({ facts: learned, ended: ends }, redactions, session, versionAt)
            const event: Event.FactsLearned = { _tag: "FactsLearned", from, to, facts, session }
            return { events: [...(facts.length === 0 ? [] : [event]), ...ended], answer: undefined }
          },
          batchIdOf(layer, turns, state),
        )
        .pipe(inWords(state.session, "learn"))
    }
    // Deleted or erased meanwhile: whoever did that has looked for its facts already.
    const isGone = Either.match(yield* Effect.either(sessions.head(state.session)), {
      onLeft: Session.isErased,
      onRight: (head) => head === null,
    })
    if (isGone)
      for (const home of written)
        yield* forget(log, sessions, home, ofFacts(facts)).pipe(inWords(state.session, "forget"))
    ownEnded.push(...ended.filter(({ fact }) => !inHomes.has(fact)))
    return { ...found, facts: own, ended: ownEnded }
  })
