/** What an editor shows of a setting is what the command line and the forms say of it. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"
import type { Strategy } from "@memfold/core"

const folder = fileURLToPath(new URL("../../../strategies", import.meta.url))

const isDefinition = (one: unknown): one is Strategy.Definition<object> =>
  typeof one === "function" && "strategyName" in one

/** The comment before each setting in a source, on one line. */
const commentsIn = (source: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...source.matchAll(/^ {2}\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n {2}(\w+): setting\(/gmu)].map(
      ([, comment = "", name = ""]) => [
        name,
        comment
          .replaceAll(/\n\s*\*/gu, " ")
          .replaceAll(/\s+/gu, " ")
          .trim(),
      ],
    ),
  )

const shown = (value: unknown): string =>
  typeof value === "number"
    ? value.toLocaleString("en", { maximumFractionDigits: 3 })
    : `\`${JSON.stringify(value)}\``

it.each(readdirSync(folder))("%s: each setting has a comment, with its default", async (name) => {
  const file = join(folder, name, "src/index.ts")
  const definitions = Object.values((await import(file)) as object).filter(isDefinition)
  const told = definitions.flatMap(({ descriptions, defaults }) =>
    Object.entries(descriptions).map(([setting, text]) => [
      setting,
      `${text} By default ${shown((defaults as Record<string, unknown>)[setting])}.`,
    ]),
  )
  expect(told).not.toEqual([])
  expect(commentsIn(readFileSync(file, "utf8"))).toEqual(Object.fromEntries(told))
})
