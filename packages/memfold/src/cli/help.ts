/**
 * The help of the command line, set for reading. The parser's own help names a command without its program, and puts
 * usage and description side by side, in lines of 250 columns.
 */
import { Console, Effect } from "effect"

const width = 80

/** A usage in its smallest pieces: an option and its value stay on one line. */
const piece = /\[[^\]]*\](?:\.\.\.)?|--[\w-]+ [^\s[\]<>-][^\s[\]<>]*|\S+/g

/** A usage on lines of at most 80 columns, the second and those after it set further in. */
const wrapped = (usage: string, indent: string): string => {
  const lines: Array<string> = []
  let line = ""
  for (const [next] of usage.matchAll(piece)) {
    if (line !== "" && indent.length + 8 + line.length + 1 + next.length > width) {
      lines.push(line)
      line = next
    } else {
      line = line === "" ? next : `${line} ${next}`
    }
  }
  return [...lines, line].map((one, index) => `${indent}${index === 0 ? "" : "        "}${one}`).join("\n")
}

/** Every option that may be repeated may be left out as well, which the parser writes for no other. */
const optional = (usage: string): string => usage.replace(/(--[\w-]+ [^\s[\]]+)\.\.\./g, "[$1]...")

/** What the parser says of the type of a value, which the description says better. */
const typeOfValue = /^ {2}A (?:user-defined piece of text|true or false value)\.\n\n/gm

/** The words that lead to the command whose usage begins with a word: `memfold store size`. */
const path = (command: string, args: ReadonlyArray<string>): string => {
  if (command === "memfold") return command
  const words = args.slice(0, args.indexOf(command)).filter((word) => !word.startsWith("-"))
  return ["memfold", ...words, command].join(" ")
}

const usageLine = /^\$ (\S+)(.*)$/m

/**
 * Sets the parser's help for reading; any other text is returned as it is.
 *
 * @param args what the command line was called with, without the program
 */
export const readable = (text: string, args: ReadonlyArray<string>): string => {
  const usage = usageLine.exec(text)
  if (usage === null || !/^\s*\S*memfold\S*\s+memfold \S+\s/.test(text)) return text
  const [, command = "", rest = ""] = usage
  const full = path(command, args)
  const hasCommands = /COMMANDS\S*\s+- /.test(text)
  return text
    .replace(usageLine, () => wrapped(`${full}${hasCommands ? " COMMAND" : optional(rest)}`, "  "))
    .replace(/^ {2}- (\S+.*?)(?: {2,}(.+))?$/gm, (_line, entry: string, about = "") =>
      [wrapped(`${full} ${optional(entry)}`, "  "), ...(about === "" ? [] : [`      ${about}`])].join("\n"),
    )
    .replace(typeOfValue, "")
}

/** Sets what the parser of the command line prints as help. */
export const readableHelp = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  args: ReadonlyArray<string>,
): Effect.Effect<A, E, R> =>
  Console.consoleWith((console) =>
    Effect.withConsole(effect, {
      ...console,
      log: (...parts) =>
        console.log(...parts.map((part) => (typeof part === "string" ? readable(part, args) : part))),
    }),
  )
