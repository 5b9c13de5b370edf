/** A local server that answers like `POST /responses/compact`: all user messages, then one encrypted item. */
import { createServer, type ServerResponse } from "node:http"
import { type AddressInfo } from "node:net"
import { requestBody } from "./requestBody.js"

type Item = { readonly type?: string; readonly role?: string; readonly [key: string]: unknown }
export interface CompactBody {
  readonly model: string
  readonly input: ReadonlyArray<Item>
  readonly [key: string]: unknown
}

export class CompactServer {
  readonly requests: Array<{ readonly path: string; readonly body: CompactBody }> = []
  /** Answers the next requests instead of the rules: a status and a body. */
  answer: ((body: CompactBody) => readonly [status: number, body: unknown]) | null = null
  /** The answer waits for it. */
  hold: Promise<void> | null = null
  readonly gone: Promise<void>
  readonly came: Promise<void>
  private leave: () => void = () => undefined
  private arrive: () => void = () => undefined
  private readonly written = new Set<string>()
  private readonly server = createServer((request, response) => {
    let text = ""
    response.on("close", () => {
      if (!response.writableEnded) this.leave()
    })
    request.on("data", (chunk: Buffer) => {
      text += chunk.toString()
    })
    request.on("end", () => {
      const body = requestBody(text, "input") as CompactBody | null
      if (body === null) {
        response.writeHead(400).end()
        return
      }
      this.requests.push({ path: request.url ?? "", body })
      this.arrive()
      this.respond(response, body).catch(() => response.destroy())
    })
  })

  constructor() {
    this.gone = new Promise((resolve) => {
      this.leave = resolve
    })
    this.came = new Promise((resolve) => {
      this.arrive = resolve
    })
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => {
      this.server.listen(0, "127.0.0.1", resolve)
    })
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    this.server.closeAllConnections()
    await new Promise((resolve) => {
      this.server.close(resolve)
    })
  }

  private async respond(response: ServerResponse, body: CompactBody): Promise<void> {
    await this.hold
    const [status, value] = this.answer?.(body) ?? this.compacted(body)
    response.writeHead(status, { "content-type": "application/json" })
    response.end(JSON.stringify(value))
  }

  private compacted({ input }: CompactBody): readonly [number, unknown] {
    const unknown = input.find(
      ({ type, encrypted_content: content }) => type === "compaction" && !this.written.has(String(content)),
    )
    if (unknown !== undefined) {
      return [
        400,
        {
          error: {
            code: "invalid_encrypted_content",
            message: JSON.stringify(input),
            type: "invalid_request_error",
          },
        },
      ]
    }
    const content = `encrypted ${this.requests.length}`
    this.written.add(content)
    const said = input
      .filter(({ role }) => role === "user")
      .map((item, at) => ({ ...item, id: `msg_${at}`, status: "completed" }))
    return [
      200,
      {
        id: "resp_1",
        object: "response.compaction",
        created_at: 1,
        output: [
          ...said,
          { id: `cmp_${this.requests.length}`, type: "compaction", encrypted_content: content },
        ],
        usage: { input_tokens: 100, output_tokens: 20, total_tokens: 120 },
      },
    ]
  }
}
