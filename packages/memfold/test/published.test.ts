/** The package as it is published: a bundle, and a command line that is one, too. All they need is SQLite's driver. */
import { cpSync, readdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { describe, expect, it } from "vitest"
import { inFolder, lines, programAt, sample } from "@memfold/harness/program"

const root = fileURLToPath(new URL("..", import.meta.url))
const cli = fileURLToPath(new URL("../../cli", import.meta.url))
const { folder } = inFolder("published")

describe("the published program", () => {
  const modules = join(folder, "node_modules")
  const installed = join(modules, "memfold")
  for (const part of ["package.json", "bin", "dist"]) {
    cpSync(join(root, part), join(installed, part), { recursive: true })
  }
  for (const part of ["package.json", "dist", "samples"]) {
    cpSync(join(cli, part), join(modules, "@memfold/cli", part), { recursive: true })
  }
  symlinkSync(join(root, "node_modules/better-sqlite3"), join(modules, "better-sqlite3"), "junction")
  const memfold = programAt(join(installed, "bin/memfold.js"), folder)

  it("runs where nothing else is installed", async () => {
    const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      readonly version: string
    }
    expect(await memfold("--version")).toMatchObject({
      code: 0,
      out: expect.stringContaining(version),
      err: "",
    })
    const store = ["--store", "sqlite:a.db"]
    expect(await memfold("replay", sample("support-zh.jsonl"), ...store)).toMatchObject({ code: 0, err: "" })
    expect(lines((await memfold("sessions", ...store, "--json")).out)).toHaveLength(1)
  })

  it("has the threads of the lab in it", async () => {
    const call = ["lab", sample("support-zh.jsonl"), "--policy", "rounds", "--json", "--workers"]
    const [one, two] = [await memfold(...call, "1"), await memfold(...call, "2")]
    expect(two).toMatchObject({ code: 0, err: "" })
    expect(two).toEqual(one)
  })

  it("says in one line what to do where SQLite's driver was not built", async () => {
    const unbuilt = join(folder, "unbuilt")
    for (const name of ["memfold", "@memfold/cli"]) {
      cpSync(join(modules, name), join(unbuilt, "node_modules", name), { recursive: true })
    }
    const driver = realpathSync(join(root, "node_modules/better-sqlite3"))
    cpSync(join(driver, "lib"), join(unbuilt, "node_modules/better-sqlite3/lib"), { recursive: true })
    cpSync(join(driver, "package.json"), join(unbuilt, "node_modules/better-sqlite3/package.json"))
    for (const name of ["bindings", "file-uri-to-path"]) {
      const from = realpathSync(
        createRequire(join(driver, "package.json")).resolve(name === "bindings" ? name : "bindings"),
      )
      const path = name === "bindings" ? from : createRequire(from).resolve(name)
      cpSync(dirname(path), join(unbuilt, "node_modules", name), { recursive: true })
    }
    const program = programAt(join(unbuilt, "node_modules/memfold/bin/memfold.js"), unbuilt)
    const { code, err } = await program("replay", sample("support-zh.jsonl"), "--store", "sqlite:a.db")
    expect(code).not.toBe(0)
    expect(err).toContain("npm rebuild better-sqlite3")
    expect(err).toContain("pnpm approve-builds")
    expect(err.trim().split("\n")).toHaveLength(1)
  })

  it("can be imported where nothing else is installed, and takes a store of another copy of the packages", async () => {
    // The built core of the workspace, with an `effect` of its own.
    const core = pathToFileURL(join(root, "../core/dist/index.js"))
    writeFileSync(
      join(folder, "program.mjs"),
      `import { createMemory, InvalidInput } from "memfold"
      import { InMemoryEventLog } from ${JSON.stringify(core.href)}
      for (const store of ["sqlite:imported.db", InMemoryEventLog.layer]) {
        const memory = createMemory({ store })
        await memory.append("s", [{ role: "user", content: "Hello" }, { role: "assistant", content: "Hi" }])
        const { messages } = await memory.context("s")
        const error = await memory.append("", []).catch((thrown) => thrown)
        console.log(JSON.stringify(messages), error instanceof InvalidInput)
        await memory.close()
      }`,
    )
    const said = '[{"role":"user","content":"Hello"},{"role":"assistant","content":"Hi"}] true'
    expect(await programAt(join(folder, "program.mjs"), folder)()).toEqual({
      code: 0,
      out: `${said}\n${said}\n`,
      err: "",
    })
  })

  it("has the store in Redis in it", async () => {
    const { code, err } = await memfold("sessions", "--store", "redis://127.0.0.1:1?settings=unknown")
    expect(code).toBe(2)
    expect(err).toContain("a setting that is not known")
  })

  it("says what to install for the store in libSQL", async () => {
    const { code, err } = await memfold("sessions", "--store", "libsql://127.0.0.1:1?authToken=secret")
    expect(code).toBe(2)
    expect(err).toContain("npm install @memfold/store-libsql")
    expect(err).not.toContain("secret")
  })

  it.each([
    ["memfold", root],
    ["@memfold/cli", cli],
  ])("comes with the licence of everything in it: %s", (_name, of) => {
    const built = join(of, "dist")
    const bundled = readdirSync(built)
      .filter((name) => name.endsWith(".map"))
      .flatMap(
        (name) =>
          (JSON.parse(readFileSync(join(built, name), "utf8")) as { readonly sources: string[] }).sources,
      )
      .flatMap((source) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//u.exec(source)?.[1] ?? [])
    const licences = readFileSync(join(built, "licenses.md"), "utf8").split(/^## /mu)
    const licensed = (name: string) =>
      licences.some((text) => text.startsWith(`${name} - `) && /copyright|apache license/iu.test(text))
    expect(bundled).toContain("effect")
    expect([...new Set(bundled)].filter((name) => !licensed(name))).toEqual([])
  })
})
