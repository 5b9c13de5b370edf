/** The application of the browser test: a page, and the route of the README behind a server of Node. */
import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { fileURLToPath } from "node:url"
import { build, type Rolldown } from "vite"

/** What a path is answered with. */
export type Routes = Readonly<Record<string, (request: Request) => Promise<Response>>>

/** The program of the page, in one file. */
const bundled = async (): Promise<string> => {
  const root = fileURLToPath(new URL(".", import.meta.url))
  const output = await build({
    root,
    configFile: false,
    logLevel: "error",
    define: { "process.env.NODE_ENV": JSON.stringify("production") },
    build: {
      write: false,
      minify: false,
      rolldownOptions: { input: `${root}client.ts`, output: { format: "es", codeSplitting: false } },
    },
  })
  const [{ output: files }] = [output].flat() as [Rolldown.RolldownOutput]
  return files[0].code
}

const html = '<!doctype html><meta charset="utf-8"><body><script type="module" src="/page.js"></script>'

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString("utf8")
}

/** Sends a response. When the client goes away, its body is cancelled, as servers of frameworks do. */
const send = async (answer: Response, response: ServerResponse): Promise<void> => {
  response.writeHead(answer.status, Object.fromEntries(answer.headers))
  const reader = answer.body?.getReader()
  response.on("close", () => void reader?.cancel().catch(() => undefined))
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined }
    if (done) break
    response.write(value)
  }
  response.end()
}

/** Starts the application. */
export const application = async (routes: Routes) => {
  const files: Routes = {
    "GET /": async () => new Response(html, { headers: { "content-type": "text/html" } }),
    "GET /page.js": async () => new Response(program, { headers: { "content-type": "text/javascript" } }),
    ...routes,
  }
  const program = await bundled()
  const server = createServer((request, response) => {
    const respond = async () => {
      const name = `${request.method} ${request.url}`
      const body = request.method === "POST" ? { body: await bodyOf(request) } : {}
      const given = new Request(`http://page${request.url}`, { method: request.method ?? "GET", ...body })
      await send((await files[name]?.(given)) ?? new Response(null, { status: 404 }), response)
    }
    respond().catch((error: unknown) => response.destroy(error as Error))
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  const close = async () => {
    server.closeAllConnections()
    server.close()
    await once(server, "close")
  }
  return { url: `http://127.0.0.1:${port}/`, close }
}
