/** The end of a service, whoever holds a connection. */
import { once } from "node:events"
import { createServer } from "node:http"
import { type AddressInfo, connect, type Socket } from "node:net"
import { expect, it, onTestFinished } from "vitest"
import { serve } from "../src/index.js"
import { ask, turn } from "./services.js"

/** A connection that sends bytes and then stays as it is. */
const held = async (url: string, bytes: string): Promise<Socket> => {
  const socket = connect({ port: Number(new URL(url).port), host: "127.0.0.1" })
  socket.on("error", () => undefined)
  onTestFinished(() => void socket.destroy())
  await once(socket, "connect")
  socket.write(bytes)
  return socket
}

/** Waits for the first bytes of an answer. */
const heard = (socket: Socket): Promise<unknown> => once(socket, "data")

const host = "host: 127.0.0.1\r\n"
const json = "content-type: application/json\r\n"

it("takes the time of shutdown, and a second more at the most", async () => {
  // An upstream that begins its answer, and does not go on; and one that never answers.
  const upstream = createServer((request, response) => {
    if (request.url?.includes("silent") === true) return
    response.writeHead(200, { "content-type": "text/event-stream" })
    response.write('data: {"id":"1","choices":[]}\n\n')
  })
  upstream.listen(0, "127.0.0.1")
  await once(upstream, "listening")
  onTestFinished(() => void upstream.close().closeAllConnections())
  const { url, close } = await serve({
    store: "memory:",
    port: 0,
    log: "none",
    shutdown: "1 second",
    upstream: { openai: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}` },
  })
  await ask(`${url}/v1/sessions/s/messages`, { body: { messages: turn(1) } })

  const chat = JSON.stringify({ model: "m", stream: true, messages: [{ role: "user", content: "hello" }] })
  const sent = (path: string, more = ""): string =>
    `POST ${path} HTTP/1.1\r\n${host}${json}${more}content-length: ${chat.length}\r\n\r\n${chat}`
  const subscriber = await held(url, `GET /v1/sessions/s/changes HTTP/1.1\r\n${host}\r\n`)
  const idle = await held(url, `GET /health HTTP/1.1\r\n${host}\r\n`)
  const stream = await held(url, sent("/v1/chat/completions", "x-memfold-session: a\r\n"))
  await Promise.all([subscriber, idle, stream].map(heard))
  await held(url, "")
  await held(url, `GET /v1/sessions HTTP/1.1\r\nhost: 127`)
  await held(url, `POST /v1/sessions/s/messages HTTP/1.1\r\n${host}${json}content-length: 100\r\n\r\n{"mess`)
  await held(
    url,
    `POST /v1/sessions/s/messages HTTP/1.1\r\n${host}${json}transfer-encoding: chunked\r\n\r\n5\r\n{"me`,
  )
  await held(url, sent("/v1/chat/completions?silent", "x-memfold-session: b\r\n"))
  await held(url, sent("/v1/responses", "").replace("stream", "background").replace("messages", "input"))
  // Whoever does not read what it is sent.
  const deaf = await held(url, `GET /v1/sessions/s/changes HTTP/1.1\r\n${host}\r\n`)
  deaf.pause()
  await ask(`${url}/health`)

  const start = performance.now()
  await close()
  expect(performance.now() - start).toBeLessThan(2_000)
})

it("takes no longer for those who never read what they are sent", async () => {
  const endless = createServer((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" })
    const more = (): void => {
      while (!response.destroyed && response.write(`: ${"x".repeat(60_000)}\n\n`));
      response.once("drain", more)
    }
    more()
  })
  endless.listen(0, "127.0.0.1")
  await once(endless, "listening")
  onTestFinished(() => void endless.close().closeAllConnections())
  const { url, close } = await serve({
    store: "memory:",
    port: 0,
    log: "none",
    shutdown: "1 second",
    compaction: { mode: "off" },
    upstream: `http://127.0.0.1:${(endless.address() as AddressInfo).port}`,
  })
  const append = async (content: string) =>
    expect(
      (
        await ask(`${url}/v1/sessions/s/messages`, {
          body: { messages: { role: "user", content }, owner: "ann" },
        })
      ).status,
    ).toBe(201)
  await append("Hi")
  const stream = "accept: text/event-stream\r\n"
  const chat = JSON.stringify({ model: "m", stream: true, messages: [{ role: "user", content: "hello" }] })
  const deaf: Array<Socket> = []
  for (const [line, more = "", body = ""] of [
    ["GET /v1/feed", stream],
    ["GET /v1/sessions/s/changes"],
    ["GET /v1/feed?limit=1000"],
    ["GET /v1/owners/ann/events"],
    ["GET /v1/sessions/s/messages?limit=1000"],
    ["POST /v1/feed/groups/g", `${json}content-length: 2\r\n`, "{}"],
    ["POST /v1/feed/groups/h", `${json}content-length: 11\r\n`, '{"wait":30}'],
    ["POST /v1/chat/completions", `${json}x-session-id: a\r\ncontent-length: ${chat.length}\r\n`, chat],
  ] as const) {
    const isSubscriber = line.includes("changes") || more === stream
    const asked = async () => {
      const socket = await held(url, `${line} HTTP/1.1\r\n${host}${more}\r\n${body}`)
      socket.pause()
      deaf.push(socket)
    }
    if (isSubscriber) for (let n = 0; n < 5; n++) await asked()
    for (let n = 0; n < 2; n++) await append(`${n} `.repeat(400_000))
    await asked()
  }
  // A reader that does not read has what its connection takes, and no more.
  await expect.poll(async () => (await ask(`${url}/health`)).status).toBe(200)
  const start = performance.now()
  await close()
  expect(performance.now() - start).toBeLessThan(2_500)
  // Nothing keeps its process.
  for (const socket of deaf) socket.resume()
  await expect.poll(() => deaf.filter(({ closed }) => !closed).length).toBe(0)
})
