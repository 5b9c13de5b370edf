/** Checks the options of a memory, for programs whose types nobody checks. This is the only place that does. */
import { Duration, Option, Schema } from "effect"
import type { Strategy } from "../policy/Strategy.js"
import { longestLease } from "../shell/Leases.js"
import type { Service as Summarizer } from "../summarize/Summarizer.js"
import { Wording } from "../summary/Wording.js"
import { isCount } from "./input.js"
import type { CompactionOptions, Options } from "./MemoryOptions.js"

/** An option of a memory has a value that is not allowed. `option` is its name, and `allowed` says what it must be. */
export class InvalidOption extends Schema.TaggedError<InvalidOption>()("InvalidOption", {
  option: Schema.String,
  allowed: Schema.String,
}) {
  /** The option and what it must be, in words. */
  override get message(): string {
    return `The option "${this.option}" must be ${this.allowed}`
  }
}

type Fields = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isFunction = (value: unknown): boolean => typeof value === "function"

const hasFunction = (value: unknown, name: string): boolean => isObject(value) && isFunction(value[name])

const isWording = (value: unknown): boolean => Schema.is(Wording)(value)

const isShare = (value: unknown): boolean => typeof value === "number" && value > 0 && value <= 0.9

const isPositive = (value: unknown): boolean => isCount(value, 1)

/** Whether a duration is given with a sign: Effect takes it for none at all. */
const isNegative = (value: unknown): boolean =>
  Array.isArray(value) ? value.some(isNegative) : String(value).trim().startsWith("-")

/** A duration in milliseconds; `NaN` if it is none. */
const millisOf = (value: unknown): number =>
  Number.isNaN(value) || isNegative(value)
    ? Number.NaN
    : Option.match(Duration.decodeUnknown(value), {
        onNone: () => Number.NaN,
        onSome: (duration) => Duration.toMillis(duration),
      })

const isDuration = (value: unknown): boolean => millisOf(value) >= 0

/**
 * Whether a value has the parts of a strategy. A family of strategies that was not called, such as `SlidingWindow`, has
 * not.
 */
export const isStrategy = (value: unknown): value is Strategy => {
  if (!isObject(value) || typeof value["name"] !== "string") return false
  const { summaryMode, context, pin, prune, summarySize, mergeBlocks, recallBlocks } = value
  return (
    hasFunction(value["when"], "due") &&
    hasFunction(value["keep"], "from") &&
    hasFunction(value["batchSize"], "to") &&
    ["rolling", "blocks", "drop", "none"].includes(summaryMode as string) &&
    isObject(context) &&
    isWording(context["wording"]) &&
    (context["maxMessages"] === undefined || isPositive(context["maxMessages"])) &&
    (pin === undefined || hasFunction(pin, "pins")) &&
    (prune === undefined || Array.isArray(prune)) &&
    (summarySize === undefined ||
      (isObject(summarySize) && isShare(summarySize["share"]) && isPositive(summarySize["maxTokens"]))) &&
    (mergeBlocks === undefined ||
      (isObject(mergeBlocks) && isPositive(mergeBlocks["above"]) && isPositive(mergeBlocks["maxTokens"]))) &&
    (recallBlocks === undefined || (isObject(recallBlocks) && isPositive(recallBlocks["maxTokens"])))
  )
}

/** Whether a value, and each of its fallbacks, has the parts of a summarizer. */
export const isSummarizer = (value: unknown): value is Summarizer => {
  const seen = new Set<unknown>()
  for (let one = value; ;) {
    if (!isObject(one) || !isFunction(one["summarize"]) || typeof one["name"] !== "string" || seen.has(one)) {
      return false
    }
    seen.add(one)
    if (one["fallback"] === undefined) return true
    one = one["fallback"]
  }
}

const isOptional = (value: unknown, isAllowed: (value: unknown) => boolean): boolean =>
  value === undefined || isAllowed(value)

