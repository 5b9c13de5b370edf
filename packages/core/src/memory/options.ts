/** What each option of a memory must be, and its check for programs whose types nobody checks. */
import { Predicate, Schema } from "effect"
import {
  Callable,
  checkedBy,
  duration,
  durationWithin,
  exactly,
  fits,
  InvalidOption,
  nested,
  option,
  wholeFrom,
  wrongIn,
} from "../options/OptionGroup.js"
import { minimumOrigin, strategyParts, Trust } from "../policy/parts.js"
import type { Strategy } from "../policy/Strategy.js"
import { longestLease } from "../shell/Leases.js"
import type { SpendOptions } from "../shell/Spend.js"
import { chain, type Service as Summarizer } from "../summarize/Summarizer.js"
import { Wording } from "../summary/Wording.js"
import type { CompactionOptions, Options } from "./MemoryOptions.js"

export { InvalidOption } from "../options/OptionGroup.js"

const Positive = wholeFrom(1)

/** Whether a value has the parts of a strategy. A family of strategies that was not called, such as `SlidingWindow`, has not these. */
export const isStrategy = (value: unknown): value is Strategy => {
  if (!Predicate.isRecord(value)) return false
  const { name, when, keep, batchSize, summaryMode, context } = value
  const needed = [name, when, keep, batchSize, summaryMode, context]
  return (
    needed.every((part) => part !== undefined) &&
    wrongIn(strategyParts, value) === null &&
    Predicate.hasProperty(context, "wording")
  )
}

const isSummarizerAlone = fits(
  Schema.Struct({ name: Schema.String, summarize: Callable, fallback: Schema.Unknown }),
)

/** Whether a value, and each of its fallbacks, has the parts of a summarizer. */
export const isSummarizer = (value: unknown): value is Summarizer => {
  const seen = new Set<unknown>()
  for (let one = value; ;) {
    if (!isSummarizerAlone(one) || seen.has(one)) return false
    seen.add(one)
    if (one.fallback === undefined) return true
    one = one.fallback
  }
}

const strategy = option(checkedBy<Strategy>(isStrategy), "a strategy, such as the result of Strategy.make")

const Embedder = Schema.Struct({
  name: Schema.NonEmptyString,
  dimensions: Positive,
  maxTexts: Schema.optional(Positive),
  maxCharacters: Schema.optional(Positive),
  timeout: Schema.optional(duration()),
  minSimilarity: Schema.optional(Schema.Number.pipe(Schema.between(-1, 1))),
  embed: Callable,
})

const Reranker = Schema.Struct({
  name: Schema.NonEmptyString,
  maxTexts: Schema.optional(Positive),
  maxCharacters: Schema.optional(Positive),
  timeout: Schema.optional(duration()),
  rerank: Callable,
})

const Amount = Schema.Number.pipe(Schema.finite(), Schema.positive())
/** Some of these fields, at least one of them, and no others. */
const someOf = <Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.Struct(fields).pipe(Schema.filter((given) => Object.keys(given).length > 0))
const Cap = Schema.optional(someOf({ tokens: Schema.optional(Amount), dollars: Schema.optional(Amount) }))
/** The prices of a preset have more than these two. */
const Price = Schema.optional(
  Schema.Struct({
    input: Schema.Union(Schema.Literal(0), Amount),
    output: Schema.Union(Schema.Literal(0), Amount),
  }).annotations({ parseOptions: { onExcessProperty: "ignore" } }),
)
const Spend = exactly({
  session: Cap,
  owner: Cap,
  total: Cap,
  prices: Schema.optional(someOf({ summarizer: Price, embedder: Price, extractor: Price })),
})

/** The options of compaction. */
export const compactionOptions = {
  mode: option(
    Schema.Literal("background", "dispatch", "inline", "manual", "off"),
    "background, dispatch, inline, manual, or off",
    {
      description:
        "`inline`: an append waits for compactions; `manual`: only `compact` runs them; `off`: none at all; `dispatch`: `memfold worker` processes run them",
      default: "background",
    },
  ),
  hooks: option(
    exactly({
      beforeCompaction: Schema.optional(Callable),
      afterCompaction: Schema.optional(Callable),
    }),
    "an object with the functions beforeCompaction and afterCompaction, or one of them",
    {
      description: "`beforeCompaction` may veto or give instructions; `afterCompaction` hears the outcome",
      default: {},
    },
  ),
  concurrency: wholeFrom(1, {
    description: "how many sessions are compacted in the background at once",
    default: 8,
  }),
  shutdown: duration({ description: "how long `close` waits for running compactions", default: 0 }),
  backOff: duration({
    description: "how long the next try waits after a failed compaction; doubles up to an hour",
    default: "1 minute",
  }),
  summarizerTimeout: duration({
    description: "how long one call of a summarizer may take",
    default: "2 minutes",
  }),
  summarizerRetries: wholeFrom(0, { description: "how often a failed call is repeated", default: 2 }),
  lease: durationWithin(
    (millis) => millis > 0 && millis <= longestLease,
    "a duration of more than 0 and at most an hour, since it is renewed while a compaction works",
    {
      description:
        "how long a compaction owns the session's lock without a sign of life; it is renewed while the compaction works",
      default: "30 seconds",
    },
  ),
} satisfies Record<keyof CompactionOptions, Schema.Schema.AnyNoContext>

