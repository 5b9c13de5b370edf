/**
 * `npm run release:dry`: a release without its registry. It makes the tarballs, publishes them to a registry on this machine, installs
 * from there into empty projects with npm, pnpm and Bun, compiles the first block of each README, and runs it.
 *
 * - `--sizes`, `--npm`, `--pnpm`, `--bun`: only these parts. Without one, each that has not passed for this work tree
 * - `--runtimes`, or `--runtimes=node-24,bun`: runs the first blocks by each runtime, or by these
 * - `--pages`, or `--pages=openai`: follows the pages of `docs/start` as they are written, by npm and pnpm, with Node 20, 22 and 24
 * - `--hosts`, or `--hosts=next`: builds applications with Next.js, SvelteKit, Hono, Express, and a function like that of Lambda
 * - `--installs`: weighs installations
 * - `--fresh`: makes the tarballs anew, and does every part
 * - `--write-budgets`: writes the size budgets, a tenth above what is measured
 *
 * `--runtimes` and `--installs` write `measured.json`, and with it the tables of docs/runtimes.md.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { hasRuntimes, requireRuntimes } from "../runtimes.mjs"
import { root, setup } from "../setup.mjs"
import { tryAll, weigh } from "./consumer.mjs"
import { keepInstalls, measured } from "./measured.mjs"
import { tryHosts } from "./hosts.mjs"
import { tryPages } from "./pages.mjs"
import { cache, prepare } from "./prepare.mjs"
import { startRegistry } from "./registry.mjs"
import { tryRuntimes } from "./runtimes.mjs"

const began = performance.now()
const say = (text) => {
  const seconds = Math.round((performance.now() - began) / 1000)
  process.stdout.write(
    `${String(Math.floor(seconds / 60)).padStart(2)}:${String(seconds % 60).padStart(2, "0")}  ${text}\n`,
  )
}
const option = (name) => process.argv.find((one) => one === `--${name}` || one.startsWith(`--${name}=`))

/** Compares the sizes of the tarballs with their budgets, in kB. */
const checkSizes = (tarballs) => {
  const file = join(root, "scripts/release/budgets.json")
  if (option("write-budgets") !== undefined) {
    const spare = (kilobytes) => Math.ceil(kilobytes * 1.1)
    const written = tarballs.map(({ name, sizes: { tarball, unpacked } }) => [
      name,
      { tarball: spare(tarball), unpacked: spare(unpacked) },
    ])
    writeFileSync(file, `${JSON.stringify(Object.fromEntries(written), null, 2)}\n`)
  }
  const budgets = JSON.parse(readFileSync(file, "utf8"))
  return tarballs.flatMap(({ name, sizes }) =>
    ["tarball", "unpacked"].flatMap((kind) =>
      sizes[kind] <= (budgets[name]?.[kind] ?? 0)
        ? []
        : [
            `${name}: ${kind} ${sizes[kind]} kB, budget ${budgets[name]?.[kind] ?? "missing"} kB (scripts/release/budgets.json)`,
          ],
    ),
  )
}

/** The installations of the table: one for each store. */
const installations = [
  ["effect@3"],
  ["memfold"],
  ["memfold", "better-sqlite3"],
  ["memfold", "@memfold/store-libsql"],
  ["memfold", "@memfold/store-cloudflare"],
  ["@memfold/core", "effect@3"],
  ["@memfold/store-sqlite", "effect@3"],
  ["@memfold/store-redis", "effect@3"],
  ["@memfold/store-postgres", "effect@3"],
]

const weighAll = (folder, url) => {
  keepInstalls(
    installations.map((names) => {
      const [npm, pnpm] = ["npm", "pnpm"].map((manager) => weigh(folder, manager, url, names))
      for (const [manager, { packages: count, megabytes, seconds }] of Object.entries({ npm, pnpm }))
        say(`${manager} ${names.join(" ")}: ${count} packages, ${megabytes} MB, ${seconds.toFixed(1)} s`)
      return { names, npm, pnpm }
    }),
  )
  return []
}

/**
 * Compares the usual installation with the table: libraries have new versions, so it may have 3 packages and a tenth of its size
 * more. Times are not compared.
 */
const checkInstall = (folder, url) => {
  const before = measured().installs.find(({ names }) => names.join(" ") === "memfold")?.npm
  const now = weigh(folder, "npm", url, ["memfold"], { times: 1 })
  say(`npm memfold: ${now.packages} packages, ${now.megabytes} MB`)
  return before !== undefined &&
    now.packages <= before.packages + 3 &&
    now.megabytes <= before.megabytes * 1.1
    ? []
    : [
        `npm memfold: ${now.packages} packages, ${now.megabytes} MB; docs/runtimes.md has ${before?.packages}, ${before?.megabytes} MB. If that is meant: npm run release:dry -- --installs`,
      ]
}

await setup()
let registry
const failures = []
try {
  const release = prepare(say, { fresh: option("fresh") !== undefined })
  const { folder, version, tarballs } = release
  registry = await startRegistry(join(cache, "registry"), release)
  say(`memfold ${version} is published: ${tarballs.length} packages`)
  const { url } = registry
  const tried = (manager, program) => {
    const project = join(folder, manager)
    rmSync(project, { recursive: true, force: true })
    return tryAll(project, { manager, program, registry: url, version }, say)
  }
  const parts = {
    sizes: () => [...checkSizes(tarballs), ...checkInstall(folder, url)],
    npm: () => tried("npm"),
    pnpm: () => tried("pnpm"),
    bun: () => {
      if (hasRuntimes) return tried("bun", requireRuntimes(["bun"])[0].program)
      say("bun: left out, npm has programs of it for Linux on x64 alone")
      return []
    },
  }
  const further = {
    installs: () => weighAll(folder, url),
    hosts: () => tryHosts(folder, url, option("hosts")?.split("=")[1], say),
    pages: () => tryPages(folder, url, option("pages")?.split("=")[1], say),
    runtimes: () => tryRuntimes(folder, url, option("runtimes")?.split("=")[1]?.split(","), say),
  }
  const asked = Object.keys({ ...parts, ...further }).filter((name) => option(name) !== undefined)
  for (const name of asked.length > 0 ? asked : Object.keys(parts)) {
    const passed = join(folder, `${name}.passed`)
    if (asked.length === 0 && existsSync(passed)) {
      say(`${name}: has passed for this work tree (--${name} does it again)`)
      continue
    }
    say(`${name}: begins`)
    try {
      const found = await { ...parts, ...further }[name]()
      failures.push(...found)
      if (found.length === 0) writeFileSync(passed, "")
      say(`${name}: ${found.length === 0 ? "passed" : `${found.length} failures`}`)
    } catch (error) {
      // The other parts are tried all the same.
      failures.push(error.message)
      say(`${name}: failed`)
    }
  }
} finally {
  registry?.stop()
}
for (const failure of failures) process.stdout.write(`${failure}\n`)
say(failures.length === 0 ? "the release can be made" : `${failures.length} failures`)
process.exit(failures.length === 0 ? 0 : 1)
