/**
 * Measures `memfold serve` under many clients at once, each with sessions of its own, over SQLite, Redis and PostgreSQL: appends and
 * contexts against a bare service with a table of messages, streams through the proxy against a proxy that does nothing, and all of it
 * together while the service is killed. What it acknowledged has to be in its store, once.
 *
 * `npm run bench -- serve --clients 1000 --turns 4 --kills 20 --stores sqlite,redis,postgres`
 */
import { createMemory, type StoreUrl } from "memfold"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { freePort } from "../freePort.js"
import { withServer } from "../load/server.js"
import { claim, percentile, told } from "../measure.js"
import type { Load, Measured } from "./clients.js"
import { run, type Running, start } from "./processes.js"

interface Size {
  readonly clients: number
  readonly turns: number
  readonly kills: number
}

const requests = ({ appends, contexts, streams }: Measured) =>
  appends.length + contexts.length + streams.length

const print = (name: string, measured: Measured): void => {
  told(`${name}: requests per second`, String(Math.round(requests(measured) / measured.seconds)))
  for (const kind of ["appends", "contexts", "firstBytes", "streams"] as const) {
    const times = [0.5, 0.99].map((part) => Math.round(percentile(measured[kind], part)))
    const what = kind === "firstBytes" ? "first bytes" : kind
    if (measured[kind].length > 0) told(`${name}: ${what}, median and p99, ms`, times.join("  "))
  }
}

/** What the clients of one kind of load have stored: sessions with all that they said, in order and once. */
const whole = async (store: StoreUrl, { clients, turns, name, kinds }: Load) => {
  const memory = createMemory({ store })
  let [good, lost, doubled] = [0, 0, 0]
  try {
    for (let number = 0; number < clients; number++)
      for (const session of kinds.map((kind) => `${name}-${number}${kind === "streams" ? "-asked" : ""}`)) {
        const { messages } = await memory.messages(session, { limit: 4 * turns })
        const questions = messages.flatMap(({ role, content }) =>
          role === "user" ? [String(content).split(":", 1)[0]] : [],
        )
        const expected = Array.from({ length: turns }, (_, turn) => `Question ${turn}`)
        const isWhole = messages.length === 2 * turns && expected.every((text, at) => questions[at] === text)
        if (isWhole) good++
        else if (messages.length > 2 * turns) doubled++
        else lost++
      }
  } finally {
    await memory.close()
  }
  return { good, lost, doubled, sessions: clients * kinds.length }
}

/** Loads a service, kills it at the end, and looks into its store. Returns whether no request failed and nothing is missing. */
const acknowledged = async (name: string, store: StoreUrl, load: Load, measured: Measured) => {
  const { good, lost, doubled, sessions } = await whole(store, load)
  told(`${name}: failed requests`, String(measured.errors))
  told(`${name}: sessions whole, with a loss, doubled`, `${good}  ${lost}  ${doubled}`)
  return measured.errors === 0 && good === sessions
}

/** What runs before a measurement: a process of Node is slow with what it does for the first time. */
const warmUp = (url: string, kinds: Load["kinds"]): Promise<Measured> =>
  run({ url, name: "warm", clients: 20, turns: 3, kinds, parts: 1, isPatient: true })

/** Kills and starts a service again and again while clients that try again work on it. */
const killed = async (name: string, store: StoreUrl, upstream: string, size: Size): Promise<boolean> => {
  const port = String(await freePort())
  const begin = () => start("service", [store, upstream, port])
  let service: Running = await begin()
  let [count, restarts] = [0, Promise.resolve()]
  const restart = async (): Promise<void> => {
    await service.kill()
    count++
    service = await begin()
  }
  const load: Load = {
    url: service.url,
    clients: size.clients,
    turns: Math.max(size.turns, 2),
    name: "killed",
    kinds: ["memory", "streams"],
    parts: size.kills + 1,
    isPatient: true,
  }
  const measured = await run(load, () => {
    if (count < size.kills) restarts = restarts.then(restart)
  })
  await restarts
  await service.kill()
  told(`${name}: kills; requests sent again`, `${count}  ${measured.repeated}`)
  return (await acknowledged(`${name}, killed`, store, load, measured)) && count === size.kills
}

