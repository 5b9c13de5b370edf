/** What is wrong with the words of a call, and what was meant. */
import { OptionGroup } from "@memfold/core"

/** An option, as the usage of its command tells. */
interface Known {
  readonly hasValue: boolean
  readonly isRepeated: boolean
  readonly isRequired: boolean
}

/** Options of every command. */
const everywhere = new Set(["-h", "--help", "--version", "--wizard", "--completions", "--log-level"])

/** The options in the usage of a command. */
export const optionsIn = (usage: string): ReadonlyMap<string, Known> =>
  new Map(
    [...usage.matchAll(/(\[|\()?(--[a-z][a-z-]*)(?: ([^\s[\]()<>-][^\s[\]()]*))?[\])]?(\.\.\.)?/gu)].map(
      ([, open, name = "", value, more]): [string, Known] => [
        name,
        {
          hasValue: value !== undefined,
          isRepeated: more !== undefined || value?.endsWith("...") === true,
          isRequired: open !== "[" && value !== undefined && more === undefined && !value.endsWith("..."),
        },
      ],
    ),
  )

/**
 * What is wrong with the options of a call; `undefined` if nothing is.
 *
 * @param command - the full name of the command
 * @param args - the arguments behind it
 * @param usage - its usage, as the parser says it
 * @param example - a call to show where an option is missing
 */
export const wrongOption = (
  command: string,
  args: ReadonlyArray<string>,
  usage: string,
  example: string | undefined,
): string | undefined => {
  const known = optionsIn(usage)
  const seen = new Set<string>()
  for (let at = 0; at < args.length; at++) {
    const word = args[at]!
    if (word === "--") break
    if (everywhere.has(word)) return undefined
    // What stands behind the name of a program is the program's.
    if (!word.startsWith("--")) {
      if (command === "memfold wrap") break
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
  }
  const missing = [...known].find(([name, { isRequired }]) => isRequired && !seen.has(name))?.[0]
  return missing === undefined
    ? undefined
    : `${command} needs ${missing}${example === undefined ? "" : `, as in: ${example}`}`
}
