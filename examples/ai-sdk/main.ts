/**
 * `npm run example -- ai-sdk`: 100 turns of an agent with tools on one session. In the middle its process is killed while a
 * tool runs, and another one goes on. Offline, against a local server that is as strict as Anthropic's API; with
 * `ANTHROPIC_API_KEY` set, against the API itself.
 */
import { providerServer, seeded } from "@memfold/testing/provider"
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { turns, work } from "./worker.js"

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

const killAt = turns / 2

/** Runs a worker until it ends, or until it reports the tool of a turn; then it is killed. */
const run = async (address: string, file: string, from: number, killIn: number | null) => {
  const args = [fileURLToPath(import.meta.url), "work", address, file, String(from)]
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

const main = async (): Promise<boolean> => {
  const folder = mkdtempSync(join(tmpdir(), "memfold-example-"))
  const file = join(folder, "chats.db")
  const server =
    process.env["ANTHROPIC_API_KEY"] === undefined ? await providerServer({ answer: seeded(16) }) : null
  try {
    const address = server?.anthropicURL === undefined ? "" : `${server.anthropicURL}/v1`
    const first = await run(address, file, 1, killAt)
    const at = first.last?.tool ?? 0
    const second = await run(address, file, at, null)
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

const [, , task, address = "", file = "", from = "1"] = process.argv
if (task === "work") await work(address, file, Number(from))
else process.exitCode = (await main()) ? 0 : 1
