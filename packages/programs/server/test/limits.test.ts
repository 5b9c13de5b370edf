/** What the service refuses: names, origins, sizes, rates and slowness; and what it does for who listens beyond this machine. */
import { storeFile } from "@memfold/harness/storeFile"
import { createClient } from "@memfold/client"
import { connect } from "node:net"
import { request } from "node:http"
import { brotliCompressSync, gzipSync } from "node:zlib"
import { describe, expect, it } from "vitest"
import { EventLog } from "@memfold/core"
import { failureFor, problemOf } from "../src/failure.js"
import { makeToken, serve, tokensIn } from "../src/index.js"
import { ask, started, turn } from "./services.js"

/** The status of a request with these headers; `fetch` does not let its caller choose the host. */
const statusOf = (url: string, headers: Readonly<Record<string, string>>): Promise<number> =>
  new Promise((resolve, reject) => {
    const sent = request({ port: new URL(url).port, path: "/health", headers }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    sent.on("error", reject)
    sent.end()
  })

/** Sends bytes, and answers with what came back until the service closes the connection. */
const raw = (url: string, bytes: string): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = ""
    const socket = connect({ port: Number(new URL(url).port), host: "127.0.0.1" }, () => socket.write(bytes))
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString()
      if (text.includes("\r\n\r\n")) socket.end()
    })
    socket.on("error", reject)
    socket.on("close", () => resolve(text))
  })

describe("hosts and origins", () => {
  it("are this machine's names, and those that were allowed", async () => {
    const { url } = await started({ allowedHosts: ["Memory.internal"] })
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect(await statusOf(url, {})).toBe(200)
    expect(await statusOf(url, { host: "memory.internal:80", origin: "https://memory.internal" })).toBe(200)
    expect(await statusOf(url, { origin: "http://localhost:3000" })).toBe(200)
    for (const host of [
      "rebound.example",
      "localhost.example",
      "localhost@evil",
      "[::1",
      "a:b:c",
      "127.0.0.1.nip.io",
    ])
      expect([host, await statusOf(url, { host })]).toEqual([host, 403])
    for (const origin of [
      "https://page.example",
      "null",
      "file://",
      "http://localhost.page.example",
      "http://",
    ])
      expect([origin, await statusOf(url, { origin })]).toEqual([origin, 403])
  })

  it("beyond this machine need tokens", async () => {
    await expect(serve({ store: "memory:", port: 0, host: "0.0.0.0" })).rejects.toThrow("--tokens")
    await expect(serve({ store: "memory:", port: 0, host: "::" })).rejects.toThrow("--tokens")
    const { stored, token } = makeToken({ tenant: "acme", rights: ["read"] })
    const { url } = await started({ host: "0.0.0.0", tokens: [stored] })
    const local = `http://127.0.0.1:${new URL(url).port}`
    expect((await ask(`${local}/v1/sessions`)).status).toBe(401)
    expect(
      (await ask(`${local}/v1/sessions`, { headers: { authorization: `Bearer ${token}` } })).status,
    ).toBe(200)
  })
})

