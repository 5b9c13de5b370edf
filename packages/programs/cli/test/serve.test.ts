/** `memfold serve` as a process: started with no setting, used from other languages, told to end, and killed. */
import { createClient } from "@memfold/client"
import { often } from "@memfold/harness/depth"
import { eventually } from "@memfold/harness/eventually"
import { freePort } from "@memfold/harness/ports"
import { environment, inFolder, program } from "@memfold/harness/program"
import { type ChildProcess, execFile, spawn } from "node:child_process"
import { once } from "node:events"
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { createMemory } from "memfold"
import { describe, expect, it, onTestFinished } from "vitest"

const { memfold } = inFolder("serve")
const run = promisify(execFile)

const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "memfold-serve-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

interface Running {
  readonly url: string
  readonly child: ChildProcess
  /** What it has written to standard error so far. */
  readonly log: () => string
  /** Its exit code and the signal that ended it. */
  readonly ended: Promise<ReadonlyArray<unknown>>
}

/** Starts the service in a folder, on a free port. */
const started = (folder: string, ...args: ReadonlyArray<string>): Promise<Running> =>
  startedAs("serve", folder, ...args)

/** Starts a command that serves. */
const startedAs = async (
  command: string,
  folder: string,
  ...args: ReadonlyArray<string>
): Promise<Running> => {
  const child = spawn(process.execPath, [program, command, "--port", "0", ...args], {
    cwd: folder,
    env: environment(),
    stdio: ["ignore", "pipe", "pipe"],
  })
  const ended = once(child, "close")
  onTestFinished(async () => {
    child.kill("SIGKILL")
    await ended
  })
  let [out, log] = ["", ""]
  child.stderr.on("data", (chunk: Buffer) => (log += chunk.toString()))
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on("data", (chunk: Buffer) => {
      out += chunk.toString()
      const [, found] = / (http:\/\/[^\s/]+)(?:\/studio\/)?\n/.exec(out) ?? []
      if (found !== undefined) resolve(found)
    })
    child.once("close", () => reject(new Error(`the service ended: ${log}`)))
  })
  return { url, child, ended, log: () => log }
}

const said = (content: string) => ({ role: "user", content })

