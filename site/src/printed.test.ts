/**
 * Blocks that say what they print are run: a `ts` block, a paragraph that says it "prints", and a `text` block. Each is saved and run as
 * its page says, in a folder that has what the page says to install. Models are played by the strict provider server, which refuses
 * what the providers refuse.
 */
import { serve } from "@memfold/server"
import { deep } from "@memfold/harness/depth"
import { providerServer, scripted } from "@memfold/strict-providers"
import { execFile } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { describe, expect, it } from "vitest"
import { installedBy } from "./installs.js"
import { otherDocuments, pages, root } from "./pages.js"

const printing =
  /^```ts\n((?:(?!```).*\n)*)```\n\n(?:(?!```).+\n)*?.*\bprints\b.*\n(?:(?!```).+\n)*\n```text\n([\s\S]*?)^```$/gm

/** What a page says to type: "save this as `FILE`, and run it with `COMMAND`". */
const saving = /save this as\s`([\w.]+)`, and run it with\s`npx tsx ([\w.]+)`/i

const blocks = [...pages, ...otherDocuments].flatMap((document) => {
  const text = readFileSync(join(root, document), "utf8")
  const [, file = "block.mts", run = file] = saving.exec(text) ?? []
  const said = { file, run, installed: installedBy(text) }
  return [...text.matchAll(printing)].map(([, code = "", printed = ""], at) => ({
    ...said,
    document,
    name: `${document}, block ${at + 1}`,
    code,
    printed,
  }))
})

/** A library that takes seconds to load: its pages are tried in deep runs. */
const isSlow = /from "(@mastra|@memfold\/mastra|@langchain|@openai\/agents|@effect\/ai|langchain)/

const tried = deep ? blocks : blocks.filter(({ code }) => !isSlow.test(code))

const site = createRequire(import.meta.url)

/** Where a package is that the site has. */
const folderOf = (name: string) =>
  site.resolve
    .paths(name)!
    .map((path) => join(path, name))
    .find((path) => existsSync(path)) ?? name

/** A reader's folder: what `npm init` and the install lines of the page leave there, and nothing of this repository. */
const reader = (installed: ReadonlyArray<string>): string => {
  const cwd = mkdtempSync(join(tmpdir(), "memfold-page-"))
  // As npm 11 writes it.
  writeFileSync(
    join(cwd, "package.json"),
    JSON.stringify({ name: "chat", version: "1.0.0", type: "commonjs" }),
  )
  for (const name of installed) {
    const target = join(cwd, "node_modules", name)
    mkdirSync(dirname(target), { recursive: true })
    symlinkSync(folderOf(name), target)
  }
  return cwd
}

/** Saves a block as its page says, runs it with the command of the page, and gives what it prints. */
const run = async ({ file, run, code, installed }: (typeof blocks)[number], env: Record<string, string>) => {
  const cwd = reader(installed)
  try {
    writeFileSync(join(cwd, file), code)
    return await new Promise<string>((resolve, reject) => {
      const redirect = new URL("redirect.mjs", import.meta.url).href
      const options = { cwd, timeout: 120_000, env: { ...process.env, FORCE_COLOR: "0", ...env } }
      const args = [site.resolve("tsx/cli"), "--import", redirect, run]
      execFile(process.execPath, args, options, (error, out, err) =>
        error === null ? resolve(out) : reject(new Error(`${run}\n${out}\n${err}`)),
      )
    })
  } finally {
    rmSync(cwd, { recursive: true, force: true })
  }
}

describe("a block prints what the page says", () => {
  it("is found on every page that begins with a library", () => {
    const found = new Set(blocks.map(({ document }) => document))
    // The route of Next.js is built and asked when a release is tried.
    const others = pages.filter((page) => page.startsWith("docs/start/") && page !== "docs/start/next.md")
    expect(others.filter((page) => !found.has(page))).toEqual([])
  })

  it("is saved as a module, in whatever folder it is", () => {
    const starts = blocks.filter(({ document }) => document.startsWith("docs/start/"))
    expect(starts.filter(({ file, run }) => run !== file || !file.endsWith(".mts"))).toEqual([])
  })

  it.concurrent.each(tried)("$name", async (block) => {
    const server = await providerServer({ answer: scripted([{ text: "Noted." }, { text: "KX-4471." }]) })
    const service = await serve({ store: "memory:", port: 0, log: "none", upstream: server.anthropicURL })
    try {
      const out = await run(block, {
        MEMFOLD_PROVIDERS: server.anthropicURL,
        MEMFOLD_SERVICE: service.url,
        OPENAI_API_KEY: "none",
        ANTHROPIC_API_KEY: "none",
        OPENAI_AGENTS_DISABLE_TRACING: "1",
        MASTRA_TELEMETRY_DISABLED: "1",
      })
      expect(out).toBe(block.printed)
      expect(server.refused).toEqual([])
    } finally {
      await server.close()
      await service.close()
    }
  })
})