describe("a body", () => {
  it("that is too large is refused, with its length or without", async () => {
    const { url } = await started({ maxBody: 10_000 })
    const path = `${url}/v1/sessions/s/messages`
    const messages = { role: "user", content: "x".repeat(20_000) }
    expect(await ask(path, { body: { messages } })).toMatchObject({ status: 413, body: { status: 413 } })
    const chunk = JSON.stringify({ messages })
    const chunked = await raw(
      url,
      `POST /v1/sessions/s/messages HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${chunk.length.toString(16)}\r\n${chunk}\r\n0\r\n\r\n`,
    )
    expect(chunked).toMatch(/^HTTP\/1\.1 413 /)
    expect((await ask(`${url}/v1/sessions/s`)).status).toBe(404)
    expect(
      (await ask(path, { body: { messages: { role: "user", content: "x".repeat(9_000) } } })).status,
    ).toBe(201)
  })

  it("that is no JSON, or no text, is refused", async () => {
    const { url } = await started()
    const send = async (body: string | Uint8Array<ArrayBuffer>, type: string) =>
      (
        await fetch(`${url}/v1/sessions/s/messages`, {
          method: "POST",
          body,
          headers: { "content-type": type },
        })
      ).status
    const good = JSON.stringify({ messages: turn(1) })
    for (const type of [
      "text/plain",
      "multipart/form-data; boundary=x",
      "application/x-www-form-urlencoded",
      ";",
    ])
      expect([type, await send(good, type)]).toEqual([type, 415])
    expect(await send(good, "application/json; charset=utf-8")).toBe(201)
    expect(await send(Buffer.from([0x22, 0xff, 0x22]), "application/json")).toBe(400)
    expect(await send("{", "application/json")).toBe(400)
    expect(await send(`${"[".repeat(50_000)}${"]".repeat(50_000)}`, "application/json")).toBe(400)
    const brackets = JSON.stringify({ messages: { role: "user", content: `"${"[".repeat(5_000)}` } })
    expect(await send(brackets, "application/json")).toBe(201)
    expect(await send("", "application/json")).toBe(400)
  })

  it("that is compressed is refused with what to do, unless it goes on to an upstream", async () => {
    const { url } = await started({ upstream: "http://127.0.0.1:9" })
    const compressed = new Map<string, (text: string) => Uint8Array<ArrayBuffer>>([
      ["gzip", gzipSync],
      ["br", brotliCompressSync],
      ["zstd", Buffer.from],
      ["GZIP, br", (text) => brotliCompressSync(gzipSync(text))],
    ])
    const own = ["/v1/sessions/s/messages", "/v1/nowhere/s", "/v1/conversations"]
    const found: Array<unknown> = []
    for (const [encoding, compress] of compressed)
      for (const path of own) {
        const body = compress(
          JSON.stringify(path.endsWith("messages") ? { messages: turn(1) } : { items: [] }),
        )
        const headers = { "content-type": "application/json", "content-encoding": encoding }
        const answer = await fetch(url + path, { method: "POST", body, headers })
        found.push([
          encoding,
          path,
          answer.status,
          (await answer.text()).includes("without Content-Encoding"),
        ])
      }
    // The APIs that go on to an upstream read what their clients send.
    const read = (encoding: string): boolean => encoding === "gzip" || encoding === "br"
    expect(found).toEqual(
      [...compressed.keys()].flatMap((encoding) => [
        [encoding, own[0], 415, true],
        [encoding, own[1], 502, false],
        read(encoding) ? [encoding, own[2], 200, false] : [encoding, own[2], 415, true],
      ]),
    )
    expect((await ask(`${url}/v1/sessions/s`)).status).toBe(404)
  })

  it("that never comes is not waited for", async () => {
    const { url } = await started({ timeout: "200 millis" })
    const answer = await raw(
      url,
      "POST /v1/sessions/s/messages HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
    )
    expect(answer).toMatch(/^HTTP\/1\.1 503 /)
    expect(answer).toContain("urn:memfold:TimedOut")
  })
})

