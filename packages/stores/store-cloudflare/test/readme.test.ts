/** The first block of the README in workerd, bundled as Wrangler bundles it, and without `nodejs_compat`. */
import { build } from "esbuild"
import { Miniflare } from "miniflare"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { expect, it, onTestFinished } from "vitest"

const root = fileURLToPath(new URL("..", import.meta.url))

it("runs, with a D1 database and nothing of Node", async () => {
  const [, contents = ""] = /^```ts\n([\s\S]*?)^```$/mu.exec(readFileSync(`${root}README.md`, "utf8")) ?? []
  const { outputFiles, warnings } = await build({
    stdin: { contents, resolveDir: root, loader: "ts" },
    bundle: true,
    write: false,
    format: "esm",
    platform: "browser",
    conditions: ["workerd", "worker", "browser"],
  })
  expect(warnings).toEqual([])
  const worker = new Miniflare({
    modules: true,
    script: outputFiles[0]!.text,
    compatibilityDate: "2025-11-01",
    d1Databases: ["DB"],
  })
  onTestFinished(() => worker.dispose())
  const ask = async (body: string) =>
    (await worker.dispatchFetch("http://chat/", { method: "POST", body })).json()
  expect(await ask("Hello")).toEqual([{ role: "user", content: "Hello" }])
  expect(await ask("Again")).toHaveLength(2)
})
