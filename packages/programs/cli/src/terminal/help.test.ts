import { stripVTControlCharacters } from "node:util"
import { describe, expect, it } from "vitest"
import * as Help from "./help.js"

/** The layout as plain text: colours depend on the terminal of the test run. */
const readable = (...given: Parameters<typeof Help.readable>): string =>
  stripVTControlCharacters(Help.readable(...given))

/** A help as the parser prints it. */
const help = (usage: string, rest = ""): string =>
  `memfold\n\nmemfold 1.2.3\n\nUSAGE\n\n$ ${usage}\n\nDESCRIPTION\n\nDoes it.\n\n${rest}`

const options = `ARGUMENTS

<FILE> 1+

  The transcript.

  This argument must be repeated at least 1 times.

OPTIONS

--strategy NAME

  A user-defined piece of text.

  The strategy, which decides when old messages become a summary, and how many of them.

  This setting is optional.

--json

  A true or false value.

  Print JSON Lines instead of text.

  This setting is optional.

--log-level all | none

  One of the following: all, none

  Sets the minimum log level for a command.

(-h, --help)

  Show the help documentation for a command.

  This setting is optional.
`

describe("help", () => {
  it("names the program and the path of the command, in the usage and in examples", () => {
    expect(readable(help("replay --json <FILE>"), ["replay", "--help"], 80)).toContain(
      "memfold replay - Does it.\n\nUSAGE\n\n  memfold replay --json <FILE>\n",
    )
    const size = readable(help("size --store URL"), ["store", "size", "--help"], 80)
    expect(size).toContain("\n  memfold store size --store URL\n")
    expect(size).toContain("EXAMPLES\n\n  memfold store size --store sqlite:chats.db\n")
    expect(readable(help("size --store URL"), ["--log-level", "store", "size"], 80)).toContain(" store size ")
  })

  it("puts an option and its description on a line, or below each other where it is narrow", () => {
    const call = help("replay [--strategy NAME] [--json] <FILE>...", options)
    expect(readable(call, ["replay"], 80)).toContain(
      [
        "ARGUMENTS",
        "",
        "  <FILE>...  The transcript.",
        "",
        "OPTIONS",
        "",
        "  --strategy NAME  The strategy, which decides when old messages become a",
        "                   summary, and how many of them.",
        "  --json           Print JSON Lines instead of text.",
        "  -h, --help       Show the help documentation for a command.",
        "",
      ].join("\n"),
    )
    expect(readable(call, ["replay"], 60)).toContain(
      "  --strategy NAME\n      The strategy, which decides when old messages become a\n      summary, and how many of them.\n  --json\n",
    )
  })

  it("gives each command of a list lines of its own", () => {
    const list =
      "COMMANDS\n\n  - store size --store URL   How large it is.\n\n  - tour [--long]            A tour.\n"
    const text = readable(help("memfold", list), [], 80)
    expect(text).toContain("USAGE\n\n  memfold COMMAND\n")
    expect(text).toContain(
      "COMMANDS\n\n  memfold store size --store URL\n      How large it is.\n\n  memfold tour [--long]\n      A tour.\n",
    )
    const within = help("store", "COMMANDS\n\n  - size --store URL  How large it is.\n")
    expect(readable(within, ["store"], 80)).toContain("\n  memfold store size --store URL\n")
  })

  it.each([60, 80, 200])("keeps to %i columns, an option and its value on one line", (width) => {
    const many = Array.from({ length: 12 }, (_, index) => `[--option-${index} VALUE] --value-${index} NAME`)
    const list = `${options}\nCOMMANDS\n\n  - long ${many.join(" ")}  ${"Words to wrap. ".repeat(20)}\n`
    const text = readable(help(`long ${many.join(" ")} <FILE>...`, list), ["long"], width)
    const lines = text.split("\n")
    expect(lines.filter((line) => line.length > width)).toEqual([])
    expect(Math.max(...lines.map((line) => line.length))).toBeGreaterThan(width * 0.8)
    for (const line of lines.filter((one) => one.includes("--value")))
      expect(line).toMatch(/(NAME|\]|>\.\.\.)$/)
  })

  it("shows that an option that may be repeated may be left out", () => {
    expect(readable(help("copy --from URL --session ID... [<FILE>]"), ["copy"], 80)).toContain(
      "  memfold copy --from URL [--session ID]... [<FILE>]\n",
    )
  })

  it("leaves every other text as it is", () => {
    for (const text of [
      "",
      "$ replay",
      '{"text":"USAGE\\n\\n$ memfold"}',
      "memfold: no\n\n$ x",
      "  - a  b",
    ]) {
      expect(readable(text, ["replay"], 80)).toBe(text)
    }
  })
})
