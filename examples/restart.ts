/** What the examples have in common: a worker that is killed in the middle, and another one that goes on. */
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"

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

/** How the talk went. */
export interface Talk {
  readonly answered: number
  readonly killedIn: number
  readonly sameContext: boolean
  readonly messages: number
  readonly compactions: number
  readonly largest: number
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
export const talk = async (
  program: string,
  { address, file, killIn }: { readonly address: string; readonly file: string; readonly killIn: number },
): Promise<Talk> => {
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
