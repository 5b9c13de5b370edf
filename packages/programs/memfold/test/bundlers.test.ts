/**
 * The published package in the bundles of others: for Node, where nothing that is optional is installed, and for a browser and edge
 * runtimes, which have no modules of Node.
 */
import { nodeResolve } from "@rollup/plugin-node-resolve"
import * as esbuild from "esbuild"
import { deep } from "@memfold/harness/depth"
import { inFolder, programAt } from "@memfold/harness/program"
import { runtimes } from "@memfold/harness/runtimes"
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { runInNewContext } from "node:vm"
import { gzipSync } from "node:zlib"
import { rollup } from "rollup"
import { build } from "vite"
import { afterAll, describe, expect, it } from "vitest"
import webpack from "webpack"

const root = fileURLToPath(new URL("..", import.meta.url))
const { folder } = inFolder("bundlers")

/** What is bundled, and into which file. */
interface Job {
  readonly entry: string
  readonly file: string
  /** What runs the bundle: Node, or a browser and an edge runtime by their conditions. */
  readonly conditions: ReadonlyArray<string>
  readonly isNode: boolean
  readonly format: "esm" | "cjs" | "script"
}

/** Bundles, and gives what the bundler warns of. A bundle in the form of a script has its exports in `main`. */
type Bundler = (job: Job) => Promise<ReadonlyArray<string>>

const ofEsbuild: Bundler = async ({ entry, file, conditions, isNode, format }) => {
  const { warnings } = await esbuild.build({
    entryPoints: [entry],
    outfile: file,
    bundle: true,
    minify: !isNode,
    platform: isNode ? "node" : "browser",
    // As its users have it: esbuild knows what a browser asks for.
    ...(isNode || conditions.includes("browser") ? {} : { conditions: [...conditions] }),
    format: format === "script" ? "iife" : format,
    globalName: "main",
    logLevel: "silent",
  })
  return warnings.map(({ text }) => text)
}

const ofWebpack: Bundler = async ({ entry, file, conditions, isNode, format }) => {
  const compiler = webpack({
    mode: isNode ? "none" : "production",
    target: isNode ? "node20" : "web",
    entry,
    experiments: { outputModule: format === "esm" },
    output: {
      path: dirname(file),
      filename: file.slice(dirname(file).length + 1),
      library:
        format === "script"
          ? { name: "main", type: "var" }
          : { type: format === "esm" ? "module" : "commonjs2" },
    },
    performance: false,
    // Which takes it a minute.
    optimization: { minimize: false },
    ...(isNode ? {} : { resolve: { conditionNames: [...conditions, "import", "default"] } }),
  })
  const stats = await promisify(compiler.run.bind(compiler))()
  const { errors = [], warnings = [] } = stats?.toJson() ?? {}
  if (errors.length > 0) throw new Error(errors.map(({ message }) => message).join("\n"))
  return warnings.map(({ message }) => message)
}

const ofRollup: Bundler = async ({ entry, file, conditions, isNode, format }) => {
  const warnings: Array<string> = []
  const bundle = await rollup({
    input: entry,
    plugins: [nodeResolve({ exportConditions: isNode ? ["node"] : [...conditions], preferBuiltins: isNode })],
    onwarn: ({ message }) => void warnings.push(message),
  })
  await bundle.write({
    file,
    format: format === "script" ? "iife" : format,
    name: "main",
    exports: "named",
    inlineDynamicImports: true,
  })
  // It says this of libraries, and goes on.
  return warnings.filter((warning) => !warning.startsWith("Circular dependency"))
}

const ofVite: Bundler = async ({ entry, file, conditions, isNode, format }) => {
  await build({
    configFile: false,
    logLevel: "silent",
    ...(isNode
      ? { ssr: { noExternal: true } }
      : { resolve: { conditions: [...conditions, "import", "default"] } }),
    build: {
      outDir: dirname(file),
      emptyOutDir: false,
      minify: !isNode,
      ...(isNode
        ? { ssr: entry }
        : {
            lib: {
              entry,
              formats: ["iife" as const],
              name: "main",
              fileName: () => file.slice(dirname(file).length + 1),
            },
          }),
      rolldownOptions: {
        platform: isNode ? "node" : "browser",
        ...(isNode
          ? {
              output: {
                format: format === "cjs" ? "cjs" : "es",
                entryFileNames: file.slice(dirname(file).length + 1),
              },
            }
          : {}),
      },
    },
  })
  return []
}

const bundlers = { esbuild: ofEsbuild, webpack: ofWebpack, rollup: ofRollup, vite: ofVite }
const names = Object.keys(bundlers) as ReadonlyArray<keyof typeof bundlers>

// Nothing else is installed.
const installed = join(folder, "app/node_modules/memfold")
for (const part of ["package.json", "dist"])
  cpSync(join(root, part), join(installed, part), { recursive: true })

