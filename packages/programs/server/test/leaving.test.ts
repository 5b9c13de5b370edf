/** Clients that leave in the middle of what they asked for: the work ends, and nothing of it is written. Counted, and not timed. */
import { EventLog, InMemoryEventLog } from "@memfold/core"
import { Effect, Layer } from "effect"
import { once } from "node:events"
import { request } from "node:http"
import { type AddressInfo, connect, createServer } from "node:net"
import { expect, it, onTestFinished } from "vitest"
import { ask, started } from "./services.js"

/** A store that counts its calls, tells of each, and waits for whoever was told. */
const countingStore = () => {
  const counts = { reads: 0, appends: 0 }
  let tell: () => Promise<void> = async () => undefined
  const layer = Layer.effect(
    EventLog.EventLog,
    Effect.map(InMemoryEventLog.make, (log): EventLog.Service => {
      const counted = <A, E>(name: keyof typeof counts, effect: Effect.Effect<A, E>) =>
        Effect.suspend(() => {
          counts[name]++
          return Effect.zipRight(Effect.promise(tell), effect)
        })
      return {
        ...log,
        read: (...given) => counted("reads", log.read(...given)),
        append: (...given) => counted("appends", log.append(...given)),
      }
    }),
  )
  return { layer, counts, onCall: (listener: () => Promise<void>) => void (tell = listener) }
}

const texts = (count: number, what = "m") =>
  Array.from({ length: count }, (_, at) => ({
    role: at % 2 === 0 ? "user" : "assistant",
    content: `${what} ${at}.`,
  }))

const sentences = Array.from({ length: 900 }, (_, at) => `The order m${at} has word${at % 99}.`).join(" ")

const messages = texts(6_000)

/** What takes long, with the session that it is for. */
const works: ReadonlyArray<readonly [method: string, path: string, body: object | null]> = [
  ["PUT", "v1/sessions/s/messages", { messages: texts(5_999, "other") }],
  ["POST", "v1/sessions/s/edit", { from: 2, messages: texts(3_000, "edited") }],
  ["POST", "v1/sessions/s/trace", { text: sentences }],
  ["POST", "v1/sessions/s/recall", { query: "m17 m18" }],
  ["GET", "v1/sessions/s/context", null],
  ["GET", "v1/sessions/s/timeline", null],
  ["GET", "v1/owners/ann/events", null],
  ["POST", "v1/sessions/s/fork", { to: "copy" }],
  [
    "POST",
    "v1/chat/completions",
    { model: "m", messages: [...messages, { role: "user", content: "And now?" }] },
  ],
  ["POST", "v1/chat/completions", { model: "m", messages: texts(5_000, "other") }],
]

it.each(works)("L19: %s %s ends where its client leaves", async (method, path, body) => {
  const store = countingStore()
  let asked = 0
  const upstream = createServer((socket) => {
    socket.on("error", () => undefined).on("data", () => void asked++)
    onTestFinished(() => void socket.destroy())
  })
  upstream.listen(0, "127.0.0.1")
  await once(upstream, "listening")
  onTestFinished(() => void upstream.close())
  const address = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
  // One scope for both: what the first service knows of the session, the second one has to read.
  const shared = await Effect.runPromise(Layer.build(store.layer).pipe(Effect.scoped))
  const options = {
    store: Layer.succeedContext(shared),
    upstream: address,
    compaction: { mode: "off" as const },
  }
  const first = await started(options)
  const written = await ask(`${first.url}/v1/sessions/s/messages`, { body: { messages, owner: "ann" } })
  expect(written.status).toBe(201)

  /** Asks a service that knows nothing of the session yet, and leaves at the second call of its store or not at all. */
  const called = async (leaves: boolean): Promise<typeof store.counts> => {
    const { url } = await started(options)
    const [before, askedBefore] = [{ ...store.counts }, asked]
    const headers = { "content-type": "application/json", "x-session-id": "s" }
    const sent = request(`${url}/${path}`, { method, headers }).on("error", () => undefined)
    const isOver = new Promise((resolve) => sent.once("close", resolve))
    let calls = 0
    // The service hears of it before the store goes on, however busy the machine is.
    store.onCall(async () => {
      if (!leaves || ++calls !== 2) return
      sent.destroy()
      for (let round = 0; round < 5; round++) await ask(`${url}/health`)
    })
    sent
      .on("response", (answer) => void answer.resume())
      .end(body === null ? undefined : JSON.stringify(body))
    const isAsked = () => asked > askedBefore
    if (path === "v1/chat/completions" && !leaves) while (!isAsked()) await ask(`${url}/health`)
    else await isOver
    // What goes on all the same would be counted.
    for (let round = 0; round < 50; round++) await ask(`${url}/health`)
    sent.destroy()
    return { reads: store.counts.reads - before.reads, appends: store.counts.appends - before.appends }
  }
  const whenLeft = await called(true)
  // The page that was being read, and a few that stand behind it.
  expect(whenLeft).toMatchObject({ appends: 0, reads: expect.toSatisfy((reads) => reads <= 4) })
  expect(asked).toBe(0)
  const { body: session } = await ask(`${first.url}/v1/sessions/s`)
  expect(session).toMatchObject({ version: (written.body as { version: number }).version })
  expect((await ask(`${first.url}/v1/sessions/copy`)).status).toBe(404)
  const whenStayed = await called(false)
  expect(whenStayed.reads + whenStayed.appends).toBeGreaterThan(whenLeft.reads + 2)
})

it.each([
  ["an answer", {}],
  ["lines", { accept: "application/x-ndjson" }],
])("L19: a preview as %s ends where its client leaves, in the middle of a summary", async (_, headers) => {
  const leave = new AbortController()
  let calls = 0
  let isLeft: () => void
  const left = new Promise<void>((resolve) => (isLeft = resolve))
  const { url } = await started({
    strategy: "rounds",
    compaction: { mode: "manual" },
    // The longest time of a request would end it, too.
    timeout: "1 hour",
    summarizer: {
      name: "waits",
      summarize: ({ from, to }) =>
        Effect.suspend(() => {
          if (++calls < 3) return Effect.succeed({ text: `[${from},${to})` })
          leave.abort()
          // Only whoever interrupts it ends it.
          return Effect.onInterrupt(Effect.never, () => Effect.sync(isLeft))
        }),
    },
  })
  await ask(`${url}/v1/sessions/s/messages`, { body: { messages: texts(200) } })
  const preview = {
    settings: { fullContextTurns: 1, cachedContextTurns: 1 },
    which: "due",
    summarizer: "own",
  }
  const asked = ask(`${url}/v1/sessions/s/preview`, { headers, body: preview, signal: leave.signal })
  await expect(asked).rejects.toThrow("aborted")
  await left
  expect(calls).toBe(3)
})

it("L19: requests that wait behind another one end with their connection", async () => {
  const connections = new Set<object>()
  const upstream = createServer((socket) => {
    connections.add(socket)
    socket
      .on("error", () => undefined)
      .on("close", () => connections.delete(socket))
      .resume()
  })
  upstream.listen(0, "127.0.0.1")
  await once(upstream, "listening")
  onTestFinished(() => void upstream.close())
  const { url } = await started({ upstream: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}` })
  const socket = connect(Number(new URL(url).port), "127.0.0.1")
  socket.write("GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(20))
  while (connections.size < 20) await once(upstream, "connection")
  socket.destroy()
  while (connections.size > 0) await ask(`${url}/health`)
})
