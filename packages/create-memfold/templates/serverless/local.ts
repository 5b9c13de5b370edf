/** Serves the function on this machine: `npm start` */
import { serve } from "@hono/node-server"
import handler from "./function.js"

serve(
  { fetch: handler.fetch, hostname: "127.0.0.1", port: Number(process.env["PORT"] ?? 3000) },
  ({ port }) => console.log(`curl -d '{"text":"Hello"}' http://127.0.0.1:${port}/chat-1`),
)
