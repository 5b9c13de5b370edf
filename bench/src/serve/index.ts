/**
 * Measures `memfold serve` under 1,000 clients at once, each with a session of its own, against a bare service with a table of
 * messages. The service is killed at the end: what it acknowledged has to be in its store.
 */
import { createMemory, type StoreUrl } from "memfold"
import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { claim, told } from "../measure.js"
import { withServer } from "../redis.js"
import type { Measured } from "./clients.js"

const clients = 1_000
const turns = 4

const program = (name: string) => fileURLToPath(new URL(`${name}.js`, import.meta.url))

/** Runs the clients against a service in a process of its own, and kills it. */
const underLoad = async (name: string, of: string): Promise<Measured> => {
  const service = spawn(process.execPath, [program(name), of], { stdio: ["ignore", "pipe", "inherit"] })
  try {
    const [url] = (await once(createInterface({ input: service.stdout }), "line")) as [string]
    const args = [program("clients"), url, String(clients), String(turns)]
    const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 1e8 })
    return JSON.parse(stdout) as Measured
  } finally {
    service.kill("SIGKILL")
    await once(service, "exit")
  }
}

const percentile = (times: ReadonlyArray<number>, part: number): number =>
  times.toSorted((one, other) => one - other)[Math.floor(times.length * part)] ?? 0

const requests = ({ appends, contexts }: Measured) => appends.length + contexts.length

const print = (name: string, measured: Measured): void => {
  told(`${name}: requests per second`, String(Math.round(requests(measured) / measured.seconds)))
  for (const kind of ["appends", "contexts"] as const) {
    const times = [0.5, 0.99].map((part) => Math.round(percentile(measured[kind], part)))
    told(`${name}: ${kind}, median and 99th percentile, ms`, times.join("  "))
  }
}

/** How many messages of the clients are in a store. */
const stored = async (store: StoreUrl): Promise<number> => {
  const memory = createMemory({ store })
  let total = 0
  for await (const { session } of memory.sessions())
    total += (await memory.messages(session, { limit: 1 })).total
  await memory.close()
  return total
}

/** Loads a service over a store, and prints. Returns whether nothing failed and nothing was lost. */
const over = async (name: string, store: StoreUrl, bare: Measured): Promise<boolean> => {
  const measured = await underLoad("service", store)
  print(name, measured)
  const found = await stored(store)
  told(
    `${name}: failed requests; messages stored of ${2 * measured.appends.length}`,
    `${measured.errors}  ${found}`,
  )
  const perRequest = (one: Measured) => one.seconds / requests(one)
  return [
    claim(`${name}: time per request, against the bare service`, perRequest(measured) / perRequest(bare), 6),
    measured.errors === 0,
    found === 2 * clients * turns,
  ].every(Boolean)
}

/** Measures and prints. Returns whether every ratio is within its bound. */
export const service = async (): Promise<boolean> => {
  const folder = mkdtempSync(join(tmpdir(), "memfold-bench-"))
  try {
    console.log(`\nThe service: ${clients} clients at once, ${turns} turns each`)
    const bare = await underLoad("bare", join(folder, "bare.db"))
    print("bare", bare)
    const settings = { appendonly: "yes", appendfsync: "always" }
    return [
      await over("SQLite", `sqlite:${join(folder, "chats.db")}`, bare),
      await withServer(folder, settings, (port) => over("Redis", `redis://127.0.0.1:${port}`, bare)),
    ].every(Boolean)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
