/** `memfold wrap` with programs of the tests' own, which speak the wire formats of the agents. */
import { environment, inFolder, program } from "@memfold/harness/program"
import { type Answering, type ProviderServer, providerServer } from "@memfold/strict-providers"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { delimiter, join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

const { folder, memfold } = inFolder("wrap")

/** An agent: it asks, runs the tool that it is told to, and sends the whole conversation again, until the answer is a text. */
const agent = `#!${process.execPath}
const [mode, ...args] = process.argv[2] === "-c" ? ["run", ...process.argv.slice(2)] : process.argv.slice(2)
if (mode === "exit") process.exit(Number(args[0]))
if (mode === "wait") {
  process.on("SIGTERM", () => process.exit(43))
  setInterval(() => undefined, 1_000)
  console.log("ready")
  await new Promise(() => undefined)
}
const config = JSON.parse(process.env.OPENCODE_CONFIG_CONTENT ?? "{}")
const address =
  config.provider?.openai?.options?.baseURL ??
  (args[0] === "-c" ? JSON.parse(args[1].replace("openai_base_url=", "")) : null) ??
  process.env.ANTHROPIC_BASE_URL + "/v1"
const isAnthropic = process.env.ANTHROPIC_BASE_URL !== undefined
const tool = { name: "step", description: "one step" }
const schema = { type: "object", properties: { request: { type: "string" } } }
const talk = []
for (let turn = 0; turn < 30; turn++) {
  if (turn === 0) talk.push({ role: "user", content: "Do the steps." })
  const body = isAnthropic
    ? { model: "claude-sonnet-5-5", max_tokens: 1000, messages: talk, tools: [{ ...tool, input_schema: schema }], metadata: { user_id: JSON.stringify({ session_id: "wrapped-session" }) } }
    : { model: "gpt-5", store: false, input: talk, tools: [{ type: "function", ...tool, parameters: schema, strict: false }], prompt_cache_key: "wrapped-session" }
  const answer = await fetch(address + (isAnthropic ? "/messages" : "/responses"), {
    method: "POST",
    headers: { "content-type": "application/json", ...(isAnthropic ? { "anthropic-version": "2023-06-01", "x-api-key": "none" } : { authorization: "Bearer none", session_id: "wrapped-session" }) },
    body: JSON.stringify(body),
  })
  const said = await answer.json()
  if (!answer.ok) { console.log(JSON.stringify(said)); process.exit(9) }
  if (mode === "show") console.log(answer.headers.get("x-memfold"), address)
  if (isAnthropic) {
    talk.push({ role: "assistant", content: said.content })
    const calls = said.content.filter(({ type }) => type === "tool_use")
    if (calls.length === 0) { console.log(said.content[0].text); process.exit(0) }
    talk.push({ role: "user", content: calls.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: "done" })) })
  } else {
    talk.push(...said.output)
    const calls = said.output.filter(({ type }) => type === "function_call")
    if (calls.length === 0) { console.log(said.output[0].content[0].text); process.exit(0) }
    talk.push(...calls.map(({ call_id }) => ({ type: "function_call_output", call_id, output: "done" })))
  }
}
`

let upstream: ProviderServer
const steps: Answering = ({ body }) => {
  const list = (body["input"] ?? body["messages"]) as ReadonlyArray<unknown>
  const calls = JSON.stringify(list).split(/"(?:function_call|tool_use)"/).length - 1
  return calls < 20
    ? { calls: [{ name: "step", arguments: { request: `${calls}` } }] }
    : { text: `done after ${calls}` }
}

beforeAll(async () => {
  upstream = await providerServer({ answer: steps })
  const bin = join(folder, "bin")
  mkdirSync(bin)
  for (const name of ["claude", "codex", "opencode"]) {
    writeFileSync(join(bin, name), agent)
    chmodSync(join(bin, name), 0o755)
  }
  // An agent is found by its name, and reads modules as its file says.
  writeFileSync(join(bin, "package.json"), '{ "type": "module" }')
})
afterAll(() => upstream.close())

const start = (...args: ReadonlyArray<string>): ChildProcess =>
  spawn(process.execPath, [program, "wrap", ...args], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...environment(),
      HOME: folder,
      XDG_DATA_HOME: join(folder, "data"),
      PATH: `${join(folder, "bin")}${delimiter}${process.env["PATH"] ?? ""}`,
      ANTHROPIC_BASE_URL: undefined,
      OPENAI_BASE_URL: undefined,
      OPENCODE_CONFIG_CONTENT: undefined,
    },
  })

