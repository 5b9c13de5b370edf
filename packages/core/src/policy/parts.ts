/**
 * What the parts of a policy are made of. A number that is none, such as `NaN` of a variable that is not set, is refused where the policy
 * is composed: with it, a policy would never compact, or compact at every turn, and say nothing of it.
 */
import { Predicate, Schema } from "effect"
import { Origin } from "@memfold/message/Message"
import { amount, Callable, checkedBy, exactly, nested, option, wholeFrom } from "../options/OptionGroup.js"
import { Wording } from "../summary/Wording.js"

/** What has a method. */
const having = (method: string) =>
  checkedBy<object>((value) => Predicate.hasProperty(value, method) && typeof value[method] === "function")

const Trigger = having("due")
const Keep = having("from")

export const triggers = option(Schema.Array(Trigger), "triggers, such as Trigger.backlog({ messages: 20 })")
export const keeps = option(Schema.Array(Keep), "keep rules, such as Keep.lastTurns(2)")
export const keep = option(Keep, "a keep rule, such as Keep.lastTurns(2)")

const amountOrDefault = Schema.optional(amount)

export const clear = option(
  exactly({ keep: Keep, above: amountOrDefault }),
  "an object like { keep: Keep.lastTurns(2), above: 200 }",
)
export const trim = option(
  exactly({ keep: Keep, above: amountOrDefault, head: amountOrDefault, tail: amountOrDefault }),
  "an object like { keep: Keep.lastTurns(2), above: 4_000, head: 1_500, tail: 1_500 }",
)
export const splitting = option(
  exactly({ prefix: Schema.Union(amount, Callable) }),
  "an object like { prefix: 5_000 }, with a number of tokens or a function that returns it",
)

/** What summaries do with material. */
export const Trust = Schema.Literal("together", "separate")

/** The least trusted words that contexts show. */
export const minimumOrigin = option(Origin, `one of ${Origin.literals.join(", ")}`)

const whole = wholeFrom(1)
const share = Schema.Number.pipe(Schema.greaterThan(0), Schema.lessThanOrEqualTo(0.9))
const names = Schema.Array(Schema.String)

/** The parts of a strategy. */
export const strategyParts = {
  name: option(Schema.String, "a text"),
  when: option(Trigger, "a trigger, such as Trigger.backlog({ messages: 20 })"),
  keep,
  batchSize: option(having("to"), "a batch size, such as BatchSize.all"),
  summaryMode: option(Schema.Literal("rolling", "blocks", "drop", "none"), "rolling, blocks, drop or none"),
  summarySize: option(
    Schema.Struct({ share, maxTokens: whole }),
    "an object like { share: 0.25, maxTokens: 800 }, with a share of at most 0.9",
  ),
  mergeBlocks: option(
    Schema.Struct({ above: whole, maxTokens: whole }),
    "an object like { above: 4_000, maxTokens: 1_000 }",
  ),
  recallBlocks: option(Schema.Struct({ maxTokens: whole }), "an object like { maxTokens: 2_000 }"),
  split: option(
    Schema.Struct({ above: amount, prefix: Callable }),
    "a rule that splits turns, such as Split.tailAbove(20_000, { prefix: 5_000 })",
  ),
  pin: option(having("pins"), "a pin rule, such as Pin.firstUserMessage"),
  prune: option(
    Schema.Array(
      Schema.Struct({
        method: Schema.Literal("soft-trim", "hard-clear"),
        keep: Keep,
        above: amount,
        head: amount,
        tail: amount,
      }),
    ),
    "an array of prune rules, such as [Prune.softTrim({ keep: Keep.lastTurns(2) })]",
  ),
  toolNotes: option(
    Schema.Struct({
      failures: Schema.optional(Schema.Struct({ maxFailures: amount, maxCharacters: amount })),
      files: Schema.optional(Schema.Struct({ readers: names, writers: names, pathArguments: names })),
    }),
    "an object like { files: ToolNotes.commonFileTools }",
  ),
  contextLimit: option(Schema.Number.pipe(Schema.positive()), "a number of tokens above 0"),
  context: nested(
    {
      wording: option(Wording, "a wording, such as Wording.conversationSummary"),
      maxMessages: whole,
      factsInFront: option(Schema.Boolean, "true or false"),
      trust: option(Trust, "together or separate"),
      minimumOrigin,
    },
    "an object like { maxMessages: 40 }",
  ),
}
