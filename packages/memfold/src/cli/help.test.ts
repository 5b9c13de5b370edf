import { describe, expect, it } from "vitest"
import { readable } from "./help.js"

/** What the parser prints, with what it says of the options between usage and commands left out. */
const help = (usage: string, rest = ""): string =>
  `memfold\n\nmemfold 1.2.3\n\nUSAGE\n\n$ ${usage}\n\nDESCRIPTION\n\nDoes it.\n${rest}`

describe("help", () => {
  it("names the program and the path of the command", () => {
    expect(readable(help("replay --json <FILE>"), ["replay", "--help"])).toContain(
      "USAGE\n\n  memfold replay --json <FILE>\n",
    )
    expect(readable(help("size --store URL"), ["store", "size", "--help"])).toContain(
      "\n  memfold store size --store URL\n",
    )
    expect(readable(help("size --store URL"), ["--log-level", "store", "size"])).toContain(" store size ")
  })

  it("gives each command of a list lines of its own", () => {
    const list =
      "\nCOMMANDS\n\n  - store size --store URL   How large it is.\n\n  - tour [--long]            A tour.\n"
    const text = readable(help("memfold", list), [])
    expect(text).toContain("USAGE\n\n  memfold COMMAND\n")
    expect(text).toContain(
      "COMMANDS\n\n  memfold store size --store URL\n      How large it is.\n\n  memfold tour [--long]\n      A tour.\n",
    )
    const within = readable(help("store", "\nCOMMANDS\n\n  - size --store URL  How large it is.\n"), [
      "store",
    ])
    expect(within).toContain("\n  memfold store size --store URL\n")
  })

  it("keeps to 80 columns, an option and its value on one line", () => {
    const options = Array.from(
      { length: 12 },
      (_, index) => `[--option-${index} VALUE] --value-${index} NAME`,
    )
    const text = readable(help(`long ${options.join(" ")} <FILE>...`), ["long"])
    const lines = text.split("\n")
    expect(lines.filter((line) => line.length > 80)).toEqual([])
    expect(text.replace(/\s+/g, " ")).toContain(`memfold long ${options.join(" ")} <FILE>...`)
    for (const line of lines.filter((one) => one.includes("--value")))
      expect(line).toMatch(/(NAME|\]|>\.\.\.)$/)
  })

  it("shows that an option that may be repeated may be left out", () => {
    expect(readable(help("copy --from URL --session ID... [<FILE>]"), ["copy"])).toContain(
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
      expect(readable(text, ["replay"])).toBe(text)
    }
  })
})
