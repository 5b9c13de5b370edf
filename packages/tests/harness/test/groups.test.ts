/** The groups of tests: each file is in one, each group of a package is a task, and a task rests on what its tests import. */
import { readFileSync } from "node:fs"
import { join, relative } from "node:path"
import { build, createFilter } from "vite"
import { expect, it } from "vitest"
import { groupOf, groups, noTests } from "../../../../scripts/tests/groups.mjs"
import { makeInputs } from "../../../../scripts/tests/inputs.mjs"
import { makeTasks } from "../../../../scripts/tests/tasks.mjs"

const root = join(import.meta.dirname, "../../../..")
const inputs = makeInputs()
const tests = inputs.files.filter((file) => file.endsWith(".test.ts"))
const tasks = makeTasks()

it("each test file is in one group, and in one task", () => {
  expect(tests.filter((file) => groupOf(file) === undefined)).toEqual([])
  expect(tasks.flatMap((task) => task.tests).toSorted()).toEqual(tests.toSorted())
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

it("each package has a script for each of its groups, and no other", () => {
  const wanted = new Map<string, Array<string>>()
  for (const { place, group } of tasks) wanted.set(place, [...(wanted.get(place) ?? []), `test:${group}`])
  const places = inputs.files.filter(
    (file) => /^(?!scripts)[^.]*\/package\.json$/u.test(file) && !file.includes("/templates/"),
  )
  for (const file of places) {
    const { scripts = {} } = JSON.parse(readFileSync(join(root, file), "utf8")) as {
      readonly scripts?: Readonly<Record<string, string>>
    }
    const place = file.replace("/package.json", "")
    const names = Object.keys(scripts).filter((name) => name.startsWith("test:"))
    expect({ place, scripts: names.toSorted() }).toEqual({
      place,
      scripts: (wanted.get(place) ?? []).toSorted(),
    })
    for (const name of names) {
      const to = relative(join(root, place), root)
      expect(scripts[name]).toBe(`vitest run --root ${to} --project ${name.slice("test:".length)} ${place}/`)
    }
  }
})

it("tests that run in process start no server and no browser", () => {
  const started = ["redisServers", "postgresServers", "libsqlServers", "chromium"]
  const unit = tasks.filter(({ group }) => group === "unit").flatMap((task) => task.tests)
  const starting = unit.filter((file) =>
    started.some((name) => inputs.of(file).has(`packages/tests/harness/src/${name}.ts`)),
  )
  expect(starting).toEqual([])
})

it("a task rests on every module that a bundler finds for its tests", { timeout: 600_000 }, async () => {
  const shown = groups.flatMap(({ name }) => tasks.filter(({ group }) => group === name).slice(0, 1))
  for (const { tests: [test = ""] = [], inputs: rests } of shown) {
    const modules: Array<string> = []
    await build({
      root,
      configFile: false,
      logLevel: "silent",
      plugins: [
        {
          name: "modules",
          buildEnd: function () {
            modules.push(...this.getModuleIds())
          },
        },
      ],
      ssr: { resolve: { conditions: ["@memfold/source", "node"] }, noExternal: /^(?:@memfold\/|memfold$)/u },
      build: { ssr: join(root, test), write: false },
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
