/** The command over stdio under malformed lines: whatever a client writes, the server goes on, or ends and says so. */
import { random } from "@memfold/harness/random"
import * as fc from "fast-check"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { expect, it, onTestFinished } from "vitest"
import { program } from "./clients.js"

const { seed = 1 } = fc.readConfigureGlobal()

const started = (): ChildProcess => {
  const child = spawn(process.execPath, [program, "memory:"], { stdio: ["pipe", "pipe", "pipe"] })
  onTestFinished(() => void child.kill("SIGKILL"))
  return child
}

const initialize = {
  jsonrpc: "2.0",
  id: "initialize",
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
}
const secret = "4711"
const append = (id: unknown, session: string) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: {
    name: "append_messages",
    arguments: { session, messages: [{ role: "user", content: secret }], owner: null },
  },
})

const values: ReadonlyArray<unknown> = [
  null,
  0,
  -1,
  1e300,
  "",
  secret,
  [],
  {},
  [[]],
  { __proto__: null },
  true,
]

/** A value with something else somewhere in it. */
const altered = (value: unknown, next: () => number): unknown => {
  const pick = <A>(choices: ReadonlyArray<A>): A => choices[Math.floor(next() * choices.length)]!
  if (typeof value !== "object" || value === null || next() < 0.15) return pick(values)
  const keys = Object.keys(value)
  if (keys.length === 0) return pick(values)
  const key = pick(keys)
  const changed = altered((value as Record<string, unknown>)[key], next)
  if (Array.isArray(value)) return value.map((one, at) => (String(at) === key ? changed : one))
  const { [key]: _gone, ...rest } = value as Record<string, unknown>
  return next() < 0.25 ? rest : { ...rest, [key]: changed }
}

const odd: ReadonlyArray<string> = [
  "",
  "\r",
  "null",
  "[]",
  "{}",
  '"text"',
  "{",
  `{"jsonrpc":"2.0"`,
  `[${JSON.stringify(append(1, "batch"))}]`,
  JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: {} } }),
  JSON.stringify({ jsonrpc: "2.0", method: "notifications/unknown" }),
  JSON.stringify({ jsonrpc: "2.0", id: 1, result: { secret } }),
  JSON.stringify({ jsonrpc: "2.0", id: 1, error: { code: 1, message: secret } }),
  JSON.stringify({ jsonrpc: "1.0", id: 1, method: "tools/list" }),
  JSON.stringify({ jsonrpc: "2.0", id: 2, method: "__proto__", params: {} }),
  JSON.stringify({ jsonrpc: "2.0", id: 2, method: "constructor" }),
  JSON.stringify({
    jsonrpc: "2.0",
    id: 3,
    method: "tools/call",
    params: { name: "toString", arguments: {} },
  }),
  `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":${"[".repeat(20_000)}${"]".repeat(20_000)}}`,
  `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"search_memory","arguments":{"session":"s","query":"${"a ".repeat(20_000)}"}}}`,
  "\uFEFF{}",
  "x".repeat(100_000),
]

const line = (next: () => number): Buffer => {
  const kind = next()
  if (kind < 0.1)
    return Buffer.from(Array.from({ length: 40 }, () => Math.floor(next() * 256)).filter((one) => one !== 10))
  if (kind < 0.3) return Buffer.from(odd[Math.floor(next() * odd.length)]!)
  const good = Buffer.from(JSON.stringify(append(Math.floor(next() * 9), "s")))
  if (kind < 0.4) return good.subarray(0, Math.floor(next() * good.length))
  if (kind < 0.5) {
    const flipped = Buffer.from(good)
    flipped[Math.floor(next() * flipped.length)] = 1 + Math.floor(next() * 255)
    return flipped.filter((one) => one !== 10) as Buffer
  }
  return Buffer.from(JSON.stringify(altered(append(Math.floor(next() * 9), "s"), next)))
}

it("answers a good line after 3,000 malformed ones, and puts nothing that was said into the log", async () => {
  const child = started()
  let log = ""
  child.stderr!.on("data", (chunk: Buffer) => (log += chunk.toString()))
  const answers = new Map<string, (answer: unknown) => void>()
  createInterface({ input: child.stdout! }).on("line", (text) => {
    // Standard output has nothing but answers.
    const answer = JSON.parse(text) as { readonly jsonrpc: string; readonly id?: unknown }
    expect(answer.jsonrpc).toBe("2.0")
    answers.get(String(answer.id))?.(answer)
  })
  const ask = (message: { readonly id: unknown }): Promise<unknown> =>
    new Promise((resolve) => {
      answers.set(String(message.id), resolve)
      child.stdin!.write(`${JSON.stringify(message)}\n`)
    })
  expect(await ask(initialize)).toMatchObject({ result: {} })
  const next = random(seed)
  for (let n = 0; n < 3_000; n++) {
    const bytes = Buffer.concat([line(next), Buffer.from("\n")])
    const cut = Math.floor(next() * bytes.length)
    child.stdin!.write(bytes.subarray(0, cut))
    if (!child.stdin!.write(bytes.subarray(cut))) await once(child.stdin!, "drain")
  }
  expect(await ask(append("good", "afterwards"))).toMatchObject({
    result: { structuredContent: { from: 0, to: 1 } },
  })
  child.stdin!.end()
  expect(await once(child, "close")).toEqual([0, null])
  expect(log).not.toContain(secret)
  for (const one of log.trimEnd().split("\n")) {
    expect(one).toMatch(/^memfold-mcp: a request was not served: \w+$/)
  }
})

it("ends and says so when a line has no end, or nobody reads the answers", async () => {
  const endless = started()
  let log = ""
  endless.stderr!.on("data", (chunk: Buffer) => (log += chunk.toString()))
  // The process stops reading: what it has not taken is lost.
  endless.stdin!.on("error", () => undefined)
  const block = Buffer.alloc(2 ** 20, "x")
  for (let n = 0; n < 16 && endless.exitCode === null; n++) endless.stdin!.write(block)
  expect(await once(endless, "close")).toEqual([1, null])
  expect(log).toContain("the connection has ended")

  const deaf = started()
  deaf.stdin!.on("error", () => undefined)
  deaf.stdout!.destroy()
  for (let n = 0; n < 100; n++) deaf.stdin!.write(`${JSON.stringify(initialize)}\n`)
  const [code] = (await once(deaf, "close")) as [number | null]
  expect(code).toBe(1)
})