describe("memfold serve", () => {
  it("runs with no setting, in a file of the folder, and ends when it is asked to", async () => {
    const folder = newFolder()
    const { url, child, ended, log } = await started(folder)
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    const memory = createClient({ url })
    await memory.append("chat-1", said("My order is KX-4471."))
    expect((await memory.context("chat-1")).messages).toEqual([said("My order is KX-4471.")])
    const document = (await (await fetch(`${url}/openapi.json`)).json()) as { readonly paths: object }
    expect(Object.keys(document.paths)).toContain("/v1/sessions/{session}/context")
    expect(await (await fetch(`${url}/docs`)).text()).toContain("/v1/sessions/{session}/context")
    child.kill("SIGTERM")
    expect(await ended).toEqual([0, null])
    await using stored = createMemory({ store: `sqlite:${join(folder, "memfold.db")}` })
    expect((await stored.messages("chat-1")).total).toBe(1)
    // The log is lines of JSON, and none has what was said.
    const lines = log().trimEnd().split("\n")
    expect(lines.map((line) => (JSON.parse(line) as { readonly message: string }).message)).toContain(
      "request",
    )
    expect(log()).not.toContain("KX-4471")
  })

  it.each(["serve", "studio"])(
    "goes on when nobody reads what it prints any more: memfold %s",
    async (command) => {
      const { url, child, ended } = await startedAs(command, newFolder())
      child.stdout?.destroy()
      child.stderr?.destroy()
      // The log of these is more than a pipe holds, and has failures.
      for (let at = 0; at < 15; at++)
        await Promise.all(
          Array.from({ length: 20 }, () => fetch(`${url}/v1/sessions/none-${at}-${"x".repeat(180)}`)),
        )
      const memory = createClient({ url })
      await memory.append("chat-1", said("Is anybody there?"))
      expect((await memory.context("chat-1")).messages).toHaveLength(1)
      child.kill("SIGTERM")
      expect(await ended).toEqual([0, null])
    },
  )

  it.skipIf(!existsSync("/dev/full"))("goes on when its output is on a full disk", async () => {
    const folder = newFolder()
    const full = openSync("/dev/full", "w")
    // The port is not printed.
    const port = await freePort()
    const child = spawn(process.execPath, [program, "serve", "--port", String(port)], {
      cwd: folder,
      env: environment(),
      stdio: ["ignore", full, full],
    })
    closeSync(full)
    const ended = once(child, "close")
    onTestFinished(async () => {
      child.kill("SIGKILL")
      await ended
    })
    const url = `http://127.0.0.1:${port}`
    await eventually("the service listens", async () => (await fetch(`${url}/health`)).ok)
    const memory = createClient({ url })
    await memory.append("chat-1", said("Is anybody there?"))
    child.kill("SIGTERM")
    expect(await ended).toEqual([0, null])
  })

  it.skipIf(!existsSync("/usr/bin/curl"))("is used with curl", async () => {
    const { url } = await started(newFolder())
    const curl = async (...args: ReadonlyArray<string>) => (await run("curl", ["-s", ...args])).stdout
    const session = `${url}/v1/sessions/chat-1`
    const json = ["-H", "content-type: application/json"]
    const body = JSON.stringify({ messages: said("My order is KX-4471.") })
    expect(JSON.parse(await curl(`${session}/messages`, ...json, "-d", body))).toMatchObject({
      from: 0,
      to: 1,
    })
    expect(await curl(`${session}/messages`, "-d", body)).toContain("Content-Type: application/json")
    expect(JSON.parse(await curl(`${session}/context?format=anthropic`))).toMatchObject({
      messages: { messages: [{ role: "user" }] },
    })
    expect(
      await curl("-N", "-m", "1", `${session}/changes`).catch(
        (error: { readonly stdout: string }) => error.stdout,
      ),
    ).toContain("event: MessageAppended")
  })

  it.skipIf(!existsSync("/usr/bin/python3"))(
    "is used from Python, with its standard library alone",
    async () => {
      const { url } = await started(newFolder())
      const script = `
import json, sys, urllib.request
base = sys.argv[1] + "/v1/sessions/python-1"
def call(path, body=None, headers={}):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(base + path, data, {"content-type": "application/json", **headers})
    with urllib.request.urlopen(request) as response:
        return response.headers.get("etag"), json.load(response)
tag, _ = call("/messages", {"messages": {"role": "user", "content": "Grüß Gott"}}, {"idempotency-key": "one"})
_, again = call("/messages", {"messages": {"role": "user", "content": "Grüß Gott"}}, {"idempotency-key": "one"})
assert again["duplicate"], again
try:
    call("/messages", {"messages": {"role": "user", "content": "late"}}, {"if-match": '"0"'})
    raise SystemExit("a write at another version was not refused")
except urllib.error.HTTPError as error:
    assert error.code == 412, error.code
    assert json.load(error)["type"] == "urn:memfold:VersionMismatch"
_, context = call("/context")
print(json.dumps([tag, context["messages"]]))
`
      const { stdout } = await run("python3", ["-c", script, url])
      expect(JSON.parse(stdout)).toEqual(['"1"', [said("Grüß Gott")]])
    },
  )

  it("reads the stored settings of rounds, and the fields of one request", async () => {
    const folder = newFolder()
    writeFileSync(
      join(folder, "agent-tools.json"),
      JSON.stringify({ agent: { contextWindow: { fullContextTurns: 2, cachedContextTurns: 2 } } }),
    )
    const { url } = await started(folder, "--strategy", "rounds", "--settings", "agent-tools.json")
    const memory = createClient({ url })
    const long = (n: number) => said(`Question ${n}: ${"where is my order? ".repeat(40)}`)
    const answer = (n: number) => ({
      role: "assistant",
      content: `Answer ${n}: ${"it is on its way. ".repeat(40)}`,
    })
    const turns = Array.from({ length: 8 }, (_, n) => [long(n), answer(n)]).flat()
    await memory.append("s", turns)
    const covered = async () => (await memory.session("s")).coveredTo
    // A compaction in the background may be under way: then there is nothing to do at once.
    const due = async () => {
      await memory.compact("s", { which: "due" })
      return covered()
    }
    await expect.poll(due).toBe(12)
    await memory.compact("s", { which: "all", fullContextTurns: 6, cachedContextTurns: 1 })
    expect(await covered()).toBe(4)
    await expect(memory.context("s", { fullContextTurns: 0 })).rejects.toMatchObject({
      error: "SettingsError",
    })
  })

  it("asks for the tokens that memfold token makes, and logs none of them", async () => {
    const folder = newFolder()
    const file = join(folder, "tokens.json")
    const made = await memfold("token", "--tenant", "acme", "--rights", "read,write", "--tokens", file)
    // A link to the file stays a link: the service reads the file.
    symlinkSync(file, join(folder, "link.json"))
    const other = await memfold("token", "--tenant", "other", "--tokens", join(folder, "link.json"))
    const [token, theirs] = [made.out.trim(), other.out.trim()]
    expect(token).toMatch(/^mf_[\w-]{43}$/)
    expect(readFileSync(file, "utf8")).not.toContain(token)
    expect(statSync(file).mode & 0o077).toBe(0)
    const { url, log } = await started(folder, "--tokens", file, "--host", "0.0.0.0")
    const local = `http://127.0.0.1:${new URL(url).port}`
    const memory = createClient({ url: local, token })
    await memory.append("chat", said("My order is KX-4471."))
    await expect(memory.delete("chat")).rejects.toMatchObject({ status: 403 })
    await expect(createClient({ url: local, token: theirs }).session("chat")).rejects.toMatchObject({
      status: 404,
    })
    await expect(createClient({ url: local }).session("chat")).rejects.toMatchObject({ status: 401 })
    await expect.poll(log).toContain("/v1/sessions/chat")
    expect(log()).not.toMatch(/mf_|KX-4471/)
  })

  it("says in one line what is wrong with a call", async () => {
    const folder = newFolder()
    const numbers = (await memfold("serve", "--help")).out.match(/--[\w-]+(?= (?:N|MIB|SECONDS) )/g) ?? []
    expect(numbers.length).toBeGreaterThan(8)
    const wrong: ReadonlyArray<readonly [ReadonlyArray<string>, RegExp]> = [
      [["serve", "--port", "70000"], /--port must be a number/],
      ...numbers.map((name) => [["serve", `${name}=-1`], new RegExp(`: ${name} must be `)] as const),
      [["serve", "--upstream-timeout", "0"], /--upstream-timeout must be a time/],
      [["serve", "--max-body", "513"], /--max-body must be a size from 1 byte to 512 MiB/],
      [["serve", "--host", "0.0.0.0"], /--tokens/],
      [["serve", "--store", "nothing:"], /there is no store/],
      [["serve", "--strategy", "none"], /there is no strategy/],
      [["serve", "--summarizer", "none"], /there is no summarizer/],
      [["serve", "--tokens", join(folder, "none.json")], /no such file/],
      [["serve", "--store", `sqlite:${join(folder, "none", "a.db")}`], /event log failed/],
      [["token", "--tenant", "A/B", "--tokens", join(folder, "t.json")], /lower-case/],
      [
        ["token", "--tenant", "a", "--rights", "all", "--tokens", join(folder, "t.json")],
        /there is no right "all"/,
      ],
    ]
    for (const [args, message] of wrong) {
      const { code, out, err } = await memfold(...args)
      expect([args, code, out]).toEqual([args, 2, ""])
      expect(err).toMatch(message)
      expect(err.trimEnd().split("\n")).toHaveLength(1)
    }
  })
})

