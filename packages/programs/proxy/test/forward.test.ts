/** Forwarding against real listeners, with Node's own client on one side and its own server on the other. */
import { once } from "node:events"
import {
  createServer,
  type IncomingMessage,
  request as requestHttp,
  type RequestListener,
  type RequestOptions,
  type Server,
} from "node:http"
import { connect, type AddressInfo, type Socket } from "node:net"
import { randomBytes } from "node:crypto"
import { brotliCompressSync, gzipSync } from "node:zlib"
import { afterEach, describe, expect, it } from "vitest"
import { type Ending, type Exchange, forward } from "../src/forward.js"

const servers: Array<Server> = []

const listen = async (listener: RequestListener): Promise<string> => {
  const server = createServer(listener)
  servers.push(server)
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close()
    server.closeAllConnections()
  }
})

/** An upstream, and a listener in front of it that forwards everything to it. */
const between = async (
  upstream: RequestListener | string,
  how: Partial<Exchange> | ((request: IncomingMessage) => Partial<Exchange>) = {},
) => {
  const up = typeof upstream === "string" ? upstream : await listen(upstream)
  const endings: Array<Ending> = []
  let told: () => void = () => {}
  const url = await listen((request, response) => {
    const more = typeof how === "function" ? how(request) : how
    const forwarding = async (): Promise<void> => {
      endings.push(await forward({ request, response, url: new URL(request.url ?? "/", up), ...more }))
      told()
    }
    void forwarding()
  })
  const ended = async (): Promise<Ending> => {
    while (endings.length === 0) await new Promise<void>((resolve) => (told = resolve))
    return endings[0]!
  }
  return { url, up, ended }
}

const readAll = async (stream: AsyncIterable<Buffer>): Promise<Buffer> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}

const send = async (url: string, options: RequestOptions = {}, body?: Uint8Array) => {
  const outgoing = requestHttp(url, options)
  outgoing.end(body)
  const [answer] = (await once(outgoing, "response")) as [IncomingMessage]
  return answer
}

