/**
 * `npm run simulate [-- --seeds N --from SEED | --seed SEED]`: sets up what is missing and runs the deterministic
 * simulation of the engine, from its sources, bundled into one program.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { bundle } from "./bundle.mjs"
import { run, setup } from "./setup.mjs"

await setup()
const outDir = mkdtempSync(join(tmpdir(), "memfold-simulate-"))
const program = await bundle("packages/core/test/simulation/main.ts", { outDir, name: "simulate" })
process.exitCode = await run(process.execPath, ["--enable-source-maps", program, ...process.argv.slice(2)], {
  stdio: "inherit",
  shell: false,
})
rmSync(outDir, { recursive: true, force: true })
