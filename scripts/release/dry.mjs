/**
 * `npm run release:dry`: a release without its registry. In a copy of the work tree, it sets the versions, builds and packs;
 * publishes to a registry on this machine; installs from there into empty projects, and runs the READMEs' first blocks. With
 * `--runtimes` or `--installs`, makes the tables of docs/runtimes.md instead.
 */
import { spawnSync } from "node:child_process"
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { root } from "../setup.mjs"
import { tryAll, weigh } from "./consumer.mjs"
import { packages } from "./packages.mjs"
import { startRegistry } from "./registry.mjs"
import { tryRuntimes, writeInstalls } from "./runtimes.mjs"

const say = (text) => process.stdout.write(`${text}\n`)
const workspace = mkdtempSync(join(tmpdir(), "memfold-release-"))
const copy = join(workspace, "copy")

const must = (command, args, options = {}) => {
  const { status } = spawnSync(command, args, {
    cwd: copy,
    stdio: ["ignore", "ignore", "inherit"],
    ...options,
  })
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${status}`)
}
const pnpm = (...args) => must("npx", ["--yes", "pnpm@12.21.0", ...args])

/** Copies the files of the work tree, committed or not. */
const copyTree = () => {
  const { stdout } = spawnSync("git", ["ls-files", "-co", "--exclude-standard", "-z"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 1e8,
  })
  for (const file of stdout.split("\0").filter((name) => name !== "" && existsSync(join(root, name)))) {
    mkdirSync(dirname(join(copy, file)), { recursive: true })
    copyFileSync(join(root, file), join(copy, file))
  }
  // Changesets asks Git for the commit of each change.
  const git = ["-c", "user.name=release", "-c", "user.email=release@localhost"]
  must("git", ["init", "--quiet", "--initial-branch=main"])
  must("git", ["add", "--all"])
  must("git", [...git, "commit", "--quiet", "--message", "A release"])
}

/** The size budgets, in kB: of the tarball, and unpacked. */
const checkSizes = () => {
  const budgets = JSON.parse(readFileSync(join(root, "scripts/release/budgets.json"), "utf8"))
  const measured = packages.map(({ folder, manifest: { name } }) => {
    const { stdout } = spawnSync("npm", ["pack", "--dry-run", "--json"], {
      cwd: join(copy, folder),
      encoding: "utf8",
    })
    const [packed] = Object.values(JSON.parse(stdout))
    return [name, { tarball: Math.ceil(packed.size / 1e3), unpacked: Math.ceil(packed.unpackedSize / 1e3) }]
  })
  if (process.argv.includes("--write-budgets")) {
    const spare = (kilobytes) => Math.ceil(kilobytes * 1.1)
    const written = measured.map(([name, { tarball, unpacked }]) => [
      name,
      { tarball: spare(tarball), unpacked: spare(unpacked) },
    ])
    writeFileSync(
      join(root, "scripts/release/budgets.json"),
      `${JSON.stringify(Object.fromEntries(written), null, 2)}\n`,
    )
    return []
  }
  return measured.flatMap(([name, sizes]) =>
    ["tarball", "unpacked"].flatMap((kind) =>
      sizes[kind] <= (budgets[name]?.[kind] ?? 0)
        ? []
        : [
            `${name}: ${kind} ${sizes[kind]} kB, budget ${budgets[name]?.[kind] ?? "missing"} kB (scripts/release/budgets.json)`,
          ],
    ),
  )
}

/** What the installation of each store brings. */
const weighAll = (url) =>
  [
    ["effect@3"],
    ["memfold"],
    ["memfold", "better-sqlite3"],
    ["memfold", "@memfold/store-libsql"],
    ["memfold", "@memfold/store-cloudflare"],
    ["@memfold/core", "effect@3"],
    ["@memfold/store-sqlite", "effect@3"],
    ["@memfold/store-redis", "effect@3"],
    ["@memfold/store-postgres", "effect@3"],
  ].map((names) => {
    const [npm, pnpm] = ["npm", "pnpm"].map((manager) => weigh(workspace, manager, url, names))
    for (const [manager, { packages: count, megabytes, seconds }] of Object.entries({ npm, pnpm }))
      say(`${manager} ${names.join(" ")}: ${count} packages, ${megabytes} MB, ${seconds.toFixed(1)} s`)
    return { names, npm, pnpm }
  })

let registry
const failures = []
try {
  say(`copies the work tree to ${copy}`)
  copyTree()
  pnpm("install", "--frozen-lockfile")
  must(join(copy, "node_modules/.bin/changeset"), ["version"])
  say(
    `memfold ${JSON.parse(readFileSync(join(copy, "packages/memfold/package.json"), "utf8")).version}: builds`,
  )
  must(join(copy, "node_modules/.bin/turbo"), ["run", "build"], {
    env: {
      ...process.env,
      PATH: `${join(copy, "node_modules/.bin")}:${process.env.PATH}`,
      TURBO_TELEMETRY_DISABLED: "1",
    },
  })
  failures.push(...checkSizes())
  registry = await startRegistry(join(workspace, "registry"))
  // Anyone may publish there, but the client asks for a token.
  writeFileSync(
    join(copy, ".npmrc"),
    `registry=${registry.url}\n//${new URL(registry.url).host}/:_authToken=none\n`,
  )
  pnpm("publish", "--recursive", "--no-git-checks", "--registry", registry.url)
  say(`published ${readdirSync(join(workspace, "registry/storage/@memfold")).length + 1} packages`)
  const asked = (name) => process.argv.includes(name)
  if (asked("--runtimes")) failures.push(...tryRuntimes(workspace, registry.url, say))
  if (asked("--installs")) writeInstalls(weighAll(registry.url))
  if (!asked("--runtimes") && !asked("--installs")) {
    weighAll(registry.url)
    for (const manager of ["npm", "pnpm"])
      try {
        failures.push(...tryAll(join(workspace, manager), manager, registry.url, say))
      } catch (error) {
        // The other package manager is tried all the same.
        failures.push(error.message)
      }
  }
} finally {
  registry?.stop()
  if (process.argv.includes("--keep")) say(`kept: ${workspace}`)
  else rmSync(workspace, { recursive: true, force: true })
}
for (const failure of failures) say(failure)
say(failures.length === 0 ? "the release can be made" : `${failures.length} failures`)
process.exitCode = failures.length === 0 ? 0 : 1
