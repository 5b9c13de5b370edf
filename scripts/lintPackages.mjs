/**
 * A lint rule of this repository, for oxlint: a module reaches another package through its exports, by its name. A relative
 * path into another package is refused, in imports and in `new URL(PATH, import.meta.url)`. Files of the root are free.
 */
import { existsSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
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

const create = (context) => {
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

export default { meta: { name: "memfold" }, rules: { "by-name": { create } } }
