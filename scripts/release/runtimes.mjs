/**
 * The tables of docs/runtimes.md. `npm run release:dry -- --runtimes` runs the first block of each README by each runtime, with the
 * versions of libraries that npm chooses for it; `npm run release:dry -- --installs` weighs installations.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { installedRuntimes, installRuntimes } from "../runtimes.mjs"
import { root } from "../setup.mjs"
import { projectFor, runAll } from "./consumer.mjs"

const page = join(root, "docs/runtimes.md")

/** The libraries whose versions the table has. */
const libraries = ["ai", "langchain", "@openai/agents", "@mastra/core", "@effect/ai", "openai"]

const titleOf = ({ name, version }) =>
  `${name.startsWith("node-") ? "Node" : name === "bun" ? "Bun" : "Deno"} ${version}`

const versionIn = (folder, library) =>
  JSON.parse(readFileSync(join(folder, "node_modules", library, "package.json"), "utf8")).version

const table = (head, rows) =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n")

/** Puts a table between the comments of its name on the page. */
const put = (name, text) => {
  const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
  const before = readFileSync(page, "utf8")
  const at = before.indexOf(begin)
  if (at < 0) throw new Error(`docs/runtimes.md has no ${begin}`)
  writeFileSync(page, `${before.slice(0, at)}${begin}\n\n${text}\n\n${before.slice(before.indexOf(end))}`)
}

/** Writes what was installed, as `weigh` has it. */
export const writeInstalls = (rows) => {
  const cell = ({ packages, megabytes, seconds }, unit) =>
    `${packages}, ${megabytes} MB, ${(seconds / unit.seconds).toFixed(1)}×`
  const [unit] = rows
  put(
    "installs",
    table(
      ["install", "npm", "pnpm"],
      rows.map(({ names, npm, pnpm }) => [
        `\`${names.join(" ")}\``,
        cell(npm, unit.npm),
        cell(pnpm, unit.pnpm),
      ]),
    ),
  )
}

/** Runs everything, and writes the table. Returns what failed that can run there. */
export const tryRuntimes = (parent, registry, say) => {
  installRuntimes({ all: true })
  const runtimes = installedRuntimes().toSorted((one, other) => (titleOf(one) < titleOf(other) ? 1 : -1))
  const isNode = ({ name }) => name.startsWith("node-")
  const newest = runtimes.find(({ name }) => name === "node-24")
  const failures = []
  const rows = []
  for (const node of runtimes.filter(isNode)) {
    const folder = join(parent, node.name)
    projectFor(folder, registry, node)
    // Bun and Deno have no versions of libraries of their own.
    for (const runtime of node === newest ? [node, ...runtimes.filter((one) => !isNode(one))] : [node]) {
      const command = [runtime.program, ...(runtime.name === "deno" ? ["run", "--allow-all"] : [])]
      const ran = runAll(folder, command)
      const failed = ran.filter(({ failure }) => failure !== null)
      say(`${titleOf(runtime)}: ${ran.length - failed.length} of ${ran.length} first blocks run`)
      failures.push(...failed.map(({ name, failure }) => `${titleOf(runtime)}: ${name}\n${failure}`))
      rows.push([
        titleOf(runtime),
        `${ran.length - failed.length} of ${ran.length}`,
        failed.map(({ name }) => `\`${name}\``).join(", ") || "none",
        ...libraries.map((library) => versionIn(folder, library)),
      ])
    }
    rmSync(folder, { recursive: true, force: true })
  }
  const order = (title) => `${title.startsWith("Node") ? 0 : 1}${title}`
  rows.sort((one, other) => (order(one[0]) < order(other[0]) ? -1 : 1))
  const names = libraries.map((library) => `\`${library}\``)
  put("runtimes", table(["runtime", "first blocks run", "not", ...names], rows))
  return failures
}
