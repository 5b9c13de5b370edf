/** The groups of tests: each file is in one, and a result is kept while all that the file imports is unchanged. */
import { join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { build, createFilter } from "vite"
import { expect, it } from "vitest"
import { groupOf, groups, noTests } from "../../../../scripts/tests/groups.mjs"
import { makeInputs } from "../../../../scripts/tests/inputs.mjs"
import { testFiles } from "../../../../scripts/tests/results.mjs"

const root = fileURLToPath(new URL("../../../..", import.meta.url))
const inputs = makeInputs()
const tests = inputs.files.filter((file) => file.endsWith(".test.ts"))
const planned = testFiles()

it("each test file is in one group", () => {
  expect(tests.filter((file) => groupOf(file) === undefined)).toEqual([])
  expect(planned.map(({ file }) => file).toSorted()).toEqual(tests.toSorted())
})

it("no glob of a group names nothing", () => {
  const dead = groups.flatMap(({ name, files }) =>
    files.filter((glob) => {
      const matches = createFilter(glob, noTests, { resolve: false })
      return !tests.some((file) => groupOf(file) === name && matches(file))
    }),
  )
  expect(dead).toEqual([])
})

it("tests that run in process start no server and no browser", () => {
  const started = ["redisServers", "postgresServers", "libsqlServers", "chromium"]
  const starting = planned.filter(
    (test) =>
      test.group === "unit" &&
      started.some((name) => test.inputs.has(`packages/tests/harness/src/${name}.ts`)),
  )
  expect(starting.map(({ file }) => file)).toEqual([])
})

it("a test of a built page rests on the sources of the page, and on those that they import", () => {
  const rests = inputs.of("packages/programs/studio/test/size.test.ts")
  expect(rests).toContain("packages/core/src/event/Event.ts")
  expect([...rests].filter((file) => file.endsWith(".tsx")).length).toBeGreaterThan(10)
})

it("a test file rests on every module that a bundler finds for it", async () => {
  const shown = groups.flatMap(({ name }) => planned.filter(({ group }) => group === name).slice(0, 1))
  for (const { file: test, inputs: rests } of shown) {
    const modules: Array<string> = []
    await build({
      root,
      configFile: false,
      logLevel: "silent",
      plugins: [
        {
          name: "modules",
          buildEnd: function (error) {
            if (error !== undefined) return
            modules.push(...this.getModuleIds())
            // A bundle of them is not asked for.
            throw new Error("all modules are found")
          },
        },
      ],
      ssr: { resolve: { conditions: ["@memfold/source", "node"] }, noExternal: /^(?:@memfold\/|memfold$)/u },
      build: { ssr: join(root, test), write: false },
    }).catch((error: unknown) => {
      if (modules.length === 0) throw error
    })
    const ours = modules
      .map((id) => relative(root, id.replace(/\?.*$/u, "")))
      .filter(
        (file) =>
          !file.startsWith("..") &&
          !file.includes("node_modules") &&
          !file.includes("\0") &&
          !file.includes("dist/"),
      )
    expect(ours).toContain(test)
    expect(ours.filter((file) => !rests.has(file) && inputs.files.includes(file))).toEqual([])
  }
})
