/** The reader of the output is gone, as behind `| head` or a closed terminal: every command goes on, and ends as it would. */
import { deep } from "@memfold/harness/depth"
import { eventually } from "@memfold/harness/eventually"
import { environment, inFolder, program, sample } from "@memfold/harness/program"
import { servers } from "@memfold/harness/redisServers"
import { talk, web } from "@memfold/harness/workers"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, mkdirSync } from "node:fs"
import { delimiter, join } from "node:path"
import { beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { commands } from "../src/command/table.js"

const { folder, memfold, file } = inFolder("unread")
const { server } = servers()
const store = ["--store", "sqlite:chats.db"]

/** A process whose standard output nobody reads from its start, and whose standard error is read. */
const unread = (...args: ReadonlyArray<string>) => {
  const child = spawn(process.execPath, [program, ...args], {
    cwd: folder,
    env: { ...environment(), HOME: folder, PATH: `${join(folder, "bin")}${delimiter}${process.env["PATH"]}` },
    stdio: ["ignore", "pipe", "pipe"],
  })
  child.stdout.destroy()
  let err = ""
  child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()))
  const ended = once(child, "close")
  onTestFinished(async () => {
    child.kill("SIGKILL")
    await ended
  })
  return { child, ended, err: () => err }
}

/** How each command is called that ends by itself, and its exit code. */
const calls: Readonly<Record<string, readonly [code: number, ...args: ReadonlyArray<string>]>> = {
  tour: [0],
  replay: [0, sample("support-zh.jsonl"), "--strategy", "rounds"],
  lab: [0, sample("support-zh.jsonl"), "--policy", "rounds", "--workers", "1"],
  sessions: [0, ...store],
  context: [0, "chat-1", ...store],
  events: [0, "chat-1", ...store],
  summaries: [0, "chat-1", ...store],
  recall: [0, "order", "--session", "chat-1", ...store],
  trace: [1, "chat-1", "--text", "The zeppelin flies to Graz.", ...store],
  feed: [0, ...store],
  facts: [0, "chat-1", ...store],
  spend: [0, ...store],
  audit: [0, "chat-1", ...store],
  doctor: [1, ...store],
  erase: [2, "--owner", "ann", "--reason", "asked for", ...store],
  hold: [2, "chat-1", "--reason", "asked for", ...store],
  token: [0, "--tenant", "acme", "--tokens", "tokens.json"],
  wrap: [7, "claude"],
  compact: [0, "chat-1", "--strategy", "rounds", ...store],
  import: [0, "backup.jsonl", "--store", "sqlite:imported.db"],
  export: [0, ...store],
  copy: [0, "--from", "sqlite:chats.db", "--to", "sqlite:copied.db"],
  archive: [0, "--to", "archived", "--idle", "1 day", ...store],
  shards: [0, "show", "--shards", file("shards.json", { shards: { a: "sqlite:a.db" } })],
  restore: [0, "chat-1", "--from", "archived", ...store],
  verify: [0, ...store],
  repair: [0, ...store],
  store: [0, "size", ...store],
  "dead-letters": [2, "--queue", "redis://127.0.0.1:1"],
}
/** The commands that work until they are stopped. `serve` and `studio` have tests of their own in `serve.test.ts`. */
const serving = ["serve", "studio", "worker"]

beforeAll(async () => {
  await memfold("replay", sample("support-zh.jsonl"), "--strategy", "rounds", ...store, "--session", "chat-1")
  await memfold("export", "backup.jsonl", ...store)
  mkdirSync(join(folder, "bin"))
  chmodSync(file("bin/claude", "#!/bin/sh\nexit 7\n"), 0o755)
})

it("is tried with every command", () => {
  expect([...Object.keys(calls), ...serving].toSorted()).toEqual([...commands.keys()].toSorted())
})

// A process each: a quick run has those that print while they work.
const quick: ReadonlySet<string> = new Set(["export", "replay", "wrap"])
/** What is told besides: the token command says that it shows the token once. */
const telling: ReadonlySet<string> = new Set(["token"])
const tried = Object.entries(calls).filter(([name]) => deep || quick.has(name))

describe("a command that ends", () => {
  it.each(tried)("has its exit code, and no error: memfold %s", async (name, [code, ...args]) => {
    const { ended, err } = unread(name, ...args)
    expect([await ended, err()]).toEqual([
      [code, null],
      code === 2 || telling.has(name) ? expect.stringMatching(/^memfold: .*\n$/) : "",
    ])
  })
})

describe("a worker", () => {
  it("goes on working when nobody reads what it prints", async () => {
    const { url } = await server()
    const place = { store: url, queue: url }
    await using memory = web(place)
    const { child, ended, err } = unread(
      "worker",
      "--store",
      url,
      "--queue",
      url,
      "--strategy",
      "rolling-buffer",
      "--set",
      "bufferSize=4",
      "--summarizer",
      "extractive",
      "--json",
    )
    await eventually("the worker is ready", async () => err().includes("is ready"))
    child.stderr.destroy()
    for (let session = 0; session < 3; session++) {
      const id = `s-${session}-${"x".repeat(200)}`
      await memory.append(id, talk(16))
      await eventually("it has compacted", async () => (await memory.summaries(id)).length > 0)
    }
    child.kill("SIGTERM")
    expect(await ended).toEqual([0, null])
  })
})

describe("a feed", () => {
  it("ends when nobody reads it, and a group has not come behind what nobody read", async () => {
    const feed = (...args: ReadonlyArray<string>) => ["feed", ...store, "--json", ...args]
    for (const args of [feed("--follow"), feed("--group", "crm", "--follow"), feed("--group", "crm")])
      expect(await unread(...args).ended).toEqual([0, null])
    const [all, ofGroup] = [await memfold(...feed()), await memfold(...feed("--group", "crm"))]
    expect(all.out.length).toBeGreaterThan(1_000)
    expect(ofGroup.out).toBe(all.out)
  })
})

/** Sends its own process SIGTERM in the moment in which it has said that it is ready, before anything else of it runs. */
const endingAtOnce = `
for (const stream of [process.stdout, process.stderr]) {
  const write = stream.write
  stream.write = function (text, ...rest) {
    const done = write.call(this, text, ...rest)
    if (/http:|is ready/.test(String(text))) process.kill(process.pid, "SIGTERM")
    return done
  }
}`

describe("a command that serves", () => {
  it.each(serving)(
    "ends in order also when it is asked to as soon as it says that it is ready: %s",
    async (name) => {
      const { url } = await server()
      const args = {
        serve: ["--port", "0", ...store],
        studio: ["--port", "0"],
        worker: ["--store", url, "--queue", url],
      }[name]!
      const preload = `data:text/javascript,${encodeURIComponent(endingAtOnce)}`
      const child = spawn(process.execPath, ["--import", preload, program, name, ...args], {
        cwd: folder,
        env: environment(),
        stdio: "ignore",
      })
      expect(await once(child, "close")).toEqual([0, null])
    },
  )
})
