/** A conversation whose process is killed in the middle, against a local server that is as strict as Anthropic's API. */
import { type ProviderServer, providerServer, seeded } from "@memfold/testing/provider"
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"

/** What a worker reports, a line of JSON for each. */
interface Report {
  readonly tool?: number
  readonly turn?: number
  readonly context?: string
  readonly tokens?: number
  readonly compactions?: number
  readonly messages?: number
  readonly text?: string
}

/** Runs a worker until it ends, or until it reports the tool of a turn; then it is killed. */
const run = async (program: string, address: string, file: string, from: number, killIn: number | null) => {
  const args = [program, "work", address, file, String(from)]
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] })
  const reports: Array<Report> = []
  for await (const line of createInterface({ input: child.stdout })) {
    const report = JSON.parse(line) as Report
    reports.push(report)
    if (report.tool !== undefined && killIn !== null && report.tool >= killIn) {
      child.kill("SIGKILL")
      break
    }
  }
  const ended = child.exitCode === null && child.signalCode === null
  if (ended) await new Promise((resolve) => child.once("exit", resolve))
  return { reports, last: reports.at(-1), code: child.exitCode }
}

const show = (name: string, value: unknown) => console.log(`${name.padEnd(36)}${String(value)}`)

/**
 * Runs a program until the tool of the middle turn works, kills it, and lets it go on from there. It gets `work`, the
 * address of the server, the file of the store and the turn to begin with as its arguments. Shows what came of it.
 *
 * @param program the file of the program
 * @param turns how many turns it has
 * @param addressOf the address that its client takes
 * @returns whether all turns were answered, with the same context after the restart and without a refused request
 */
export const killedInTheMiddle = async (
  program: string,
  turns: number,
  addressOf: (server: ProviderServer) => string,
): Promise<boolean> => {
  const folder = mkdtempSync(join(tmpdir(), "memfold-example-"))
  const file = join(folder, "chats.db")
  const server =
    process.env["ANTHROPIC_API_KEY"] === undefined ? await providerServer({ answer: seeded(16) }) : null
  try {
    const address = server === null ? "" : addressOf(server)
    const first = await run(program, address, file, 1, turns / 2)
    const at = first.last?.tool ?? 0
    const second = await run(program, address, file, at, null)
    const [resumed] = second.reports
    const done = [...first.reports, ...second.reports].filter(({ turn }) => turn !== undefined)
    const compactions = done.at(-1)?.compactions ?? 0
    const largest = Math.max(...done.map(({ tokens }) => tokens ?? 0))
    const same = first.last?.context !== undefined && first.last.context === resumed?.context

    show("turns answered", done.length)
    show("killed in a tool of turn", at)
    show("the same context after the restart", same ? "yes" : "no")
    show("messages in the log", done.at(-1)?.messages)
    show("compactions", compactions)
    show("largest context in tokens", largest)
    if (server !== null) {
      show("requests to the server", server.received.length)
      show("requests that it refused", server.refused.length)
      for (const { violations } of server.refused) console.log(violations)
    }
    return done.length === turns && same && compactions > 3 && (server?.refused.length ?? 0) === 0
  } finally {
    await server?.close()
    rmSync(folder, { recursive: true, force: true })
  }
}
