/** Every regular expression that reads what somebody else has written takes time in proportion to it. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { performance } from "node:perf_hooks"
import { fileURLToPath } from "node:url"
import { parseSync } from "vite"
import { expect, it } from "vitest"

const packages = fileURLToPath(new URL("../../../", import.meta.url))

/** The service, the proxy, the readers of transcripts, the rules of layers, and the codecs. */
const folders = [
  "programs/server/src",
  "programs/proxy/src",
  "programs/mcp/src",
  "programs/cli/src/transcript",
  "engine/layers/src",
  "adapters/codec/src",
  "adapters/openai/src",
  "adapters/anthropic/src",
]

interface Pattern {
  readonly place: string
  readonly source: string
  readonly flags: string
}

/** The literals in a part of a parsed file. */
const literalsIn = (node: unknown, found: Array<Omit<Pattern, "place">>): void => {
  if (typeof node !== "object" || node === null) return
  const { regex } = node as { readonly regex?: { readonly pattern: string; readonly flags: string } }
  if (regex !== undefined) found.push({ source: regex.pattern, flags: regex.flags })
  for (const inside of Object.values(node)) literalsIn(inside, found)
}

const patternsIn = (folder: string): ReadonlyArray<Pattern> =>
  readdirSync(join(packages, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
    .flatMap((name) => {
      const place = join(folder, name)
      const found: Array<Omit<Pattern, "place">> = []
      literalsIn(parseSync(place, readFileSync(join(packages, place), "utf8")).program, found)
      return found.map((one) => ({ ...one, place }))
    })

/** What a pattern says word for word: a text of it comes furthest. */
const wordsOf = ({ source }: Pattern): ReadonlyArray<string> => {
  const plain = source
    .replaceAll(/\\[a-zA-Z](?:\{[^}]*\})?|\[(?:\\.|[^\]\\])*\]|\{[\d,]*\}|\(\?[<:=!]+/g, " ")
    .replaceAll(/\\(.)/g, "$1")
  return [...new Set(plain.split(/[\s()|?*+^$.]+/).filter((word) => word !== ""))].slice(0, 8)
}

const units = [..."a1_-:/.,;= \n\t\"'`(<[{@#|\\*é~，。", "a ", "1.", "aA", "\n ", " ,", "A "]

/** How long a pattern takes at worst, in milliseconds, over texts of a length. */
const worst = (pattern: Pattern, length: number): readonly [time: number, text: string] => {
  const flags = [...new Set(`${pattern.flags.replace("y", "")}g`)].join("")
  const words = wordsOf(pattern)
  let slowest: readonly [number, string] = [0, ""]
  for (const unit of [...words, ...units])
    for (const head of ["", ...words.slice(0, 2)])
      for (const tail of ["!", "\u0000\n"]) {
        const text = head + unit.repeat(Math.ceil(length / unit.length)) + tail
        const begin = performance.now()
        text.replace(new RegExp(pattern.source, flags), "")
        const time = performance.now() - begin
        if (time > slowest[0]) slowest = [time, text]
      }
  return slowest
}

it("L19: no pattern takes a time that grows with the square of a text", () => {
  const patterns = folders.flatMap(patternsIn)
  expect(patterns.length).toBeGreaterThan(120)
  const slow = patterns.filter((pattern) => {
    const [time, text] = worst(pattern, 2_000)
    if (time < 2) return false
    // Ten times the text: a hundred times the time, or ten times what this machine needed in a quiet moment.
    const long = text.slice(0, -2).repeat(10) + text.slice(-2)
    const times = [1, 2, 3].map(() => {
      const begin = performance.now()
      long.replace(new RegExp(pattern.source, `${pattern.flags.replace(/[gy]/, "")}g`), "")
      return performance.now() - begin
    })
    return Math.min(...times) > 100
  })
  expect(slow).toEqual([])
})