/** Appends to sessions from many clients until the service is gone; answers with what was acknowledged. */
const load = (url: string, clients: number) => {
  const acknowledged = new Map<string, Array<string>>()
  let count = 0
  const line = async (client: number): Promise<void> => {
    const memory = createClient({ url, retries: 0 })
    const session = `s-${client % 8}`
    for (let n = 0; ; n++) {
      const content = `${client}:${n}`
      try {
        await memory.append(session, said(content))
      } catch {
        return
      }
      count++
      acknowledged.set(session, [...(acknowledged.get(session) ?? []), content])
    }
  }
  const ended = Promise.all(Array.from({ length: clients }, (_, client) => line(client)))
  const reached = (wanted: number) =>
    expect.poll(() => count, { interval: 10 }).toBeGreaterThanOrEqual(wanted)
  return { acknowledged, ended, reached }
}

describe("what was acknowledged", () => {
  it.each([
    ["SIGTERM", often(1, 5)],
    ["SIGKILL", often(2, 20)],
  ] as const)("is in the store after %s under load", async (signal, times) => {
    const folder = newFolder()
    for (let time = 0; time < times; time++) {
      const { url, child, ended } = await started(folder, "--quiet")
      const { acknowledged, ended: stopped, reached } = load(url, 24)
      await reached(60)
      child.kill(signal)
      expect(await ended).toEqual(signal === "SIGTERM" ? [0, null] : [null, signal])
      await stopped
      await using memory = createMemory({ store: `sqlite:${join(folder, "memfold.db")}` })
      for (const [session, contents] of acknowledged) {
        const { messages } = await memory.messages(session, { limit: 100_000 })
        const there = new Set(messages.map(({ content }) => content))
        expect(contents.filter((content) => !there.has(content))).toEqual([])
      }
      for (const session of acknowledged.keys()) await memory.delete(session)
    }
  })
})

