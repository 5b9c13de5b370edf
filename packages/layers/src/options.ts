/** The options of memory layers, and what each must be. */
import { Memory } from "@memfold/core"
import { Duration, Option } from "effect"
import type { Extractor } from "./Extractor.js"

/**
 * - `extractor`: finds facts in turns that have ended; by default rules that need no model
 * - `userOf`, `scopeOf`: the user and the scope (a project, a team) of a session. Sessions of one user share the facts
 *   about the user, sessions of one scope share its digests, plans and documents. For `undefined` or an empty string,
 *   the facts of that layer stay in the session's own log. The result for a session must not change.
 * - `mostUser`, `mostScope`: at most this many facts of each layer for one message, 0 or more; 20 and 4 by default
 * - `extractorTimeout`: how long the extractor may run before its turns are put off; a minute by default
 */
export interface Options {
  readonly extractor?: Extractor
  readonly userOf?: (session: string) => string | undefined
  readonly scopeOf?: (session: string) => string | undefined
  readonly mostUser?: number
  readonly mostScope?: number
  readonly extractorTimeout?: Duration.DurationInput
}

const isFunction = (value: unknown): boolean => typeof value === "function"

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0

const isDuration = (value: unknown): boolean =>
  !String(value).trim().startsWith("-") &&
  !Number.isNaN(value) &&
  Option.isSome(Duration.decodeUnknown(value))

const isExtractor = (value: unknown): boolean => {
  const { name, extract } = (value ?? {}) as Partial<Record<"name" | "extract", unknown>>
  return typeof name === "string" && isFunction(extract)
}

const count = "a whole number, 0 or more"

const rules: { readonly [Name in keyof Options]-?: readonly [(value: unknown) => boolean, string] } = {
  extractor: [isExtractor, "an extractor: an object with a name and a function extract"],
  userOf: [isFunction, "a function from the id of a session to the id of its user"],
  scopeOf: [isFunction, "a function from the id of a session to the id of its scope"],
  mostUser: [isCount, count],
  mostScope: [isCount, count],
  extractorTimeout: [isDuration, 'a duration, such as "30 seconds" or a number of milliseconds'],
}

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
export const checkOptions = (options: object): Memory.InvalidOption | null => {
  for (const [option, value] of Object.entries(options)) {
    if (!Object.hasOwn(rules, option)) {
      const allowed = `one of the options: ${Object.keys(rules).join(", ")}`
      return new Memory.InvalidOption({ option, allowed })
    }
    const [isAllowed, allowed] = rules[option as keyof Options]
    if (value !== undefined && !isAllowed(value)) return new Memory.InvalidOption({ option, allowed })
  }
  return null
}
