/** What one client can take of a service: its memory, and how long others wait. */
import { often } from "@memfold/harness/depth"
import { storeFile } from "@memfold/harness/storeFile"
import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import { memoryUsage } from "node:process"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { describe, expect, it, onTestFinished } from "vitest"
import { makeToken, type ServeOptions } from "../src/index.js"
import { ask, started } from "./services.js"

const mebi = 2 ** 20

/** So many characters, of another text for each digit: words, whose tokens are estimated in a fraction of the time of one long run of digits. */
const long = (digit: number, count: number): string => `${digit} `.padEnd(count, "internationalization ")

setFlagsFromString("--expose-gc")
const collect = runInNewContext("gc") as () => void

/** Memory that is in use, in bytes: the heap without garbage, and buffers beside it. */
const used = (): number => {
  collect()
  const { heapUsed, external } = memoryUsage()
  return heapUsed + external
}

/** The most memory that is in use where the work looks, beyond what was in use before. */
const mostUsed = async (work: (look: () => void) => Promise<unknown>): Promise<number> => {
  const before = used()
  let most = 0
  await work(() => (most = Math.max(most, used() - before)))
  return most
}

/** Connections that send something, and read nothing until they are told to. */
const silent = async (url: string, count: number, bytes: string): Promise<ReadonlyArray<Socket>> => {
  const { port } = new URL(url)
  // One buffer for all: what they could not send yet is in this process, too.
  const sent = Buffer.from(bytes)
  const sockets = Array.from({ length: count }, () => {
    const socket = connect({ port: Number(port), host: "127.0.0.1" })
    socket.on("error", () => undefined).pause()
    return socket
  })
  onTestFinished(() => sockets.forEach((socket) => socket.destroy()))
  await Promise.all(
    sockets.map(async (socket) => {
      await once(socket, "connect")
      socket.write(sent)
    }),
  )
  return sockets
}

/** Lets the service go on: it answers so many requests meanwhile. */
const rounds = async (url: string, count: number): Promise<void> => {
  for (let n = 0; n < count; n++) expect((await ask(`${url}/health`)).status).toBe(200)
}

const busy = async (options: ServeOptions = {}) => started({ store: storeFile(), ...options })

