/** What is wrong with the words of a call, and what was meant. */
import { OptionGroup } from "@memfold/core"

/** An option, as the usage of its command tells. */
interface Known {
  readonly hasValue: boolean
  readonly isRepeated: boolean
  readonly isRequired: boolean
  /** The values that are allowed; none where any text is. */
  readonly choices: ReadonlyArray<string>
}

/** Options of every command. */
export const everywhere = new Set(["-h", "--help", "--version", "--wizard", "--completions", "--log-level"])

/**
 * Options with a value that may be empty: no prefix, and no position yet. For any other one, a variable that is not set would stand for all
 * sessions, or for none.
 */
export const mayBeEmpty = new Set(["--env-prefix", "--after"])

export const optionsIn = (usage: string): ReadonlyMap<string, Known> =>
  new Map(
    [
      ...usage.matchAll(
        /(\[|\()?(--[a-z][a-z-]*)(?: ([^\s[\]()<>-][^\s[\]()]*)((?: \| [^\s[\]()<>]+)*))?[\])]?(\.\.\.)?/gu,
      ),
    ].map(([, open, name = "", value, others = "", more]): [string, Known] => [
      name,
      {
        choices: others === "" ? [] : [value!, ...others.split(" | ").slice(1)],
        hasValue: value !== undefined,
        isRepeated: more !== undefined || value?.endsWith("...") === true,
        isRequired: open !== "[" && value !== undefined && more === undefined && !value.endsWith("..."),
      },
    ]),
  )

/** The names of the arguments that are not options, in the usage of a command: what is left out may be, or comes as often as typed. */
const argumentsIn = (
  usage: string,
): ReadonlyArray<{ readonly name: string; readonly kind: "one" | "maybe" | "many" }> =>
  [...usage.matchAll(/(\[)?<((?:[^<>])+)>(?:\])?(\.\.\.)?/gu)].map(([, maybe, name = "", many]) => ({
    name,
    kind: many !== undefined ? "many" : maybe !== undefined ? "maybe" : "one",
  }))

/** Why a word is no argument: it is empty, as a variable that is not set, or a hyphen alone, behind which the parser sees no options. */
const noArgument = (command: string, word: string, name: string): string | undefined => {
  if (word === "") return `${name} of ${command} is empty; give it a value, or leave it out`
  return word === "-" ? `- stands where ${name} is expected; see ${command} --help` : undefined
}

const asIn = (example: string | undefined): string => (example === undefined ? "" : `, as in: ${example}`)

/** What a call lacks, with a call that has it. */
export const needs = (command: string, missing: string, example: string | undefined): string =>
  `${command} needs ${missing}${asIn(example)}`

/** A value that is none of those that are allowed. */
export const notAllowed = (of: string, value: string, choices: ReadonlyArray<string>): string =>
  `${of} is one of ${choices.join(", ")}; ${OptionGroup.didYouMean(OptionGroup.closest(value, choices))}"${value}" is none`

/**
 * What is wrong with the words of a call; `undefined` if nothing is.
 *
 * @param command - the full name of the command
 * @param args - the words behind it
 * @param usage - its usage, as the parser says it
 * @param example - a call to show where something is missing
 */
export const wrongCall = (
  command: string,
  args: ReadonlyArray<string>,
  usage: string,
  example: string | undefined,
): string | undefined => {
  const known = optionsIn(usage)
  const wanted = argumentsIn(usage)
  const seen = new Set<string>()
  const given: Array<string> = []
  for (let at = 0; at < args.length; at++) {
    const word = args[at]!
    // What stands behind the name of a program is the program's.
    if (word === "--" || (command === "memfold wrap" && !word.startsWith("--"))) {
      given.push(...args.slice(word === "--" ? at + 1 : at))
      break
    }
    if (everywhere.has(word)) return undefined
    if (!word.startsWith("--")) {
      const name = (wanted[given.length] ?? wanted.at(-1))?.name
      const none = name === undefined ? undefined : noArgument(command, word, name)
      if (none !== undefined) return none
      given.push(word)
      continue
    }
    const option = known.get(word)
    if (option === undefined) {
      const names = [...known.keys(), "--help"]
      const guess = OptionGroup.didYouMean(OptionGroup.closest(word, names))
      return `${command} has no option ${word}; ${guess === "" ? `it has ${names.join(", ")}` : guess.trim()}`
    }
    if (seen.has(word) && !option.isRepeated) return `${word} is given twice`
    seen.add(word)
    if (!option.hasValue) continue
    const value = args[++at]
    if (value === undefined || known.has(value)) return `${word} lacks its value`
    if (value === "" && !mayBeEmpty.has(word))
      return `${word} has an empty value; give it one, or leave it out`
    if (option.choices.length > 0 && !option.choices.includes(value))
      return notAllowed(word, value, option.choices)
  }
  const tooMuch = wanted.some(({ kind }) => kind === "many") ? undefined : given[wanted.length]
  if (tooMuch !== undefined) {
    const taken = wanted.length === 0 ? "options only" : wanted.map(({ name }) => name).join(" and ")
    return `${command} takes ${taken}; "${tooMuch}" is one too many${asIn(example)}`
  }
  const lacking = wanted.filter(({ kind }) => kind === "one")[given.length]
  const missing =
    lacking?.name ?? [...known].find(([name, { isRequired }]) => isRequired && !seen.has(name))?.[0]
  return missing === undefined ? undefined : needs(command, missing, example)
}
