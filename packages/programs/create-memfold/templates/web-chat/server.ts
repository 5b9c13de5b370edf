/** The server: the page, and what the page asks for. `npm start` */
import { randomUUID } from "node:crypto"
import { createServer } from "node:http"
import { getRequestListener } from "@hono/node-server"
import { aiSdk, type PageRequest } from "@memfold/ai-sdk"
import { layerEmbedded } from "@memfold/store-postgres"
import { generateText, streamText, type UIMessage } from "ai"
import { Hono } from "hono"
import { getCookie, setCookie } from "hono/cookie"
import { createMemory } from "memfold"
import { createServer as createPages } from "vite"
import { hasKey, model, modelName } from "./model.js"

const { DATABASE_URL, PORT = "3000" } = process.env

const memory = createMemory({
  // Without a server, PostgreSQL runs within this process and keeps its data in a folder.
  store:
    DATABASE_URL === undefined
      ? layerEmbedded({ database: "./data" })
      : (DATABASE_URL as `postgres://${string}`),
  summarizer: hasKey
    ? async ({ system, user }) => (await generateText({ model, system, prompt: user })).text
    : "extractive",
})

/** A session is named after its user: nobody reaches another one's. */
const sessionOf = (user: string, chat: string) => `${user}/${chat}`

/** The answers that are under way in this process, by session, so that a page can stop its own. */
const underWay = new Map<string, AbortController>()

/** The first words of a chat. */
const titleOf = ([first]: Array<UIMessage>): string | null => {
  const part = first?.parts.find(({ type }) => type === "text")
  return part?.type === "text" ? part.text.slice(0, 60) : null
}

const api = new Hono<{ Variables: { user: string } }>()
  .basePath("/api")
  // An application knows its users by their accounts; this one gives each browser a cookie.
  .use(async (request, next) => {
    const user = getCookie(request, "user") ?? randomUUID()
    setCookie(request, "user", user, { httpOnly: true, sameSite: "Lax", maxAge: 31_536_000 })
    request.set("user", user)
    await next()
  })
  .get("/chats", async (request) => {
    const user = request.get("user")
    const { sessions } = await memory.sessionsOf(user, { limit: 50 })
    return request.json(sessions.map(({ session, title }) => ({ id: session.slice(user.length + 1), title })))
  })
  .get("/chats/:id", async (request) => {
    const session = sessionOf(request.get("user"), request.req.param("id"))
    const [messages, branches] = await Promise.all([
      aiSdk(memory).session(session).uiMessages(),
      memory.branches(session),
    ])
    return request.json({ messages, branches })
  })
  .post("/chats/:id/branch/:branch", async (request) => {
    const session = sessionOf(request.get("user"), request.req.param("id"))
    await memory.checkout(session, Number(request.req.param("branch")))
    return request.body(null, 204)
  })
  .get("/chats/:id/memory", async (request) => {
    const session = sessionOf(request.get("user"), request.req.param("id"))
    const [{ tokens }, { total }, [summary]] = await Promise.all([
      memory.context(session),
      memory.messages(session, { limit: 1 }),
      memory.summaries(session).then((all) => all.filter(({ status }) => status === "active")),
    ])
    return request.json({ tokens, total, summary: summary ?? null })
  })
  .post("/chats/:id/answer", async (request) => {
    const session = sessionOf(request.get("user"), request.req.param("id"))
    const { messages, trigger, messageId } = await request.req.json<PageRequest>()
    const chat = aiSdk(memory).session(session)
    const context = await chat.messages(messages, { trigger, messageId })
    await memory.describe(session, {
      owner: request.get("user"),
      title: titleOf(messages as Array<UIMessage>),
    })
    const stop = new AbortController()
    underWay.set(session, stop)
    const result = streamText({ model, ...context, ...chat.callbacks, abortSignal: stop.signal })
    // The model finishes when the browser goes away, and the answer is stored.
    void result.consumeStream()
    const { generateMessageId, onEnd } = chat
    // Of an answer that is stopped, the memory keeps what the page shows. AI SDK 6 and 7 name the end of a stream differently.
    const ends = { onEnd, onFinish: onEnd }
    return result.toUIMessageStreamResponse({
      originalMessages: messages as Array<UIMessage>,
      generateMessageId,
      ...ends,
    })
  })
  // The server ends the answer, and with it the stream to the page: both have the same words.
  .post("/chats/:id/stop", (request) => {
    underWay.get(sessionOf(request.get("user"), request.req.param("id")))?.abort()
    return request.body(null, 204)
  })

const answer = getRequestListener(api.fetch)
const server = createServer((request, response) => {
  if (request.url?.startsWith("/api/") === true) void answer(request, response)
  else pages.middlewares(request, response)
})
const pages = await createPages({ server: { middlewareMode: true, hmr: { server } } })
server.listen(Number(PORT), "127.0.0.1", () => {
  const address = server.address()
  const port = typeof address === "object" ? address?.port : PORT
  console.log(`http://127.0.0.1:${port} (${modelName})`)
})

for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => {
    server.close()
    server.closeAllConnections()
    void pages.close().then(() => memory.close())
  })