const ended = async (child: ChildProcess) => {
  let [out, err] = ["", ""]
  child.stdout!.on("data", (chunk: Buffer) => (out += chunk.toString()))
  child.stderr!.on("data", (chunk: Buffer) => (err += chunk.toString()))
  const [code] = (await once(child, "close")) as [number | null]
  return { code, out, err }
}

const wrapped = (...args: ReadonlyArray<string>) => ended(start(...args))

describe("memfold wrap", () => {
  it.each([
    ["claude", "anthropic"],
    ["codex", "openai-responses"],
    ["opencode", "openai-responses"],
  ] as const)("gives %s the proxy for one run, with many turns of tools", async (tool, api) => {
    const before = upstream.received.length
    const store = `sqlite:${join(folder, `${tool}.db`)}`
    const { code, out, err } = await wrapped(
      tool,
      "--upstream",
      upstream.anthropicURL,
      "--store",
      store,
      "--",
      "run",
    )
    expect({ code, err, out }).toEqual({ code: 0, err: "", out: "done after 20\n" })
    const asked = upstream.received.slice(before)
    expect(asked.map((one) => one.api)).toEqual(Array.from({ length: 21 }, () => api))
    expect(upstream.refused).toEqual([])
    const sessions = await memfold("sessions", "--store", store)
    expect(sessions.out).toContain("wrapped-session")
  })

  it("changes no file, and keeps sessions in the folder for data of the user", async () => {
    const names = () => readdirSync(folder).filter((name) => !name.endsWith(".db") && name !== "data")
    const before = names()
    const { code } = await wrapped("claude", "--upstream", upstream.anthropicURL, "--", "run")
    expect(code).toBe(0)
    expect(names()).toEqual(before)
    expect(readdirSync(join(folder, "data", "memfold"))).toContain("agents.db")
  })

  it("ends as the agent ends: with its exit code, and at its end by a signal", async () => {
    expect((await wrapped("claude", "--", "exit", "7")).code).toBe(7)
    const child = start("claude", "--", "wait")
    const result = ended(child)
    await once(child.stdout!, "data")
    child.kill("SIGTERM")
    expect(await result).toMatchObject({ code: 43, err: "" })
  })

  it("says what is wrong: an agent that is missing, an upstream that is none, another tool", async () => {
    const missing = await ended(
      spawn(process.execPath, [program, "wrap", "claude"], {
        cwd: folder,
        env: { ...process.env, HOME: folder, PATH: folder },
      }),
    )
    expect(missing).toMatchObject({ code: 2 })
    expect(missing.err).toContain("claude cannot be started: it is not installed, or not in PATH")
    const address = await wrapped("claude", "--upstream", "nowhere")
    expect(address.code).toBe(2)
    expect(address.err).toContain("http://HOST")
    const proxy = await wrapped("claude", "--proxy", "nowhere")
    expect(proxy.err).toContain("--proxy nowhere")
    expect((await wrapped("emacs")).code).toBe(2)
  })

  it("uses a proxy that runs already", async () => {
    const service = spawn(
      process.execPath,
      [program, "serve", "--port", "0", "--store", "memory:", "--upstream", upstream.anthropicURL],
      {
        cwd: folder,
        stdio: ["ignore", "pipe", "pipe"],
        env: environment(),
      },
    )
    const [line] = (await once(service.stdout, "data")) as [Buffer]
    const address = /http:\/\/[\d.:]+/.exec(line.toString())![0]
    const { out } = await wrapped("claude", "--proxy", address, "--", "show")
    expect(out).toContain(`memory ${address}`)
    const closed = once(service, "close")
    service.kill("SIGTERM")
    await closed
  })
})
