/** `memfold compact SESSION` */
import { Args, Options } from "@effect/cli"
import { type CompactionOutcome, Memory, type Strategy, Summarizer, whyIdle } from "@memfold/core"
import { Effect } from "effect"
import { labSummarizer } from "../lab/modules.js"
import { Findings } from "./failure.js"
import * as options from "./options.js"
import { spend, spendOf } from "./spend.js"
import { outcomeLines } from "./timeline.js"
import {
  clean,
  color,
  count,
  json as toJson,
  progress,
  progressDone,
  several,
  printLines,
} from "../terminal/terminal.js"

export const record = (session: string, outcome: CompactionOutcome) => ({
  type: "compaction",
  session,
  outcome: outcome._tag,
  ...(outcome._tag === "Idle" ? { reason: outcome.reason } : { reason: outcome.started.reason }),
  ...(outcome._tag === "Committed"
    ? {
        summary: outcome.committed.summary,
        coveredTo: outcome.committed.coveredTo,
        tokensBefore: outcome.committed.tokensBefore,
        tokensAfter: outcome.committed.tokensAfter,
      }
    : {}),
  ...(outcome._tag === "Failed" ? { failure: outcome.error.reason } : {}),
})

export const lines = (outcome: CompactionOutcome): ReadonlyArray<string> => {
  if (outcome._tag !== "Idle") return outcomeLines(outcome)
  return outcome.reason === "spend-reached"
    ? ["the compaction waits: the spend of the day has reached its cap; memfold spend shows it"]
    : [`nothing was compacted: ${whyIdle(outcome.reason)}`]
}

/** Asks a memory of the store that is provided about a session that exists. */
const asking = <A, E>(
  {
    session,
    store,
    strategy,
    ...also
  }: {
    readonly session: string
    readonly store: string
    readonly strategy: Strategy.Strategy
  } & Pick<Memory.Options, "spend" | "trust" | "minimumOrigin">,
  ask: (memory: Memory.Service) => Effect.Effect<A, E>,
) =>
  Effect.gen(function* () {
    yield* options.requireSession(session, store)
    const memory = yield* Memory.make({ strategy, compaction: { mode: "manual" }, ...also })
    const { total, coveredTo } = yield* memory.state(session)
    progress(`${strategy.name} looks at ${several(total - coveredTo, "message")} without a summary`)
    return yield* Effect.ensuring(ask(memory), Effect.sync(progressDone))
  }).pipe(Effect.scoped)

const previewRecord = (session: string, { compactions, before, after, idle, ...rest }: Memory.Preview) => {
  const [first] = compactions
  return {
    type: "preview",
    session,
    ...rest,
    ...(first === undefined
      ? { outcome: "Idle", reason: idle }
      : {
          outcome: first.outcome._tag,
          reason: first.outcome.started.reason,
          parts: first.outcome.started.parts,
          replaced: {
            messages: first.replaced.messages,
            tokens: first.replaced.tokens,
            segments: first.replaced.segments.map(({ kind, from, to }) => ({ kind, from, to })),
          },
          ...(first.outcome._tag === "Committed"
            ? { text: first.outcome.committed.segments.map(({ text }) => text).join("\n\n") }
            : {}),
          ...(first.outcome._tag === "Failed" ? { failure: first.outcome.error.reason } : {}),
        }),
    tokensBefore: before.tokens,
    tokensAfter: after.tokens,
  }
}

const previewLines = ({ compactions, before, after, idle }: Memory.Preview): ReadonlyArray<string> => {
  const [first] = compactions
  if (first === undefined) return [`nothing would be compacted${idle === null ? "" : `: ${whyIdle(idle)}`}`]
  const { outcome, replaced } = first
  const segments = several(replaced.segments.length, "earlier segment")
  return [
    ...outcomeLines(outcome),
    `    replaces ${several(replaced.messages, "message")} of ${count(replaced.tokens)} tokens` +
      (replaced.segments.length === 0 ? "" : ` and ${segments} of the summary`),
    ...(outcome._tag === "Committed"
      ? outcome.committed.segments
          .flatMap(({ text }) => text.split("\n"))
          .map((line) => color.cyan(`       ${clean(line)}`))
      : []),
    color.dim(
      `    the context: ${count(before.tokens)} → ${count(after.tokens)} tokens; nothing was written`,
    ),
  ]
}

export const command = options.command(
  "compact",
  "Compact a session now, whether that is due or not; exit code 1 if the summarizer fails.",
  {
    session: Args.text({ name: "SESSION" }),
    ...options.stored,
    strategy: options.strategy.pipe(Options.withDefault("sliding-window")),
    ...options.strategySettings,
    summarizer: options.summarizerOrFile,
    takeOver: options.flag(
      "take-over",
      "Take the lock over from a compaction that runs, or of a process that is gone.",
    ),
    dryRun: options.flag(
      "dry-run",
      "Show what would be compacted and what would stand in its place; write nothing.",
    ),
    ...options.trust,
    ...spend,
    json: options.json,
  },
  (given) =>
    Effect.gen(function* () {
      const strategy = yield* options.chosenStrategy(given.strategy, given)
      const also = {
        ...(yield* spendOf(given)),
        ...options.given({ trust: given.trust, minimumOrigin: given.minimumOrigin }),
      }
      const summarizer = yield* labSummarizer(given.summarizer)
      const { session, store: url, takeOver } = given
      const asked = { session, store: url, strategy, ...also }
      if (given.dryRun) {
        const preview = yield* asking(asked, (memory) => memory.preview(session, { takeOver })).pipe(
          Effect.provideService(Summarizer.Summarizer, summarizer),
          Effect.provide(options.existingStore(given)),
        )
        const shown = given.json ? [toJson(previewRecord(session, preview))] : previewLines(preview)
        return yield* printLines(shown)
      }
      const outcome = yield* asking(asked, (memory) => memory.compact(session, { takeOver })).pipe(
        Effect.provideService(Summarizer.Summarizer, summarizer),
        Effect.provide(options.existingStore(given, { readonly: false })),
      )
      const printed = given.json ? [toJson(record(session, outcome))] : lines(outcome)
      yield* printLines(printed)
      if (outcome._tag === "Failed") return yield* new Findings()
    }),
)
