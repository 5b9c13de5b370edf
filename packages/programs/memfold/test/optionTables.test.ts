/** The tables of options in the READMEs say what the options say. `npx vitest run packages/programs/memfold/test/optionTables.test.ts -u` writes them. */
import { queueForms, storeForms, strategies } from "@memfold/catalog"
import { Memory, OptionGroup } from "@memfold/core"
import { createMemory } from "memfold"
import { optionGroup as layersOptions } from "@memfold/layers"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"

/** An option as a row of a table. */
type Row = readonly [name: string, byDefault: unknown, meaning: string]

const ofStrategy = (name: string): ReadonlyArray<Row> => {
  const { defaults, descriptions } = strategies.get(name)!
  return Object.entries(defaults).map(([setting, value]) => [setting, value, descriptions[setting] ?? ""])
}

const ofGroup = (group: OptionGroup.OptionGroup): ReadonlyArray<Row> =>
  Object.entries(group).map(([name, schema]) => {
    const said = OptionGroup.saidOf(schema)
    return [name, said.default, said.description ?? ""]
  })

const defaultText = (value: unknown): string => {
  if (typeof value === "number") return value.toLocaleString("en-US")
  if (typeof value === "string") return `\`"${value}"\``
  if (typeof value === "boolean") return `\`${value}\``
  const { name } = (value ?? {}) as { readonly name?: unknown }
  return typeof value === "object" && typeof name === "string" ? `\`${name}\`` : "none"
}

/** A table as the formatter writes it. Names of options are code. */
const tableOf = (header: string, rows: ReadonlyArray<Row>): string => {
  const names = new RegExp(`(?<!\`)\\b(${rows.map(([name]) => name).join("|")})\\b(?!\`)`, "g")
  const cells = [
    [header, "default", "meaning"],
    ...rows.map(([name, value, meaning]) => [
      `\`${name}\``,
      defaultText(value),
      meaning
        .replace(/\.$/, "")
        .replace(names, (match, word: string) => (/[A-Z]/.test(word) ? `\`${word}\`` : match)),
    ]),
  ]
  const widths = [0, 1, 2].map((column) => Math.max(...cells.map((row) => row[column]!.length)))
  const line = (row: ReadonlyArray<string>, fill = " ") =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column]!, fill)).join(" | ")} |\n`
  const [head = [], ...body] = cells
  return line(head) + line(["", "", ""], "-") + body.map((row) => line(row)).join("")
}

/** A document with the table of these rows in place of the one that has the first of them. */
const withTable = (text: string, rows: ReadonlyArray<Row>): string => {
  const [[first] = [""]] = rows
  const table = [...text.matchAll(/^\| (setting|option) .*\n(?:\|.*\n)+/gm)].find(([lines]) =>
    lines.includes(`| \`${first}\``),
  )
  expect(table, `a table with ${first}`).toBeDefined()
  return text.replace(table![0], () => tableOf(table![1]!, rows))
}

it.each([
  ["strategies/sliding-window", ofStrategy("sliding-window")],
  ["strategies/rounds", ofStrategy("rounds")],
  ["strategies/split-turn", ofStrategy("split-turn")],
  ["strategies/rolling-buffer", ofStrategy("rolling-buffer")],
  ["strategies/break-even", ofStrategy("break-even")],
  ["engine/layers", ofGroup(layersOptions)],
  ["programs/memfold", ofGroup(Memory.compactionOptions)],
])("the table of options of %s", async (folder, rows) => {
  const path = fileURLToPath(new URL(`../../../${folder}/README.md`, import.meta.url))
  await expect(withTable(readFileSync(path, "utf8"), rows)).toMatchFileSnapshot(path)
})

const root = fileURLToPath(new URL("../../../..", import.meta.url))

const filesIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (!entry.isDirectory()) return [path]
    return /^(node_modules|dist|\..*)$/u.test(entry.name) ? [] : filesIn(path)
  })

/** The paragraphs of all sources and documents: a row of a table is one, and a list in a declaration. */
const paragraphs = [...filesIn("packages"), ...filesIn("docs"), "README.md"]
  .filter((path) => /\.md$|\/src\/.*\.tsx?$/u.test(path) && !/CHANGELOG\.md$|\.test\.tsx?$/u.test(path))
  .flatMap((path) =>
    readFileSync(join(root, path), "utf8")
      .split(path.endsWith(".md") ? "\n" : /\n *\*?\/?\n/u)
      .map((text) => ({ path, text })),
  )

it.each([
  ["stores", ["sqlite:PATH", "redis://HOST"], storeForms],
  ["queues", ["redis://HOST", "worker-bullmq"], queueForms],
] as const)("who lists the %s lists all of them", (_what, signs, forms) => {
  const lists = paragraphs.filter(({ text }) => signs.every((sign) => text.includes(sign)))
  expect(lists.length).toBeGreaterThan(1)
  expect(
    lists.flatMap(({ path, text }) =>
      forms.filter((form) => !text.includes(form)).map((form) => `${path} misses ${form}`),
    ),
  ).toEqual([])
})

/** The names that a group of options has, as the error for another name lists them. */
const namesIn = (given: object): ReadonlyArray<string> => {
  try {
    createMemory({ store: "memory:", ...given } as never)
    return []
  } catch (error) {
    return /one of the options: (.*)/u.exec(String(error))?.[1]?.split(", ") ?? []
  }
}

it.each([
  ["createMemory", { nonsense: 1 }],
  ["compaction", { compaction: { nonsense: 1 } }],
  ["recall", { recall: { nonsense: 1 } }],
])("the README has a row for each option of %s", (_name, given) => {
  const readme = readFileSync(join(root, "packages/programs/memfold/README.md"), "utf8")
  const rows = new Set([...readme.matchAll(/^\| `(\w+)`/gmu)].map(([, name]) => name))
  const names = namesIn(given)
  expect(names.length).toBeGreaterThan(3)
  expect(names.filter((name) => !rows.has(name))).toEqual([])
})

/** Calls of operations within the sentences of documents, with the names of the options that they are given. */
const calls = paragraphs
  .filter(({ path }) => path.endsWith(".md") && !path.startsWith("docs/decisions/"))
  .flatMap(({ path, text }) =>
    [...text.matchAll(/`(?:await )?(?:memory\.)?(\w+)\(([^`]*?)\{ ([^`{}]+?) \}\)/gu)].flatMap(
      ([call, name = "", , names = ""]) => {
        const { options } = Memory.operations[name as Memory.OperationName] ?? {}
        return options === undefined
          ? []
          : [
              {
                path,
                call,
                name,
                options: names.split(", ").map((one) => /^\w+/u.exec(one)?.[0] ?? one),
                at: options.at,
              },
            ]
      },
    ),
  )

it("a call in a sentence names options that it takes", async () => {
  expect(calls.length).toBeGreaterThan(40)
  const memory = createMemory({ store: "memory:" }) as unknown as Record<
    string,
    (...given: ReadonlyArray<unknown>) => unknown
  >
  const refused = await Promise.all(
    calls.map(async ({ path, call, name, options, at }) => {
      const given = Array.from({ length: at + 1 }, (_, index) =>
        index === at ? Object.fromEntries(options.map((option) => [option, undefined])) : undefined,
      )
      const error = await (async () => memory[name]!(...given))().then(() => null, String)
      return error?.includes("There is no option") === true ? [`${path}: ${call}: ${error}`] : []
    }),
  )
  await memory["close"]!()
  expect(refused.flat()).toEqual([])
})
