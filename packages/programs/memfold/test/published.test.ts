/** The package as it is published: a bundle, and a command line that is one, too. All that SQLite needs besides is its driver. */
import { createClient } from "@memfold/client"
import { spawn } from "node:child_process"
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { describe, expect, it } from "vitest"
import { child } from "@memfold/harness/children"
import { inFolder, lines, programAt, sample } from "@memfold/harness/program"
import { runtimes } from "@memfold/harness/runtimes"

const root = fileURLToPath(new URL("..", import.meta.url))
const cli = fileURLToPath(new URL("../../cli", import.meta.url))
const { folder } = inFolder("published")
/** Whether the Node of the tests has a SQLite of its own: then no driver is missed. */
const hasSqlite = process.getBuiltinModule("node:sqlite") !== undefined

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

  const { folder: bare } = inFolder("bare")
  for (const name of ["memfold", "@memfold/cli"]) {
    cpSync(join(modules, name), join(bare, "node_modules", name), { recursive: true })
  }

  it.skipIf(hasSqlite)("says what to type where SQLite's driver is not installed", async () => {
    writeFileSync(
      join(bare, "program.mjs"),
      `import { createMemory, LogError, MissingPackage } from "memfold"
      const memory = createMemory({ store: "sqlite:a.db" })
      const error = await memory.context("s").catch((thrown) => thrown)
      console.log(error instanceof MissingPackage, error._tag, error.package, error.command)
      await memory.close()`,
    )
    const program = programAt(join(bare, "program.mjs"), bare)
    const said = (command: string) => ({
      code: 0,
      out: `true MissingPackage better-sqlite3 ${command} better-sqlite3@12\n`,
      err: "",
    })
    const agent = process.env["npm_config_user_agent"]
    try {
      for (const [name, command] of [
        ["npm/11.0.0 node/v20.20.2 linux x64", "npm install"],
        ["pnpm/12.21.0 npm/? node/v20.20.2 linux x64", "pnpm add"],
        ["yarn/4.9.0 npm/? node/v20.20.2 linux x64", "yarn add"],
        ["bun/1.3.0 npm/? node/v24.3.0 linux x64", "bun add"],
      ] as const) {
        process.env["npm_config_user_agent"] = name
        expect(await program()).toEqual(said(command))
      }
      delete process.env["npm_config_user_agent"]
      for (const [file, command] of [
        ["package-lock.json", "npm install"],
        ["bun.lock", "bun add"],
        ["yarn.lock", "yarn add"],
        ["pnpm-lock.yaml", "pnpm add"],
      ] as const) {
        writeFileSync(join(bare, file), "")
        expect(await program()).toEqual(said(command))
        rmSync(join(bare, file))
      }
    } finally {
      if (agent === undefined) delete process.env["npm_config_user_agent"]
      else process.env["npm_config_user_agent"] = agent
    }
    const line = programAt(join(bare, "node_modules/memfold/bin/memfold.js"), bare)
    const { code, err } = await line("sessions", "--store", "sqlite:a.db")
    expect(code).toBe(2)
    expect(err).toContain("better-sqlite3")
    expect(err.trim().split("\n")).toHaveLength(1)
    // Neither call has made the file that it could not open.
    expect(readdirSync(bare).filter((name) => name.startsWith("a.db"))).toEqual([])
  })

  const { folder: pnpm } = inFolder("newer")
  it.skipIf(hasSqlite)("refuses a driver that needs a newer Node, before it ends the process", async () => {
    for (const name of ["memfold", "@memfold/cli"]) {
      cpSync(join(modules, name), join(pnpm, "node_modules", name), { recursive: true })
    }
    const driver = join(pnpm, "node_modules/better-sqlite3")
    mkdirSync(driver)
    const manifest = {
      name: "better-sqlite3",
      version: "13.2.0",
      main: "index.js",
      engines: { node: ">=22" },
    }
    writeFileSync(join(driver, "package.json"), JSON.stringify(manifest))
    writeFileSync(join(driver, "index.js"), "process.kill(process.pid, 'SIGSEGV')")
    writeFileSync(
      join(pnpm, "program.mjs"),
      `import { createMemory } from "memfold"
      const memory = createMemory({ store: "sqlite:a.db" })
      const error = await memory.context("s").catch((thrown) => thrown)
      console.log(error._tag, error.reason)
      await memory.close()`,
    )
    const reason = "better-sqlite3 13.2.0 needs Node 22, and would end this process"
    const { code, out } = await programAt(join(pnpm, "program.mjs"), pnpm)()
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining(`LogError ${reason}`) })
    expect(out).toContain("pnpm add better-sqlite3@12")
    const line = programAt(join(pnpm, "node_modules/memfold/bin/memfold.js"), pnpm)
    expect(await line("sessions", "--store", "sqlite:a.db")).toMatchObject({
      code: 2,
      err: expect.stringContaining(reason),
    })
    expect(readdirSync(pnpm).filter((name) => name.startsWith("a.db"))).toEqual([])
  })

  it.for(runtimes)("needs no driver where the runtime has SQLite: $name", async ({ name, command }) => {
    const file = `${name}.db`
    writeFileSync(
      join(bare, "opens.mjs"),
      `import { createMemory } from "memfold"
      const memory = createMemory({ store: "sqlite:${file}" })
      await memory.append("s", [{ role: "user", content: "Hello" }])
      console.log(JSON.stringify((await memory.context("s")).messages))
      await memory.close()`,
    )
    const opened = await programAt(join(bare, "opens.mjs"), bare, command())()
    expect(opened).toMatchObject({ code: 0, out: '[{"role":"user","content":"Hello"}]\n' })
    const main = join(bare, "node_modules/memfold/bin/memfold.js")
    const found = await programAt(main, bare, command())("sessions", "--store", `sqlite:${file}`, "--json")
    expect(lines(found.out)).toMatchObject([{ session: "s" }])

    const [program, ...before] = command()
    const service = child(
      spawn(program, [...before, main, "serve", "--port", "0", "--store", `sqlite:${file}`], {
        cwd: bare,
        stdio: ["pipe", "pipe", "ignore"],
      }),
    )
    const [, url = ""] = /at (http:\S+)/.exec((await service.line()) ?? "") ?? []
    const client = createClient({ url })
    await client.append("s", [{ role: "assistant", content: "Hi" }])
    expect((await client.context("s")).messages).toMatchObject([{ content: "Hello" }, { content: "Hi" }])
    service.kill()
  })

  it("says what to type where the package of a queue is not installed, and only then", async () => {
    const main = programAt(join(bare, "node_modules/memfold/bin/memfold.js"), bare)
    const call = ["dead-letters", "--queue", "redis://127.0.0.1:1"]
    expect(await main(...call)).toMatchObject({
      code: 2,
      err: expect.stringContaining("npm install @memfold/worker-bullmq"),
    })
    const broken = join(bare, "node_modules/@memfold/worker-bullmq")
    mkdirSync(broken, { recursive: true })
    writeFileSync(join(broken, "package.json"), '{ "exports": "./index.js", "type": "module" }')
    writeFileSync(join(broken, "index.js"), 'throw new Error("it is broken")')
    const { code, err } = await main(...call)
    expect(code).toBe(70)
    expect(err).toContain("it is broken")
    expect(err).not.toContain("npm install")
  })

  it("has the forms of its sources' source maps where they are installed", () => {
    const { sources, sourcesContent } = JSON.parse(readFileSync(join(root, "dist/core.js.map"), "utf8")) as {
      readonly sources: ReadonlyArray<string>
      readonly sourcesContent?: unknown
    }
    expect(sourcesContent).toBeUndefined()
    expect(sources.length).toBeGreaterThan(100)
    expect(
      sources.filter(
        (source) => !/^\.\.\/\.\.\/@memfold\/(?:core|log|message)\/src\/[\w/]+\.ts$/u.test(source),
      ),
    ).toEqual([])
  })

  it.skipIf(hasSqlite)("says in one line what to do where SQLite's driver was not built", async () => {
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
    // The driver itself names dozens of paths.
    writeFileSync(
      join(unbuilt, "program.mjs"),
      `import { createMemory } from "memfold"
      await createMemory({ store: "sqlite:a.db" }).context("s")`,
    )
    const uncaught = await programAt(join(unbuilt, "program.mjs"), unbuilt)()
    expect(uncaught.err).toContain("pnpm approve-builds")
    expect(uncaught.err).not.toContain("node-v")
  })

  it("can be imported where nothing else is installed, and takes a store of another copy of the packages", async () => {
    // The built core of the workspace, with an `effect` of its own.
    const core = pathToFileURL(join(root, "../../core/dist/index.js"))
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
      .flatMap((source) => /^(?:\.\.\/){2,}((?:@[^/]+\/)?[^/]+)\//u.exec(source)?.[1] ?? [])
      .filter((name) => !name.startsWith("@memfold/"))
    const licences = readFileSync(join(built, "licenses.md"), "utf8").split(/^## /mu)
    const licensed = (name: string) =>
      licences.some((text) => text.startsWith(`${name} - `) && /copyright|apache license/iu.test(text))
    expect(bundled).toContain("effect")
    expect([...new Set(bundled)].filter((name) => !licensed(name))).toEqual([])
  })
})