/** Measures a service over a store, and prints. */
const over = async (
  name: string,
  store: StoreUrl,
  size: Size,
  beside: { readonly bare: Measured; readonly passed: Measured; readonly upstream: string },
): Promise<boolean> => {
  const { bare, passed, upstream } = beside
  const service = await start("service", [store, upstream])
  const load = { ...size, url: service.url, parts: 1, isPatient: false } as const
  const outcomes: Array<boolean> = []
  const loads: Array<readonly [Load, Measured]> = []
  try {
    await warmUp(service.url, ["memory", "streams"])
    for (const kinds of [["memory"], ["streams"], ["memory", "streams"]] as const) {
      const of: Load = { ...load, kinds, name: kinds.join("-") }
      loads.push([of, await run(of)])
    }
  } finally {
    await service.kill()
  }
  for (const [of, measured] of loads) {
    const what = `${name}, ${of.kinds.join(" and ")}`
    print(what, measured)
    outcomes.push(await acknowledged(what, store, of, measured))
  }
  const [, memory] = loads[0]!
  const [, streams] = loads[1]!
  const perRequest = (one: Measured) => one.seconds / requests(one)
  outcomes.push(
    claim(`${name}: time per request, against the bare service`, perRequest(memory) / perRequest(bare), 6),
  )
  for (const kind of ["firstBytes", "streams"] as const) {
    const added = [0.5, 0.99].map((part) => percentile(streams[kind], part) - percentile(passed[kind], part))
    const what = kind === "firstBytes" ? "first byte" : "total"
    told(`${name}: the proxy adds, ${what}, median and p99, ms`, added.map((ms) => ms.toFixed(1)).join("  "))
  }
  if (size.kills > 0) outcomes.push(await killed(name, store, upstream, size))
  return outcomes.every(Boolean)
}

/** What stands beside the service in the same run: a bare service, and a proxy that does nothing. */
const beside = async (folder: string, size: Size, upstream: string) => {
  const measured = async (name: string, of: string, kinds: Load["kinds"]): Promise<Measured> => {
    const running = await start(name, [of])
    try {
      await warmUp(running.url, kinds)
      return await run({ ...size, url: running.url, name: "bare", kinds, parts: 1, isPatient: false })
    } finally {
      await running.kill()
    }
  }
  const bare = await measured("bare", join(folder, "bare.db"), ["memory"])
  print("bare service", bare)
  const passed = await measured("passThrough", upstream, ["streams"])
  print("bare proxy", passed)
  return { bare, passed, upstream }
}

/** Measures and prints. Returns whether nothing failed, nothing was lost, and every ratio is within its bound. */
export const service = async (args: ReadonlyArray<string> = []): Promise<boolean> => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      clients: { type: "string", default: "1000" },
      turns: { type: "string", default: "4" },
      kills: { type: "string", default: "0" },
      stores: { type: "string", default: "sqlite,redis,postgres" },
    },
  })
  const size: Size = {
    clients: Number(values.clients),
    turns: Number(values.turns),
    kills: Number(values.kills),
  }
  const folder = mkdtempSync(join(tmpdir(), "memfold-bench-"))
  const upstream = await start("upstream", [])
  const outcomes: Array<boolean> = []
  try {
    console.log(`\nThe service: ${size.clients} clients at once, ${size.turns} turns each`)
    const others = await beside(folder, size, upstream.url)
    for (const store of values.stores.split(",")) {
      if (store === "sqlite") {
        outcomes.push(await over("SQLite", `sqlite:${join(folder, "chats.db")}`, size, others))
        continue
      }
      const [kind, name] =
        store === "redis" ? (["redis", "Redis"] as const) : (["postgres", "PostgreSQL"] as const)
      outcomes.push(await withServer(kind, (url) => over(name, url as StoreUrl, size, others)))
    }
    return outcomes.every(Boolean)
  } finally {
    await upstream.kill()
    rmSync(folder, { recursive: true, force: true })
  }
}
