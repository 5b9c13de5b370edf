/**
 * Answers that go wrong on their way, in each API: the client gets what came and sees how it ended, nothing half is stored, and the
 * conversation goes on as if nothing had been.
 */
import { Message } from "@memfold/core"
import { often } from "@memfold/harness/depth"
import { oddities, oddServer } from "@memfold/harness/oddAnswers"
import { providerServer, scripted } from "@memfold/strict-providers"
import * as fc from "fast-check"
import { once } from "node:events"
import { createServer, type IncomingMessage, request, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { describe, expect, it, onTestFinished } from "vitest"
import { conversationRoutes } from "../src/index.js"
import { proxied } from "./proxied.js"

const said = ["Where is order KX-4471?", "Was kostet das in €?"] as const
const answers = ["It is in Graz – “na geh”, für 12 €. 🚚", "Twelve."] as const
const answer = () => scripted([{ text: answers[0] }])

/** A conversation in each API: its request. */
const bodies = {
  "/v1/chat/completions": (messages: unknown, stream: boolean) => ({ model: "gpt-5", stream, messages }),
  "/v1/messages": (messages: unknown, stream: boolean) => ({
    model: "claude-sonnet-5-5",
    max_tokens: 1_000,
    stream,
    messages,
  }),
  "/v1/responses": (input: unknown, stream: boolean) => ({ model: "gpt-5", stream, store: false, input }),
} as const
type Path = keyof typeof bodies

const asking = (content: string) => ({ role: "user", content })
const answering = (content: string) => ({ role: "assistant", content })
const texts = (messages: ReadonlyArray<Message.Message>) =>
  messages.map((message) => `${message.role}: ${Message.text(message)}`)

/** Asks, and leaves once all that was to come has come, if the answer does not end. What came, and whether it ended. */
const ask = async (
  url: string,
  body: object,
  headers: Readonly<Record<string, string>> = {},
  until: { readonly came: () => number; readonly hasCome: () => "leave" | "stay" } | null = null,
) => {
  const outgoing = request(url, {
    method: "POST",
    agent: false,
    headers: { "content-type": "application/json", ...headers },
  })
  outgoing.end(JSON.stringify(body))
  outgoing.on("error", () => undefined)
  const [incoming] = (await once(outgoing, "response")) as [IncomingMessage]
  const pieces: Array<Buffer> = []
  let [size, isAsked] = [0, false]
  const look = (): void => {
    if (until === null || isAsked || size < until.came()) return
    isAsked = true
    if (until.hasCome() === "leave") outgoing.destroy()
  }
  incoming.on("data", (piece: Buffer) => {
    pieces.push(piece)
    size += piece.length
    look()
  })
  look()
  const ended = new Promise<void>((resolve) => incoming.once("close", resolve).once("error", () => resolve()))
  await ended
  outgoing.destroy()
  return {
    status: incoming.statusCode,
    bytes: Buffer.concat(pieces),
    isBroken: !incoming.complete,
    trailers: incoming.trailers,
  }
}

const cases = Object.entries(oddities)
/** How many places of an answer each is tried at. */
const places = { numRuns: often(3, 30) }

describe.each(Object.keys(bodies) as ReadonlyArray<Path>)("%s", (path) => {
  describe.each([true, false])("stream: %s", (stream) => {
    it.each(cases)("L19, L22: %s", async (name, make) => {
      const provider = await providerServer({ answer: answer() })
      const upstream = await oddServer(provider.anthropicURL)
      const proxy = await proxied({ upstream: upstream.url })
      onTestFinished(async () => {
        upstream.close()
        await proxy.close()
        await provider.close()
      })
      let count = 0
      const tried = fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.constantFrom("again", "half"))
      const property = fc.asyncProperty(tried, async ([at, goesOn]) => {
        const session = `s-${count++}`
        const headers = { "x-session-id": session, "x-memfold-history": "full" }
        const send = (messages: ReadonlyArray<object>, until?: Parameters<typeof ask>[3]) =>
          ask(`${proxy.url}${path}`, bodies[path](messages, stream), headers, until)
        let odd: ReturnType<typeof make> = null
        upstream.next((given) => {
          odd = make(given, Math.floor(at * given.end))
          return odd ?? { ...oddities["trailers"]!(given, 0)! }
        })
        const first = await send([asking(said[0])], {
          came: () => odd?.came.length ?? Number.POSITIVE_INFINITY,
          hasCome: () => {
            upstream.hasCome()
            return odd?.after === "silent" && odd.isBroken ? "leave" : "stay"
          },
        })
        if (odd === null) return
        const { came, isBroken, isWhole } = odd as NonNullable<ReturnType<typeof make>>
        expect({ ...first, bytes: first.bytes.toString("latin1"), trailers: null }).toEqual({
          status: 200,
          bytes: came.toString("latin1"),
          isBroken,
          trailers: null,
        })
        if (name === "trailers") expect(first.trailers).toMatchObject({ "x-sum": "1" })
        await expect.poll(() => proxy.records.at(-1)?.session, { interval: 1 }).toBe(session)
        const answered = [`user: ${said[0]}`, `assistant: ${answers[0]}`]
        expect(texts(await proxy.said(session))).toEqual(answered.slice(0, isWhole ? 2 : 1))
        if (goesOn === "again") await send([asking(said[0])])
        const half = goesOn === "again" ? answers[0] : answers[0].slice(0, 9)
        const second = await send([asking(said[0]), answering(half), asking(said[1])])
        expect(second).toMatchObject({ status: 200, isBroken: false })
        expect(provider.refused).toEqual([])
        expect(texts(await proxy.said(session))).toEqual([
          `user: ${said[0]}`,
          `assistant: ${half}`,
          `user: ${said[1]}`,
          `assistant: ${answers[0]}`,
        ])
      })
      await fc.assert(property, places)
    })
  })
})

