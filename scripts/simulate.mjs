/**
 * `npm run simulate [-- --seeds N --from SEED | --seed SEED]`: sets up what is missing and runs the deterministic
 * simulation of the engine, from its sources, bundled into one program.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { root, run, setup } from "./setup.mjs"

await setup()
const outDir = mkdtempSync(join(tmpdir(), "memfold-simulate-"))
// Vite comes with Vitest.
const fromVitest = createRequire(createRequire(join(root, "package.json")).resolve("vitest"))
const { build } = await import(pathToFileURL(fromVitest.resolve("vite")).href)
await build({
  root,
  configFile: false,
  logLevel: "warn",
  ssr: { noExternal: true, resolve: { conditions: ["@memfold/source"] } },
  build: {
    ssr: join(root, "packages/core/test/simulation/main.ts"),
    outDir,
    emptyOutDir: false,
    sourcemap: true,
    rolldownOptions: { output: { entryFileNames: "simulate.mjs" } },
  },
})
process.exitCode = await run(
  process.execPath,
  ["--enable-source-maps", join(outDir, "simulate.mjs"), ...process.argv.slice(2)],
  { stdio: "inherit", shell: false },
)
rmSync(outDir, { recursive: true, force: true })
