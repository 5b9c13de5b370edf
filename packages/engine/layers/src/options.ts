/** The options of memory layers, and what each must be. */
import { OptionGroup } from "@memfold/core"
import { Schema } from "effect"
import type { Extractor } from "./Extractor.js"
import type { Declarations } from "./Fact.js"
import { rules } from "./rules/index.js"

const { Callable, checkedBy, duration, fits, option, problemIn, wholeFrom } = OptionGroup

/** Names what the sessions of a user or of a scope share; the result for a session must not change. */
export type NameOf = (session: string) => string | undefined

const NameOf = checkedBy<NameOf>(fits(Callable))

/** What each option must be, what it is for, and what it is by default. */
export const optionGroup = {
  extractor: option(
    checkedBy<Extractor>(fits(Schema.Struct({ name: Schema.String, extract: Callable }))),
    "an extractor: an object with a name and a function extract",
    { description: "finds facts in turns that have ended", default: rules },
  ),
  userOf: option(NameOf, "a function from the id of a session to the id of its user", {
    description:
      "the user of a session: sessions of one user share the facts about the user. For `undefined` or an empty string, facts stay in the session's own log. The result for a session must not change. By default, it is the owner of the session",
  }),
  scopeOf: option(NameOf, "a function from the id of a session to the id of its scope", {
    description:
      "the scope of a session (a project, a team), likewise: sessions of one scope share its digests, plans and documents. None by default",
  }),
  facts: option(
    checkedBy<Declarations>(
      fits(
        Schema.Record({
          key: Schema.String,
          value: Schema.Struct({ check: Callable, single: Schema.Boolean }),
        }),
      ),
    ),
    "an object of facts, each declared by Fact.of",
    {
      description:
        "the facts about the user that are wanted, by predicate; others are refused. Any by default",
    },
  ),
  learnAt: option(Schema.Literal("turn", "compaction"), '"turn" or "compaction"', {
    description:
      "when an extractor is asked: as soon as a turn has ended, or in one batch before a compaction covers the turns. By default, as the extractor says: `modelExtractor` and `functionExtractor` at compactions, others at each turn",
  }),
  toolResults: option(Schema.Boolean, "true or false", {
    description: "whether extractors read results of tools; facts that rest on them have a low origin",
    default: false,
  }),
  showPast: option(Schema.Boolean, "true or false", {
    description: "whether contexts show facts that fit and are no longer true, marked as such",
    default: false,
  }),
  unconfirmedSessions: wholeFrom(1, {
    description:
      "a standing fact that was not said again in so many later sessions of the user is left out of contexts, unless it fits the message",
    default: 100,
  }),
  mostUser: wholeFrom(0, { description: "at most this many user facts for one message", default: 20 }),
  mostScope: wholeFrom(0, { description: "at most this many scope facts for one message", default: 4 }),
  extractorTimeout: duration({
    description: "how long the extractor may run before its turns are put off",
    default: "1 minute",
  }),
}

/** The options of memory layers; the README has what each is for, and its default. */
export interface Options extends OptionGroup.Values<typeof optionGroup> {}

/**
 * Checks the options of memory layers.
 *
 * @param options - the options, of any type
 * @returns the first option that is unknown or not allowed; `null` if all are allowed
 *
 * @example
 * ```ts
 * import { checkOptions } from "@memfold/layers"
 *
 * console.log(checkOptions({ mostUser: -1 })?.message)
 * ```
 */
export const checkOptions = (options: object): OptionGroup.InvalidOption | null =>
  problemIn(optionGroup, options)
