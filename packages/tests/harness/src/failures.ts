/** What the operations of a memory fail with, as the README of `memfold` lists it; a test holds that list against their types. */
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"

const memfold = join(createRequire(import.meta.url).resolve("memfold/package.json"), "../README.md")
const readme = readFileSync(memfold, "utf8")

/** What every operation fails with. */
const everywhere = ["InvalidInput", "LogError", "DamagedEvent", "Overloaded"]

/** The errors of each operation that has errors of its own, by their names. */
const own = new Map(
  [...readme.matchAll(/^- `(\w+)`: (`\w+`(?:, `\w+`)*)$/gmu)].map(([, operation = "", names = ""]) => [
    operation,
    [...names.matchAll(/\w+/gu)].map(([name]) => name),
  ]),
)

/** The names of what some operations fail with; of all of them by default. */
export const failuresOf = (operations: Iterable<string> = own.keys()): ReadonlyArray<string> => [
  ...new Set([...everywhere, ...[...operations].flatMap((operation) => own.get(operation) ?? [])]),
]

/** What a store refuses for good, in `LogError.refused`. */
export const refusals = ["erased", "held", "archived", "unreadable"] as const

/** An error of a name, which says that it quotes nothing. */
export const errorNamed = (name: string, fields: object = {}): Error =>
  Object.assign(new Error("It failed"), { _tag: name, ...fields })