const listen = async (listener: RequestListener): Promise<string> => {
  const server = createServer(listener)
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe.each(["responses", "chat"] as const)("a conversation that is kept here, over %s", (api) => {
  describe.each([true, false])("stream: %s", (stream) => {
    it.each(cases)("L19: %s", async (name, make) => {
      const provider = await providerServer({ answer: answer() })
      const upstream = await oddServer(provider.anthropicURL)
      const proxy = await proxied()
      onTestFinished(async () => {
        upstream.close()
        await proxy.close()
        await provider.close()
      })
      const routesOf = (patience: number) =>
        conversationRoutes({
          memory: proxy.memory,
          upstream: { url: new URL("v1", upstream.url), api, patience },
        })
      const patient = routesOf(60_000)
      // Waits for less than a busy machine may need to answer: it hears the stall alone.
      const hasty = routesOf(300)
      let routes = patient
      const url = await listen((asked, response) => {
        const answered = async (): Promise<void> => {
          let text = ""
          for await (const piece of asked) text += String(piece)
          await routes.answer({ request: asked, response, body: JSON.parse(text) })
        }
        void answered()
      })
      const property = fc.asyncProperty(fc.double({ min: 0, max: 1, noNaN: true }), async (at) => {
        const made = await ask(`${url}/v1/conversations`, {})
        const { id: conversation } = JSON.parse(String(made.bytes)) as { readonly id: string }
        const send = (input: string, until?: Parameters<typeof ask>[3]) =>
          ask(`${url}/v1/responses`, { model: "gpt-5", stream, conversation, input }, {}, until)
        let odd: ReturnType<typeof make> = null
        upstream.next((given) => {
          odd = make(given, Math.floor(at * given.end))
          // Nobody waits for what comes here: the client of this upstream is the proxy.
          if (odd?.after === "reset") setTimeout(upstream.hasCome, 5)
          return odd ?? { ...oddities["trailers"]!(given, 0)! }
        })
        routes = name === "a stall" ? hasty : patient
        const first = await send(said[0])
        await routes.settled()
        routes = patient
        if (odd === null) return
        const { isWhole, isBroken } = odd as NonNullable<ReturnType<typeof make>>
        const stored = texts(await proxy.said(conversation))
        const answered = [`user: ${said[0]}`, `assistant: ${answers[0]}`]
        // What is told as whole is stored, and nothing else.
        const isTold = stream
          ? String(first.bytes).includes('"type":"response.completed"')
          : first.status === 200
        expect([isTold, stored]).toEqual([isTold, isTold ? answered : []])
        // Compression was not asked for; an answer that broke off behind its last event may be told or not.
        const isClear = !name.startsWith("gzip") && !(isWhole && isBroken)
        if (isClear) expect(isTold).toBe(isWhole)
        else expect(isTold && !isWhole).toBe(false)
        if (isTold && stream) expect(String(first.bytes).split('"type":"response.completed"').length).toBe(2)
        const second = await send(said[1])
        expect([String(second.bytes).slice(0, 300), second.status]).toEqual([expect.any(String), 200])
        expect(provider.refused).toEqual([])
        expect(texts(await proxy.said(conversation))).toEqual([
          ...stored,
          `user: ${said[1]}`,
          `assistant: ${answers[0]}`,
        ])
      })
      await fc.assert(property, places)
    })
  })
})