describe("limits", () => {
  it("of the rate are for each token by itself", async () => {
    const [one, other] = [
      makeToken({ tenant: "a", rights: ["read"] }),
      makeToken({ tenant: "a", rights: ["read"] }),
    ]
    const { url } = await started({ tokens: [one.stored, other.stored], rate: 1 })
    const get = (token: string) =>
      ask(`${url}/v1/sessions`, { headers: { authorization: `Bearer ${token}` } })
    const answers = await Promise.all(Array.from({ length: 40 }, () => get(one.token)))
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused.length).toBeGreaterThan(0)
    expect(refused[0]!.headers.get("retry-after")).toBe("1")
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(1)
    expect((await get(other.token)).status).toBe(200)
  })

  it("of sessions are for each tenant by itself, and a session that is there goes on", async () => {
    const tokens = ["a", "b"].map((tenant) => makeToken({ tenant, rights: ["read", "write", "erase"] }))
    const { url } = await started({
      tokens: tokens.map(({ stored }) => stored),
      maxSessions: 2,
      rate: 10_000,
    })
    const [a, b] = tokens.map(({ token }) => createClient({ url, token, retries: 0 })) as [
      ReturnType<typeof createClient>,
      ReturnType<typeof createClient>,
    ]
    await a.append("one", turn(1))
    await a.append("two", turn(1))
    for (const begin of [
      () => a.append("three", turn(1)),
      () => a.fork("one", "three"),
      () => a.describe("three", { title: "x" }),
      () => a.replace("three", turn(1)),
    ])
      await expect(begin()).rejects.toMatchObject({ status: 429, error: "TooManySessions" })
    await a.append("one", turn(2))
    await b.append("three", turn(1))
    await a.delete("two")
    await a.append("three", turn(1))
  })
})

it("L21: groups of the feed are bounded for each tenant, and those that there are go on", async () => {
  const tokens = ["acme", "other"].map((tenant) => makeToken({ tenant, rights: ["read", "write"] }))
  const store = storeFile()
  const headersOf = (tenant: number) => ({ authorization: `Bearer ${tokens[tenant]!.token}` })
  const asked = async (url: string, tenant: number, group: string) => {
    const headers = headersOf(tenant)
    return (await ask(`${url}/v1/feed/groups/${group}`, { body: { lease: 0 }, headers })).status
  }
  const options = { store, tokens: tokens.map(({ stored }) => stored), maxSessions: 2 } as const
  const { url, close } = await started(options)
  expect(await Promise.all(["a", "b"].map((group) => asked(url, 0, group)))).toEqual([200, 200])
  expect(await Promise.all(["c", "d", "a"].map((group) => asked(url, 0, group)))).toEqual([429, 429, 200])
  expect(await asked(url, 1, "c")).toBe(200)
  expect(await asked(url, 1, "%00")).toBe(400)
  // In the place of a group that is deleted, another one may begin; of none, none.
  for (const group of ["a", "a", "none"])
    await ask(`${url}/v1/feed/groups/${group}`, { method: "DELETE", headers: headersOf(0) })
  expect(await asked(url, 0, "c")).toBe(200)
  expect(await asked(url, 0, "d")).toBe(429)
  await close()
  const again = await started(options)
  expect(await asked(again.url, 0, "b")).toBe(200)
})

it("a file of tokens is checked, and an error quotes nothing of it", () => {
  const { stored } = makeToken({ tenant: "acme", rights: ["read"] })
  expect(tokensIn({ tokens: [stored] })).toMatchObject({ right: [stored] })
  for (const wrong of [
    null,
    {},
    { tokens: [{ ...stored, tenant: "A/b" }] },
    { tokens: [{ ...stored, rights: ["all"] }] },
  ]) {
    expect(tokensIn(wrong)).toMatchObject({ _tag: "Left" })
    expect(JSON.stringify(tokensIn(wrong))).not.toContain(stored.sha256)
  }
})

it("the log has why something failed, and never what was said", () => {
  const typed = new EventLog.LogError({ operation: "append", session: "s", reason: "the disk is full" })
  expect(failureFor(typed)).toMatchObject({
    failure: "LogError",
    reason: expect.stringContaining("the disk is full"),
  })
  const bug = failureFor(new TypeError('cannot read "SECRET-4711"'))
  expect(bug["failure"]).toBe("TypeError")
  expect(bug["at"]).toMatch(/^at /)
  expect(JSON.stringify(bug)).not.toContain("SECRET")
  expect(problemOf(typed)).toMatchObject({ status: 503, session: "s" })
  // What a part of the service has made a problem of keeps its name.
  expect(failureFor(problemOf(typed))).toEqual({ failure: "LogError" })
  expect(problemOf(typed).detail).not.toContain("disk")
  expect(JSON.stringify(problemOf(new TypeError("SECRET-4711")))).not.toContain("SECRET")
})
