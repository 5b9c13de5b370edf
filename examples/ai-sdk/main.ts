/**
 * `npm run example -- ai-sdk`: 100 turns of an agent with tools on one session. In the middle its process is killed while a
 * tool runs, and another one goes on. Offline, against a local server that is as strict as Anthropic's API; with
 * `ANTHROPIC_API_KEY` set, against the API itself.
 */
import { providerServer, seeded } from "@memfold/testing/provider"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { show, talk } from "../restart.js"
import { turns, work } from "./worker.js"

const main = async (): Promise<boolean> => {
  const folder = mkdtempSync(join(tmpdir(), "memfold-example-"))
  const server =
    process.env["ANTHROPIC_API_KEY"] === undefined ? await providerServer({ answer: seeded(16) }) : null
  try {
    const told = await talk(fileURLToPath(import.meta.url), {
      address: server === null ? "" : `${server.anthropicURL}/v1`,
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

const [, , task, address = "", file = "", from = "1", killIn = ""] = process.argv
if (task === "work") await work({ address, file, from: Number(from), killIn: Number(killIn) })
else process.exitCode = (await main()) ? 0 : 1
