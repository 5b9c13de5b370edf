/** What a browser loads for the page. */
import { expect, it } from "vitest"
import { gzipSync } from "node:zlib"
import { pageFiles } from "../src/index.js"

it("is below 150 kB, compressed, and has everything in its own files", () => {
  const files = [...pageFiles()]
  const bytes = files.reduce((sum, [, { body }]) => sum + gzipSync(body).length, 0)
  expect(bytes).toBeGreaterThan(20_000)
  expect(bytes).toBeLessThan(150_000)
  const html = Buffer.from(pageFiles().get("index.html")!.body).toString()
  const named = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = ""]) => path)
  expect(named.length).toBeGreaterThan(2)
  for (const path of named) expect(files.map(([file]) => `./${file}`)).toContain(path)
  expect(html).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=/)
})
