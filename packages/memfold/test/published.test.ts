/** The command line as it is published: one program with everything in it, but for SQLite's driver. */
import { cpSync, readdirSync, readFileSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { inFolder, lines, programAt, sample } from "./program.js"

const root = fileURLToPath(new URL("..", import.meta.url))
const { folder } = inFolder("published")

describe("the published program", () => {
  const installed = join(folder, "node_modules/memfold")
  for (const part of ["package.json", "bin", "dist/bin", "samples"]) {
    cpSync(join(root, part), join(installed, part), { recursive: true })
  }
  symlinkSync(
    join(root, "node_modules/better-sqlite3"),
    join(folder, "node_modules/better-sqlite3"),
    "junction",
  )
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

  it("has the store in Redis in it", async () => {
    const { code, err } = await memfold("sessions", "--store", "redis://127.0.0.1:1?settings=unknown")
    expect(code).toBe(2)
    expect(err).toContain("a setting that is not known")
  })

  it("comes with the licence of everything in it", () => {
    const built = join(root, "dist/bin")
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
