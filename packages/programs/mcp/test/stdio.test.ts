/** The command over stdio: what a client does with it, and what happens when something goes wrong. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { defaultStrategy } from "memfold"
import { createInterface } from "node:readline"
import { describe, expect, it } from "vitest"
import { type Answer, folderFor, overStdio, program, turn } from "./clients.js"

const folder = folderFor("stdio")
const store = (name: string): string => `sqlite:${join(folder, `${name}.db`)}`

const run = async (...args: ReadonlyArray<string>) => {
  const child = spawn(process.execPath, [program, ...args], { stdio: ["pipe", "pipe", "pipe"] })
  let out = ""
  let err = ""
  child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()))
  child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()))
  const [code] = (await once(child, "close")) as [number | null]
  return { code, out, err }
}

const list = (answer: Answer, field: string) => answer[field] as ReadonlyArray<Record<string, unknown>>

describe("the tools", () => {
  it("have schemas, and say what they change", async () => {
    const { client, close } = await overStdio("memory:")
    const { tools } = await client.listTools()
    const hints = (name: string) => tools.find((tool) => tool.name === name)?.annotations
    expect(tools.map(({ name }) => name)).toEqual([
      "append_messages",
      "get_context",
      "search_memory",
      "read_messages",
      "list_sessions",
      "known_facts",
      "list_summaries",
      "explain_summary",
      "compact",
      "revert",
    ])
    for (const { inputSchema, outputSchema, description } of tools) {
      expect(inputSchema).toMatchObject({ type: "object", additionalProperties: false })
      expect(outputSchema).toMatchObject({ type: "object" })
      expect(description).toMatch(/\.$/)
    }
    expect(hints("search_memory")).toMatchObject({ readOnlyHint: true, destructiveHint: false })
    expect(hints("append_messages")).toMatchObject({ readOnlyHint: false, destructiveHint: false })
    expect(hints("revert")).toMatchObject({ readOnlyHint: false, destructiveHint: true })
    await close()
  })

  it("only read, if asked for", async () => {
    const { client, call, close } = await overStdio(store("read-only"), "--read-only")
    const { tools } = await client.listTools()
    expect(tools.filter(({ annotations }) => annotations?.readOnlyHint !== true)).toEqual([])
    expect(tools).toHaveLength(7)
    await expect(call("append_messages", { session: "s", messages: turn(1) })).rejects.toThrow("not found")
    await close()
  })

  it("append, show, search, compact, explain and take back", async () => {
    const { call, close, log } = await overStdio(store("all"), "--strategy", "sliding-window")
    const first = { session: "chat", messages: turn(0), owner: "ann", title: "Orders" }
    expect(await call("append_messages", first)).toEqual({ from: 0, to: 4, version: 5, duplicate: false })
    for (let n = 1; n < 12; n++) await call("append_messages", { session: "chat", messages: turn(n) })
    const whole = await call("get_context", { session: "chat" })
    expect(list(whole, "messages")).toEqual(Array.from({ length: 12 }, (_, n) => turn(n)).flat())

    expect(await call("compact", { session: "chat" })).toMatchObject({ outcome: "committed", covered_to: 8 })
    const context = await call("get_context", { session: "chat" })
    expect(list(context, "layout").map(({ section }) => section)).toEqual(["summary", "uncovered"])
    expect(context["tokens"]).toBeLessThan(Number(whole["tokens"]))

    const found = await call("search_memory", { session: "chat", query: "KX-4001", outside_context: true })
    expect(list(found, "messages").some(({ text }) => String(text).includes("KX-4001"))).toBe(true)
    const page = await call("read_messages", { session: "chat", limit: 4 })
    expect(list(page, "messages").map(({ message }) => message)).toEqual(turn(11))
    const before = await call("read_messages", { session: "chat", limit: 4, before: page["earlier"] })
    expect(list(before, "messages").map(({ index, message }) => [index, message])).toEqual(
      turn(10).map((message, at) => [40 + at, message]),
    )

    const [summary] = list(await call("list_summaries", { session: "chat" }), "summaries")
    expect(summary).toMatchObject({ status: "active", covered_to: 8, messages: 48 })
    const explained = await call("explain_summary", { session: "chat" })
    expect(explained).toMatchObject({
      summary: summary?.["summary"],
      text: expect.stringContaining("KX-400"),
      segments: [{ kind: "history", from: 0, to: 8, carried: false }],
      origin: {
        strategy: "sliding-window",
        reason: expect.stringMatching(/./),
        summarizer: "extractive",
        tokens_before: whole["tokens"],
        tokens_after: context["tokens"],
      },
      taken_back: null,
    })

    expect(await call("revert", { session: "chat" })).toEqual({ taken_back: 1 })
    expect(await call("get_context", { session: "chat" })).toEqual(whole)
    const gone = await call("explain_summary", { session: "chat", summary: summary?.["summary"] })
    expect(gone).toMatchObject({ status: "invalid", taken_back: expect.stringMatching(/./) })

    const owned = list(await call("list_sessions", { owner: "ann" }), "sessions")
    expect(owned).toMatchObject([{ session: "chat", title: "Orders", owner: "ann" }])
    await close()
    expect(log()).toBe("")
  })
})

describe("what goes wrong", () => {
  it("is a tool error that says what to do, and quotes no message", async () => {
    const { call, close, log } = await overStdio(store("errors"))
    const secret = "the secret is 4711"
    const said = (content: unknown) => ({ session: "chat", messages: [{ role: "user", content }] })
    await call("append_messages", { ...said(secret), idempotency_key: "one" })
    const errors = [
      await call("append_messages", { ...said("another"), idempotency_key: "one" }),
      await call("append_messages", {
        session: "chat",
        messages: [{ role: "user", content: [{ type: "text", text: { secret } }] }],
      }),
      await call("append_messages", { ...said(secret), idempotencyKey: "one" }),
      await call("search_memory", { session: "chatt", query: "secret" }),
      await call("explain_summary", { session: "chat" }),
      await call("revert", { session: "chat", to_summary: "nothing" }),
      await call("get_context", { session: "chat", at_version: 99 }),
      await call("read_messages", { session: "chat", before: "yesterday" }),
    ].map(({ error }) => error)
    expect(errors).toEqual([
      expect.stringMatching(/Nothing was stored\. Take another idempotency_key/),
      expect.stringMatching(/message 0 .*Nothing was stored\. Correct the message/),
      expect.stringContaining("idempotencyKey"),
      'There is no session "chatt" in this store. list_sessions names the existing sessions; append_messages starts a new session.',
      'Session "chat" has no active summary. list_summaries names the summaries of a session.',
      expect.stringContaining("The tool list_summaries names"),
      expect.stringContaining("Correct the argument"),
      expect.stringContaining("read the newest page"),
    ])
    expect(errors.join("\n")).not.toContain("4711")
    const retried = await call("append_messages", { ...said(secret), idempotency_key: "one" })
    expect(retried).toMatchObject({ from: 0, to: 1, duplicate: true })
    expect(await call("get_context", { session: "new" })).toMatchObject({ messages: [], tokens: 0 })
    await close()
    expect(log()).toBe("")
  })

  it("leaves standard output to the protocol, and what was said out of the log", async () => {
    const child = spawn(process.execPath, [program, store("raw")], { stdio: ["pipe", "pipe", "pipe"] })
    let err = ""
    child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()))
    const lines = createInterface({ input: child.stdout })
    const answers: Array<Record<string, unknown>> = []
    const send = (message: unknown) => child.stdin.write(`${JSON.stringify(message)}\n`)
    const request = async (id: number, method: string, params: object) => {
      send({ jsonrpc: "2.0", id, method, params })
      const [line] = (await once(lines, "line")) as [string]
      const answer = JSON.parse(line) as Record<string, unknown>
      expect(answer).toMatchObject({ jsonrpc: "2.0", id })
      answers.push(answer)
    }
    const clientInfo = { name: "raw", version: "1" }
    await request(1, "initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo })
    send({ jsonrpc: "2.0", method: "notifications/initialized" })
    child.stdin.write("4711 is no JSON\n")
    send({ jsonrpc: "2.0", id: "4711", error: { code: "4711" } })
    send({ note: "4711" })
    const wrong = { session: "s", messages: [{ role: "user", content: [{ type: "text", text: 4711 }] }] }
    await request(2, "tools/call", { name: "append_messages", arguments: wrong })
    expect(answers[1]).toMatchObject({ result: { isError: true } })
    child.stdin.end()
    const [code] = (await once(child, "close")) as [number | null]
    expect(code).toBe(0)
    const logged = err.trimEnd().split("\n")
    expect(logged).toHaveLength(2)
    for (const line of logged) expect(line).toMatch(/^memfold-mcp: a request was not served: \w+$/)
  })

  it("ends with one line that says what to do, if the command is wrong", async () => {
    const wrong: ReadonlyArray<readonly [ReadonlyArray<string>, RegExp]> = [
      [[], /^memfold-mcp: name one store, such as sqlite:memory\.db/],
      [["file.db"], /^memfold-mcp: .*sqlite:PATH/],
      [["memory:", "--strategy", "best"], /^memfold-mcp: .*sliding-window/],
      [["memory:", "--http", "http"], /^memfold-mcp: --http takes a port/],
      [["memory:", "--host", "0.0.0.0"], /--http PORT/],
      [["memory:", "--http", "0", "--host", "0.0.0.0"], /--allow-host/],
      [["memory:", "--loud"], /--loud/],
      [[`sqlite:${join(folder, "no", "such", "folder.db")}`], /folder\.db/],
    ]
    for (const [args, line] of wrong) {
      const { code, out, err } = await run(...args)
      expect([code, out]).toEqual([2, ""])
      expect(err).toMatch(line)
      expect(err.trimEnd().split("\n")).toHaveLength(1)
    }
    const help = await run("--help")
    expect(help).toMatchObject({ code: 0, out: expect.stringContaining("--read-only") })
    expect(help.out).toContain(`${defaultStrategy} (default)`)
    expect((await run("--version")).out).toMatch(/^\d+\.\d+\.\d+\n$/)
  })
})

describe("several processes at one session", () => {
  it("are ordered, and no message of any is lost", async () => {
    const url = store("shared")
    const clients = await Promise.all([overStdio(url), overStdio(url)])
    const appends = clients.flatMap(({ call }, who) =>
      Array.from({ length: 25 }, (_, n) =>
        call("append_messages", { session: "chat", messages: [{ role: "user", content: `${who}:${n}` }] }),
      ),
    )
    const places = (await Promise.all(appends)).map(({ from }) => Number(from))
    expect(places.toSorted((one, other) => one - other)).toEqual(Array.from({ length: 50 }, (_, at) => at))
    const [one, other] = await Promise.all(
      clients.map(({ call }) => call("read_messages", { session: "chat", limit: 50 })),
    )
    expect(one).toEqual(other)
    const said = list(one!, "messages").map(({ message }) => (message as { content: string }).content)
    for (const who of [0, 1]) {
      expect(said.filter((text) => text.startsWith(`${who}:`))).toHaveLength(25)
    }
    // Each message stands where its append said.
    expect(places.map((place) => said[place])).toEqual(
      clients.flatMap((_, who) => Array.from({ length: 25 }, (_, n) => `${who}:${n}`)),
    )
    await Promise.all(clients.map(({ close }) => close()))
  })

  it("lose nothing that was acknowledged when one is killed", async () => {
    const url = store("killed")
    const first = await overStdio(url)
    for (let n = 0; n < 5; n++) await first.call("append_messages", { session: "chat", messages: turn(n) })
    process.kill(first.pid!, "SIGKILL")
    const second = await overStdio(url)
    const context = await second.call("get_context", { session: "chat" })
    expect(context["messages"]).toEqual(Array.from({ length: 5 }, (_, n) => turn(n)).flat())
    await Promise.all([first.close(), second.close()])
  })
})

describe("a signal to end", () => {
  it.each(
    (["SIGINT", "SIGTERM", "SIGHUP"] as const).flatMap((signal) => [
      [signal, "over stdio", []] as const,
      [signal, "over HTTP", ["--http", "0"]] as const,
    ]),
  )("%s ends the server %s as it should, and is no failure", async (signal, _, args) => {
    const child = spawn(process.execPath, [program, store(signal), ...args], {
      stdio: ["pipe", "pipe", "pipe"],
    })
    const ready = args.length > 0 ? once(child.stderr, "data") : once(child.stdout, "data")
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" })}\n`)
    await ready
    child.kill(signal)
    expect(await once(child, "close")).toEqual([0, null])
  })
})
