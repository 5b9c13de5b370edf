/** A proxy that does nothing, as a process: `passThrough.js UPSTREAM` prints its address. Node's HTTP passes both bodies on. */
import { Agent, createServer, request as requestHttp } from "node:http"
import type { AddressInfo } from "node:net"

const [upstream = ""] = process.argv.slice(2)
const agent = new Agent({ keepAlive: true })

const server = createServer((request, response) => {
  const { method, url = "/", headers } = request
  const outgoing = requestHttp(`${upstream}${url}`, { method, headers, agent }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    response.flushHeaders()
    answer.pipe(response)
  })
  outgoing.once("error", () => response.destroy())
  request.pipe(outgoing)
})
server.listen(0, "127.0.0.1", 4_096, () =>
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
)
