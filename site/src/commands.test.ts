/**
 * The commands that documents show, in blocks and within sentences: what they call exists, with these options; and those of the
 * command line that need neither a server nor a person are run.
 */
import { deep } from "@memfold/harness/depth"
import { inFolder, sample } from "@memfold/harness/program"
import { createMemory } from "memfold"
import { existsSync, readdirSync, readFileSync, symlinkSync } from "node:fs"
import { dirname, join } from "node:path"
import { beforeAll, describe, expect, it } from "vitest"
import { packages as published } from "../../scripts/release/packages.mjs"
import { otherDocuments, pages, root } from "./pages.js"

/** A command as a document has it, and its words. */
interface Shown {
  readonly document: string
  readonly line: string
  readonly words: ReadonlyArray<string>
  /** Whether it is a line of a block, complete with its arguments: in sentences, parts are left out. */
  readonly isBlock: boolean
}

const read = (document: string): string => readFileSync(join(root, document), "utf8")

/** Words as a shell divides them, without what is put into variables before and behind a comment or a pipe. */
const wordsOf = (line: string): ReadonlyArray<string> => {
  const words = [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([whole, single, double]) => single ?? double ?? whole,
  )
  const end = words.findIndex((word) => word === "#" || word === "|")
  const own = end === -1 ? words : words.slice(0, end)
  return own.slice(own.findIndex((word) => !/^[A-Z_]+=/.test(word)))
}

/** Decisions tell what was; a command in them may be gone. Skills and documents in packages are copies of these. */
const documents = [...pages, ...otherDocuments].filter((document) => !document.startsWith("docs/decisions/"))

const ofBlocks = (document: string, text: string): ReadonlyArray<Shown> =>
  [...text.matchAll(/^ *```(\w*).*\n([\s\S]*?)^ *```$/gm)]
    .filter(([, language = ""]) => ["", "sh", "bash"].includes(language))
    .flatMap(([, , block = ""]) => block.replaceAll(/\\\n\s*/g, "").split("\n"))
    .filter((line) => isCommand.test(line))
    .map((line) => ({ document, line, words: wordsOf(line), isBlock: true }))

const ofSentences = (document: string, text: string): ReadonlyArray<Shown> =>
  [...text.replaceAll(/^ *```[\s\S]*?^ *```$/gm, "").matchAll(/`([^`\n]+)`/g)]
    .map(([, line = ""]) => line.replaceAll("\\|", "|"))
    .filter((line) => isCommand.test(line))
    .map((line) => ({
      document,
      line,
      words: wordsOf(line.replaceAll(/[[\]]/g, " ").replaceAll("…", "")),
      isBlock: false,
    }))

const isCommand = /^(?:[A-Z_]+=\S+ )*(npm|npx|memfold) /

/** Programs of templates, which print commands. */
const programs = readdirSync(join(root, "packages/programs/create-memfold/templates"), {
  recursive: true,
  encoding: "utf8",
})
  .filter((file) => /\.tsx?$/.test(file) && !file.includes("node_modules"))
  .map((file) => `packages/programs/create-memfold/templates/${file}`)

const shown = [
  ...documents.flatMap((document) => {
    const text = read(document)
    return [...ofBlocks(document, text), ...ofSentences(document, text)]
  }),
  ...programs.flatMap((program) =>
    [...read(program).matchAll(/npx memfold [^`\\"\n]*/g)].map(([line]) => ({
      document: program,
      line,
      words: wordsOf(line),
      isBlock: false,
    })),
  ),
]

const { folder, memfold, file } = inFolder("commands")
/** The options of each command of the program, by its name. */
const commands = new Map<string, ReadonlySet<string>>()

beforeAll(async () => {
  // The list of all commands has each with its options; a command goes on in lines that are indented further.
  commands.set("help", new Set())
  const { out } = await memfold("help", "all")
  const list = /COMMANDS\n([\s\S]*?)\nOPTIONS/.exec(out)![1]!
  for (const entry of list.split(/\n\n+/)) {
    const usage = entry.replaceAll(/\s+/g, " ").trim()
    const [, name = ""] = /^memfold ((?:store )?[a-z-]+)/.exec(usage) ?? []
    commands.set(name, new Set(["--help", ...(usage.match(/--[a-z-]+/g) ?? [])]))
  }
})

