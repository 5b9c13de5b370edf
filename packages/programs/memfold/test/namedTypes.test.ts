/**
 * The types that the declarations of the published packages name: whoever calls a function can name the type of what it takes and of
 * what it gives. The declarations are read as they are published, from the folders `dist`.
 */
import { inFolder } from "@memfold/harness/program"
import { realpathSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { isExpressionWithTypeArguments, isTypeReferenceNode, type Node } from "typescript/unstable/ast"
import { API, type Symbol as Declared, SymbolFlags } from "typescript/unstable/sync"
import { expect, it } from "vitest"
import { packages } from "../../../../scripts/release/packages.mjs"

const root = fileURLToPath(new URL("../../../..", import.meta.url))

/** The declarations of the modules that a package exports. */
const entries = packages.flatMap(({ folder, manifest }) =>
  Object.values(manifest.exports).flatMap((entry) => {
    const types: unknown = typeof entry === "object" && entry !== null ? Reflect.get(entry, "types") : null
    return typeof types === "string" ? [{ name: manifest.name, file: join(root, folder, types) }] : []
  }),
)

/** A project that has these modules and nothing else, as a program has that installs the packages. */
const { folder } = inFolder("named-types")
const config = join(realpathSync(folder), "tsconfig.json")
writeFileSync(
  config,
  JSON.stringify({
    compilerOptions: {
      target: "ES2023",
      lib: ["ES2023"],
      module: "NodeNext",
      strict: true,
      skipLibCheck: true,
      types: [],
    },
    files: entries.map(({ file }) => file),
  }),
)

it("are exported", () => {
  expect(entries.length).toBeGreaterThan(30)
  const compiler = new API({ cwd: realpathSync(folder) })
  try {
    const project = compiler.updateSnapshot({ openProjects: [config] }).getProject(config)
    if (project === undefined) throw new Error("the project cannot be opened")
    const { checker, program } = project
    const origin = (one: Declared): Declared =>
      (one.flags & SymbolFlags.Alias) === 0 ? one : checker.getAliasedSymbol(one)
    const isModule = ({ name, flags }: Declared): boolean =>
      (flags & SymbolFlags.ValueModule) !== 0 && name.startsWith('"')
    const isOurs = ({ declarations }: Declared): boolean =>
      declarations.some(({ path }) => /\/packages\/(?!.*\/node_modules\/)/u.test(path))

    const exported = new Map<number, { readonly declared: Declared; readonly by: string }>()
    const collect = (module: Declared, by: string): void => {
      for (const one of checker.getExportsOfModule(module)) {
        const declared = origin(one)
        if (exported.has(declared.id)) continue
        exported.set(declared.id, { declared, by })
        if (isModule(declared)) collect(declared, by)
      }
    }
    for (const { name, file } of entries) {
      const source = program.getSourceFile(file)
      const module = source === undefined ? undefined : checker.getSymbolAtLocation(source)
      expect([file, module !== undefined]).toEqual([file, true])
      collect(module!, name)
    }

    /** Whether a type is a member of something that is exported, such as a type of a namespace. */
    const isWithin = (declared: Declared): boolean => {
      const parent = declared.getParent()
      return parent !== undefined && !parent.name.startsWith('"') && exported.has(parent.id)
    }
    let references = 0
    const missing = new Set<string>()
    const visit = (node: Node, where: string): void => {
      if (isTypeReferenceNode(node) || isExpressionWithTypeArguments(node)) {
        const name = isTypeReferenceNode(node) ? node.typeName : node.expression
        const found = checker.getSymbolAtLocation(name)
        references++
        const named = found === undefined ? undefined : origin(found)
        // The compiler writes a constant with this ending for the class that another one extends.
        if (
          named !== undefined &&
          (named.flags & SymbolFlags.TypeParameter) === 0 &&
          !named.name.endsWith("_base") &&
          isOurs(named) &&
          !exported.has(named.id) &&
          !isWithin(named)
        )
          missing.add(`${where}: ${named.name}`)
      }
      node.forEachChild((child) => {
        visit(child, where)
      })
    }
    for (const { declared, by } of exported.values()) {
      if (isModule(declared) || !isOurs(declared)) continue
      for (const handle of declared.declarations) {
        const node = handle.resolve(project)
        if (node !== undefined) visit(node, `${by} ${declared.name}`)
      }
    }
    expect(references).toBeGreaterThan(3_000)
    expect([...missing].toSorted()).toEqual([])
  } finally {
    compiler.close()
  }
})
