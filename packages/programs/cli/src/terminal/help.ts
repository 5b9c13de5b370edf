/**
 * Lays out the help of the command line for the terminal's width. The parser's own help names a command without its
 * program, takes six lines for each option, and puts usage and description side by side in lines of 250 columns.
 */
import { Console, Effect } from "effect"
import { stripVTControlCharacters } from "node:util"
import { commands, first, groups } from "../command/table.js"
import { color, columns, filled, wrapped } from "./terminal.js"
import { needs } from "./wrongCall.js"

/** Calls to try, by the full name of the command. Without its program, as in `replay chat.json`. */
export const examples: Readonly<Record<string, ReadonlyArray<string>>> = {
  memfold: ["tour", "studio chats.db", "serve --upstream openai=https://api.openai.com"],
  "memfold studio": ["studio", "studio chats.db", "studio ~/.claude/projects"],
  "memfold serve": [
    "serve",
    "serve --store chats.db --studio",
    "serve --upstream openai=https://api.openai.com",
  ],
  "memfold tour": ["tour", "tour --long", "tour --sample support-zh"],
  "memfold replay": [
    "replay chat.json --strategy rounds",
    "replay chat.jsonl --set tail_keep_size=20 --store sqlite:chats.db",
  ],
  "memfold lab": [
    "lab chat.json",
    "lab chat.json --policy break-even --policy rounds:full_context_turns=4,cached_context_turns=2",
    "lab chats/*.json --policy ./mine.mjs --prices gemini-3.8-flash --page lab.html",
  ],
  "memfold sessions": ["sessions --store sqlite:chats.db", "sessions --store sqlite:chats.db --owner ann"],
  "memfold events": ["events chat-1 --store sqlite:chats.db"],
  "memfold context": [
    "context chat-1 --store sqlite:chats.db",
    "context chat-1 --store sqlite:chats.db --at 40",
  ],
  "memfold feed": [
    "feed --store sqlite:chats.db --follow",
    "feed --store sqlite:chats.db --group billing --webhook https://example.com/events",
  ],
  "memfold summaries": ["summaries chat-1 --store sqlite:chats.db"],
  "memfold recall": ["recall 'which hotel' --store sqlite:chats.db --session chat-1"],
  "memfold trace": ["trace chat-1 --store sqlite:chats.db"],
  "memfold spend": ["spend --store sqlite:chats.db"],
  "memfold token": ["token --tenant acme --tokens tokens.json"],
  "memfold wrap": ["wrap claude", "wrap codex -- exec 'Fix the tests'"],
  "memfold worker": ["worker --store postgres://localhost/chats --queue redis://localhost"],
  "memfold dead-letters": ["dead-letters --queue redis://localhost"],
  "memfold compact": ["compact chat-1 --store sqlite:chats.db --dry-run"],
  "memfold import": ["import backup.jsonl --store sqlite:chats.db"],
  "memfold export": ["export backup.jsonl --store sqlite:chats.db"],
  "memfold copy": ["copy --from sqlite:chats.db --to redis://localhost"],
  "memfold archive": [
    "archive --store sqlite:chats.db --idle '90 days' --to ./archive",
    "archive --store sqlite:chats.db --segments --keep-versions 1000 --to ./archive",
  ],
  "memfold restore": ["restore chat-1 --store sqlite:chats.db --from ./archive"],
  "memfold shards": ["shards show --shards shards.json"],
  "memfold shards show": ["shards show --shards shards.json"],
  "memfold shards move": ["shards move chat-1 --shards shards.json --to b"],
  "memfold shards rebalance": ["shards rebalance --shards shards.json"],
  "memfold audit": ["audit chat-1 --store sqlite:chats.db"],
  "memfold facts": ["facts --owner ann --store sqlite:chats.db"],
  "memfold erase": ["erase --owner ann --reason 'asked for' --store sealed:keys,sqlite:chats.db"],
  "memfold doctor": ["doctor --store sqlite:chats.db"],
  "memfold hold": ["hold chat-1 --reason 'a lawsuit' --store sealed:keys,sqlite:chats.db"],
  "memfold verify": ["verify --store sqlite:chats.db"],
  "memfold repair": ["repair --store sqlite:chats.db"],
  "memfold store": ["store size --store sqlite:chats.db"],
  "memfold store size": ["store size --store sqlite:chats.db"],
  "memfold store drop-index": ["store drop-index --store sqlite:chats.db"],
  "memfold store vacuum": ["store vacuum --store sqlite:chats.db"],
  "memfold store backup": ["store backup --store sqlite:chats.db --to backup.db"],
}