/** What is wrong with the words of a call of the program; nothing if it is right. */
const wrongCall = (words: ReadonlyArray<string>): string | undefined => {
  const [first = "", second = ""] = words
  // `npx memfold …`, `memfold --version`, `memfold COMMAND --help` and a list of packages name no command.
  if (!/^[a-z][a-z|-]*$/.test(first)) return undefined
  const name = first === "store" && second !== "" ? `store ${second}` : first
  for (const one of name.split("|").map((part, at) => (at === 0 ? part : `store ${part}`))) {
    const options = commands.get(one)
    if (options === undefined) return `memfold has no command "${one}"`
    const end = words.indexOf("--")
    for (const word of end === -1 ? words : words.slice(0, end)) {
      const option = word.split("=")[0]!
      if (option.startsWith("--") && !options.has(option)) return `memfold ${one} has no option ${option}`
    }
  }
  return undefined
}

/** Whether a document is copied into an application with a template. */
const isInTemplate = (document: string): boolean => document.includes("/templates/")

/** The scripts of `npm` where a document is: of its template, or of the repository. */
const scriptsOf = (document: string): Readonly<Record<string, string>> => {
  const manifest = readFileSync(
    join(root, isInTemplate(document) ? dirname(document) : ".", "package.json"),
    "utf8",
  )
  return (JSON.parse(manifest) as { scripts: Record<string, string> }).scripts
}

