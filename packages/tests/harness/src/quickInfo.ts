/** What an editor shows for a name: the language server of the compiler that the project uses, asked as an editor asks it. */
import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { dirname } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

const tsc = fileURLToPath(new URL("../../../../node_modules/.bin/tsc", import.meta.url))

/** A message of the protocol: a request has both a method and an id, an answer an id alone. */
interface Sent {
  readonly id?: number
  readonly method?: string
  readonly result?: unknown
}

/** Where a name stands: by its line and its column, from 0. */
export interface Place {
  readonly line: number
  readonly character: number
}

/** A language server for the folder of a file. */
const connect = (folder: string) => {
  const server = spawn(tsc, ["--lsp", "--stdio"], { cwd: folder, stdio: ["pipe", "pipe", "ignore"] })
  const waiting = new Map<number, (result: unknown) => void>()
  let received = Buffer.alloc(0)
  let asked = 0
  const send = (message: object): void => {
    const text = JSON.stringify({ jsonrpc: "2.0", ...message })
    server.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`)
  }
  const receive = ({ id, method, result }: Sent): void => {
    if (id === undefined) return
    if (method === undefined) waiting.get(id)?.(result)
    else send({ id, result: null })
  }
  server.stdout.on("data", (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
    for (;;) {
      const [head, length] =
        /Content-Length: (\d+)\r\n(?:.+\r\n)*\r\n/u.exec(received.toString("latin1")) ?? []
      if (head === undefined) return
      const end = head.length + Number(length)
      if (received.length < end) return
      receive(JSON.parse(received.subarray(head.length, end).toString()) as Sent)
      received = received.subarray(end)
    }
  })
  return {
    send,
    request: (method: string, params: object): Promise<unknown> =>
      new Promise((resolve) => {
        asked++
        waiting.set(asked, resolve)
        send({ id: asked, method, params })
      }),
    ended: new Promise((resolve) => server.once("close", resolve)),
  }
}

/** What an editor shows for each place in a file, as Markdown: the declaration, and its documentation. */
export const quickInfo = async (
  file: string,
  places: ReadonlyArray<Place>,
): Promise<ReadonlyArray<string>> => {
  const { send, request, ended } = connect(dirname(file))
  const uri = pathToFileURL(file).href
  await request("initialize", {
    processId: process.pid,
    rootUri: pathToFileURL(dirname(file)).href,
    capabilities: { textDocument: { hover: { contentFormat: ["markdown"] } } },
  })
  send({ method: "initialized", params: {} })
  const text = readFileSync(file, "utf8")
  send({
    method: "textDocument/didOpen",
    params: { textDocument: { uri, languageId: "typescript", version: 1, text } },
  })
  const shown = await Promise.all(
    places.map(async (position) => {
      const hover = await request("textDocument/hover", { textDocument: { uri }, position })
      return (hover as { readonly contents: { readonly value: string } } | null)?.contents.value ?? ""
    }),
  )
  await request("shutdown", {})
  send({ method: "exit" })
  await ended
  return shown
}