/** A call to show where another one of its command is wrong. */
export const exampleOf = (command: string): string | undefined => {
  const [example] = examples[command] ?? []
  return example === undefined ? undefined : `memfold ${example}`
}

/** The pieces of a usage line; an option and its value stay together. */
const piece = /\[[^\]]*\](?:\.\.\.)?|--[\w-]+ [^\s[\]<>-][^\s[\]<>]*|\S+/g

const usage = (call: string, width: number): ReadonlyArray<string> =>
  filled(
    Array.from(call.matchAll(piece), ([one]) => one),
    width,
    "  ",
    "      ",
  )

/** Marks repeated options as optional: all of them are, but the parser does not say so. */
const optional = (call: string): string => call.replace(/(--[\w-]+ [^\s[\]]+)\.\.\./g, "[$1]...")

/** The full name of a command, such as `memfold store size`. */
const path = (command: string, args: ReadonlyArray<string>): string => {
  if (command === "memfold") return command
  const words = args.slice(0, args.indexOf(command)).filter((word) => !word.startsWith("-"))
  return ["memfold", ...words, command].join(" ")
}

/** Sentences of the parser that the usage or the description say better. */
const said =
  /^(?:This (?:setting is optional|option may be repeated .*|argument (?:must|may) be repeated .*|argument is optional)\.|One of the following: .*|A user-defined piece of text\.|A true or false value\.|An integer\.)$/

/** Options of every command; only the program's own help lists them all. */
const everywhere = /^--(?:completions|log-level|wizard|version)\b/

interface Entry {
  readonly name: string
  readonly about: string
}

/** Reads the list of a section: names at the start of a line, descriptions indented below. */
const entriesOf = (section: string): ReadonlyArray<Entry> =>
  section.split(/\n(?=[^\s])/).flatMap((block) => {
    const [name = "", ...rest] = block.split("\n")
    const about = rest.map((line) => line.trim()).filter((line) => line !== "" && !said.test(line))
    const plain = name
      .trim()
      .replace(/^\((.*)\)$/, "$1")
      .replace(/(>) \d+\+$/, "$1...")
    return plain === "" ? [] : [{ name: plain, about: about.join(" ") }]
  })

/** Names on the left, descriptions on the right, or below where there is no room. */
const listed = (entries: ReadonlyArray<Entry>, width: number): ReadonlyArray<string> => {
  const longest = Math.max(...entries.map(({ name }) => name.length))
  const left = Math.min(longest, 26) + 4
  return entries.flatMap(({ name, about }) => {
    if (about === "") return [`  ${name}`]
    if (width < 72) return [`  ${name}`, ...wrapped(about, width, "      ")]
    const indent = " ".repeat(left)
    return name.length + 4 > left
      ? [`  ${name}`, ...wrapped(about, width, indent)]
      : filled(about.split(/\s+/), width, `  ${name}`.padEnd(left), indent)
  })
}

const sectionsOf = (help: string): ReadonlyMap<string, string> =>
  new Map(
    help.split(/^(?=(?:USAGE|DESCRIPTION|ARGUMENTS|OPTIONS|COMMANDS)$)/m).map((section) => {
      const end = section.indexOf("\n")
      return [section.slice(0, end).trim(), section.slice(end).replace(/^\n+|\n+$/g, "")] as const
    }),
  )

/**
 * Lays out the parser's help. Any other text is returned unchanged.
 *
 * @param args - the arguments of the command line, without the program
 * @param width - the columns of the terminal
 */
