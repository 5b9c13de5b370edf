/** The facts of a session and of an owner, and their changes. */
import { Effect } from "effect"
import type { FactInTime } from "../layers/inTime.js"
import {
  type AnyExtractor,
  type FactChange,
  type FactsDiff,
  LayersError,
  type Rebuilding,
} from "../layers/MemoryLayers.js"
import { charged } from "../shell/learnFacts.js"
import { noSpend } from "../shell/Spend.js"
import type { GuardRefused } from "../guard/Guard.js"
import { guardedText } from "./entrance.js"
import { unlessHeld } from "./erase.js"
import { checkOwner, checkSession, checkText, checkTime, refuse } from "./input.js"
import type { MemoryError } from "./MemoryOptions.js"
import type { MemoryParts } from "./MemoryParts.js"
import { allOfOwned } from "./ownedSessions.js"
import { readState, timeOf } from "./readState.js"

/** Which facts are read: by when they are true, and by when they were known. */
export interface FactsOptions {
  /**
   * Facts that are true in the world at this time, in milliseconds since the epoch; now by default. `null`: all facts, also those that
   * are no longer true.
   */
  readonly at?: number | null | undefined
  /** As they were known at this version of the log that is read: the session's, or the one of the facts about the owner. */
  readonly asOfVersion?: number | undefined
}

/** How a fact is removed. */
export interface RemoveFactOptions {
  /**
   * - `retracted` (default): it was never true
   * - `ended`: it was true until `until`
   * - `redacted`: it must not be known, and is erased from the log
   */
  readonly as?: "ended" | "retracted" | "redacted" | undefined
  /** When it ended, in milliseconds since the epoch; now by default. */
  readonly until?: number | undefined
  /** A text that is kept in the log. */
  readonly reason?: string | undefined
}

/** Whose facts are learned anew. */
export interface RebuiltFactsOptions {
  /** What the id names: an owner (default), or a session that has none. */
  readonly of?: "owner" | "session" | undefined
}

/** How facts are learned anew. */
export interface RebuildFactsOptions extends RebuiltFactsOptions {
  /** An extractor of `@memfold/layers`; that of the memory by default. */
  readonly extractor?: AnyExtractor | undefined
}

type Facts = Effect.Effect<ReadonlyArray<FactInTime>, MemoryError | LayersError>

/** The facts of a session. */
export const factsIn = (
  { sessions, layers }: Pick<MemoryParts, "sessions" | "layers">,
  session: string,
  { at, asOfVersion }: FactsOptions = {},
): Facts =>
  Effect.gen(function* () {
    if (at !== undefined && at !== null) yield* checkTime(session, "at", at)
    const version = asOfVersion === undefined ? {} : { atVersion: asOfVersion }
    const state = yield* readState(sessions, session, version)
    const untilTime = yield* timeOf(sessions, session, version)
    return yield* layers?.facts(state, { at, untilTime }) ?? Effect.succeed([])
  })

/** The facts about an owner, of all sessions. */
export const factsOfOwner = (
  parts: Pick<MemoryParts, "sessions" | "layers">,
  owner: string,
  options?: FactsOptions,
): Facts =>
  Effect.gen(function* () {
    yield* checkOwner(owner)
    const log = parts.layers?.logOf(owner) ?? null
    return log === null ? [] : yield* factsIn(parts, log, options)
  })

const changes: ReadonlySet<unknown> = new Set([
  "ended",
  "retracted",
  "redacted",
  "confirmed",
  "reverted",
] satisfies ReadonlyArray<FactChange["as"]>)

/** Changes a fact; `false` if there is no such fact, or nothing to change. */
export const changeFact = (
  { log, sessions, layers }: Pick<MemoryParts, "log" | "sessions" | "layers">,
  session: string,
  change: FactChange,
): Effect.Effect<boolean, MemoryError | LayersError> =>
  Effect.gen(function* () {
    const state = yield* readState(sessions, session)
    if (!changes.has(change.as))
      return yield* refuse(session, '`as` has to be "ended", "retracted" or "redacted"')
    if (change.until !== undefined) yield* checkTime(session, "until", change.until)
    yield* checkText(session, "reason", change.reason)
    if (change.as === "redacted" && layers !== null) {
      const said = (yield* layers.facts(state, { at: null })).filter(
        ({ id, observed = [] }) => id === change.fact || observed.includes(change.fact),
      )
      const from = said.flatMap(({ sources = [] }) => sources.map((source) => source.session))
      yield* unlessHeld({ log, layers }, "rewrite", [session, ...from])
    }
    return yield* layers?.change(state, change) ?? Effect.succeed(false)
  })