describe("forward", () => {
  it("passes method, path, query, body and fields, known or not, both ways", async () => {
    const asked = randomBytes(200_000)
    const answered = randomBytes(300_000)
    let seen: {
      method: string | undefined
      url: string | undefined
      headers: Array<string>
      body: Buffer
    } | null = null
    const { url, up, ended } = await between((request, response) => {
      const answer = async (): Promise<void> => {
        const body = await readAll(request)
        seen = { method: request.method, url: request.url, headers: request.rawHeaders, body }
        response.writeHead(
          207,
          "Fine",
          [
            ["X-Request-Id", "req_1"],
            ["Set-Cookie", "a=1"],
            ["Set-Cookie", "b=2"],
            ["Connection", "X-Only-Here"],
            ["X-Only-Here", "1"],
            ["Content-Length", String(answered.length)],
          ].flat(),
        )
        response.end(answered)
      }
      void answer()
    })
    const answer = await send(
      `${url}/v1/x%2Fy?beta=true&a=%20`,
      {
        method: "PATCH",
        headers: {
          Authorization: "Bearer key",
          "Anthropic-Beta": "a-2026,b-2026",
          "X-New-Field": ["1", "2"],
          Connection: "close, X-Hop",
          "X-Hop": "1",
          "Content-Length": asked.length,
        },
      },
      asked,
    )
    expect(answer.statusCode).toBe(207)
    expect(answer.statusMessage).toBe("Fine")
    expect(answer.headers["set-cookie"]).toEqual(["a=1", "b=2"])
    expect(answer.headers["x-request-id"]).toBe("req_1")
    expect(answer.headers["x-only-here"]).toBeUndefined()
    expect((await readAll(answer)).equals(answered)).toBe(true)
    expect(seen!.method).toBe("PATCH")
    expect(seen!.url).toBe("/v1/x%2Fy?beta=true&a=%20")
    expect(seen!.body.equals(asked)).toBe(true)
    const fields = seen!.headers.flatMap((name, at) =>
      at % 2 === 0 ? [`${name}: ${seen!.headers[at + 1]}`] : [],
    )
    expect(fields).toEqual(
      expect.arrayContaining([
        "Authorization: Bearer key",
        "Anthropic-Beta: a-2026,b-2026",
        "X-New-Field: 1",
        "X-New-Field: 2",
        `Host: ${new URL(up).host}`,
        `Content-Length: ${asked.length}`,
      ]),
    )
    expect(fields.join("\n")).not.toMatch(/x-hop/i)
    expect(await ended()).toEqual({ _tag: "Complete", status: 207, bytes: answered.length })
  })

  it("sends a chunked body on as it comes", async () => {
    let first: () => void = () => {}
    const came = new Promise<void>((resolve) => (first = resolve))
    const { url } = await between((request, response) => {
      request.once("data", () => first())
      void readAll(request).then((body) => response.end(body))
    })
    const outgoing = requestHttp(url, { method: "POST" })
    outgoing.write("one ")
    await came
    outgoing.end("two")
    const [answer] = (await once(outgoing, "response")) as [IncomingMessage]
    expect(String(await readAll(answer))).toBe("one two")
  })

  it("sends other bytes up when it is given some, and keeps what it is told to", async () => {
    const { url } = await between(
      (request, response) => {
        void readAll(request).then((body) =>
          response.end(JSON.stringify({ body: String(body), headers: request.headers })),
        )
      },
      (request) => {
        request.resume()
        return {
          body: Buffer.from("instead"),
          without: new Set(["x-session-id"]),
          answerHeaders: [["x-memfold", "yes"]],
        }
      },
    )
    const answer = await send(
      url,
      { method: "POST", headers: { "x-session-id": "chat-1" } },
      Buffer.from("original"),
    )
    expect(answer.headers["x-memfold"]).toBe("yes")
    const { body, headers } = JSON.parse(String(await readAll(answer)))
    expect(body).toBe("instead")
    expect(headers["content-length"]).toBe("7")
    expect(headers["transfer-encoding"]).toBeUndefined()
    expect(headers["x-session-id"]).toBeUndefined()
  })

  it("does not hold a part of a stream back for the next one", async () => {
    const seen: Array<string> = []
    let goOn: () => void = () => {}
    const { url, ended } = await between(
      (_, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" })
        response.write("data: 1\n\n")
        goOn = () => response.end("data: 2\n\n")
      },
      { tap: { chunk: (bytes) => void seen.push(String(Buffer.from(bytes))) } },
    )
    const answer = await send(url)
    const [first] = (await once(answer, "data")) as [Buffer]
    expect(String(first)).toBe("data: 1\n\n")
    goOn()
    const [second] = (await once(answer, "data")) as [Buffer]
    expect(String(second)).toBe("data: 2\n\n")
    await ended()
    expect(seen.join("")).toBe("data: 1\n\ndata: 2\n\n")
  })

  it("sends the head before the first byte of the body", async () => {
    let goOn: () => void = () => {}
    const { url } = await between((_, response) => {
      response.writeHead(200)
      response.flushHeaders()
      goOn = () => response.end("late")
    })
    const answer = await send(url)
    goOn()
    expect(String(await readAll(answer))).toBe("late")
  })

  it("ends the request to the upstream when the client leaves within the answer", async () => {
    let closed: () => void = () => {}
    const isClosed = new Promise<void>((resolve) => (closed = resolve))
    const { url, ended } = await between((_, response) => {
      response.once("close", () => closed())
      response.write("begun")
    })
    const answer = await send(url)
    await once(answer, "data")
    answer.destroy()
    await isClosed
    expect(await ended()).toEqual({ _tag: "ClientLeft", status: 200, bytes: 5, dropped: 0 })
  })

  it("ends the request to the upstream when the client leaves before the answer", async () => {
    let closed: () => void = () => {}
    const isClosed = new Promise<void>((resolve) => (closed = resolve))
    let came: () => void = () => {}
    const hasCome = new Promise<void>((resolve) => (came = resolve))
    const { url, ended } = await between((_, response) => {
      response.once("close", () => closed())
      came()
    })
    const outgoing = requestHttp(url)
    outgoing.on("error", () => {})
    outgoing.end()
    await hasCome
    outgoing.destroy()
    await isClosed
    expect(await ended()).toEqual({ _tag: "ClientLeft", status: null, bytes: 0, dropped: 0 })
  })

  it("ends the request to the upstream when the client leaves within its body", async () => {
    let broke: () => void = () => {}
    const isBroken = new Promise<void>((resolve) => (broke = resolve))
    let came: () => void = () => {}
    const hasCome = new Promise<void>((resolve) => (came = resolve))
    const { url, ended } = await between((request) => {
      request.once("data", () => came())
      request.once("error", () => broke())
    })
    const outgoing = requestHttp(url, { method: "POST", headers: { "content-length": 100 } })
    outgoing.on("error", () => {})
    outgoing.write("half")
    await hasCome
    outgoing.destroy()
    await isBroken
    expect((await ended())._tag).toBe("ClientLeft")
  })

  it.each([
    ["of a stream", {}],
    ["of a length that was told", { "content-length": "100" }],
  ])("breaks the answer off when the upstream dies in the middle %s", async (_, headers) => {
    const { url, ended } = await between((_request, response) => {
      response.writeHead(200, headers)
      response.write("half", () => response.destroy())
    })
    const answer = await send(url)
    await expect(readAll(answer)).rejects.toThrow("aborted")
    expect(await ended()).toEqual({ _tag: "UpstreamBroke", status: 200, bytes: 4 })
  })

  it("answers 502 when no upstream listens, or it closes without an answer", async () => {
    const gone = await listen(() => {})
    const [server] = servers.splice(servers.length - 1, 1)
    server!.close()
    const nobody = await between(gone)
    const refused = await send(nobody.url, { method: "POST" }, Buffer.from("{}"))
    expect(refused.statusCode).toBe(502)
    expect(JSON.parse(String(await readAll(refused)))).toMatchObject({
      type: "error",
      error: { code: "upstream_unreachable", reason: "ECONNREFUSED" },
    })
    const closing = await between((request) => request.socket.destroy())
    expect((await send(closing.url)).statusCode).toBe(502)
    expect(await closing.ended()).toEqual({ _tag: "Unreachable", code: "ECONNRESET" })
  })

  describe("over an idle connection that the upstream closes", () => {
    /** An upstream that answers the first request of each connection, and does what it is told with the second. */
    const closing = (second: (socket: Socket) => void, isFirstGood: (connection: number) => boolean) => {
      const seen: Array<{ readonly connection: number; readonly body: string }> = []
      const connections: Array<Socket> = []
      const listener: RequestListener = (request, response) => {
        const { socket } = request
        const isSecond = connections.includes(socket)
        if (!isSecond) connections.push(socket)
        const connection = connections.indexOf(socket)
        const answer = async (): Promise<void> => {
          seen.push({ connection, body: String(await readAll(request)) })
          if (isSecond || !isFirstGood(connection)) second(socket)
          else response.end("answered")
        }
        void answer()
      }
      return { listener, seen }
    }
    const taken = (request: IncomingMessage): Partial<Exchange> => {
      request.resume()
      return { body: Buffer.from("asked") }
    }

    it("sends a request again once, over a new one", async () => {
      const { listener, seen } = closing(
        (socket) => void socket.destroy(),
        () => true,
      )
      const { url } = await between(listener, taken)
      for (let turn = 0; turn < 3; turn++) {
        const answer = await send(url, { method: "POST" }, Buffer.from("x"))
        expect([answer.statusCode, String(await readAll(answer))]).toEqual([200, "answered"])
      }
      expect(seen.slice(0, 3)).toEqual([
        { connection: 0, body: "asked" },
        { connection: 0, body: "asked" },
        { connection: 1, body: "asked" },
      ])
    })

    it("sends it no third time", async () => {
      const { listener, seen } = closing(
        (socket) => void socket.destroy(),
        (connection) => connection === 0,
      )
      const { url } = await between(listener, taken)
      await readAll(await send(url, { method: "POST" }, Buffer.from("x")))
      expect((await send(url, { method: "POST" }, Buffer.from("x"))).statusCode).toBe(502)
      expect(seen.map(({ connection }) => connection)).toEqual([0, 0, 1])
    })

    it("does not send it again once a byte of an answer came", async () => {
      const { listener, seen } = closing(
        (socket) => void socket.write("H", () => socket.destroy()),
        () => true,
      )
      const { url } = await between(listener, taken)
      await readAll(await send(url, { method: "POST" }, Buffer.from("x")))
      expect((await send(url, { method: "POST" }, Buffer.from("x"))).statusCode).toBe(502)
      expect(seen.map(({ connection }) => connection)).toEqual([0, 0])
    })

    it("takes none for a body that is sent as it comes", async () => {
      const { listener, seen } = closing(
        (socket) => void socket.destroy(),
        () => true,
      )
      const { url } = await between(listener)
      for (let turn = 0; turn < 3; turn++)
        await readAll(await send(url, { method: "POST" }, Buffer.from("as it comes")))
      expect(seen.map(({ connection }) => connection)).toEqual([0, 1, 2])
    })
  })

  it.each([
    ["gzip", gzipSync],
    ["br", brotliCompressSync],
  ] as const)("lets the tap read %s, and the client get it as it came", async (encoding, compress) => {
    const text = "an answer ".repeat(10_000)
    const chunks: Array<Uint8Array> = []
    let accepted = ""
    let status = 0
    const { url, ended } = await between(
      (request, response) => {
        accepted = String(request.headers["accept-encoding"])
        response.writeHead(200, { "content-encoding": encoding })
        response.end(compress(text))
      },
      {
        tap: {
          head: (code) => {
            status = code
            throw new Error("a head that throws")
          },
          chunk: (bytes) => {
            chunks.push(bytes)
            throw new Error("a tap that throws")
          },
        },
      },
    )
    const answer = await send(url, { headers: { "accept-encoding": "zstd, gzip;q=0.9, br" } })
    expect((await readAll(answer)).equals(compress(text))).toBe(true)
    expect((await ended())._tag).toBe("Complete")
    expect(accepted).toBe("identity")
    expect(status).toBe(200)
    expect(String(Buffer.concat(chunks))).toBe(text)
  })

  it("shows a client of HTTP/1.0 that the upstream broke off: for it, a connection that ends is the end of a body", async () => {
    const part = "x".repeat(500_000)
    let breakOff = (): void => undefined
    const { url } = await between((_, response) => {
      response.write(part)
      breakOff = () => response.destroy()
    })
    const socket = connect({ port: Number(new URL(url).port), host: "127.0.0.1" })
    socket.write("GET / HTTP/1.0\r\nHost: a\r\n\r\n")
    let came = ""
    socket.on("data", (bytes: Buffer) => {
      came += bytes.toString()
      if (came.endsWith(part)) breakOff()
    })
    const [error] = (await once(socket, "close").then(
      () => [null],
      (cause: unknown) => [cause],
    )) as [NodeJS.ErrnoException | null]
    expect([came.endsWith(`\r\n\r\n${part}`), error?.code]).toEqual([true, "ECONNRESET"])
  })

  it("holds bytes back from the client until the tap has stored what they complete", async () => {
    const order: Array<string> = []
    let release: () => void = () => {}
    let held: () => void = () => {}
    const isHeld = new Promise<void>((resolve) => (held = resolve))
    const { url } = await between((_, response) => response.end("whole"), {
      tap: {
        chunk: () =>
          new Promise<void>((resolve) => {
            release = resolve
            held()
          }),
        end: () => void order.push("end"),
      },
    })
    const answer = await send(url)
    answer.once("data", () => order.push("read"))
    await isHeld
    // Everything that could bring the bytes here has had its turn.
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
    order.push("stored")
    release()
    await once(answer, "end")
    expect(order[0]).toBe("stored")
    expect(order.toSorted()).toEqual(["end", "read", "stored"])
  })

  it("survives an answer that is no HTTP, and one whose encoding is broken", async () => {
    const raw = await between((request) => void request.socket.end("nonsense\r\n\r\n"))
    expect((await send(raw.url)).statusCode).toBe(502)
    const broken = await between(
      (_, response) => {
        response.writeHead(200, { "content-encoding": "gzip" })
        response.end("no gzip")
      },
      { tap: { chunk: () => {} } },
    )
    expect(String(await readAll(await send(broken.url)))).toBe("no gzip")
    expect((await broken.ended())._tag).toBe("Complete")
  })

  it("goes no faster than the client takes it", async () => {
    let stopped: (written: number) => void = () => {}
    const hasStopped = new Promise<number>((resolve) => (stopped = resolve))
    const part = Buffer.alloc(2 ** 20)
    const total = 256
    const { url, ended } = await between((_, response) => {
      let written = 0
      const write = (): void => {
        while (written < total) {
          written++
          if (!response.write(part)) {
            // The first time that the whole line behind it is full.
            if (written > 1 || response.writableNeedDrain) stopped(written)
            response.once("drain", write)
            return
          }
        }
        response.end()
      }
      write()
    })
    // A client that reads nothing at first: a bare socket.
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    socket.pause()
    socket.write("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    expect(await hasStopped).toBeLessThan(total)
    let bytes = 0
    for await (const chunk of socket as AsyncIterable<Buffer>) bytes += chunk.length
    expect(bytes).toBeGreaterThan(total * part.length)
    expect(await ended()).toMatchObject({ _tag: "Complete", bytes: total * part.length })
  })
})
