/** A model as a process: `upstream.js` prints its address. It answers Chat Completions with a stream of ten pieces, 5 milliseconds apart. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { setTimeout } from "node:timers/promises"

const piece = (content: string, finish: string | null): string =>
  `data: ${JSON.stringify({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1_700_000_000,
    model: "gpt-6.2-sol",
    choices: [{ index: 0, delta: { role: "assistant", content }, finish_reason: finish }],
  })}\n\n`

const server = createServer((request, response) => {
  const answer = async (): Promise<void> => {
    for await (const _ of request);
    response.writeHead(200, { "content-type": "text/event-stream" })
    for (let at = 0; at < 9 && !response.destroyed; at++) {
      response.write(piece(`piece ${at} of an answer, `, null))
      await setTimeout(5)
    }
    response.end(`${piece("and its end.", "stop")}data: [DONE]\n\n`)
  }
  answer().catch(() => response.destroy())
})
server.listen(0, "127.0.0.1", 4_096, () =>
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
)