export const readable = (given: string, args: ReadonlyArray<string>, width: number): string => {
  const help = stripVTControlCharacters(given)
  const sections = sectionsOf(help)
  const [, command, rest = ""] = /^\$ (\S+)(.*)$/m.exec(sections.get("USAGE") ?? "") ?? []
  if (command === undefined || !/^\s*\S*memfold\S*\s+memfold \S+\s/.test(help)) return given
  const full = path(command, args)
  const commands = Array.from(
    (sections.get("COMMANDS") ?? "").matchAll(/^ {2}- (\S+.*?)(?: {2,}(.+))?$/gm),
    ([, call = "", about = ""]) => ({ call, about }),
  )
  const options = entriesOf(sections.get("OPTIONS") ?? "").filter(
    ({ name }) => command === "memfold" || !everywhere.test(name),
  )
  const operands = entriesOf(sections.get("ARGUMENTS") ?? "").filter(({ about }) => about !== "")
  const part = (heading: string, lines: ReadonlyArray<string>) =>
    lines.length === 0 ? [] : ["", color.bold(heading), "", ...lines]
  return [
    ...wrapped(`${full} - ${sections.get("DESCRIPTION") ?? ""}`, width, ""),
    ...part("USAGE", usage(`${full}${commands.length > 0 ? " COMMAND" : optional(rest)}`, width)),
    ...part("ARGUMENTS", operands.length === 0 ? [] : listed(operands, width)),
    ...part(
      "COMMANDS",
      commands.flatMap(({ call, about }, index) => [
        ...(index === 0 ? [] : [""]),
        ...usage(`${full} ${optional(call)}`, width),
        ...(about === "" ? [] : wrapped(about, width, "      ")),
      ]),
    ),
    ...part("OPTIONS", options.length === 0 ? [] : listed(options, width)),
    ...part(
      "EXAMPLES",
      (examples[full] ?? []).flatMap((call) => usage(`memfold ${call}`, width)),
    ),
    "",
  ].join("\n")
}

/** The help of the program: its commands in groups, and the ones to begin with before them. */
export const overview = (width: number): string => {
  const entries = (names: ReadonlyArray<string>) =>
    listed(
      names.map((name) => ({ name, about: commands.get(name)?.about ?? "" })),
      width,
    )
  const part = (heading: string, lines: ReadonlyArray<string>) => ["", color.bold(heading), "", ...lines]
  return [
    ...wrapped("memfold - Event-sourced conversation memory for LLM applications.", width, ""),
    ...part("USAGE", ["  memfold COMMAND [OPTIONS]"]),
    ...part("BEGIN WITH", entries(first)),
    ...Object.entries(groups).flatMap(([name, { about, commands }]) =>
      part(
        `${name.toUpperCase()} ${about}`,
        entries(Object.keys(commands).filter((one) => !first.includes(one))),
      ),
    ),
    ...part(
      "OPTIONS",
      listed(
        [
          { name: "-h, --help", about: "This text; behind a command, its options and examples." },
          { name: "--version", about: "The version." },
          { name: "--completions SHELL", about: "Completions for bash, zsh or fish." },
        ],
        width,
      ),
    ),
    ...part(
      "EXAMPLES",
      (examples["memfold"] ?? []).map((call) => `  memfold ${call}`),
    ),
    "",
    `memfold help TOPIC says more: of a command, of a group (${Object.keys(groups).join(", ")}), or of all.`,
  ].join("\n")
}

/** What the parser says of the words of a call, as an error of the command; ours begin with the name of the program. */
const asError = (said: string, [command = ""]: ReadonlyArray<string>): string => {
  const words = stripVTControlCharacters(said).replaceAll(/\s+/gu, " ").trim()
  if (words.startsWith("memfold: ")) return said
  const missing = /^Missing argument <(.+)>$/u.exec(words)?.[1]
  return missing === undefined
    ? `memfold: ${command}: ${words}`
    : `memfold: ${needs(`memfold ${command}`, missing, exampleOf(`memfold ${command}`))}`
}

/** Lays out the help that the parser prints, and its errors. */
export const readableHelp = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  args: ReadonlyArray<string>,
): Effect.Effect<A, E, R> =>
  Console.consoleWith((console) =>
    Effect.withConsole(effect, {
      ...console,
      log: (...parts) =>
        console.log(
          ...parts.map((part) => (typeof part === "string" ? readable(part, args, columns()) : part)),
        ),
      error: (...parts) =>
        console.error(...parts.map((part) => (typeof part === "string" ? asError(part, args) : part))),
    }),
  )
