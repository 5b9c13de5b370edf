/**
 * What an editor shows for the operations of every face: their documentation, which is written once, in core. The declarations are
 * read as they are published, from the folders `dist`.
 */
import { inFolder } from "@memfold/harness/program"
import { quickInfo } from "@memfold/harness/quickInfo"
import { createClient } from "@memfold/client"
import { Memory } from "@memfold/core"
import { createMemory } from "memfold"
import * as errors from "../src/errors.js"
import { readFileSync, realpathSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { beforeAll, describe, expect, it } from "vitest"

const root = fileURLToPath(new URL("../../../..", import.meta.url))
const memory = createMemory({ store: "memory:" })
const operations = Object.keys(Memory.operations) as ReadonlyArray<Memory.OperationName>

/** The methods of each face. */
const faces = {
  promises: Object.keys(memory),
  effects: [...operations, "within", "sessions"],
  client: Object.keys(createClient({ url: "http://127.0.0.1:1" })),
}

type Name = keyof typeof faces

const shown: Record<Name, Map<string, string>> = {
  promises: new Map(),
  effects: new Map(),
  client: new Map(),
}

/** The built module of a package, as a program imports it that has the package installed. */
const built = (folder: string): string => JSON.stringify(join(root, "packages", folder, "dist/index.js"))

const head = `import { createClient } from ${built("programs/client")}
import type { Memory } from ${built("core")}
import { createMemory } from ${built("programs/memfold")}

const promises = createMemory({ store: "memory:" })
const client = createClient({ url: "http://127.0.0.1:1" })
declare const effects: Memory.Service
`

const { folder } = inFolder("documented")

beforeAll(async () => {
  const real = realpathSync(folder)
  const compilerOptions = {
    target: "ES2023",
    module: "NodeNext",
    strict: true,
    skipLibCheck: true,
    types: [],
  }
  writeFileSync(join(real, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["program.ts"] }))
  const named = Object.entries(faces).flatMap(([face, names]) =>
    names.map((name) => ({ face: face as Name, name })),
  )
  const lines = named.map(({ face, name }) => `${face}.${name}`)
  writeFileSync(join(real, "program.ts"), `${head}${lines.join("\n")}\n`)
  const first = head.split("\n").length - 1
  const texts = await quickInfo(
    join(real, "program.ts"),
    named.map(({ face }, at) => ({ line: first + at, character: face.length + 1 })),
  )
  for (const [at, { face, name }] of named.entries()) shown[face].set(name, texts[at] ?? "")
})

/** The declaration that is shown, and the documentation behind it. */
const partsOf = (face: Name, name: string) => {
  const [, declaration = "", documentation = ""] =
    /^```typescript\n([\s\S]*?)\n```\n([\s\S]*)$/u.exec(shown[face].get(name) ?? "") ?? []
  return { declaration, documentation }
}

it("each method of each face is documented", () => {
  expect(faces.promises.length).toBeGreaterThan(33)
  for (const face of ["promises", "effects", "client"] as const)
    expect(faces[face].filter((name) => partsOf(face, name).documentation.trim() === "")).toEqual([])
})

/** The tags of a documentation: the words behind each `@param`, `@throws` and so on. */
const tagsOf = (documentation: string, tag: string): ReadonlyArray<string> =>
  [...documentation.matchAll(new RegExp(`^\\*@${tag}\\*\\s(?:— )?(.*)`, "gmu"))].map(
    ([, words = ""]) => words,
  )

/** The operations that every face has. */
const shared = operations.filter((name) => faces.promises.includes(name))

describe.each(shared)("%s", (name) => {
  it("is shown with its parameters and an example", () => {
    for (const face of ["promises", "effects"] as const) {
      const { declaration, documentation } = partsOf(face, name)
      const [, parameters = ""] =
        /\.\w+\((.*?)\): (?:Promise|AsyncIterable|Effect|Stream)/su.exec(declaration) ?? []
      const named = [...parameters.matchAll(/(?:^|, )(\w+)\??: /gu)].map(([, parameter]) => parameter)
      expect(named.length).toBeGreaterThan(0)
      const described = tagsOf(documentation, "param").map((words) => /^`(\w+)`/u.exec(words)?.[1])
      expect([face, described]).toEqual([face, named])
      expect(documentation).toContain("*@example*\n```ts\n")
    }
  })
})

/** What an operation fails with besides the errors of every operation, by its type. */
const errorsOf = (name: string): ReadonlyArray<string> => {
  const [, failure = ""] =
    /(?:Effect|Stream)<.*, ([^,]*), never>/su.exec(partsOf("effects", name).declaration) ?? []
  const names = failure.split(" | ").map((one) => one.split(".").at(-1) ?? "")
  expect(names).toContain("MemoryError")
  return names.filter((one) => one !== "MemoryError").toSorted()
}

describe.each(shared)("%s", (name) => {
  it("says what it fails with, by its type", () => {
    const said = tagsOf(partsOf("promises", name).documentation, "throws").map((words) => words.split(":")[0])
    expect(said.filter((one) => one !== "LogError").toSorted()).toEqual(errorsOf(name))
  })

  it("begins with the ids that the table says", () => {
    const { ids } = Memory.operations[name]
    const [, parameters = ""] = /\.\w+\((.*?)\): /su.exec(partsOf("effects", name).declaration) ?? []
    const named = [...parameters.matchAll(/(?:^|, )(\w+)\??: /gu)].map(([, parameter = ""]) => parameter)
    const kinds: Readonly<Record<string, string>> = {
      session: "session",
      to: "session",
      owner: "owner",
      id: "owner",
    }
    expect(named.flatMap((one) => kinds[one] ?? [])).toEqual(ids)
    expect(named.slice(0, ids.length).every((one) => one in kinds)).toBe(true)
  })
})

it("the README lists what each operation fails with, and the errors are exported", () => {
  const failing = shared.filter((name) => errorsOf(name).length > 0)
  const rows = failing.map(
    (name) =>
      `\`${name}\`: ${errorsOf(name)
        .map((one) => `\`${one}\``)
        .join(", ")}`,
  )
  const readme = readFileSync(join(root, "packages/programs/memfold/README.md"), "utf8")
  expect(readme.match(/^- `\w+`: `.*$/gmu)?.map((line) => line.slice(2))).toEqual(rows)
  expect(failing.flatMap(errorsOf).filter((name) => !(name in errors))).toEqual([])
})
