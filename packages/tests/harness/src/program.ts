/**
 * The built command line as its users meet it, in a folder of its own: `memfold` calls it in one process for all tests of
 * a file, because a process takes longer to start than most calls; `fresh` in a process of its own.
 */
import { type ChildProcess, execFile, fork } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll } from "vitest"

const require = createRequire(import.meta.url)

/** The bundled program, which `npx memfold` runs. */
export const program = require.resolve("@memfold/cli/main")

/** A conversation or an old state that is shipped with the package. */
export const sample = (name: string): string =>
  join(dirname(require.resolve("@memfold/cli/package.json")), "samples", name)

/** What a call came to. */
export interface CallResult {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Not a terminal, not told by the environment of the tests to print colours, nor where pnpm has its packages. */
export const environment = (): NodeJS.ProcessEnv => ({
  ...process.env,
  NO_COLOR: "1",
  FORCE_COLOR: undefined,
  NODE_PATH: undefined,
})

/** The program of an installation, run in a folder by a runtime: by the Node of the tests, if none is given. */
export const programAt =
  (
    path: string,
    folder: string,
    [runtime, ...before]: readonly [program: string, ...before: ReadonlyArray<string>] = [process.execPath],
  ) =>
  (...args: ReadonlyArray<string>): Promise<CallResult> =>
    new Promise((resolve) => {
      const options = { cwd: folder, maxBuffer: 1 << 27, env: environment() }
      execFile(runtime, [...before, path, ...args], options, (error, out, err) =>
        resolve({ code: error === null ? 0 : Number(error.code), out, err }),
      )
    })

/** A call that has no answer yet. */
interface PendingCall {
  readonly resolve: (ran: CallResult) => void
  readonly reject: (error: Error) => void
}

const hostModule = fileURLToPath(new URL("host.mjs", import.meta.url))

/** The built program called in one process, which starts with the first call; calls wait for earlier calls. */
const hosted = (folder: string) => {
  let host: ChildProcess | undefined
  const waiting: Array<PendingCall> = []
  const start = (): ChildProcess => {
    // Advanced messages keep what JSON does not: a lone surrogate in a text.
    const child = fork(hostModule, {
      cwd: folder,
      env: environment(),
      execArgv: [],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      serialization: "advanced",
    })
    child.on("message", (ran) => waiting.shift()?.resolve(ran as CallResult))
    child.once("close", (code, signal) => {
      host = undefined
      const error = new Error(`the process of the program ended by itself: ${signal ?? `exit code ${code}`}`)
      for (const { reject } of waiting.splice(0)) reject(error)
    })
    return child
  }
  return {
    memfold: (...args: ReadonlyArray<string>): Promise<CallResult> =>
      new Promise((resolve, reject) => {
        waiting.push({ resolve, reject })
        host ??= start()
        host.send(args)
      }),
    end: async () => {
      if (host === undefined) return
      const closed = once(host, "close")
      host.kill()
      await closed
    },
  }
}

/** A folder for the tests of a file, removed after them, and the program run in it. */
export const inFolder = (name: string) => {
  const folder = mkdtempSync(join(tmpdir(), `memfold-${name}-`))
  const { memfold, end } = hosted(folder)
  afterAll(async () => {
    await end()
    rmSync(folder, { recursive: true, force: true })
  })
  return {
    folder,
    memfold,
    fresh: programAt(program, folder),
    /** Writes a file, of text or of JSON, and answers with its path. */
    file: (name: string, content: unknown): string => {
      const path = join(folder, name)
      writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content))
      return path
    },
  }
}

/** JSON Lines, parsed. */
export const lines = (text: string): ReadonlyArray<Record<string, unknown>> =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>)
