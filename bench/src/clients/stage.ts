/** A place to run a program in: an empty home, a folder with the files of facts, and its provider. */
import { providerServer, type Answering } from "@memfold/strict-providers"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { delimiter, dirname, join } from "node:path"
import { createInterface } from "node:readline"
import { factsOf, question, type Size } from "./model.js"
import type { Program } from "./programs.js"

/** The command line of memfold. */
const memfold = join(
  dirname(createRequire(import.meta.url).resolve("memfold/package.json")),
  "bin",
  "memfold.js",
)

/** The processes that run. They end with this one, however it ends. */
const running = new Set<ChildProcess>()
process.once("exit", () => {
  // A wrapper passes on the signal to its program.
  for (const child of running) child.kill("SIGTERM")
})
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130))

const kept = (child: ChildProcess): void => {
  running.add(child)
  child.once("exit", () => running.delete(child))
}

/** How long a program may work on a question, in milliseconds. */
const patience = 300_000

/** What became of a question. */
export interface Ended {
  readonly code: number | null
  /** The last lines that the program printed. */
  readonly last: string
}

/** Sets a place up. `programs` is the folder with the programs. */
export const stage = async (
  program: Program,
  {
    folder,
    programs,
    size,
    answer,
    binding,
  }: {
    readonly folder: string
    readonly programs: string
    readonly size: Size
    readonly answer: Answering
    readonly binding: "checked" | "off"
  },
) => {
  const home = join(folder, "home")
  const work = join(folder, "work")
  for (const one of [home, work]) mkdirSync(one, { recursive: true })
  for (let task = 0; task < size.tasks; task++)
    for (let turn = 0; turn < size.turns; turn++) {
      const { name, text } = factsOf(task, turn)
      writeFileSync(join(work, name), text)
    }
  const provider = await providerServer({ answer, binding, unpublished: program.unpublished })
  const env = {
    // The programs find nothing of their user: no keys, no settings, no other conversations.
    PATH: `${programs}${delimiter}${process.env["PATH"] ?? ""}`,
    HOME: home,
  }
  return {
    provider,
    store: `sqlite:${join(folder, "agents.db")}` as const,
    /** Asks the program a question; `wrap` are the options of `memfold wrap`. */
    ask: async (
      task: number,
      wrap: ReadonlyArray<string>,
      compactAt: number | null = null,
    ): Promise<Ended> => {
      const args = program.args(question(task), { folder: work, isFirst: task === 0, compactAt })
      const child = spawn(process.execPath, [memfold, "wrap", program.tool, ...wrap, "--", ...args], {
        cwd: work,
        env: { ...env, ...program.env(home, compactAt) },
        stdio: ["ignore", "pipe", "pipe"],
        timeout: patience,
      })
      kept(child)
      let printed = ""
      for (const output of [child.stdout, child.stderr])
        output.on("data", (bytes: Buffer) => (printed = `${printed}${bytes.toString("utf8")}`.slice(-2_000)))
      const [code] = (await once(child, "close")) as [number | null]
      return { code, last: printed }
    },
  }
}

/** Starts `memfold serve` as a process; `lines` gets its log. */
export const startProxy = async (
  { store, upstream, port }: { readonly store: string; readonly upstream: string; readonly port: number },
  lines: Array<string>,
) => {
  const args = ["serve", "--store", store, "--port", String(port), "--upstream", upstream]
  const child = spawn(process.execPath, [memfold, ...args], { stdio: ["ignore", "pipe", "pipe"] })
  kept(child)
  const ended = once(child, "exit")
  createInterface({ input: child.stderr }).on("line", (line) => lines.push(line))
  await Promise.race([
    once(createInterface({ input: child.stdout }), "line"),
    ended.then(() => Promise.reject(new Error(`memfold serve has ended: ${lines.at(-1)}`))),
  ])
  return {
    /** Ends it, if it has not ended. */
    end: async (signal: "SIGKILL" | "SIGTERM") => {
      child.kill(signal)
      await ended
    },
  }
}
