/** The error for a package that has to be installed, with the command for it. */
import { Effect, Schema } from "effect"
import type * as fs from "node:fs"
import type * as path from "node:path"

/** The package that a module loader did not find, with its module: `@effect/sql/SqlError`, `better-sqlite3`. */
interface NotFound {
  readonly code: "ERR_MODULE_NOT_FOUND" | "MODULE_NOT_FOUND"
  readonly message: string
}

const named = /Cannot find (?:package|module) '((?:@[^/']+\/)?[^/']+)/u

/** Whether an error says that a package is not installed. */
export const isMissing = (error: unknown): error is NotFound => {
  const { code, message } = (typeof error === "object" && error !== null ? error : {}) as Partial<NotFound>
  const isCode = code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND"
  return isCode && named.test(String(message))
}

/** How each package manager adds a package. */
const commands: Readonly<Record<string, string>> = {
  npm: "npm install",
  pnpm: "pnpm add",
  yarn: "yarn add",
  bun: "bun add",
}

/**
 * Packages whose newest version is not the one to install. better-sqlite3 13 ends the process in Node 20; npm heeds the range of
 * peers, pnpm takes the newest.
 */
const versions: Readonly<Record<string, string>> = { "better-sqlite3": "12" }

/** The files that a package manager leaves beside a `package.json`. */
const lockFiles: ReadonlyArray<readonly [file: string, manager: string]> = [
  ["pnpm-lock.yaml", "pnpm"],
  ["yarn.lock", "yarn"],
  ["bun.lock", "bun"],
  ["bun.lockb", "bun"],
  ["package-lock.json", "npm"],
]

/** What is known of the process; a runtime may lack all of it. */
interface Platform {
  readonly process?: {
    readonly env?: Readonly<Record<string, string | undefined>>
    readonly cwd?: () => string
    readonly getBuiltinModule?: (id: string) => unknown
  }
}

/** The package manager that started the process, or else the one whose lock file is nearest above the working directory. */
const packageManager = (): string => {
  const { process } = globalThis as Platform
  const [agent = ""] = (process?.env?.["npm_config_user_agent"] ?? "").split("/")
  if (Object.hasOwn(commands, agent)) return agent
  const files = process?.getBuiltinModule?.("node:fs") as typeof fs | undefined
  const paths = process?.getBuiltinModule?.("node:path") as typeof path | undefined
  const start = process?.cwd?.()
  if (files === undefined || paths === undefined || start === undefined) return "npm"
  for (let folder = start; ; folder = paths.dirname(folder)) {
    const found = lockFiles.find(([file]) => files.existsSync(paths.join(folder, file)))
    if (found !== undefined) return found[1]
    if (paths.dirname(folder) === folder) return "npm"
  }
}

/**
 * A store or a queue needs a package that is not installed. `command` installs it, with the package manager in use: the one that started
 * the process, or the one whose lock file is found.
 *
 * @example
 * ```ts
 * import { createMemory, MissingPackage } from "memfold"
 *
 * const memory = createMemory({ store: "sqlite:chats.db" })
 * await memory.context("chat-1").catch((error: unknown) => {
 *   if (error instanceof MissingPackage) console.log(error.command)
 * })
 * await memory.close()
 * ```
 */
export class MissingPackage extends Schema.TaggedError<MissingPackage>()("MissingPackage", {
  package: Schema.String,
  command: Schema.String,
}) {
  override get message(): string {
    return `the package ${this.package} is needed, and is not installed; type: ${this.command}`
  }

  /** @internal Fails with the error for what a module loader did not find. */
  static of({ message }: NotFound): Effect.Effect<never, MissingPackage> {
    return Effect.sync(() => {
      const [, name = ""] = named.exec(message) ?? []
      const wanted = Object.hasOwn(versions, name) ? `${name}@${versions[name]}` : name
      return new MissingPackage({ package: name, command: `${commands[packageManager()]} ${wanted}` })
    }).pipe(Effect.flatMap((error) => Effect.fail(error)))
  }
}

/**
 * Imports a package that only its users install. A bundler cannot see its name, and so does not look for it: it stays beside the
 * bundle, in `node_modules`.
 */
export const optional = <Package>(name: string): Promise<Package> =>
  import(/* webpackIgnore: true */ /* @vite-ignore */ name)

/** Loads a package. What is wrong with it, other than that it or a package that it needs is not installed, is a defect. */
export const loading = <Package>(load: () => Promise<Package>): Effect.Effect<Package, MissingPackage> =>
  Effect.catchAll(Effect.tryPromise({ try: load, catch: (error) => error }), (error) =>
    isMissing(error) ? MissingPackage.of(error) : Effect.die(error),
  )
