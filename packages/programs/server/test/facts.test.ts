/** Facts over HTTP, with memory layers: each tenant has its own, whoever may read them reads them, and whoever may write changes them. */
import { createClient } from "@memfold/client"
import { describe, expect, it } from "vitest"
import { makeToken, type StoredToken } from "../src/index.js"
import { ask, started } from "./services.js"

const tokenOf = (tenant: string, rights: StoredToken["rights"]) => makeToken({ tenant, rights })

const served = async () => {
  const [owner, other] = [
    tokenOf("acme", ["read", "write", "erase"]),
    tokenOf("other", ["read", "write", "erase"]),
  ]
  const [reader, writer] = [tokenOf("acme", ["read"]), tokenOf("acme", ["write"])]
  const { url } = await started({
    layers: true,
    compaction: { mode: "inline" },
    tokens: [owner, other, reader, writer].map(({ stored }) => stored),
  })
  const memory = createClient({ url, token: owner.token })
  const say = (session: string, content: string) =>
    memory.append(
      session,
      [
        { role: "user", content },
        { role: "assistant", content: "Noted." },
      ],
      { owner: "ann" },
    )
  await say("one", "Hi, I'm Ada. I live in Graz.")
  await say("two", "I live in Vienna.")
  return { url, memory, owner, other, reader, writer }
}

const paths = (fact: string) => {
  const one = `/v1/sessions/one/facts/${encodeURIComponent(fact)}`
  return {
    one,
    read: [
      ["GET", "/v1/sessions/one/facts"],
      ["GET", "/v1/owners/ann/facts"],
      ["GET", "/v1/owners/ann/facts/rebuild"],
    ],
    write: [
      ["POST", "/v1/owners/ann/facts/rebuild"],
      ["DELETE", "/v1/owners/ann/facts/rebuild"],
      ["POST", "/v1/owners/ann/facts/rebuild/take"],
      ["POST", `${one}/confirm`],
      ["DELETE", `${one}?as=ended`],
      ["POST", `${one}/revert`],
    ],
  } as const
}

describe("facts of a service with layers", () => {
  it("are those of an owner, of all sessions, at any time, and are changed and brought back", async () => {
    const { memory } = await served()
    const values = async (query = {}) =>
      (await memory.factsOf("ann", query)).map(({ text, sources }) => [text, sources?.[0]?.session])
    expect(await values()).toEqual([
      ["Name: Ada", "one"],
      ["Lives in: Vienna", "two"],
    ])
    expect(await values({ at: "always" })).toHaveLength(3)
    expect(await values({ asOfVersion: 1 })).toEqual([
      ["Name: Ada", "one"],
      ["Lives in: Graz", "one"],
    ])
    const vienna = (await memory.factsOf("ann")).find(({ text }) => text.includes("Vienna"))?.id ?? ""
    expect(await memory.removeFact("two", vienna)).toBe(true)
    // It was never true, so what it had taken the place of is true.
    expect((await values()).map(([text]) => text)).toContain("Lives in: Graz")
    expect(await memory.revertFact("two", vienna)).toBe(true)
    expect(await memory.revertFact("two", vienna)).toBe(false)
    expect((await values()).map(([text]) => text)).toContain("Lives in: Vienna")
    expect(await memory.confirmFact("two", vienna)).toBe(true)
    expect(await memory.confirmFact("two", vienna)).toBe(false)
  })

  it("are learned anew, and taken or dropped", async () => {
    const { memory } = await served()
    expect(await memory.diffFacts("ann")).toBeNull()
    expect(await memory.rebuildFacts("ann")).toEqual({ come: 0, go: 0, change: 0 })
    expect(await memory.diffFacts("ann")).toMatchObject({ by: { extractor: "rules" }, come: [], go: [] })
    expect(await memory.dropFacts("ann")).toBe(true)
    expect(await memory.takeFacts("ann")).toBe(false)
    await memory.rebuildFacts("ann")
    expect(await memory.takeFacts("ann")).toBe(true)
  })

  it("are asked for with the right to read, and changed with the right to write", async () => {
    const { url, memory, reader, writer } = await served()
    const [fact] = await memory.factsOf("ann")
    const asked = async (token: string, [method, path]: readonly [string, string]) =>
      ask(url + path, {
        method,
        headers: { authorization: `Bearer ${token}` },
        ...(method === "POST" ? { body: {} } : {}),
      })
    const { read, write } = paths(fact?.id ?? "")
    for (const one of read) {
      expect([one, (await asked(reader.token, one)).status]).toEqual([one, 200])
      expect([one, (await asked(writer.token, one)).status]).toEqual([one, 403])
    }
    for (const one of write) {
      expect([one, (await asked(reader.token, one)).status]).toEqual([one, 403])
      const { status, body } = await asked(writer.token, one)
      expect([one, status]).toEqual([one, 200])
      // Whoever may write need not be able to read.
      expect(JSON.stringify(body)).not.toMatch(/Ada|Graz|Vienna/u)
    }
  })

  it("are erased with the right to erase alone", async () => {
    const { url, memory, reader, writer } = await served()
    const [fact] = await memory.factsOf("ann")
    const path = `${url}${paths(fact?.id ?? "").one}/redact`
    for (const { token } of [reader, writer]) {
      const headers = { authorization: `Bearer ${token}` }
      expect((await ask(path, { headers, body: {} })).status).toBe(403)
      const query = path.replace("/redact", "?as=redacted")
      expect((await ask(query, { method: "DELETE", headers })).status).toBeGreaterThanOrEqual(400)
    }
    expect(await memory.factsOf("ann")).toContainEqual(fact)
    expect(await memory.removeFact("one", fact!.id, { as: "redacted" })).toBe(true)
    expect(JSON.stringify(await memory.factsOf("ann", { at: "always" }))).not.toContain("Ada")
  })

  it("are nobody else's", async () => {
    const { url, memory, other } = await served()
    await memory.rebuildFacts("ann")
    const before = await memory.factsOf("ann", { at: "always" })
    const { read, write } = paths(before[0]?.id ?? "")
    for (const [method, path] of [...read, ...write]) {
      const { body } = await ask(url + path, {
        method,
        headers: { authorization: `Bearer ${other.token}` },
        ...(method === "POST" ? { body: {} } : {}),
      })
      expect([path, JSON.stringify(body)]).not.toEqual([path, expect.stringMatching(/Ada|Graz|Vienna/u)])
    }
    expect(await memory.factsOf("ann", { at: "always" })).toEqual(before)
    expect(await memory.diffFacts("ann")).not.toBeNull()
  })
})
