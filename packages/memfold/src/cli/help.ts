/**
 * Reformats the help of the command line. The parser's own help names a command without its program, and puts usage and
 * description side by side, in lines of 250 columns.
 */
import { Console, Effect } from "effect"

const width = 80

/** The pieces of a usage line; an option and its value stay together. */
const piece = /\[[^\]]*\](?:\.\.\.)?|--[\w-]+ [^\s[\]<>-][^\s[\]<>]*|\S+/g

/** Wraps a usage at 80 columns and indents the continuation lines. */
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

/** Marks repeated options as optional: all of them are, but the parser does not say so. */
const optional = (usage: string): string => usage.replace(/(--[\w-]+ [^\s[\]]+)\.\.\./g, "[$1]...")

/** The parser's sentence on the type of a value. The description says more, and replaces it. */
const typeOfValue = /^ {2}A (?:user-defined piece of text|true or false value)\.\n\n/gm

/** The full name of a command, such as `memfold store size`. */
const path = (command: string, args: ReadonlyArray<string>): string => {
  if (command === "memfold") return command
  const words = args.slice(0, args.indexOf(command)).filter((word) => !word.startsWith("-"))
  return ["memfold", ...words, command].join(" ")
}

const usageLine = /^\$ (\S+)(.*)$/m

/**
 * Reformats the parser's help. Any other text is returned unchanged.
 *
 * @param args - the arguments of the command line, without the program
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

/** Reformats the help that the parser prints. */
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
