/**
 * Blocks that say what they print are run: a `ts` block, a paragraph that says it "prints", and a `text` block. Models are played by the strict provider server, which refuses what the providers refuse.
 */
import { serve } from "@memfold/server"
import { deep } from "@memfold/harness/depth"
import { providerServer, scripted } from "@memfold/strict-providers"
import { execFile } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import ts from "typescript"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { otherDocuments, pages, root } from "./pages.js"

/** Within the site, so that the packages of the blocks are found. */
const folder = fileURLToPath(new URL("../.examples", import.meta.url))

const printing =
  /^```ts\n((?:(?!```).*\n)*)```\n\n(?:(?!```).+\n)*?.*\bprints\b.*\n(?:(?!```).+\n)*\n```text\n([\s\S]*?)^```$/gm

const blocks = [...pages, ...otherDocuments].flatMap((document) =>
  [...readFileSync(join(root, document), "utf8").matchAll(printing)].map(
    ([, code = "", printed = ""], at) => ({
      name: `${document}, block ${at + 1}`,
      file: join(folder, `${document.replaceAll(/\W+/g, "-")}-${at}.mjs`),
      code,
      printed,
    }),
  ),
)

/** A library that takes seconds to load: its pages are tried in deep runs. */
const isSlow = /from "(@mastra|@memfold\/mastra|@langchain|@openai\/agents|@effect\/ai|langchain)/

const tried = deep ? blocks : blocks.filter(({ code }) => !isSlow.test(code))

beforeAll(() => {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Runs a program in an empty folder, and gives what it prints. */
const run = async (file: string, env: Record<string, string>) => {
  const cwd = mkdtempSync(join(tmpdir(), "memfold-page-"))
  try {
    return await new Promise<string>((resolve, reject) => {
      const redirect = new URL("redirect.mjs", import.meta.url).href
      const options = { cwd, timeout: 120_000, env: { ...process.env, FORCE_COLOR: "0", ...env } }
      execFile(process.execPath, ["--import", redirect, file], options, (error, out, err) =>
        error === null ? resolve(out) : reject(new Error(`${file}\n${out}\n${err}`)),
      )
    })
  } finally {
    rmSync(cwd, { recursive: true, force: true })
  }
}

describe("a block prints what the page says", () => {
  it("is found on every page that begins with a library", () => {
    const found = new Set(blocks.map(({ name }) => name.split(",")[0]))
    expect(pages.filter((page) => page.startsWith("docs/start/")).filter((page) => !found.has(page))).toEqual(
      [],
    )
  })

  it.concurrent.each(tried)("$name", async ({ file, code, printed }) => {
    const { outputText } = ts.transpileModule(code, {
      compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext },
    })
    writeFileSync(file, outputText)
    const server = await providerServer({ answer: scripted([{ text: "Noted." }, { text: "KX-4471." }]) })
    const service = await serve({ store: "memory:", port: 0, log: "none", upstream: server.anthropicURL })
    try {
      const out = await run(file, {
        MEMFOLD_PROVIDERS: server.anthropicURL,
        MEMFOLD_SERVICE: service.url,
        OPENAI_API_KEY: "none",
        ANTHROPIC_API_KEY: "none",
        OPENAI_AGENTS_DISABLE_TRACING: "1",
        MASTRA_TELEMETRY_DISABLED: "1",
      })
      expect(out).toBe(printed)
      expect(server.refused).toEqual([])
    } finally {
      await server.close()
      await service.close()
    }
  })
})
