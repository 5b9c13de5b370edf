/** Shared by the examples: a worker process is killed in the middle, and a second one continues. */
import { type ProviderServer, providerServer, seeded } from "@memfold/strict-providers"
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

/** What a worker reports, a line of JSON for each. */
interface Report {
  /** A tool runs, in this turn. */
  readonly tool?: number
  /** This turn is over. */
  readonly turn?: number
  /** A digest of the context as it is now. */
  readonly context?: string
  readonly tokens?: number
  readonly compactions?: number
  readonly messages?: number
}

/** What a worker does. */
export interface Work {
  /** The address of the local server; empty for the API itself. */
  readonly address: string
  /** The file of the sessions. */
  readonly file: string
  /** The turn to begin with. */
  readonly from: number
  /** Tools wait for the end of the process from this turn on. */
  readonly killIn: number
}

/** Runs a worker until it ends, or until it reports the tool of a turn; then it is killed. */
const run = async (program: string, args: ReadonlyArray<string>, killIn: number) => {
  const stdio: ["ignore", "pipe", "inherit"] = ["ignore", "pipe", "inherit"]
  const child = spawn(process.execPath, [program, "work", ...args, String(killIn)], { stdio })
  const reports: Array<Report> = []
  for await (const line of createInterface({ input: child.stdout })) {
    const report = JSON.parse(line) as Report
    reports.push(report)
    if (report.tool !== undefined && report.tool >= killIn) {
      child.kill("SIGKILL")
      break
    }
  }
  const running = child.exitCode === null && child.signalCode === null
  if (running) await new Promise((resolve) => child.once("exit", resolve))
  return reports
}

/** What a tool waits for in the turn in which its process is to be killed. */
export const kill = (): Promise<never> => new Promise(() => setInterval(() => {}, 1_000))

/** Lets a worker talk from turn 1 on, kills it in a tool of turn `killIn` or later, and lets another one go on. */
const talk = async (program: string, { address, file, killIn }: Omit<Work, "from">) => {
  const first = await run(program, [address, file, "1"], killIn)
  const killed = first.at(-1)
  const second = await run(program, [address, file, String(killed?.tool ?? 0)], Infinity)
  const done = [...first, ...second].filter(({ turn }) => turn !== undefined)
  const last = done.at(-1)
  return {
    answered: done.length,
    killedIn: killed?.tool ?? 0,
    sameContext: killed?.context !== undefined && killed.context === second[0]?.context,
    messages: last?.messages ?? 0,
    compactions: last?.compactions ?? 0,
    largest: Math.max(...done.map(({ tokens }) => tokens ?? 0)),
  }
}

/** Prints one result. */
export const show = (name: string, value: unknown): void => console.log(`${name.padEnd(36)}${String(value)}`)

/** An example whose process is killed in the middle. */
export interface Example {
  readonly turns: number
  /** The environment variable with the key of the API. Without it, a local server plays the API. */
  readonly key: string
  /** The address of the local server that the client takes. */
  readonly addressOf: (server: ProviderServer) => string
  readonly work: (work: Work) => Promise<void>
}

const talkAndShow = async (program: string, { turns, key, addressOf }: Example): Promise<boolean> => {
  const folder = mkdtempSync(join(tmpdir(), "memfold-example-"))
  const server = process.env[key] === undefined ? await providerServer({ answer: seeded(16) }) : null
  try {
    const told = await talk(program, {
      address: server === null ? "" : addressOf(server),
      file: join(folder, "chats.db"),
      killIn: turns / 2,
    })
    show("turns answered", told.answered)
    show("killed in a tool of turn", told.killedIn)
    show("the same context after the restart", told.sameContext ? "yes" : "no")
    show("messages in the log", told.messages)
    show("compactions", told.compactions)
    show("largest context in tokens", told.largest)
    if (server !== null) {
      show("requests to the server", server.received.length)
      show("requests that it refused", server.refused.length)
      for (const { violations } of server.refused) console.log(violations)
    }
    const accepted = (server?.refused.length ?? 0) === 0
    return told.answered === turns && told.sameContext && told.compactions > 3 && accepted
  } finally {
    await server?.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * Runs an example, or its worker if the arguments of the process say so. The exit code is 1 unless all turns were answered
 * with the same context after the restart and without a refused request.
 *
 * @param url the `import.meta.url` of the example
 */
export const restarted = async (url: string, example: Example): Promise<void> => {
  const [, , task, address = "", file = "", from = "1", killIn = ""] = process.argv
  if (task === "work") await example.work({ address, file, from: Number(from), killIn: Number(killIn) })
  else if (!(await talkAndShow(fileURLToPath(url), example))) process.exitCode = 1
}
