/** Every operation of a memory, through the client and over HTTP. */
import { storeFile } from "@memfold/harness/storeFile"
import { createClient, ServiceError } from "@memfold/client"
import { openDriver } from "@memfold/harness/sqlite"
import { describe, expect, it } from "vitest"
import { ask, started, turn } from "./services.js"

describe("a conversation", () => {
  it("goes in and comes out, and is there when the service starts again", async () => {
    const store = storeFile()
    const first = await started({ store })
    const memory = createClient({ url: first.url })
    const appended = await memory.append("a chat/with ünusual id", turn(1), { owner: "ann", title: "Orders" })
    expect(appended).toEqual({ from: 0, to: 2, version: 3, duplicate: false })
    await first.close()

    const again = createClient({ url: (await started({ store })).url })
    const { messages, layout, tokens, prefix } = await again.context("a chat/with ünusual id")
    expect(messages).toEqual(turn(1))
    expect(layout.reduce((sum, section) => sum + section.tokens, 0)).toBe(tokens)
    expect(prefix.version).toBe(3)
    expect(await again.messages("a chat/with ünusual id")).toMatchObject({
      messages: turn(1),
      total: 2,
      before: null,
    })
    expect(await again.session("a chat/with ünusual id")).toMatchObject({
      total: 2,
      owner: "ann",
      title: "Orders",
    })
  })

  it("comes in the format that is asked for", async () => {
    const { url } = await started()
    const session = `${url}/v1/sessions/s`
    await ask(`${session}/messages?format=anthropic`, {
      body: {
        messages: [
          { role: "user", content: "Hello" },
          { role: "assistant", content: "Hi" },
        ],
      },
    })
    await ask(`${session}/messages`, { body: { messages: { role: "system", content: "Be brief." } } })
    expect((await ask(`${session}/context?format=anthropic`)).body).toMatchObject({
      messages: {
        messages: [
          { role: "user", content: "Hello" },
          { role: "assistant", content: "Hi" },
        ],
      },
    })
    expect((await ask(`${session}/context?format=openai-responses&systemMessages=apart`)).body).toMatchObject(
      {
        messages: { instructions: "Be brief." },
      },
    )
    expect((await ask(`${session}/messages?format=memfold&limit=1`)).body).toMatchObject({
      messages: [{ role: "system", parts: [{ type: "text", text: "Be brief." }] }],
      from: 2,
    })
    expect((await ask(`${session}/context?format=morse`)).body).toMatchObject({
      status: 400,
      detail: expect.stringContaining("format"),
    })
  })

  it("is edited, answered anew, and gone back to", async () => {
    const memory = createClient({ url: (await started()).url })
    await memory.append("s", turn(1))
    const edited = await memory.edit("s", 0, turn(2))
    expect(edited).toMatchObject({ from: 0, to: 2, left: 0 })
    expect(await memory.branches("s")).toHaveLength(2)
    expect((await memory.regenerate("s")).to).toBe(1)
    expect((await memory.messages("s")).messages).toEqual(turn(2).slice(0, 1))
    await memory.checkout("s", 0)
    expect((await memory.messages("s")).messages).toEqual(turn(1))
    expect(await memory.undo("s")).toMatchObject({ undone: "branch" })
    const other = [...turn(2).slice(0, 1), ...turn(3).slice(1)]
    expect(await memory.replace("s", other)).toMatchObject({ applied: true, kept: 1, total: 2 })
    expect((await memory.messages("s")).messages).toEqual(other)
    expect((await memory.clear("s")).total).toBe(0)
    expect((await memory.undo("s")).undone).toBe("clear")
  })

  it("is compacted, searched, taken back, and erased", async () => {
    const memory = createClient({ url: (await started({ compaction: { mode: "manual" } })).url })
    for (let n = 1; n <= 8; n++) await memory.append("s", turn(n), { owner: "ann" })
    const rounds = { strategy: "rounds", fullContextTurns: 2, cachedContextTurns: 1 }
    const before = await memory.context("s")
    const outcomes = await memory.compact("s", { ...rounds, which: "due" })
    expect(outcomes.map(({ outcome }) => outcome)).toContain("Committed")
    const summaries = await memory.summaries("s")
    expect(summaries.filter(({ status }) => status === "active")).toHaveLength(1)
    expect((await memory.context("s")).tokens).toBeLessThan(before.tokens)
    expect((await memory.recall("s", "KX-4472")).messages[0]).toMatchObject({ role: "user" })
    expect((await memory.recallOf("ann", "KX-4472")).messages[0]).toMatchObject({ session: "s" })
    expect(await memory.callTool("s", "search_memory", { query: "KX-4472" })).toContain("KX-4472")
    expect((await memory.tools()).openai.length).toBeGreaterThan(1)
    expect(await memory.revert("s", { toSummary: null })).toBeGreaterThan(0)
    expect((await memory.context("s")).tokens).toBe(before.tokens)
    await memory.redact("s", 0)
    expect(JSON.stringify(await memory.events("s", { limit: 1000 }))).not.toContain("KX-4471")
    expect(await memory.facts("s")).toEqual([])
    expect(await memory.removeFact("s", "none")).toBe(false)
  })

  it("goes on from a copy, and is deleted", async () => {
    const memory = createClient({ url: (await started()).url })
    await memory.append("s", turn(1))
    await memory.append("s", turn(2))
    expect(await memory.fork("s", "copy", { atVersion: 2 })).toMatchObject({ session: "copy" })
    expect((await memory.messages("copy")).messages).toEqual(turn(1))
    expect(await memory.delete("s")).toBe(true)
    expect(await memory.delete("s")).toBe(false)
    await expect(memory.session("s")).rejects.toMatchObject({ status: 404, error: "UnknownSession" })
    await memory.ready()
  })
})

