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
  .get("/chats/:id/messages", async (request) =>
    request.json(
      await aiSdk(memory)
        .session(sessionOf(request.get("user"), request.req.param("id")))
        .uiMessages(),
    ),
  )
  .post("/chats/:id/answer", async (request) => {
    const session = sessionOf(request.get("user"), request.req.param("id"))
    const { messages, trigger, messageId } = await request.req.json<PageRequest>()
    const chat = aiSdk(memory).session(session)
    const context = await chat.messages(messages, { trigger, messageId })
    await memory.describe(session, {
      owner: request.get("user"),
      title: titleOf(messages as Array<UIMessage>),
    })
    const result = streamText({ model, ...context, ...chat.callbacks })
    // The model finishes when the browser goes away, and the answer is stored.
    void result.consumeStream()
    const { generateMessageId } = chat
    return result.toUIMessageStreamResponse({
      originalMessages: messages as Array<UIMessage>,
      generateMessageId,
    })
  })

const pages = await createPages({ server: { middlewareMode: true } })
const answer = getRequestListener(api.fetch)
const server = createServer((request, response) => {
  if (request.url?.startsWith("/api/") === true) void answer(request, response)
  else pages.middlewares(request, response)
})
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
