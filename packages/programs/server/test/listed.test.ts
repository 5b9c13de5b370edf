/** The page of the service lists every route, with the right that it asks for. */
import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { ownRoutes } from "../src/routes.js"

const page = readFileSync(new URL("../../../../docs/server.md", import.meta.url), "utf8")
const [, table = ""] = /^## Operations\n([\s\S]*?)^## /mu.exec(page) ?? []

/** The rows of the table of operations: the requests of each, and what a token needs for them. */
const rows = [...table.matchAll(/^\| (.*`.*?) \| .* \| ([\w,; ]+?) +\|$/gmu)].map(
  ([, requests = "", right = ""]) => {
    let [methods, isOpen] = [[""], false]
    const listed = [...requests.matchAll(/`(?:([A-Z]+) ?)?([^`?]*)[^`]*`/gu)].flatMap(
      ([, method, path = ""]) => {
        if (method !== undefined) methods = isOpen ? [...methods, method] : [method]
        isOpen = path === ""
        return isOpen ? [] : methods.map((one) => ({ method: one, path }))
      },
    )
    return { listed, rights: right === "none" ? [] : right.split(/[,;] /u).toSorted() }
  },
)

/** Whether a route is this request: `…` stands for the beginning of its path. */
const isListed = (route: (typeof ownRoutes)[number], { method, path }: { method: string; path: string }) => {
  const own = route.path.replaceAll(/:(\w+)/gu, "{$1}")
  return route.method === method && (path.startsWith("…") ? own.endsWith(path.slice(1)) : own === path)
}

const operations = ownRoutes.filter(({ path }) => !/^\/(docs|openapi\.json|studio\/\*|mcp)$/u.test(path))

it("the table has every operation", () => {
  const listed = rows.flatMap((row) => row.listed)
  expect(listed.length).toBeGreaterThan(50)
  const missing = operations.filter((route) => !listed.some((one) => isListed(route, one)))
  expect(missing.map(({ method, path }) => `${method} ${path}`)).toEqual([])
})

it("the table has nothing else, and says the rights", () => {
  const said = rows.map(({ listed }) => {
    const routes = listed.map((one) => {
      const found = operations.filter((route) => isListed(route, one))
      expect(found, `${one.method} ${one.path}`).not.toEqual([])
      return found
    })
    return { listed, rights: [...new Set(routes.flat().flatMap((route) => route.rights))].toSorted() }
  })
  expect(rows).toEqual(said)
})
