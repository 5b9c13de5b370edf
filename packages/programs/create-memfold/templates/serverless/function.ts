/** The function: `POST /SESSION` with `{ "text": "…" }` answers. Deploy it where `fetch` handlers run on Node. */
import { createMemory } from "memfold"
import { reply } from "./model.js"
import { queue, store } from "./store.js"

// A platform freezes the process after an answer, so nothing may run behind it: the queue is told what is due.
const memory = createMemory({ store, queue, compaction: { mode: "dispatch" } })

export default {
  async fetch(request: Request): Promise<Response> {
    const session = new URL(request.url).pathname.slice(1)
    if (request.method !== "POST" || session === "") return new Response("POST /SESSION", { status: 404 })
    const body: unknown = await request.json().catch(() => null)
    const text = body !== null && typeof body === "object" && "text" in body ? body.text : undefined
    if (typeof text !== "string") return new Response('{ "text": "…" }', { status: 400 })
    // A request that the platform sends again is stored once, and gets the answer that was stored.
    const requestId = request.headers.get("x-request-id")
    const { duplicate, to } = await memory.append(
      session,
      { role: "user", content: text },
      requestId === null ? {} : { idempotencyKey: requestId },
    )
    const { messages, tokens } = await memory.context(session)
    const page = duplicate ? await memory.messages(session) : undefined
    const stored = page?.messages[to - page.from]
    if (stored?.role === "assistant")
      return Response.json({ answer: stored.content, tokens, messages: messages.length })
    const answer = await reply(messages)
    await memory.append(session, { role: "assistant", content: answer })
    return Response.json({ answer, tokens, messages: messages.length })
  },
}