/** The options, and the parts that a memory gets beside them. Only the strategy is required. */
export const memoryOptions = {
  strategy,
  shadow: strategy,
  wording: option(Wording, "a wording, with the texts of Wording.conversationSummary"),
  trust: option(Trust, "together or separate", {
    description: "`separate`: summaries keep what tools, documents and pages said apart from what was said",
    default: "together",
  }),
  minimumOrigin,
  compaction: nested(compactionOptions, 'an object like { mode: "inline" }'),
  budget: option(
    exactly({ tokens: Schema.Number.pipe(Schema.positive()), timeout: Schema.optional(duration()) }),
    'an object like { tokens: 100_000, timeout: "20 seconds" }',
  ),
  spend: option(
    Spend,
    "an object like { session: { tokens: 200_000 }, owner: { dollars: 1 }, total: { dollars: 20 }, prices: { summarizer: { input: 0.25, output: 2 } } }, with amounts of more than 0",
  ),
  beforeAppend: option(
    Callable,
    "a function that says what of a message is stored, such as guard() of @memfold/guard",
  ),
  audit: option(exactly({ reads: Schema.optional(Schema.Boolean) }), "an object like { reads: true }"),
  boundReasoning: option(Schema.Literal("leave-out", "keep"), "leave-out or keep"),
  indexAhead: option(Schema.Boolean, "true or false", { default: true }),
  load: nested(
    { appends: wholeFrom(1, { default: 10_000 }), appendsPerSession: wholeFrom(1, { default: 1_000 }) },
    "an object like { appends: 10_000, appendsPerSession: 1_000 }",
  ),
  cachedSessions: wholeFrom(1, { default: 1_000 }),
  summarizer: option(
    checkedBy<Summarizer>(isSummarizer),
    "a summarizer: an object with a name and a function summarize",
  ),
  embedder: option(
    Embedder,
    "an embedder: an object with a name, the number of dimensions, and a function embed; maxTexts and maxCharacters are whole numbers, 1 or more, timeout is a duration, and minSimilarity is from -1 to 1",
  ),
  reranker: option(
    Reranker,
    "a reranker: an object with a name and a function rerank; maxTexts and maxCharacters are whole numbers, 1 or more, and timeout is a duration",
  ),
  tokenCounter: option(
    Schema.Struct({ count: Callable }),
    "a token counter: an object with a name and a function count",
  ),
} satisfies Record<
  keyof Options | "summarizer" | "tokenCounter" | "embedder" | "reranker",
  Schema.Schema.AnyNoContext
>

/**
 * Checks the options of a memory and the parts that it gets beside them. Unknown names are ignored, except in a group of
 * options.
 *
 * @param options the options, of any type; only `strategy` is required
 * @returns the first option that is not allowed; `null` if all are allowed
 *
 * @example
 * ```ts
 * import { Memory } from "@memfold/core"
 *
 * const wrong = Memory.checkOptions({ strategy: {} })
 * console.log(wrong?.message)
 * ```
 */
export const checkOptions = (options: unknown): InvalidOption | null => {
  if (!Predicate.isRecord(options)) return new InvalidOption({ option: "options", allowed: "an object" })
  return wrongIn(memoryOptions, { ...options, strategy: options["strategy"] ?? null })
}

/**
 * The price that a cap in dollars needs and does not have: without it, the calls of that part would count as free.
 *
 * @param parts the parts that may cost something; `null` for those that a memory does not have
 */
export const missingPrice = (
  spend: SpendOptions | undefined,
  parts: {
    readonly summarizer: Summarizer
    readonly embedder: { readonly isFree?: boolean } | null
    readonly layers: { readonly isFree?: boolean } | null
  },
): InvalidOption | null => {
  if (spend === undefined) return null
  const { prices, session, owner, total } = spend
  if ([session, owner, total].every((cap) => cap?.dollars === undefined)) return null
  const costs = {
    summarizer: chain(parts.summarizer).some(({ isFree }) => isFree !== true),
    embedder: parts.embedder !== null && parts.embedder.isFree !== true,
    extractor: parts.layers !== null && parts.layers.isFree !== true,
  }
  for (const part of ["summarizer", "embedder", "extractor"] as const)
    if (costs[part] && prices?.[part] === undefined)
      return new InvalidOption({
        option: `spend.prices.${part}`,
        allowed:
          "given, like { input: 0.25, output: 2 } in dollars for a million tokens: a cap is in dollars",
      })
  return null
}
