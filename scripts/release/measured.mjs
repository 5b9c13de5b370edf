/** What was measured of a release, `measured.json`, and the tables of docs/runtimes.md, which are made of it. */
import { execFileSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../setup.mjs"

const file = join(root, "scripts/release/measured.json")
const page = join(root, "docs/runtimes.md")
const runtimes = join(root, "scripts/runtimes/package.json")

/** The libraries whose versions the table has. */
export const libraries = ["ai", "langchain", "@openai/agents", "@mastra/core", "@effect/ai", "openai"]

/** What `--runtimes` and `--installs` have measured. */
export const measured = () => JSON.parse(readFileSync(file, "utf8"))

const table = (head, rows) =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n")

const titleOf = (name) =>
  name.startsWith("node-") ? `Node ${name.slice(5)}` : name === "bun" ? "Bun" : "Deno"

/** The rows of the runtimes that `scripts/runtimes/package.json` names; what was not run with that version is not in the table. */
const runtimesTable = (rows) => {
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync(runtimes, "utf8"))
  const names = Object.keys({ ...dependencies, ...optionalDependencies })
  const order = ["node-20", "node-22", "node-24", "node-26", "bun", "deno"]
  const specs = { ...dependencies, ...optionalDependencies }
  return table(
    ["runtime", "first blocks run", "not", ...libraries.map((name) => `\`${name}\``)],
    names
      .toSorted((one, other) => order.indexOf(one) - order.indexOf(other))
      .map((name) => {
        const version = specs[name].slice(specs[name].lastIndexOf("@") + 1)
        const row = rows.find((one) => one.name === name && one.version === version)
        if (row === undefined)
          return [`${titleOf(name)} (${version})`, "not measured", "", ...libraries.map(() => "")]
        return [
          `${titleOf(name)} (${version})`,
          `${row.of - row.failed.length} of ${row.of}`,
          row.failed.map((one) => `\`${one}\``).join(", ") || "none",
          ...libraries.map((library) => row.libraries[library]),
        ]
      }),
  )
}

const installsTable = (rows) => {
  const cell = ({ packages, megabytes, seconds }, unit) =>
    `${packages}, ${megabytes} MB, ${(seconds / unit.seconds).toFixed(1)}×`
  const [unit] = rows
  return table(
    ["install", "npm", "pnpm"],
    rows.map(({ names, npm, pnpm }) => [
      `\`${names.join(" ")}\``,
      cell(npm, unit.npm),
      cell(pnpm, unit.pnpm),
    ]),
  )
}

/** The tables, by the names of the comments that they stand between. */
export const tables = () => {
  const { runtimes: rows, installs } = measured()
  return { runtimes: runtimesTable(rows), installs: installsTable(installs) }
}

const keep = (change) => {
  writeFileSync(file, `${JSON.stringify({ ...measured(), ...change }, null, 2)}\n`)
  for (const [name, text] of Object.entries(tables())) {
    const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
    const before = readFileSync(page, "utf8")
    const at = before.indexOf(begin)
    if (at < 0) throw new Error(`docs/runtimes.md has no ${begin}`)
    writeFileSync(page, `${before.slice(0, at)}${begin}\n\n${text}\n\n${before.slice(before.indexOf(end))}`)
  }
  execFileSync(join(root, "node_modules/.bin/oxfmt"), [file, page], { stdio: "ignore" })
}

/** Keeps what installations brought, as `weigh` has it. */
export const keepInstalls = (installs) => keep({ installs })

/** Keeps what a runtime ran, in the place of its row. */
export const keepRuntime = (row) =>
  keep({ runtimes: [...measured().runtimes.filter(({ name }) => name !== row.name), row] })
