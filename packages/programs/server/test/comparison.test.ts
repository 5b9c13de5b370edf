/** What other strategies would have made of a session, and what a summary rests on, over HTTP. */
import { createClient } from "@memfold/client"
import { Prices } from "@memfold/prices"
import { describe, expect, it } from "vitest"
import { ask, started, turn } from "./services.js"

const settings = { fullContextTurns: 1, cachedContextTurns: 1 }

describe("a session under several strategies", () => {
  it("is a curve for each: context, cost, and needed identifiers", async () => {
    const { url } = await started()
    const memory = createClient({ url })
    for (let n = 0; n < 20; n++) await memory.append("s", turn(n))
    const full = await memory.compare("s", { strategy: null })
    const rounds = await memory.compare("s", { strategy: "rounds", settings })
    expect(full).toMatchObject({ messages: 40, compactions: 0, prices: "Claude Sonnet 5.5" })
    expect(full.points).toHaveLength(20)
    expect(rounds.compactions).toBeGreaterThan(10)
    expect(rounds.points.at(-1)!.tokens).toBeLessThan(full.points.at(-1)!.tokens / 2)
    expect(full.points.at(-1)!.dollars).toBeGreaterThan(0)
    const own = { ...Prices.presets["claude-sonnet-5.5"], model: "mine", input: 3_000, cacheWrite: 3_000 }
    const other = await memory.compare("s", { strategy: null, prices: own })
    expect(other.prices).toBe("mine")
    expect(other.points.at(-1)!.dollars).toBeGreaterThan(100 * full.points.at(-1)!.dollars)
    const compare = `${url}/v1/sessions/s/compare`
    expect(await ask(compare, { body: { strategy: "none" } })).toMatchObject({ status: 400 })
    expect(await ask(compare, { body: { strategy: null, prices: "free" } })).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining("claude-sonnet-5.5") },
    })
  })
})

describe("a comparison of a long session", () => {
  const said = (count: number) =>
    Array.from({ length: count }, (_, n) => ({
      role: n % 2 === 0 ? "user" : "assistant",
      content: `No. ${n}`,
    }))

  it("leaves other requests their turn", async () => {
    const { url } = await started({ compaction: { mode: "off" } })
    const memory = createClient({ url })
    await memory.append("s", said(900))
    let isOver = false
    const compared = memory.compare("s", { strategy: null }).finally(() => (isOver = true))
    for (let n = 0; n < 5; n++) await ask(`${url}/v1/access`)
    expect(isOver).toBe(false)
    expect((await compared).points).toHaveLength(450)
  })

  it.each([
    ["compare", { strategy: null }],
    ["preview", { strategy: "rounds", settings, which: "all" }],
  ])("says how far it is, in lines, where a client asks %s for it", async (path, body) => {
    const { url } = await started({ compaction: { mode: "manual" } })
    await createClient({ url }).append("s", said(900))
    const asked = `${url}/v1/sessions/s/${path}`
    const linesOf = async (body: object) => {
      const headers = { "content-type": "application/json", accept: "application/x-ndjson" }
      const response = await fetch(asked, { method: "POST", headers, body: JSON.stringify(body) })
      expect(response.headers.get("content-type")).toBe("application/x-ndjson")
      const lines = (await response.text()).trimEnd().split("\n")
      return lines.map((line) => JSON.parse(line) as Record<string, unknown>)
    }
    const lines = await linesOf(body)
    const { body: plain } = await ask(asked, { body })
    expect(lines.length).toBeGreaterThan(1)
    expect(lines[0]).toEqual({ progress: { done: 0, of: 900 } })
    const done = lines.slice(0, -1).map(({ progress }) => (progress as { done: number }).done)
    expect(done).toEqual(done.toSorted((a, b) => a - b))
    // The time of a context, in a summary's metadata, is that of each request.
    const bare = (one: unknown) => JSON.stringify(one).replaceAll(/"compactedTime":\d+/g, "")
    expect(bare(lines.at(-1))).toBe(bare({ answer: plain }))
    expect((await linesOf({ ...body, strategy: "none" })).at(-1)).toMatchObject({ status: 400 })
  })

  it("is refused for the full history, which each call reads anew", async () => {
    const { url } = await started({ compaction: { mode: "off" } })
    const memory = createClient({ url })
    await memory.append("s", said(3_001))
    expect(await ask(`${url}/v1/sessions/s/compare`, { body: { strategy: null } })).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining("at most 3,000 are compared without compactions") },
    })
  })
})

describe("a trace", () => {
  it("shows what each sentence of a summary rests on, and where a message lives on", async () => {
    const { url } = await started({ strategy: "rounds" })
    const memory = createClient({ url })
    for (const n of [1, 2, 3]) await memory.append("s", turn(n))
    await memory.compact("s", { ...settings, which: "due" })
    const summary = (await memory.session("s")).summary!
    const { sentences, text } = await memory.trace("s", { summary })
    expect(sentences.length).toBeGreaterThan(0)
    for (const one of sentences) {
      expect(text.slice(one.from, one.to)).toBe(one.text)
      expect(one.supported).toBe(true)
      for (const { index } of one.messages) expect(index).toBeLessThan(4)
    }
    const [first] = sentences
    const living = await memory.traceMessage("s", first!.messages[0]!.index)
    expect(living.find((one) => one.summary === summary)?.sentences.map((one) => one.text)).toContain(
      first!.text,
    )
    expect(await memory.traceMessage("s", 5)).toEqual([])

    const [invented] = (await memory.trace("s", "Order QZ-9999 was sent on day 3.")).sentences
    expect(invented).toMatchObject({ supported: false, missing: ["QZ-9999"] })
    const trace = `${url}/v1/sessions/s/trace`
    expect(await ask(trace, { body: {} })).toMatchObject({ status: 400 })
    expect(await ask(trace, { body: { summary: "none" } })).toMatchObject({ status: 404 })
    expect(await ask(`${url}/v1/sessions/s/messages/99/trace`)).toMatchObject({ status: 404 })
  })
})
