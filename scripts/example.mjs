/**
 * `npm run example -- NAME`: sets up what is missing and runs the example of that name, from the sources, bundled into one
 * program. Without a name, it lists the examples.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { bundle } from "./bundle.mjs"
import { root, run, setup } from "./setup.mjs"

const folder = join(root, "examples")
const programOf = (name) => join("examples", name, "main.ts")
const names = readdirSync(folder).filter((name) => existsSync(join(root, programOf(name))))

/** The first sentence of an example's own description, behind its command. */
const about = (name) =>
  /`:\s*([^.]+\.)/u
    .exec(readFileSync(join(root, programOf(name)), "utf8").replaceAll(/\n \*/g, ""))?.[1]
    ?.replaceAll(/\s+/g, " ") ?? ""

const [name, ...args] = process.argv.slice(2)
if (name === undefined || !names.includes(name)) {
  if (name !== undefined) console.error(`There is no example "${name}".`)
  console.log("npm run example -- NAME\n")
  const width = Math.max(...names.map(({ length }) => length)) + 2
  for (const one of names) console.log(`  ${one.padEnd(width)}${about(one)}`)
  process.exitCode = name === undefined ? 0 : 1
} else {
  await setup()
  const outDir = mkdtempSync(join(tmpdir(), "memfold-example-"))
  try {
    // The native addon stays where it was installed.
    const sqlite = createRequire(join(root, "packages/programs/memfold/package.json")).resolve(
      "better-sqlite3",
    )
    const external = { "better-sqlite3": pathToFileURL(sqlite).href }
    const program = await bundle(programOf(name), { outDir, name, external })
    process.exitCode = await run(process.execPath, [program, ...args], { stdio: "inherit", shell: false })
  } finally {
    rmSync(outDir, { recursive: true, force: true })
  }
}