describe("a bundle for Node", () => {
  const entry = join(folder, "app/main.mjs")
  writeFileSync(
    entry,
    `import { createMemory } from "memfold"
    const of = async (options) => {
      const memory = createMemory(options)
      try {
        await memory.append("s", { role: "user", content: "Hello" })
        return (await memory.context("s")).messages[0].content
      } catch (error) {
        return error.name + " " + (error.package ?? error.message)
      } finally {
        await memory.close()
      }
    }
    const main = async () => {
      const said = [await of({ store: "memory:" }), await of({ store: "sqlite:bundled.db" })]
      said.push(await of({ store: "libsql://127.0.0.1:1" }))
      said.push(await of({ store: "memory:", queue: "redis://127.0.0.1:1", compaction: { mode: "dispatch" } }))
      console.log(JSON.stringify(said))
    }
    export const done = main()`,
  )

  // In a quick run, two bundlers write CommonJS, and the others modules.
  const formatsOf = (name: string) =>
    deep
      ? (["esm", "cjs"] as const)
      : name === "esbuild" || name === "vite"
        ? (["cjs"] as const)
        : (["esm"] as const)
  it.each(names.flatMap((name) => formatsOf(name).map((format) => ({ name, format }))))(
    "of $name, $format, needs nothing that is not installed, and says what is missing where it is used",
    async ({ name, format }) => {
      const cwd = join(folder, `${name}-${format}`)
      mkdirSync(cwd)
      const file = join(cwd, format === "esm" ? "main.mjs" : "main.cjs")
      const warnings = await bundlers[name]({ entry, file, conditions: [], isNode: true, format })
      // A bundle of CommonJS has no address of its own; the package knows that.
      expect(warnings.filter((warning) => !warning.includes("import.meta"))).toEqual([])
      const newest = runtimes.find((runtime) => runtime.name === "node-24") ?? runtimes[0]!
      expect(await programAt(file, cwd, newest.command())()).toMatchObject({
        code: 0,
        out: `${JSON.stringify([
          "Hello",
          "Hello",
          "MissingPackage @memfold/store-libsql",
          "MissingPackage @memfold/worker-bullmq",
        ])}\n`,
      })
    },
  )
})

/** The sizes of the bundles for a browser and for edge runtimes. */
const sizes: Record<string, number> = {}
afterAll(() => {
  const list = Object.entries(sizes).map(([name, size]) => `${name} ${Math.round(size / 1_000)}`)
  console.log(`createMemory for a browser, kB gzip: ${list.join(", ")}`)
})

// Without process, Buffer and modules of Node: a program that needs one of them fails.
describe("a bundle without modules of Node", () => {
  const alone = join(folder, "app/browser.mjs")
  const program = readFileSync(join(root, "test/browser.main.js"), "utf8")
  // A store of one's own takes Effect from its own package: one bundler tries that as well.
  writeFileSync(
    alone,
    program.replace(/^import .*core"$/mu, "").replace("InMemoryEventLog.layer", '"memory:"'),
  )
  const entries: Partial<Record<string, string>> = { vite: join(root, "test/browser.main.js") }

  const targets = [["browser"], ["workerd", "worker", "browser"], ["edge-light"]]
  // A quick run has the slow one bundle for Node alone.
  const tried = names
    .filter((name) => deep || name !== "rollup")
    .flatMap((name) => targets.map((conditions) => ({ name, conditions })))
  it.each(tried)("of $name for $conditions.0 runs", async ({ name, conditions }) => {
    const file = join(folder, `${name}-${conditions[0]}.js`)
    const warnings = await bundlers[name]({
      entry: entries[name] ?? alone,
      file,
      conditions,
      isNode: false,
      format: "script",
    })
    expect(warnings).toEqual([])
    const code = readFileSync(file, "utf8")
    expect(code).not.toMatch(/require\(|from"node:|import\("node:/u)
    const { main } = runInNewContext(`${code};({ main })`, {
      console,
      setTimeout,
      clearTimeout,
      setInterval,
      clearInterval,
      queueMicrotask,
      performance,
      crypto,
      TextEncoder,
      TextDecoder,
      AbortController,
      structuredClone,
      URL,
    }) as { readonly main: { readonly default: Promise<unknown> } | Promise<unknown> }
    const answered = await ("default" in main ? main.default : main)
    expect(JSON.parse(JSON.stringify(answered))).toEqual({
      contexts: [1, 2].map(() => [
        { role: "user", content: "Hello" },
        { role: "assistant", content: "Hi" },
      ]),
      refused: ["memory:"],
    })
    const size = gzipSync(code).length
    sizes[`${name} ${conditions[0]}`] = size
    // The others minify by a plugin, or in minutes.
    if (name === "esbuild" || name === "vite") expect(size).toBeLessThan(330_000)
  })
})
