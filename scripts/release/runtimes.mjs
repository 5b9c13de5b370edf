/**
 * Runs the first block of each README by each runtime, with the versions of libraries that npm chooses for it. Each row is kept as
 * soon as it is known.
 */
import { readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { installedRuntimes, requireRuntimes } from "../runtimes.mjs"
import { projectFor, runAll } from "./consumer.mjs"
import { keepRuntime, libraries } from "./measured.mjs"

const versionIn = (folder, library) =>
  JSON.parse(readFileSync(join(folder, "node_modules", library, "package.json"), "utf8")).version

const isNode = ({ name }) => name.startsWith("node-")

/** Runs everything by the runtimes of these names; by all without names. Returns what failed. */
export const tryRuntimes = async (parent, registry, names, say) => {
  const wanted = new Set(requireRuntimes(names).map(({ name }) => name))
  const all = installedRuntimes()
  const failures = []
  for (const node of all.filter(isNode)) {
    // Bun and Deno have no versions of libraries of their own: they run what is installed for Node 24.
    const own = node.name === "node-24" ? [node, ...all.filter((one) => !isNode(one))] : [node]
    const runs = own.filter(({ name }) => wanted.has(name))
    if (runs.length === 0) continue
    const folder = join(parent, node.name)
    rmSync(folder, { recursive: true, force: true })
    say(`installs with the npm of ${node.name}`)
    projectFor(folder, registry, node)
    for (const { name, version, program } of runs) {
      const ran = await runAll(folder, [program, ...(name === "deno" ? ["run", "--allow-all"] : [])])
      const failed = ran.filter(({ failure }) => failure !== null)
      say(`${name} ${version}: ${ran.length - failed.length} of ${ran.length} first blocks run`)
      failures.push(...failed.map((one) => `${name}: ${one.name}\n${one.failure}`))
      keepRuntime({
        name,
        version,
        of: ran.length,
        failed: failed.map((one) => one.name),
        libraries: Object.fromEntries(libraries.map((library) => [library, versionIn(folder, library)])),
      })
    }
    rmSync(folder, { recursive: true, force: true })
  }
  return failures
}
