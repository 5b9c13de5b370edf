/** Streams that are cut at every place: an upstream that dies, a client that leaves. Nothing is doubled, and nothing lost. */
import { type EventLog, InMemoryEventLog, Message } from "@memfold/core"
import { deep } from "@memfold/harness/depth"
import { providerServer, scripted } from "@memfold/strict-providers"
import { Effect } from "effect"
import { once } from "node:events"
import { createServer, type IncomingMessage, request, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { afterEach, describe, expect, it } from "vitest"
import { conversationRoutes, type ConversationUpstream } from "../src/index.js"
import { proxied } from "./proxied.js"

const open: Array<() => Promise<void>> = []
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close()
})

const listen = async (listener: RequestListener): Promise<string> => {
  const server = createServer(listener)
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  open.push(async () => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const question = "Where is order KX-4471?"
const asking = { role: "user", content: question }

/** A request to each API. */
const bodies = {
  "/v1/chat/completions": { model: "gpt-5", stream: true, messages: [asking] },
  "/v1/messages": { model: "claude-sonnet-5-5", max_tokens: 1_000, stream: true, messages: [asking] },
  "/v1/responses": { model: "gpt-5", stream: true, store: false, input: [asking] },
} as const
type Path = keyof typeof bodies
const paths = Object.keys(bodies) as ReadonlyArray<Path>

/** The stream that the strict server answers with. */
const recorded = async (path: Path): Promise<Buffer> => {
  const provider = await providerServer({ answer: scripted([{ text: "It is in Graz." }]) })
  const answer = await fetch(`${provider.anthropicURL}${path}`, {
    method: "POST",
    body: JSON.stringify(bodies[path]),
  })
  const bytes = Buffer.from(await answer.arrayBuffer())
  await provider.close()
  return bytes
}

/** Where a stream is cut: around and between its events; in depth, behind every fifth byte, too. */
const placesIn = (bytes: Buffer): ReadonlyArray<number> => {
  const all = Array.from({ length: bytes.length + 1 }, (_, at) => at)
  const ends = [...bytes.toString("latin1").matchAll(/\n\n/g)].map(({ index }) => index + 2)
  const near = new Set(
    [0, ...ends].flatMap((end, at) => [end - 1, end, end + 1, end + ((ends[at] ?? end) - end) / 2]),
  )
  return all.filter((at) => near.has(at) || (deep && at % 5 === 0))
}

/** An upstream that answers with these bytes: whole, or as far as `next` says. */
const cutting = async (bytes: Buffer) => {
  const next: { place: number | null; ending: "dies" | "stays" } = { place: null, ending: "dies" }
  const url = await listen((asked, response) => {
    asked.resume()
    response.writeHead(200, { "content-type": "text/event-stream" })
    response.flushHeaders()
    const { place, ending } = next
    next.place = null
    if (place === null) response.end(bytes)
    else if (ending === "stays") response.write(bytes.subarray(0, place))
    else response.write(bytes.subarray(0, place), () => response.destroy())
  })
  return { url, next }
}

/** Asks, and leaves after so many bytes. What came. */
const ask = async (
  url: string,
  headers: Readonly<Record<string, string>>,
  body: object,
  leavesAt = Number.POSITIVE_INFINITY,
): Promise<Buffer> => {
  const outgoing = request(url, {
    method: "POST",
    agent: false,
    headers: { "content-type": "application/json", ...headers },
  })
  outgoing.on("error", () => {})
  outgoing.end(JSON.stringify(body))
  const [answer] = (await once(outgoing, "response")) as [IncomingMessage]
  let came = Buffer.alloc(0)
  try {
    if (leavesAt > 0)
      for await (const chunk of answer as AsyncIterable<Buffer>) {
        came = Buffer.concat([came, chunk])
        if (came.length >= leavesAt) break
      }
  } catch {
    // The answer broke off.
  }
  outgoing.destroy()
  return came
}

const texts = (messages: ReadonlyArray<Message.Message>) =>
  messages.map((message) => `${message.role}: ${Message.text(message)}`)
const answered = [`user: ${question}`, "assistant: It is in Graz."]

describe.each(["new", "full"])("a client that sends %s", (history) => {
  describe.each(["dies", "stays"] as const)("an upstream that %s", (ending) => {
    it.each(paths)("%s", async (path) => {
      const bytes = await recorded(path)
      const upstream = await cutting(bytes)
      const proxy = await proxied({ upstream: upstream.url })
      open.push(proxy.close)
      const places = placesIn(bytes)
      expect(places.length).toBeGreaterThan(20)
      for (const [index, place] of places.entries()) {
        const session = `s-${place}`
        const headers = { "x-session-id": session, "x-memfold-history": history }
        const send = (leavesAt?: number) => ask(`${proxy.url}${path}`, headers, bodies[path], leavesAt)
        const isWhole = place === bytes.length
        Object.assign(upstream.next, { place, ending })
        // The client leaves an upstream that stays; it has all that the upstream sent in both cases.
        const came = await send(ending === "stays" ? place : undefined)
        expect(came.equals(bytes.subarray(0, place))).toBe(true)
        await expect.poll(() => proxy.records.length, { interval: 1 }).toBe(2 * index + 1)
        expect(proxy.records.at(-1)).toMatchObject({
          ending: { _tag: ending === "dies" ? "UpstreamBroke" : "ClientLeft", bytes: place },
          isStored: isWhole,
        })
        expect([place, texts(await proxy.said(session))]).toEqual([
          place,
          isWhole ? answered : answered.slice(0, 1),
        ])
        expect((await send()).equals(bytes)).toBe(true)
        await expect.poll(() => proxy.records.length, { interval: 1 }).toBe(2 * index + 2)
        const twice = history === "new" && isWhole ? [...answered, ...answered] : answered
        expect([place, texts(await proxy.said(session))]).toEqual([place, twice])
      }
    })
  })
})

it("asks again in the place of an answer that was stored when its client had left", async () => {
  const bytes = await recorded("/v1/chat/completions")
  const upstream = await cutting(bytes)
  const log = await Effect.runPromise(InMemoryEventLog.make)
  const gates: Array<() => void> = []
  let isSlow = false
  const slow: EventLog.Service = {
    ...log,
    append: (session, events, options) =>
      Effect.zipRight(
        isSlow ? Effect.promise(() => new Promise<void>((go) => void gates.push(go))) : Effect.void,
        log.append(session, events, options),
      ),
  }
  const proxy = await proxied({ upstream: upstream.url, log: slow })
  open.push(proxy.close)
  const path = `${proxy.url}/v1/chat/completions`
  const headers = { "x-session-id": "chat-1" }
  const outgoing = request(path, { method: "POST", agent: false, headers })
  outgoing.on("error", () => {})
  // The head of the answer has come when the question is stored.
  outgoing.end(JSON.stringify(bodies["/v1/chat/completions"]))
  upstream.next.place = 0
  upstream.next.ending = "stays"
  const [first] = (await once(outgoing, "response")) as [IncomingMessage]
  first.destroy()
  await expect.poll(() => proxy.records.length).toBe(1)
  isSlow = true
  const leaving = request(path, { method: "POST", agent: false, headers })
  leaving.on("error", () => {})
  leaving.end(JSON.stringify(bodies["/v1/chat/completions"]))
  await expect.poll(() => gates.length).toBe(1)
  leaving.destroy()
  await expect.poll(proxy.connections).toBe(0)
  isSlow = false
  gates[0]!()
  await expect.poll(() => proxy.records.length).toBe(2)
  expect(proxy.records[1]).toMatchObject({ ending: { _tag: "ClientLeft", bytes: 0 }, isStored: true })
  expect(texts(await proxy.said("chat-1"))).toEqual(answered)
  // Nothing says that this is asked again, but for the answer that nobody has got.
  await ask(path, headers, bodies["/v1/chat/completions"])
  expect(texts(await proxy.said("chat-1"))).toEqual(answered)
  // From here on, it is a question like the one before.
  await ask(path, headers, bodies["/v1/chat/completions"])
  expect(texts(await proxy.said("chat-1"))).toEqual([...answered, ...answered])
})

describe.each(["responses", "chat"] as const)("a stored response over %s", (api) => {
  const path = api === "chat" ? "/v1/chat/completions" : "/v1/responses"
  const begin = async () => {
    const bytes = await recorded(path)
    const upstream = await cutting(bytes)
    const proxy = await proxied()
    open.push(proxy.close)
    const to: ConversationUpstream = { url: new URL("v1", upstream.url), api }
    const routes = conversationRoutes({ memory: proxy.memory, upstream: to })
    const url = await listen((asked, response) => {
      const answer = async () => {
        let text = ""
        for await (const chunk of asked) text += String(chunk)
        await routes.answer({ request: asked, response, body: text === "" ? undefined : JSON.parse(text) })
      }
      void answer()
    })
    const create = async () => {
      const answer = await fetch(`${url}/v1/conversations`, { method: "POST", body: "{}" })
      return ((await answer.json()) as { readonly id: string }).id
    }
    const send = (conversation: string, key: string, leavesAt?: number) =>
      ask(
        `${url}/v1/responses`,
        { "idempotency-key": key },
        { model: "m", stream: true, conversation, input: question },
        leavesAt,
      )
    return { bytes, upstream, proxy, routes, create, send }
  }

  it("has no part of an answer whose upstream dies", async () => {
    const { bytes, upstream, proxy, create, send, routes } = await begin()
    const conversation = await create()
    const end = bytes.lastIndexOf(api === "chat" ? '"finish_reason":"stop"' : '"response.completed"')
    for (const place of placesIn(bytes).filter((at) => at < end)) {
      Object.assign(upstream.next, { place, ending: "dies" })
      const came = await send(conversation, `k-${place}`)
      await routes.settled()
      expect(String(came)).not.toContain('"type":"response.completed"')
      expect([place, await proxy.said(conversation)]).toEqual([place, []])
    }
    await send(conversation, "k")
    expect(texts(await proxy.said(conversation))).toEqual(answered)
  })

  it("is there once, wherever its client leaves", async () => {
    const { proxy, create, send, routes } = await begin()
    const whole = await send(await create(), "whole")
    for (const place of placesIn(whole)) {
      const conversation = await create()
      await send(conversation, "k", place)
      await routes.settled()
      expect([place, texts(await proxy.said(conversation))]).toEqual([place, answered])
      expect(String(await send(conversation, "k"))).toContain('"type":"response.completed"')
      expect([place, texts(await proxy.said(conversation))]).toEqual([place, answered])
    }
  })
})
