/** The table of floors: which packages it has, what it refuses, and the picture that CONTRIBUTING.md has of it. */
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"
import { exceptions, floorOf, floors, nameOf, picture, refusal } from "../../../../scripts/floors.mjs"
import { packages } from "../../../../scripts/release/packages.mjs"

const root = fileURLToPath(new URL("../../../..", import.meta.url))
const folders = floors.flatMap((floor) => floor.packages)
const folderOf = (name: string): string => folders.find((folder) => nameOf(folder) === name) ?? name

it("has each package once, by its name", () => {
  const manifests = execFileSync("git", ["ls-files", "packages/**/package.json"], {
    cwd: root,
    encoding: "utf8",
  })
  const there = manifests.split("\n").flatMap((file) => /^(.*)\/package\.json$/.exec(file)?.[1] ?? [])
  const own = there.filter((folder) => !folder.includes("/templates/"))
  const published = packages.map(({ folder, manifest }) => [folder, manifest.name])
  expect([...folders].toSorted()).toEqual(own.toSorted())
  expect([...folders].toSorted()).toEqual(
    [...published.map(([folder]) => folder), folderOf("@memfold/harness")].toSorted(),
  )
  for (const [folder = "", name] of published) expect(nameOf(folder)).toBe(name)
  for (const folder of Object.keys(exceptions)) expect(folders).toContain(folder)
  expect(floorOf("@memfold/store-redis")).toBe("stores")
  expect(floorOf("effect")).toBeUndefined()
})

it("lets floors use those below alone", () => {
  const names = floors.map(({ name }) => name)
  for (const [at, { uses }] of floors.entries())
    for (const used of uses) expect(names.indexOf(used)).toBeLessThan(at)
})

it.each([
  [
    "@memfold/core",
    ["effect/Schema", "@memfold/message/Message", "@memfold/log"],
    ["node:fs", "ai", "@memfold/codec", "memfold"],
  ],
  ["@memfold/log", ["effect"], ["@memfold/message", "@memfold/core", "node:crypto"]],
  ["@memfold/message", ["effect"], ["@memfold/log", "openai"]],
  [
    "@memfold/store-sqlite",
    ["@memfold/log", "@memfold/store-sql", "node:fs", "better-sqlite3"],
    ["@memfold/core", "@memfold/store-redis", "memfold"],
  ],
  [
    "@memfold/store-redis",
    ["@memfold/log", "ioredis"],
    ["@memfold/core", "@memfold/store-sql", "@memfold/codec"],
  ],
  ["@memfold/worker-bullmq", ["@memfold/log"], ["@memfold/core", "@memfold/cli"]],
  ["@memfold/archive", ["@memfold/core", "@memfold/log"], ["@memfold/cli", "memfold"]],
  [
    "@memfold/strategy-rounds",
    ["@memfold/core"],
    ["@memfold/strategy-split-turn", "@memfold/store-sqlite", "memfold"],
  ],
  ["@memfold/strategy-break-even", ["@memfold/prices"], ["@memfold/layers", "@memfold/testing"]],
  ["@memfold/codec", ["@memfold/message", "@memfold/core"], ["@memfold/openai", "@memfold/layers"]],
  [
    "@memfold/openai",
    ["@memfold/codec", "@memfold/summarizer-extractive"],
    ["@memfold/anthropic", "@memfold/strategy-rounds", "memfold"],
  ],
  ["@memfold/openai-agents", ["@memfold/core", "@memfold/openai"], ["@memfold/ai-sdk", "@memfold/prices"]],
  ["@memfold/mastra", ["@memfold/ai-sdk"], ["@memfold/openai"]],
  ["@memfold/effect-ai", ["@memfold/summarizer-ai"], ["@memfold/summarizer-extractive"]],
  [
    "@memfold/catalog",
    ["@memfold/store-redis", "@memfold/strategy-rounds"],
    ["memfold", "@memfold/cli/transcripts"],
  ],
  ["@memfold/client", ["effect", "@effect/platform"], ["memfold", "@memfold/core", "node:http"]],
  [
    "@memfold/studio",
    ["@memfold/core", "@memfold/client/api", "preact"],
    ["@memfold/catalog", "@memfold/openai", "memfold"],
  ],
  ["@memfold/proxy", ["@memfold/codec", "@memfold/catalog"], ["@memfold/server", "@memfold/cli", "memfold"]],
  ["@memfold/server", ["@memfold/proxy", "@memfold/client"], ["@memfold/cli", "memfold"]],
  ["@memfold/cli", ["@memfold/server", "@memfold/openai"], ["memfold"]],
  ["memfold", ["@memfold/catalog", "@memfold/layers"], ["@memfold/cli", "@memfold/cli/main"]],
  ["@memfold/mcp", ["memfold", "zod"], ["@memfold/core", "@memfold/catalog"]],
  ["@memfold/lab", ["@memfold/core", "@memfold/prices"], ["@memfold/store-sqlite", "memfold"]],
  ["@memfold/testing", ["@memfold/core", "vitest"], ["@memfold/store-sqlite", "memfold"]],
  ["@memfold/strict-providers", ["@memfold/message/Item", "node:http"], ["@memfold/core", "memfold"]],
  ["@memfold/harness", ["memfold", "@memfold/cli", "@memfold/testing"], ["@memfold/unknown"]],
])("%s imports some modules and not others", (name, allowed, refused) => {
  const folder = folderOf(name)
  expect(allowed.filter((module) => refusal(folder, module) !== null)).toEqual([])
  expect(refused.filter((module) => refusal(folder, module) === null)).toEqual([])
  expect(refusal(folder, "./near.js")).toBeNull()
})

it("CONTRIBUTING shows it", () => {
  const text = readFileSync(`${root}/CONTRIBUTING.md`, "utf8")
  const [, shown] = /^## Floors\n[\s\S]*?^```\n([\s\S]*?)\n```$/m.exec(text) ?? []
  expect(shown).toBe(picture())
})
