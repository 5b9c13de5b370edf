/** Second processes for tests of stores: small scripts, bundled from the sources under test to start quickly. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, onTestFinished } from "vitest"
import { bundleAll } from "../../../../scripts/bundle.mjs"

/**
 * Bundles scripts of a folder for the tests of a file; answers with the path of each. `external` says where the packages
 * are that stay outside.
 */
export const bundled = <Name extends string>(
  folder: URL,
  names: ReadonlyArray<Name>,
  external: Readonly<Record<string, string>> = {},
): ((name: Name) => string) => {
  const outDir = mkdtempSync(join(tmpdir(), "memfold-children-"))
  beforeAll(async () => {
    const scripts = names.map((name) => [name, fileURLToPath(new URL(`${name}.mjs`, folder))])
    await bundleAll(Object.fromEntries(scripts), { outDir, external })
  })
  afterAll(() => rmSync(outDir, { recursive: true, force: true }))
  return (name) => join(outDir, `${name}.mjs`)
}

/** A second process. */
export interface Child {
  /** The next line of its standard output; `undefined` when there will be no more. */
  readonly line: () => Promise<string | undefined>
  readonly say: (line: string) => void
  readonly kill: () => void
  /** Closes its standard input, waits for its end, and answers with the lines not read yet. */
  readonly end: () => Promise<ReadonlyArray<string>>
}

/** Runs a script in another process; should the test end first, it is killed. */
export const start = (script: string, ...args: ReadonlyArray<string>): Child =>
  child(spawn(process.execPath, [script, ...args], { stdio: ["pipe", "pipe", "inherit"] }))

/** A process as the tests handle it. */
export const child = (running: ChildProcess): Child => {
  const { stdin, stdout } = running
  if (stdin === null || stdout === null) throw new Error("a child needs its standard input and output")
  const ended = once(running, "close")
  // A killed process reads no more.
  stdin.on("error", () => {})
  onTestFinished(async () => {
    running.kill("SIGKILL")
    await ended
  })
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]()
  const line = async (): Promise<string | undefined> => {
    const next = await lines.next()
    return next.done === true ? undefined : next.value
  }
  return {
    line,
    say: (text) => void stdin.write(`${text}\n`),
    kill: () => void running.kill("SIGKILL"),
    end: async () => {
      stdin.end()
      const rest: Array<string> = []
      for (let next = await line(); next !== undefined; next = await line()) rest.push(next)
      await ended
      return rest
    },
  }
}