const benchmarks = new Set(
  [...readFileSync(join(root, "bench/src/main.ts"), "utf8").matchAll(/^ {2}\["([a-z]+)",/gm)].map(
    ([, name]) => name!,
  ),
).add("extractive")

/** What is wrong with `npm run NAME -- …`, `npm start -- …` and the like. */
const wrongScript = (document: string, name: string, args: ReadonlyArray<string>): string | undefined => {
  if (scriptsOf(document)[name] === undefined) return `there is no script "${name}"`
  if (isInTemplate(document)) return undefined
  const given = args.slice(args.indexOf("--") + 1)
  const [first] = given
  if (first === undefined) return undefined
  if (name === "start") return wrongCall(given)
  if (name === "bench" && !benchmarks.has(first)) return `there is no benchmark "${first}"`
  if (name === "example" && !existsSync(join(root, "examples", first, "main.ts")))
    return `there is no example "${first}"`
  if (name === "test" && !first.startsWith("-") && !existsSync(join(root, first)))
    return `there is no ${first}`
  return undefined
}

/** The packages of this repository, as npm names them. */
const own = new Set(published.map(({ manifest }) => manifest.name))

const wrongInstall = (names: ReadonlyArray<string>): string | undefined => {
  const missing = names.find((name) => /^(@memfold\/|memfold|create-memfold)/.test(name) && !own.has(name))
  return missing === undefined ? undefined : `there is no package ${missing}`
}

/** What is wrong with a command; nothing if it is right. */
const wrong = ({ document, words }: Shown): string | undefined => {
  const [program, ...args] = words
  if (program === "memfold") return wrongCall(args)
  const [first = "", ...rest] = args.filter((arg) => arg !== "-y" && arg !== "--yes")
  if (program === "npx") {
    if (first === "memfold") return wrongCall(rest)
    if (first.startsWith("@memfold/")) return wrongInstall([first])
    if (first === "vitest") {
      const path = rest.find((word) => word.includes("/"))
      return path === undefined || existsSync(join(root, path)) ? undefined : `there is no ${path}`
    }
    return /^(changeset|create-next-app|next|oxfmt|oxlint|pnpm@?|tsc|tsx|turbo|vite)/.test(first)
      ? undefined
      : `what is npx ${first}?`
  }
  if (first === "install" || first === "i") return wrongInstall(rest)
  if (first === "create") return rest[0] === "memfold" ? undefined : `what is npm create ${rest[0]}?`
  if (first === "run")
    return rest[0] === undefined ? undefined : wrongScript(document, rest[0], rest.slice(1))
  if (first === "test" || first === "start") return wrongScript(document, first, rest)
  return ["i", "publish", "pack", "view", "audit"].includes(first) ? undefined : `what is npm ${first}?`
}

describe("a command that a document shows", () => {
  it("is found in most documents for users", () => {
    expect(new Set(shown.map(({ document }) => document)).size).toBeGreaterThan(50)
    expect(commands.size).toBeGreaterThan(20)
    expect(benchmarks.size).toBeGreaterThan(12)
  })

  it("calls what exists, with options that it has", () => {
    const faults = shown.map((one) => ({ one, why: wrong(one) })).filter(({ why }) => why !== undefined)
    expect(faults.map(({ one, why }) => `${one.document}: ${one.line}: ${why}`)).toEqual([])
  })

  it("has its row in the README of the command line", () => {
    const [, table = ""] =
      /^\| command .*\n([\s\S]*?)\n\n/m.exec(read("packages/programs/cli/README.md")) ?? []
    const rows = new Set([...table.matchAll(/`(?:memfold )?([a-z-]+)(?: [^`]*)?`/g)].map(([, name]) => name))
    const missing = [...commands.keys()].filter((name) => name !== "help" && !rows.has(name.split(" ")[0]))
    expect(missing).toEqual([])
  })

  it("quotes what a shell would take for its own", () => {
    // Options are shown by themselves, too.
    const unquoted = documents.flatMap((document) =>
      [...read(document).matchAll(/^(?:memfold|npx) .*|`(?:memfold|npx|--)[^`\n]*`/gm)]
        .filter(([words]) => /\$\d/.test(words.replaceAll(/'[^']*'/g, "")))
        .map(([words]) => `${document}: ${words}`),
    )
    expect(unquoted).toEqual([])
  })

  it("names a template that exists", () => {
    const templates = new Set(readdirSync(join(root, "packages/programs/create-memfold/templates")))
    const named = shown.flatMap(({ line }) =>
      [...line.matchAll(/--template ([a-z-]+)/g)].map(([, name]) => name!),
    )
    expect(named.length).toBeGreaterThan(0)
    expect(named.filter((name) => !templates.has(name))).toEqual([])
  })
})

/** What waits for a person or a client, needs a server, a model or files of a reader's own, or is tested apart with such files. */
const isBeyond =
  /\b(serve|studio|worker|wrap|token|dead-letters|archive|restore|import)\b|redis:|postgres:|[A-Z]{4,}|…|[~*]|\.mjs/

const calls = new Map(
  shown
    .filter(({ document, isBlock, line }) => isBlock && !isBeyond.test(line) && !isInTemplate(document))
    .flatMap(({ words: [program, first = "", ...rest] }) => {
      if (program === "memfold") return [[first, ...rest]]
      if (first === "memfold") return [rest]
      return program === "npm" && first === "start" && rest[0] === "--" ? [rest.slice(1)] : []
    })
    // The lab needs seconds for each policy, and the tour runs it.
    .filter(([command = ""]) => deep || !["lab", "tour"].includes(command))
    .map((call) => [call.join(" "), call] as const),
)

describe("a command of a block that needs no server is run", () => {
  beforeAll(async () => {
    // What a reader has: a conversation in a file, and one in a store. Paths from the root of the repository lead there.
    for (const name of ["chat.json", "my-chat.json"])
      file(name, readFileSync(sample("support-zh.jsonl"), "utf8"))
    symlinkSync(join(root, "packages"), join(folder, "packages"))
    await using memory = createMemory({ store: `sqlite:${join(folder, "chats.db")}` })
    for (const session of ["chat", "chat-1"])
      await memory.append(session, { role: "user", content: "My order is KX-4471." })
  })

  it("is more than a few", () => expect(calls.size).toBeGreaterThan(6))

  it.each([...calls])("memfold %s", async (_line, call) => {
    const { code, out, err } = await memfold(...call)
    expect({ code, err }).toEqual({ code: 0, err: "" })
    // What is exported to a file is not printed.
    expect(out === "").toBe(call[0] === "export")
  })
})