describe("L19: memory has bounds", () => {
  it("whoever subscribes and never reads", async () => {
    const { url } = await busy()
    const append = (content: string) =>
      ask(`${url}/v1/sessions/s/messages`, { body: { messages: { role: "user", content } } })
    await append("first")
    await silent(url, often(60, 300), "GET /v1/sessions/s/changes HTTP/1.1\r\nHost: localhost\r\n\r\n")
    const most = await mostUsed(async (look) => {
      for (let n = 0; n < 10; n++) {
        expect((await append(long(n, mebi))).status).toBe(201)
        if (n % 3 === 0) look()
      }
      await rounds(url, 100)
      look()
    })
    // What waits for all of them, and what is made of it between two looks.
    expect(most).toBeLessThan(256 * mebi)
    // Who reads hears everything, each once.
    const heard: Array<number> = []
    const stream = await fetch(`${url}/v1/sessions/s/changes`)
    const decoder = new TextDecoder()
    let text = ""
    for await (const chunk of stream.body as unknown as AsyncIterable<Uint8Array>) {
      text += decoder.decode(chunk, { stream: true })
      const blocks = text.split("\n\n")
      text = blocks.pop() ?? ""
      for (const block of blocks) {
        const [, version] = /^id: (\d+):/.exec(block) ?? []
        if (version !== undefined) heard.push(Number(version))
      }
      if (heard.length >= 11) break
    }
    expect(heard).toEqual(heard.map((_, at) => at + 1))
  })

  it("whoever asks for long answers and never reads", async () => {
    const { url } = await busy()
    for (let n = 0; n < 4; n++)
      await ask(`${url}/v1/sessions/s/messages`, {
        body: { messages: { role: "user", content: long(n, mebi) }, owner: "ann" },
      })
    for (const path of ["sessions/s/messages", "owners/ann/events"]) {
      const most = await mostUsed(async (look) => {
        await silent(url, 60, `GET /v1/${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
        await rounds(url, 50)
        look()
        await rounds(url, 50)
        look()
      })
      expect([path, most < 256 * mebi]).toEqual([path, true])
    }
  })

  it("whoever writes large messages to many sessions, and reads them", async () => {
    const { url } = await busy()
    const most = await mostUsed(async (look) => {
      for (let n = 0; n < often(30, 50); n++) {
        const messages = { role: "user", content: long(n % 10, 9 * mebi) }
        const path = `${url}/v1/sessions/s${n}/messages`
        expect((await ask(path, { body: { messages } })).status).toBe(201)
        expect((await ask(`${path}?limit=1`)).status).toBe(200)
        if (n % 10 === 9) look()
      }
    })
    // The states of 128 Mi characters, 32 Mi of what was read, and what is being read and written.
    expect(most).toBeLessThan(256 * mebi)
  })

  it("whoever has no token and sends bodies without end", async () => {
    const { stored, token } = makeToken({ tenant: "acme", rights: ["read", "write"] })
    const { url } = await busy({ tokens: [stored], maxBodies: 64 * mebi, upstream: "http://127.0.0.1:9" })
    const begun = (path: string, header: string) =>
      `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${header}Content-Length: 10000000\r\n\r\n${" ".repeat(9_900_000)}`
    for (const path of [
      "/v1/sessions/s/messages",
      "/v1/chat/completions",
      "/v1/conversations",
      "/nowhere",
      "/health",
    ]) {
      const most = await mostUsed(async (look) => {
        const sockets = await silent(url, often(20, 100), begun(path, ""))
        await rounds(url, 50)
        look()
        await rounds(url, 50)
        look()
        for (const socket of sockets) socket.destroy()
      })
      expect([path, most < 64 * mebi]).toEqual([path, true])
    }
    // With one, all of them together have what is allowed, and others are told to come again.
    const sockets = await silent(
      url,
      20,
      begun("/v1/sessions/s/messages", `Authorization: Bearer ${token}\r\n`),
    )
    const refused: Array<string> = []
    for (const socket of sockets)
      socket.once("data", (head) => void refused.push(String(head).split(" ")[1] ?? "")).resume()
    // Of 20 bodies, half of the memory has room for 3 that are nearly whole.
    while (refused.length < 17) await rounds(url, 1)
    expect(new Set(refused)).toEqual(new Set(["503"]))
    for (const socket of sockets) socket.destroy()
    const append = () =>
      ask(`${url}/v1/sessions/s/messages`, {
        headers: { authorization: `Bearer ${token}` },
        body: { messages: { role: "user", content: long(0, 9 * mebi) } },
      })
    while ((await append()).status !== 201) await rounds(url, 1)
  })

  it("requests of one connection that are sent before the first is answered are bounded", async () => {
    const upstream = createServer()
    let most = 0
    upstream.listen(0, "127.0.0.1")
    await once(upstream, "listening")
    onTestFinished(() => void upstream.close())
    upstream.on("connection", (socket) => {
      onTestFinished(() => void socket.destroy())
      upstream.getConnections((_, count) => (most = Math.max(most, count)))
    })
    const { url } = await busy({ upstream: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}` })
    const [socket] = await silent(url, 1, "GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(5_000))
    await new Promise((resolve) => socket!.resume().once("close", resolve))
    await rounds(url, 1)
    expect(most).toBeLessThanOrEqual(100)
  })

  it("whoever subscribes hears the own tenant, also where others wait at one place", async () => {
    const tokens = ["acme", "other"].map((tenant) => makeToken({ tenant, rights: ["read", "write"] }))
    const { url } = await busy({ tokens: tokens.map(({ stored }) => stored) })
    const heard: Array<string> = ["", ""]
    for (const [at, { token }] of tokens.entries()) {
      const head = `GET /v1/sessions/s/changes HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`
      const [socket] = await silent(url, 1, head)
      socket!.on("data", (chunk) => void (heard[at] += String(chunk))).resume()
      while (!heard[at]!.includes(":\n\n")) await rounds(url, 1)
      await rounds(url, 20)
    }
    const headers = { authorization: `Bearer ${tokens[0]!.token}` }
    await ask(`${url}/v1/sessions/s/messages`, {
      headers,
      body: { messages: { role: "user", content: "4711" } },
    })
    while (!heard[0]!.includes("4711")) await rounds(url, 1)
    await rounds(url, 20)
    expect(heard[1]).not.toContain("4711")
  })

  it("subscribers are bounded, those of a tenant and all of them", async () => {
    const tokens = ["acme", "other", "third"].map((tenant) => makeToken({ tenant, rights: ["read"] }))
    const { url } = await busy({
      tokens: tokens.map(({ stored }) => stored),
      rate: 1_000_000,
      maxSubscribers: 40,
    })
    const statuses = async (token: string, count: number) => {
      const head = `GET /v1/sessions/s/changes HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`
      const sockets = await silent(url, count, head)
      const lines = await Promise.all(sockets.map((socket) => once(socket.resume(), "data")))
      const refused = lines.filter(([line]) => String(line).startsWith("HTTP/1.1 503"))
      return { sockets, refused: refused.length }
    }
    const [acme, other, third] = tokens.map(({ token }) => token) as [string, string, string]
    const first = await statuses(acme, 30)
    expect(first.refused).toBe(10)
    expect((await statuses(other, 20)).refused).toBe(0)
    expect((await statuses(third, 3)).refused).toBe(3)
    // A place is free once its subscriber has left.
    for (const socket of first.sockets) socket.destroy()
    while ((await statuses(third, 1)).refused > 0);
  })

  it("connections are bounded", async () => {
    const { url } = await busy({ maxConnections: 20 })
    const sockets = await silent(url, 60, "GET /health HTTP/1.1\r\nHost: local")
    let closed = 0
    const most = new Promise<void>((resolve) => {
      for (const socket of sockets) socket.resume().once("close", () => void (++closed === 40 && resolve()))
    })
    await most
    for (const socket of sockets) socket.destroy()
    await Promise.all(sockets.map((socket) => (socket.closed ? null : once(socket, "close"))))
    while ((await ask(`${url}/health`).catch(() => null))?.status !== 200);
  })
})