describe("an owner", () => {
  it("has all events exported, and everything deleted", async () => {
    const store = storeFile()
    const service = await started({ store })
    const memory = createClient({ url: service.url })
    await memory.append("a", turn(1), { owner: "ann/é" })
    await memory.append("b", turn(2), { owner: "ann/é" })
    await memory.append("c", turn(3), { owner: "bob" })
    const events = await memory.eventsOf("ann/é")
    expect([...new Set(events.map(({ session }) => session))].toSorted()).toEqual(["a", "b"])
    expect(events.filter(({ event }) => event["_tag"] === "MessageAppended")).toHaveLength(4)
    expect(await memory.eventsOf("nobody")).toEqual([])
    expect(await memory.deleteOf("ann/é")).toBe(2)
    expect((await memory.sessions()).sessions.map(({ session }) => session)).toEqual(["c"])
    await service.close()
    openDriver(store.slice("sqlite:".length)).exec("UPDATE events SET data = '{' WHERE version = 3")
    const damaged = createClient({ url: (await started({ store })).url })
    await expect(damaged.eventsOf("bob")).rejects.toMatchObject({ error: "DamagedEvent" })
  })
})

describe("the list of sessions", () => {
  it("goes by owner, title and time, page by page", async () => {
    const memory = createClient({ url: (await started()).url })
    for (let n = 0; n < 7; n++) {
      await memory.append(`s-${n}`, turn(n), { owner: n % 2 === 0 ? "ann" : "bob", title: `Order ${n}` })
    }
    const listed = async (query: Parameters<typeof memory.sessions>[0]) => {
      const found: Array<string> = []
      for (let cursor: string | undefined; ;) {
        const page = await memory.sessions({ ...query, ...(cursor === undefined ? {} : { cursor }) })
        found.push(...page.sessions.map(({ session }) => session))
        if (page.next === null) return found
        cursor = page.next
      }
    }
    expect(await listed({ limit: 2 })).toEqual(["s-0", "s-1", "s-2", "s-3", "s-4", "s-5", "s-6"])
    expect((await listed({ owner: "ann", limit: 1 })).toSorted()).toEqual(["s-0", "s-2", "s-4", "s-6"])
    expect(await listed({ title: "order 3" })).toEqual(["s-3"])
    expect(await listed({ activeTo: 1 })).toEqual([])
    expect(await listed({ activeFrom: 1 })).toHaveLength(7)
    await memory.describe("s-3", { title: null, owner: "carl" })
    expect(await listed({ owner: "carl" })).toEqual(["s-3"])
    await expect(memory.sessions({ cursor: "x" })).rejects.toMatchObject({
      status: 400,
      error: "WrongCursor",
    })
  })
})

