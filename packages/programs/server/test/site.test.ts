/** A page beside the operations, and who may do what. */
import { createClient } from "@memfold/client"
import { makeToken } from "../src/index.js"
import { describe, expect, it } from "vitest"
import { ask, started } from "./services.js"

const file = (type: string, body: string, named = false) => ({ type, body: Buffer.from(body), named })
const site = new Map([
  ["index.html", file("text/html; charset=utf-8", "<!doctype html>")],
  ["assets/page-1.js", file("text/javascript; charset=utf-8", "1", true)],
])

describe("a page", () => {
  it("is served with a strict policy, and nothing else of its folder", async () => {
    const { url } = await started({ site })
    const page = await fetch(`${url}/`)
    expect([page.url, page.status, await page.text()]).toEqual([`${url}/studio/`, 200, "<!doctype html>"])
    expect(Object.fromEntries(page.headers)).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": expect.stringMatching(
        /default-src 'none'; script-src 'self'; .*frame-ancestors 'none'; require-trusted-types-for 'script'/,
      ),
      "cache-control": "no-cache",
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
    })
    const program = await fetch(`${url}/studio/assets/page-1.js?v=2`)
    expect(program.headers.get("cache-control")).toContain("immutable")
    for (const path of ["/studio/assets/..%2f..%2fpackage.json", "/studio/nothing.js", "/studio/assets/"])
      expect((await fetch(`${url}${path}`)).status).toBe(404)
    expect((await fetch(`${url}/v1/sessions`)).headers.get("content-security-policy")).toBe(null)
    const elsewhere = await ask(`${url}/studio/`, { headers: { origin: "https://example.org" } })
    expect(elsewhere.status).toBe(403)
  })

  it("is not there unless it is asked for", async () => {
    const { url } = await started()
    expect((await fetch(`${url}/studio/`)).status).toBe(404)
  })
})

describe("access", () => {
  it("says what a token allows, and what every caller may do without tokens", async () => {
    const { token, stored } = makeToken({ tenant: "acme", rights: ["read", "erase"] })
    const guarded = await started({ tokens: [stored] })
    const headers = { authorization: `Bearer ${token}` }
    expect((await ask(`${guarded.url}/v1/access`, { headers })).body).toEqual({
      tenant: "acme",
      rights: ["read", "erase"],
    })
    expect((await ask(`${guarded.url}/v1/access`)).status).toBe(401)
    const open = await started()
    expect((await ask(`${open.url}/v1/access`)).body).toEqual({
      tenant: null,
      rights: ["read", "write", "erase"],
    })
  })

  it("is for reading alone where the service is", async () => {
    const { url } = await started({ readOnly: true })
    expect((await ask(`${url}/v1/access`)).body).toEqual({ tenant: null, rights: ["read"] })
    const memory = createClient({ url })
    await expect(memory.append("s", { role: "user", content: "Hello" })).rejects.toMatchObject({
      status: 403,
      message: expect.stringContaining("--read-only"),
    })
    await expect(memory.delete("s")).rejects.toMatchObject({ status: 403 })
    expect((await memory.sessions()).sessions).toEqual([])
    const { stored } = makeToken({ tenant: "acme", rights: ["read"] })
    await expect(started({ readOnly: true, tokens: [stored] })).rejects.toThrow("readOnly")
  })

  it("has the size of a session in its overview", async () => {
    const { url } = await started({ strategy: "rounds", compaction: { mode: "manual" } })
    const memory = createClient({ url })
    for (let n = 0; n < 8; n++)
      await memory.append("s", [
        { role: "user", content: `Question ${n} `.repeat(30) },
        { role: "assistant", content: `Answer ${n} `.repeat(30) },
      ])
    await memory.compact("s")
    const { tokens } = await memory.context("s")
    expect(await memory.session("s")).toMatchObject({ tokens, summaries: 1, failures: 0 })
  })
})