const isEmbedder = (value: unknown): boolean =>
  isObject(value) &&
  typeof value["name"] === "string" &&
  value["name"] !== "" &&
  isPositive(value["dimensions"]) &&
  isOptional(value["maxTexts"], isPositive) &&
  isOptional(value["maxCharacters"], isPositive) &&
  isOptional(value["timeout"], isDuration) &&
  isOptional(value["minSimilarity"], (least) => typeof least === "number" && least >= -1 && least <= 1) &&
  isFunction(value["embed"])

const duration = 'a duration, such as "30 seconds" or a number of milliseconds'

const strategy = "a strategy, such as the result of Strategy.make"

/** What each option of a group must be. */
type Rules<Name extends string> = {
  readonly [Key in Name]-?: readonly [isAllowed: (value: unknown) => boolean, allowed: string]
}

/** The options of compaction, and what each must be. */
const compactionRules: Rules<keyof CompactionOptions> = {
  mode: [
    (value) => ["background", "dispatch", "inline", "manual", "off"].includes(value as string),
    "background, dispatch, inline, manual, or off",
  ],
  hooks: [
    (value) =>
      isObject(value) &&
      ["beforeCompaction", "afterCompaction"].every(
        (name) => value[name] === undefined || isFunction(value[name]),
      ),
    "an object with the functions beforeCompaction and afterCompaction, or one of them",
  ],
  concurrency: [isPositive, "a whole number, 1 or more"],
  shutdown: [isDuration, duration],
  backOff: [isDuration, duration],
  summarizerTimeout: [isDuration, duration],
  summarizerRetries: [(value) => isCount(value), "a whole number, 0 or more"],
  lease: [
    (value) => isDuration(value) && millisOf(value) > 0 && millisOf(value) <= longestLease,
    "a duration of more than 0 and at most an hour, since it is renewed while a compaction works",
  ],
}

/** The options, the parts that a memory gets beside them, and what each must be. Only the strategy is required. */
const rules: Rules<keyof Options | "summarizer" | "tokenCounter" | "embedder"> = {
  strategy: [isStrategy, strategy],
  shadow: [isStrategy, strategy],
  wording: [isWording, "a wording, with the texts of Wording.conversationSummary"],
  compaction: [isObject, 'an object like { mode: "inline" }'],
  budget: [
    (value) =>
      isObject(value) &&
      typeof value["tokens"] === "number" &&
      value["tokens"] > 0 &&
      (value["timeout"] === undefined || isDuration(value["timeout"])),
    'an object like { tokens: 100_000, timeout: "20 seconds" }',
  ],
  boundReasoning: [(value) => value === "leave-out" || value === "keep", "leave-out or keep"],
  cachedSessions: [isPositive, "a whole number, 1 or more"],
  summarizer: [isSummarizer, "a summarizer: an object with a name and a function summarize"],
  embedder: [
    isEmbedder,
    "an embedder: an object with a name, the number of dimensions, and a function embed; maxTexts and maxCharacters are whole numbers, 1 or more, timeout is a duration, and minSimilarity is from -1 to 1",
  ],
  tokenCounter: [
    (value) => hasFunction(value, "count"),
    "a token counter: an object with a name and a function count",
  ],
}

/** The first option of a group that is not allowed. */
const wrongIn = (fields: Fields, group: Rules<string>, prefix = ""): InvalidOption | null => {
  for (const [option, [isAllowed, allowed]] of Object.entries(group)) {
    const value = fields[option]
    if (value !== undefined && !isAllowed(value))
      return new InvalidOption({ option: prefix + option, allowed })
  }
  return null
}

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
  if (!isObject(options)) return new InvalidOption({ option: "options", allowed: "an object" })
  if (options["strategy"] === undefined) return new InvalidOption({ option: "strategy", allowed: strategy })
  const wrong = wrongIn(options, rules)
  if (wrong !== null) return wrong
  const compaction = (options["compaction"] ?? {}) as Fields
  const names = Object.keys(compactionRules)
  const unknown = Object.keys(compaction).find((name) => !names.includes(name))
  return unknown === undefined
    ? wrongIn(compaction, compactionRules, "compaction.")
    : new InvalidOption({
        option: `compaction.${unknown}`,
        allowed: `one of the options: ${names.join(", ")}`,
      })
}
