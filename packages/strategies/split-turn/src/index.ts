/**
 * A strategy for agents: it compacts when the context fills a share of the model's window. If the current turn alone is
 * too large to keep, it summarizes the first part of the turn separately from the history. It follows one of the five
 * reference designs (docs/conformance.md, design 3).
 */
import { SummaryMode, Keep, ToolNotes, Prune, Split, Strategy, BatchSize, Trigger } from "@memfold/core"
import { Schema } from "effect"

const { setting } = Strategy

const Share = Schema.Number.pipe(Schema.greaterThan(0), Schema.lessThanOrEqualTo(1))
const Tokens = Schema.Int.pipe(Schema.positive())

const Names = Schema.optionalWith(Schema.Array(Schema.String), { exact: true })

/** File tools besides the common ones. */
const FileTools = Schema.Struct({
  readers: Names,
  writers: Names,
  editors: Schema.optionalWith(
    Schema.Array(
      Schema.Struct({
        tools: Schema.Array(Schema.String),
        argument: Schema.String,
        reads: Schema.Array(Schema.String),
      }),
    ),
    { exact: true },
  ),
  patchers: Names,
  pathArguments: Names,
}).annotations({ parseOptions: { onExcessProperty: "error" } })

const fields = {
  /**
   * The model's context window, in tokens; also that of a summarizer that does not state its own. By default 200,000.
   */
  contextLimit: setting(
    Tokens,
    200_000,
    "The model's context window, in tokens; also that of a summarizer that does not state its own.",
  ),
  /** Compact when the context is above this share of the window. By default 0.7. */
  compactionThreshold: setting(Share, 0.7, "Compact when the context is above this share of the window."),
  /**
   * The share of the newest messages that stay uncovered besides the current turn; smaller than compactionThreshold.
   * By default 0.1.
   */
  keepRecentShare: setting(
    Share,
    0.1,
    "The share of the newest messages that stay uncovered besides the current turn; smaller than compactionThreshold.",
  ),
  /**
   * If the kept messages take more than this share times splitMargin, the turn is split; the prefix takes at most
   * that product. By default 0.5.
   */
  splitBudget: setting(
    Share,
    0.5,
    "If the kept messages take more than this share times splitMargin, the turn is split; the prefix takes at most that product.",
  ),
  /** What splitBudget is multiplied by; at least 1. By default 1.2. */
  splitMargin: setting(
    Schema.Number.pipe(Schema.greaterThanOrEqualTo(1)),
    1.2,
    "What splitBudget is multiplied by; at least 1.",
  ),
  /**
   * The prefix of a split turn takes 0.4 of the window instead, down to 0.15 when each message takes more than a
   * tenth of it on average. By default `false`.
   */
  adaptiveSplit: setting(
    Schema.Boolean,
    false,
    "The prefix of a split turn takes 0.4 of the window instead, down to 0.15 when each message takes more than a tenth of it on average.",
  ),
  /**
   * Whether a compaction shortens long tool outputs in uncovered messages: to their two ends (soft-trim), or older
   * ones to a note (hard-clear). By default `"off"`.
   */
  pruneToolOutputs: setting(
    Schema.Literal("off", "soft-trim", "hard-clear"),
    "off",
    "Whether a compaction shortens long tool outputs in uncovered messages: to their two ends (soft-trim), or older ones to a note (hard-clear).",
  ),
  /**
   * How many failed tool calls are listed after a turn prefix, word for word, with at most 240 characters each. By
   * default 8.
   */
  toolFailures: setting(
    Schema.NonNegativeInt,
    8,
    "How many failed tool calls are listed after a turn prefix, word for word, with at most 240 characters each.",
  ),
  /**
   * Whether the files that tools read and changed are listed with the summary, across compactions. The tools of
   * common agents are known; an object adds tools of your own (ToolNotes.FileNotes). By default `true`.
   */
  trackFiles: setting(
    Schema.Union(Schema.Boolean, FileTools),
    true,
    "Whether the files that tools read and changed are listed with the summary, across compactions. The tools of common agents are known; an object adds tools of your own (ToolNotes.FileNotes).",
  ),
}

const Settings = Schema.Struct(fields).pipe(
  Schema.filter(({ keepRecentShare, compactionThreshold }) =>
    keepRecentShare < compactionThreshold
      ? true
      : `keep_recent_share (${keepRecentShare}) has to be smaller than compaction_threshold (${compactionThreshold})`,
  ),
)

/**
 * The settings of {@link SplitTurn}. Shares are parts of `contextLimit`, above 0 and at most 1. `SplitTurn.descriptions` says what each is
 * for, and `SplitTurn.defaults` what it is by default.
 */
export type SplitTurnSettings = Strategy.SettingsOf<typeof fields>

/**
 * The share of the window that an adaptive prefix takes. It shrinks when messages take more than a tenth of the window on
 * average, because large messages leave few positions for the boundary.
 */
const adaptiveRatio = (averageShare: number): number =>
  averageShare > 0.1 ? Math.max(0.4 - 2 * averageShare, 0.15) : 0.4

/** The maximum length of a failure in the tool notes, in characters. */
const failureCharacters = 240

/**
 * Keeps the current turn and the most recent messages, and one rolling summary of all older ones. A compaction is due
 * when the context is above `compactionThreshold`. If the kept messages take more than `splitBudget × splitMargin` of
 * the window, the first part of them, up to that size, becomes a summary of its own: the turn prefix.
 *
 * `SplitTurn(settings)` returns the strategy and throws a `SettingsError` on a setting out of range.
 *
 * @example
 * ```ts
 * import { SplitTurn } from "@memfold/strategy-split-turn"
 *
 * const strategy = SplitTurn({ contextLimit: 128_000, compactionThreshold: 0.6 })
 * console.log(strategy.name)
 * ```
 */
export const SplitTurn: Strategy.Definition<SplitTurnSettings> = Strategy.define({
  name: "split-turn",
  settings: Settings,
  aliases: { threshold: "compactionThreshold", contextWindow: "contextLimit" },
  make: (settings) => {
    const { contextLimit, splitMargin, trackFiles } = settings
    const share = (part: number) => Math.floor(contextLimit * part)
    const newContent = share(settings.splitBudget * splitMargin)
    const recent = Keep.lastTokens(share(settings.keepRecentShare))
    const newest = Keep.lastMessages(2)
    return Strategy.make({
      name: "split-turn",
      contextLimit,
      when: Trigger.contextAbove(share(settings.compactionThreshold), "threshold"),
      keep: Keep.all(Keep.currentTurn, recent),
      batchSize: BatchSize.all,
      summaryMode: SummaryMode.rolling,
      split: Split.tailAbove(newContent, {
        prefix: settings.adaptiveSplit
          ? ({ messages, tokens }) => share(adaptiveRatio(((tokens / messages) * splitMargin) / contextLimit))
          : newContent,
      }),
      prune: {
        off: [],
        "soft-trim": [Prune.softTrim({ keep: newest })],
        "hard-clear": [Prune.softTrim({ keep: newest }), Prune.hardClear({ keep: recent })],
      }[settings.pruneToolOutputs],
      toolNotes: {
        ...(settings.toolFailures === 0
          ? {}
          : { failures: { maxFailures: settings.toolFailures, maxCharacters: failureCharacters } }),
        ...(trackFiles === false
          ? {}
          : { files: ToolNotes.withFileTools(trackFiles === true ? {} : trackFiles) }),
      },
    })
  },
})