/** Removes a fact. Its reason is kept in the log, as the guard leaves it. */
export const removeFact = (
  parts: MemoryParts,
  session: string,
  fact: string,
  { as = "retracted", reason = "removed", until }: RemoveFactOptions = {},
): Effect.Effect<boolean, MemoryError | LayersError | GuardRefused> =>
  Effect.gen(function* () {
    yield* checkSession(session)
    yield* checkText(session, "reason", reason)
    const { text } = yield* guardedText(parts, session, reason, { place: "the reason" })
    return yield* changeFact(parts, session, { fact, as, reason: text, until })
  })

/** What learns anew, and the log that has it; it fails for layers that cannot. */
const rebuildingOf = (
  { layers, sessions }: Pick<MemoryParts, "layers" | "sessions">,
  id: string,
  of: RebuiltFactsOptions["of"] = "owner",
): Effect.Effect<{ readonly rebuilding: Rebuilding; readonly home: string }, MemoryError | LayersError> =>
  Effect.gen(function* () {
    const rebuilding = layers?.rebuilding
    if (of === "owner") yield* checkOwner(id)
    else if (of !== "session") return yield* refuse("", '`of` has to be "owner" or "session"')
    else if ((yield* readState(sessions, id)).description.owner !== null)
      return yield* refuse(id, "it has an owner; learn the facts of the owner anew")
    const home = of === "session" ? id : (layers?.logOf(id) ?? null)
    return rebuilding === undefined || home === null
      ? yield* refuse(
          "",
          "there are no memory layers that can learn facts anew; switch them on with `layers`",
        )
      : { rebuilding, home }
  })

/** Learns the facts of an owner, or of a session without one, anew, beside those in force. */
export const rebuildFacts = (
  parts: Pick<MemoryParts, "log" | "sessions" | "layers" | "counter" | "spend">,
  id: string,
  { extractor, of }: RebuildFactsOptions = {},
): Effect.Effect<FactsDiff, MemoryError | LayersError> =>
  Effect.gen(function* () {
    const { rebuilding, home } = yield* rebuildingOf(parts, id, of)
    const owned = of === "session" ? [{ session: id }] : yield* allOfOwned(parts.log, id)
    const learning = { ...parts, spend: parts.spend ?? noSpend }
    return yield* rebuilding.learn(
      home,
      owned.map(({ session }) => session),
      {
        extractor,
        charged: (turns, run) =>
          Effect.mapError(charged(learning, turns, run), (error) =>
            error instanceof LayersError
              ? error
              : new LayersError({
                  session: turns.state.session,
                  operation: "rebuild",
                  detail: error.message,
                }),
          ),
      },
    )
  })

/** What learning anew would change; `null` if nothing was learned anew. */
export const rebuiltFacts = (
  parts: Pick<MemoryParts, "layers" | "sessions">,
  id: string,
  { of }: RebuiltFactsOptions = {},
): Effect.Effect<FactsDiff | null, MemoryError | LayersError> =>
  Effect.flatMap(rebuildingOf(parts, id, of), ({ rebuilding, home }) => rebuilding.diff(home))

/** Takes or drops what was learned anew; `false` if there is none. */
export const endRebuild = (
  parts: Pick<MemoryParts, "layers" | "sessions">,
  as: "taken" | "dropped",
  id: string,
  { of }: RebuiltFactsOptions = {},
): Effect.Effect<boolean, MemoryError | LayersError> =>
  Effect.flatMap(rebuildingOf(parts, id, of), ({ rebuilding, home }) => rebuilding.end(home, as))
