/**
 * The lint rules of this repository, for oxlint.
 *
 * - `by-name`: a module reaches another package through its exports, by its name. A relative path into another package is
 *   refused, in imports and in `new URL(PATH, import.meta.url)`. Files of the root are free.
 * - `floors`: a package imports what the table of floors allows (`floors.mjs`), tests of a package what they want.
 * - `folder-order`: in the sources of `@memfold/core`, a module imports only from its own folder and from folders before it in
 *   the list below. So there are no cycles, and the folders are read in this order.
 * - `class-lines`: a class and an interface have at most so many lines, comments included, as functions have.
 * - `known-inputs`: a path beside a module begins with a literal, and is written `new URL(PATH, import.meta.url)`. From that it is known
 *   which results of tests a changed file makes stale (`tests/inputs.mjs`).
 * - `shell-only`: in the sources of `@memfold/core`, fibers, ticks and operations called unsafe appear in the shell only.
 */
import { existsSync } from "node:fs"
import { dirname, join, relative, resolve, sep } from "node:path"
import { refusal } from "./floors.mjs"
import { root } from "./setup.mjs"

const packages = new Map()

/** The folder of the package that has a folder; `null` for what belongs to the root alone. */
const packageOf = (folder) => {
  const known = packages.get(folder)
  if (known !== undefined) return known
  const found =
    folder === root || folder === dirname(folder)
      ? null
      : existsSync(join(folder, "package.json"))
        ? folder
        : packageOf(dirname(folder))
  packages.set(folder, found)
  return found
}

const byName = (context) => {
  const own = packageOf(dirname(context.filename))
  const check = (node, path) => {
    if (typeof path !== "string" || !path.startsWith("../")) return
    const other = packageOf(dirname(resolve(dirname(context.filename), path)))
    if (other === null || other === own) return
    context.report({
      node,
      message: `"${path}" is in another package: import what that package exports, by its name`,
    })
  }
  const checkSource = (node) => check(node, node.source?.value)
  return {
    ImportDeclaration: checkSource,
    ExportNamedDeclaration: checkSource,
    ExportAllDeclaration: checkSource,
    ImportExpression: checkSource,
    NewExpression: (node) => {
      if (node.callee.name === "URL") check(node, node.arguments[0]?.value)
    },
  }
}

/** What is no part of a package as it is used: its tests, and a program that starts another package. */
const besidePackage = /(^|\/)(test|corpus|conformance|bin)\/|\.test\.tsx?$|(^|\/)\./u

const onFloors = (context) => {
  const own = packageOf(dirname(context.filename))
  if (own === null || besidePackage.test(relative(own, context.filename).split(sep).join("/"))) return {}
  const folder = relative(root, own).split(sep).join("/")
  const check = (node) => {
    const path = node.source?.value
    const reason = typeof path === "string" ? refusal(folder, path) : null
    if (reason !== null) context.report({ node, message: `"${path}" is not for ${folder}: ${reason}` })
  }
  return {
    ImportDeclaration: check,
    ExportNamedDeclaration: check,
    ExportAllDeclaration: check,
    ImportExpression: check,
  }
}

/** The folders of the sources of `@memfold/core`, in the order in which they are read. `CONTRIBUTING.md` says what each has. */
export const coreFolders = [
  "options",
  "summary",
  "event",
  "guard",
  "session",
  "projection",
  "policy",
  "summarize",
  "render",
  "observe",
  "layers",
  "search",
  "engine",
  "shell",
  "recall",
  "trace",
  "history",
  "verify",
  "audit",
  "memory",
]

const core = join(root, "packages/core/src")

/** The place of a file of core in the order of folders; infinity for the modules that put the folders together. */
const placeOf = (file) => {
  const [folder, ...rest] = relative(core, file).split(sep)
  const place = coreFolders.indexOf(folder)
  return rest.length === 0 || place === -1 ? Number.POSITIVE_INFINITY : place
}

const isSource = (file) => file.startsWith(core + sep) && !file.endsWith(".test.ts")

const folderOrder = (context) => {
  if (!isSource(context.filename)) return {}
  const own = placeOf(context.filename)
  const check = (node) => {
    const path = node.source?.value
    if (typeof path !== "string" || !path.startsWith(".")) return
    if (placeOf(resolve(dirname(context.filename), path)) > own) {
      context.report({
        node,
        message: `"${path}" is in a folder behind this one: coreFolders in scripts/lintRules.mjs has the order`,
      })
    }
  }
  return {
    ImportDeclaration: check,
    ExportNamedDeclaration: check,
    ExportAllDeclaration: check,
    ImportExpression: check,
  }
}

/** Names that belong to the shell: what they do depends on when it is done. */
const ofShell =
  /^(unsafe[A-Z]|fiber$|setTimeout$|setInterval$|setImmediate$|nextTick$|queueMicrotask$|withFiberRuntime$)/

const shellOnly = (context) => {
  const { filename } = context
  if (!isSource(filename) || filename.startsWith(join(core, "shell") + sep)) return {}
  return {
    Identifier: (node) => {
      if (ofShell.test(node.name))
        context.report({ node, message: `"${node.name}" belongs to the shell: packages/core/src/shell` })
    },
  }
}

const classLines = (context) => {
  const [most] = context.options
  const check = (node) => {
    const lines = node.loc.end.line - node.loc.start.line + 1
    if (lines > most)
      context.report({
        node: node.id ?? node,
        message: `${node.id?.name ?? "A class"} has ${lines} lines, and at most ${most} are allowed: take a concept out of it`,
      })
  }
  return { ClassDeclaration: check, ClassExpression: check, TSInterfaceDeclaration: check }
}

const knownInputs = (context) => ({
  NewExpression: ({ callee, arguments: [path, base], ...node }) => {
    if (callee.name !== "URL" || base?.object?.type !== "MetaProperty") return
    if (path.type !== "Literal" && path.type !== "TemplateLiteral")
      context.report({
        node: { ...node, callee },
        message: "begin the path with a literal: the results of tests are kept by it",
      })
  },
  MemberExpression: (node) => {
    if (node.object.type === "MetaProperty" && /^(?:dir|file)name$/u.test(node.property.name))
      context.report({
        node,
        message: "write `new URL(PATH, import.meta.url)`: the results of tests are kept by it",
      })
  },
})

export default {
  meta: { name: "memfold" },
  rules: {
    "by-name": { create: byName },
    floors: { create: onFloors },
    "class-lines": { meta: { schema: [{ type: "number" }] }, create: classLines },
    "folder-order": { create: folderOrder },
    "known-inputs": { create: knownInputs },
    "shell-only": { create: shellOnly },
  },
}
