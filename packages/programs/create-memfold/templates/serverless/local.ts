/** Serves the function on this machine: `npm start` */
import { serve } from "@hono/node-server"
import handler from "./function.js"

/** What a platform writes to its log. */
const printed = (error: unknown): Response => {
  console.error(error)
  return new Response("the function failed; its error is in the terminal", { status: 500 })
}

serve(
  {
    fetch: (request: Request) => handler.fetch(request).catch(printed),
    hostname: "127.0.0.1",
    port: Number(process.env["PORT"] ?? 3000),
  },
  ({ port }) => console.log(`curl -d '{"text":"Hello"}' http://127.0.0.1:${port}/chat-1`),
)
