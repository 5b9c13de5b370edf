/** Workers of `worker/`, as Miniflare runs them for the tests of a file. */
import { Miniflare } from "miniflare"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { build } from "vite"
import { afterAll } from "vitest"

/** Bundles a Worker, from the sources of the packages or as they are published, into one module. */
const bundle = async (name: string, outDir: string, fromSources: boolean): Promise<string> => {
  await build({
    configFile: false,
    logLevel: "warn",
    resolve: { conditions: [...(fromSources ? ["@memfold/source"] : []), "workerd", "import", "default"] },
    build: {
      outDir,
      emptyOutDir: false,
      minify: false,
      lib: {
        entry: fileURLToPath(new URL(`worker/${name}.mjs`, import.meta.url)),
        formats: ["es"],
        fileName: () => `${name}.mjs`,
      },
      rolldownOptions: { platform: "browser" },
    },
  })
  return join(outDir, `${name}.mjs`)
}

/** A Worker with a D1 database `DB` and a class of objects. It can be started again with what it has stored. */
export const workerOf = (
  name: string,
  objects: Record<string, string>,
  { fromSources = true } = {},
): (() => Promise<Miniflare>) => {
  const folder = mkdtempSync(join(tmpdir(), "memfold-worker-"))
  let running: Miniflare | undefined
  afterAll(async () => {
    await running?.dispose()
    rmSync(folder, { recursive: true, force: true })
  })
  return async () => {
    await running?.dispose()
    running = undefined
    const scriptPath = await bundle(name, folder, fromSources)
    running = new Miniflare({
      modules: true,
      rootPath: folder,
      modulesRoot: folder,
      scriptPath,
      compatibilityDate: "2025-11-01",
      d1Databases: ["DB"],
      d1Persist: join(folder, "d1"),
      durableObjects: Object.fromEntries(
        Object.entries(objects).map(([binding, className]) => [binding, { className, useSQLite: true }]),
      ),
      durableObjectsPersist: join(folder, "objects"),
    })
    await running.ready
    return running
  }
}
