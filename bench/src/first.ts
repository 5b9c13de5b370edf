/**
 * The way of somebody new: from an empty folder and the URL of a PostgreSQL server to the first context. The packages are packed as they
 * are built here; npm installs them and what they need, from its cache where it has that. Then a program of five lines runs, twice:
 * the first time creates the tables.
 */
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { packages } from "../../scripts/release/packages.mjs"
import { withServer } from "./load/server.js"

const root = fileURLToPath(new URL("../..", import.meta.url))

const program = `import { createMemory } from "memfold"
const memory = createMemory({ store: process.env.DATABASE_URL })
await memory.append("chat-1", [{ role: "user", content: "Where is my order?" }])
console.log((await memory.context("chat-1")).messages.at(-1).content)
await memory.close()
`

/** Runs a command in a folder, and answers with what it printed and how many seconds it took. */
const timed = (
  folder: string,
  command: string,
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>> = {},
) => {
  const began = performance.now()
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd: folder,
    encoding: "utf8",
    env: { ...process.env, ...env },
  })
  if (status !== 0)
    throw new Error(`${command} ${args[0]} ended with ${status}: ${error?.message ?? stderr}${stdout}`)
  return { out: stdout.trim(), seconds: (performance.now() - began) / 1_000 }
}

/** A package, and the packages of this repository that it depends on. */
const closureOf = (name: string, known = new Set<string>()): ReadonlySet<string> => {
  const manifest = packages.find((one) => one.manifest.name === name)?.manifest
  if (manifest === undefined || known.has(name)) return known
  known.add(name)
  for (const dependency of Object.keys(manifest.dependencies ?? {})) closureOf(dependency, known)
  return known
}

/** Packs `memfold` and what it depends on; answers with the paths of the tarballs. */
const pack = (folder: string): ReadonlyArray<string> =>
  [...closureOf("memfold")].map((name) => {
    const file = join(folder, `${name.replace("@", "").replace("/", "-")}.tgz`)
    const source = packages.find(({ manifest }) => manifest.name === name)?.folder ?? ""
    timed(join(root, source), join(root, "node_modules/pnpm/pnpm"), ["pack", "--out", file])
    return file
  })

const line = (what: string, seconds: number): void =>
  console.log(`  ${what.padEnd(60)}${seconds.toFixed(1).padStart(6)} s`)

/** Measures with the server that a URL names, and prints; whether the program printed what it had appended. */
const measured = (url: string): boolean => {
  const folder = mkdtempSync(join(tmpdir(), "memfold-first-"))
  try {
    const [packed, project] = [join(folder, "packed"), join(folder, "project")]
    for (const one of [packed, project]) mkdirSync(one)
    const tarballs = pack(packed)
    const install = timed(project, "npm", ["install", "--no-audit", "--no-fund", ...tarballs])
    writeFileSync(join(project, "first.mjs"), program)
    const env = { DATABASE_URL: url }
    const [first, second] = [1, 2].map(() => timed(project, process.execPath, ["first.mjs"], env))
    console.log("from an empty folder to the first context, on PostgreSQL")
    line(`npm install memfold (${tarballs.length} packages of this repository)`, install.seconds)
    line("a program of five lines, which creates the tables", first?.seconds ?? Number.NaN)
    line("together", install.seconds + (first?.seconds ?? Number.NaN))
    line("the program again", second?.seconds ?? Number.NaN)
    return [first, second].every((run) => run?.out === "Where is my order?")
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Measures and prints; whether the program printed what it had appended. */
export const firstContext = (): Promise<boolean> =>
  withServer("postgres", (url) => Promise.resolve(measured(url)))
