/** What each published package says about itself. */
import { existsSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { withoutComments } from "../../../../scripts/release/comments.mjs"
import { packages, readme } from "../../../../scripts/release/packages.mjs"

const root = fileURLToPath(new URL("../../../..", import.meta.url))
const workspace = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Record<string, unknown>

/** The files that an entry of `exports` or `imports` names, outside the workspace. */
const filesOf = (entry: unknown): ReadonlyArray<string> => {
  if (typeof entry === "string") return [entry]
  return Object.entries(entry as object).flatMap(([condition, value]) =>
    condition === "@memfold/source" ? [] : filesOf(value),
  )
}

/** The modules that a file of declarations names. */
const namedIn = (file: string): ReadonlyArray<string> =>
  [
    ...readFileSync(file, "utf8").matchAll(
      /^(?:import|export) (?:(?:\* |[^"*]*)from )?"([^"]+)"|^[^*]*\bimport\("([^"]+)"\)/gmu,
    ),
  ].flatMap(([, one = "", other = ""]) => [one, other].filter(Boolean))

/** The packages that declarations name, those included that they name in turn. */
const packagesNamed = (files: ReadonlyArray<string>): ReadonlySet<string> => {
  const seen = new Set<string>()
  const packages = new Set<string>()
  const visit = (file: string): void => {
    if (seen.has(file)) return
    seen.add(file)
    for (const module of namedIn(file))
      if (module.startsWith(".")) visit(join(dirname(file), module.replace(/\.js$/u, ".d.ts")))
      else packages.add(/^(?:@[^/]+\/)?[^/]+/u.exec(module)?.[0] ?? module)
  }
  files.forEach(visit)
  return packages
}

it("knows the packages", () => {
  expect(packages.length).toBeGreaterThan(30)
})

describe.each(packages.map(({ folder, manifest }) => [manifest.name, folder, manifest] as const))(
  "%s",
  (name, folder, manifest) => {
    it("says what it is, whose it is and where it comes from", () => {
      expect(manifest).toMatchObject({
        type: "module",
        license: "MIT",
        engines: workspace["engines"],
        bugs: workspace["bugs"],
        repository: { ...(workspace["repository"] as object), directory: folder },
        homepage: expect.stringContaining(`/${folder}#readme`),
        description: expect.stringMatching(/.{10}/u),
        keywords: expect.arrayContaining(["llm", "memory"]),
        publishConfig: { access: "public" },
      })
      expect(manifest.sideEffects).toBeDefined()
      expect(manifest.bugs).toBeDefined()
      expect(existsSync(join(root, folder, "README.md"))).toBe(true)
      expect(readFileSync(join(root, folder, "README.md"), "utf8")).toContain(`# ${name}`)
    })

    it("exports declared modules and nothing else", () => {
      expect(manifest.main ?? manifest.module ?? manifest.types).toBeUndefined()
      expect(manifest.exports["./package.json"]).toBe("./package.json")
      for (const [path, entry] of Object.entries(manifest.exports)) {
        // What only the workspace's own tests reach is not exported to others.
        const files = filesOf(entry).filter((file) => file !== "./package.json")
        if (typeof entry === "object" && files.length > 0) {
          expect([path, Object.keys(entry as object)]).toEqual([
            path,
            ["@memfold/source", "types", "default"],
          ])
        }
        for (const file of files) {
          expect(file).toMatch(/^\.\/dist\/[\w/]+\.(?:d\.ts|js)$/u)
          expect([file, existsSync(join(root, folder, file))]).toEqual([file, true])
        }
      }
    })

    it("publishes its build and its sources, without tests and build information", () => {
      expect(manifest.files).toEqual(
        expect.arrayContaining(["dist", "src", "!src/**/*.test.ts", "!dist/**/*.tsbuildinfo"]),
      )
    })

    it("asks for one Effect, which is the reader's", () => {
      const { dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = manifest
      // The bundles have the Effect that they run on, and declare it for its types.
      if (["memfold", "@memfold/cli"].includes(name)) expect(dependencies["effect"]).toBe("catalog:")
      else expect(dependencies["effect"]).toBeUndefined()
      expect([undefined, "^3.22.0"]).toContain(peerDependencies["effect"])
      for (const peer of Object.keys(peerDependenciesMeta)) expect(peerDependencies).toHaveProperty([peer])
    })

    it("declares types of what is installed with it alone", () => {
      const { dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = manifest
      const { devDependencies = {} } = manifest
      const declarations = Object.values(manifest.exports)
        .flatMap(filesOf)
        .filter((file) => file.endsWith(".d.ts"))
        .map((file) => join(root, folder, file))
      const isThere = (one: string) =>
        one === name ||
        one.startsWith("node:") ||
        // Mastra's adapter uses the codec, and its users need not have the AI SDK.
        (name === "@memfold/ai-sdk" && one === "ai") ||
        one in dependencies ||
        (one in peerDependencies && peerDependenciesMeta[one]?.optional !== true)
      const named = [...packagesNamed(declarations)]
      expect(named.filter((one) => !isThere(one))).toEqual([])
      expect(named.filter((one) => `@types/${one}` in devDependencies)).toEqual([])
    })

    it("has a README that says how to install it", () => {
      const { install, code } = readme(folder)
      if (code !== undefined && install.length > 0)
        expect(install.some((one) => one === name || one === "memfold")).toBe(true)
    })
  },
)

it("is installed without comments, but for those that programs and licenses ask for", () => {
  const module = `#!/usr/bin/env node
/** Its own. */
const named = "/** a text */" // beside code
/* @license of others */
  // alone
const name = \`
// in a text
\`
export const made = /* @__PURE__ */ named.concat(name)
export const other = () => import(
  /* webpackIgnore: true */
  named)
`
  expect(withoutComments(module)).toBe(module.replace("/** Its own. */\n", "").replace("  // alone\n", ""))
})
