/**
 * What a test file rests on: every file of this repository that it reaches through imports, through paths beside a module
 * (`new URL(PATH, import.meta.url)`), and through names of packages, from one file to the next. A path to a folder stands for all files in
 * it: a test that asks for the root of the repository rests on everything.
 *
 * Built files rest on the sources of their package, whether its name leads to them or a path.
 */
import { execFileSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { join, posix } from "node:path"
import { parseSync } from "vite"
import { root } from "../setup.mjs"

/** The files of the repository, with those that are not committed yet, by their paths from its root. */
const listFiles = () =>
  execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "-z"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 1 << 26,
  })
    .split("\0")
    .filter((file) => file !== "" && existsSync(join(root, file)))

const isModule = (file) => /\.(?:[cm]?[jt]s|tsx)$/u.test(file)

/** Paths in `from "x"`, `import "x"`, `import("x")` and `import.meta.resolve("x")`. */
const imports = /(?:\bfrom\s*|\bimport\s*\(?\s*|\bresolve\(\s*)(["'])([^"'\n]+)\1/gu
/** Paths beside a module; what a template puts into one is unknown, so that its folder counts. */
const urls = /new URL\(\s*(["'`])([^"'`\n]+)\1,\s*import\.meta\.url/gu
/** A module without its comments, whose examples import what the module does not. */
const codeOf = (file, text) => {
  const { comments } = parseSync(file, text)
  let code = text
  for (const { start, end } of comments)
    code = code.slice(0, start) + " ".repeat(end - start) + code.slice(end)
  return code
}

/** A map of everything that files rest on, made from the files as they are now. */
export const makeInputs = () => {
  const files = listFiles()
  const known = new Set(files)
  const manifests = new Map(
    files
      .filter((file) => posix.basename(file) === "package.json" && !/\/templates\/|^scripts\//u.test(file))
      .map((file) => [JSON.parse(readFileSync(join(root, file), "utf8")), posix.dirname(file)])
      .filter(([{ name }]) => name !== undefined)
      .map(([manifest, place]) => [manifest.name, { manifest, place }]),
  )
  const within = (place) => (place === "." ? files : files.filter((file) => file.startsWith(`${place}/`)))

  /** The source of a module that is imported by the name of its built form. */
  const sourceOf = (path) =>
    [path, path.replace(/\.js$/u, ".ts"), path.replace(/\.js$/u, ".tsx")].find((file) => known.has(file))

  /** The file that a table of a manifest (`exports` or `imports`) has for an entry, by the condition for sources. */
  const entryOf = (table = {}, place, entry) => {
    for (const [pattern, target] of Object.entries(table)) {
      const [before, after] = pattern.split("*")
      const matches =
        after === undefined ? entry === pattern : entry.startsWith(before) && entry.endsWith(after)
      const source = typeof target === "object" ? target["@memfold/source"] : target
      if (!matches || typeof source !== "string") continue
      const rest = after === undefined ? "" : entry.slice(before.length, entry.length - after.length)
      return sourceOf(posix.join(place, source.replaceAll("*", rest)))
    }
    return undefined
  }

  /** What the built files of a package are made from. */
  const built = (place) =>
    [
      within(posix.join(place, "src")),
      within(posix.join(place, "bin")),
      posix.join(place, "package.json"),
    ].flat()

  /** What an export of a package comes from: its source; what the package is built from where it leads to a built file. */
  const ofPackage = (specifier) => {
    const parts = specifier.split("/")
    const name = parts.splice(0, specifier.startsWith("@") ? 2 : 1).join("/")
    const { manifest, place } = manifests.get(name) ?? {}
    if (manifest === undefined) return []
    const file = entryOf(manifest.exports, place, [".", ...parts].join("/"))
    return file === undefined ? built(place) : [posix.join(place, "package.json"), file]
  }

  /** What a name within a package (`#servers`) comes from. */
  const ofImports = (from, specifier) =>
    [...manifests.values()].flatMap(({ manifest, place }) =>
      from.startsWith(`${place}/`) ? [entryOf(manifest.imports, place, specifier) ?? []].flat() : [],
    )

  const beside = (file, path) => {
    const target = posix.join(posix.dirname(file), path)
    if (target.startsWith("..")) return []
    const source = sourceOf(target)
    if (source !== undefined) return [source]
    const place = target.replace(/\/$/u, "") || "."
    const [, owner] = /^(.*)\/dist(?:\/|$)/u.exec(place) ?? []
    if (owner !== undefined && known.has(`${owner}/package.json`)) return built(owner)
    return existsSync(join(root, place)) ? within(place) : []
  }

  const next = new Map()
  const neighboursOf = (file) => {
    const before = next.get(file)
    if (before !== undefined) return before
    const code = isModule(file) ? codeOf(file, readFileSync(join(root, file), "utf8")) : ""
    const found = new Set()
    const add = (list) => {
      for (const one of list) found.add(one)
    }
    for (const [, , path] of code.matchAll(imports)) {
      if (path.startsWith(".")) add(beside(file, path))
      else add(path.startsWith("#") ? ofImports(file, path) : ofPackage(path))
    }
    for (const [, , path] of code.matchAll(urls)) {
      const [fixed] = path.split("${", 1)
      add(beside(file, fixed === "" ? "." : fixed))
    }
    next.set(file, found)
    return found
  }

  /** The files that a file rests on, itself included. */
  const of = (file) => {
    const reached = new Set([file])
    for (const one of reached) {
      // Another test that lies in a folder is read, and not run.
      if (one !== file && one.endsWith(".test.ts")) continue
      for (const other of neighboursOf(one)) reached.add(other)
    }
    return reached
  }
  return { files, manifests, of }
}