describe("memfold studio", () => {
  it("serves the page over the samples, and over a store that it only reads", async () => {
    const folder = newFolder()
    const samples = await startedAs("studio", folder)
    const page = await fetch(`${samples.url}/studio/`)
    expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"])
    const ofSamples = createClient({ url: samples.url })
    expect((await ofSamples.sessions()).sessions.map(({ session }) => session)).toEqual([
      "coding-agent",
      "support-zh",
    ])
    expect((await ofSamples.summaries("coding-agent")).length).toBeGreaterThan(1)
    expect(existsSync(join(folder, "memfold.db"))).toBe(false)

    const store = createMemory({ store: `sqlite:${join(folder, "chats.db")}` })
    await store.append("chat-1", { role: "user", content: "Hello" })
    await store.close()
    const { url, child, ended } = await startedAs("studio", folder, "chats.db", "--read-only")
    const memory = createClient({ url })
    expect((await memory.messages("chat-1")).messages).toEqual([said("Hello")])
    await expect(memory.append("chat-1", said("More"))).rejects.toMatchObject({ status: 403 })
    child.kill("SIGTERM")
    expect(await ended).toEqual([0, null])
  })

  it("is served beside the operations with serve --studio, and not without", async () => {
    const folder = newFolder()
    const withPage = await started(folder, "--studio", "--store", "memory:")
    expect((await fetch(`${withPage.url}/studio/`)).status).toBe(200)
    const without = await started(folder, "--store", "memory:")
    expect((await fetch(`${without.url}/studio/`)).status).toBe(404)
  })

  it("says what it cannot open", async () => {
    const { code, err } = await memfold("studio", "nothing.jsonl")
    expect([code, err]).toEqual([2, expect.stringContaining("there is no such file")])
  })
})
