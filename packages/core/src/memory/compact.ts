/** Compactions on demand: the next compaction, all due compactions, or all compactions again. */
import { Effect, Exit } from "effect"
import { revert } from "../history/revert.js"
import type { CompactionOutcome } from "../shell/CompactionOutcome.js"
import { checkText, type InvalidInput, refuse } from "./input.js"
import type { MemoryParts } from "./MemoryParts.js"
import type { MemoryError, StrategyOptions } from "./MemoryOptions.js"
import { readState } from "./readState.js"

interface CompactRequest extends StrategyOptions {
  readonly which?: "next" | "due" | "all"
  readonly instructions?: string | undefined
  readonly takeOver?: boolean | undefined
}

/** Checks the options of a call: only one compaction has instructions, and takes a lock over. */
export const checkRequest = (
  session: string,
  { which = "next", instructions, takeOver }: CompactRequest,
): Exit.Exit<void, InvalidInput> => {
  if (!["next", "due", "all"].includes(which))
    return refuse(session, '`which` must be "next", "due" or "all"')
  if (which !== "next" && (instructions !== undefined || takeOver !== undefined))
    return refuse(
      session,
      `\`instructions\` and \`takeOver\` are for one compaction; leave out \`which: "${which}"\``,
    )
  return instructions === undefined ? Exit.void : checkText(session, "instructions", instructions)
}

/** Runs the compactions that are asked for. */
export const compact = (
  { sessions, schedule, mode, strategyOf }: MemoryParts,
  session: string,
  request: CompactRequest = {},
): Effect.Effect<CompactionOutcome | ReadonlyArray<CompactionOutcome>, MemoryError> =>
  Effect.gen(function* () {
    yield* readState(sessions, session)
    const strategy = yield* strategyOf(session, request)
    yield* checkRequest(session, request)
    if (request.which === "due") return yield* schedule.compactDue(session, strategy)
    if (request.which !== "all") {
      const { instructions, takeOver } = request
      return yield* schedule.compactNow(session, { strategy, instructions, takeOver })
    }
    if (mode === "off") return []
    yield* revert(sessions, session, { toSummary: null, pauseFor: 0, reason: "recompacted" }).pipe(
      Effect.catchTag("UnknownSummary", Effect.die),
    )
    return yield* schedule.compactDue(session, strategy)
  })