describe("errors", () => {
  it("are problems that say what to do", async () => {
    const { url } = await started()
    const memory = createClient({ url })
    await memory.append("s", turn(1), { owner: "ann", idempotencyKey: "one" })
    const failures = [
      [() => memory.append("s", turn(2), { idempotencyKey: "one" }), 409, "IdempotencyKeyReused"],
      [() => memory.append("s", turn(2), { owner: "bob" }), 409, "OwnerMismatch"],
      [() => memory.append("s", turn(2), { ifVersion: 1 }), 412, "VersionMismatch"],
      [() => memory.edit("s", 0, turn(2), { ifVersion: 1 }), 412, "VersionMismatch"],
      [() => memory.regenerate("s", { ifVersion: 1 }), 412, "VersionMismatch"],
      [() => memory.append("s", { role: "nobody" }), 400, "OpenAIDecodeError"],
      [() => memory.fork("s", "s"), 409, "CannotFork"],
      [() => memory.edit("s", 99, turn(2)), 404, "UnknownMessage"],
      [() => memory.redact("s", 99), 404, "UnknownMessage"],
      [() => memory.checkout("s", 99), 404, "UnknownBranch"],
      [() => memory.revert("s", { toSummary: "none" }), 404, "UnknownSummary"],
      [() => memory.context("s", { strategy: "none" }), 400, "UnknownName"],
      [
        () => memory.context("s", { strategy: "rounds", settings: { fullContextTurns: -1 } }),
        400,
        "SettingsError",
      ],
      [() => memory.context("s", { atVersion: 99 }), 400, "InvalidInput"],
      [() => memory.callTool("s", "none", {}), 404, "UnknownTool"],
    ] as const
    for (const [failing, status, error] of failures) {
      const failed: unknown = await failing().then(
        () => "answered",
        (reason: unknown) => reason,
      )
      expect(failed).toBeInstanceOf(ServiceError)
      expect(failed).toMatchObject({ status, error, message: expect.stringMatching(/\w{3}/) })
    }
    const response = await ask(`${url}/v1/sessions/s/messages`, { body: { messages: 7 } })
    expect(response.headers.get("content-type")).toContain("application/problem+json")
    expect(response.body).toMatchObject({ status: 400, type: "urn:memfold:HttpApiDecodeError" })
  })

  it("of options that are not allowed come when the client is made", () => {
    const url = "http://127.0.0.1:4710"
    for (const wrong of [
      undefined,
      {},
      { url: 5 },
      { url: "127.0.0.1:4710" },
      { url: "sqlite:chats.db" },
      { url, token: 5 },
      { url, format: "openia" },
      { url, retries: -1 },
      { url, fetch: "undici" },
      { ulr: url, url },
    ]) {
      const make = () => createClient(wrong as never)
      expect(make).toThrow(ServiceError)
      expect(make).toThrow(/must be|needs its url|no option "ulr"/)
    }
  })

  it("of a service that cannot be reached are told apart", async () => {
    const service = await started()
    await service.close()
    const memory = createClient({ url: service.url, retries: 0 })
    await expect(memory.context("s")).rejects.toMatchObject({ status: null, error: "Unreachable" })
  })
})
