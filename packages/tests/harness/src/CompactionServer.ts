/**
 * A local server that answers like the Messages API, as far as compaction and signed thinking are documented: it signs what
 * it thinks together with everything before it, writes signed compaction blocks, and refuses what the API refuses.
 */
import { createHash } from "node:crypto"
import { createServer, type ServerResponse } from "node:http"
import { type AddressInfo } from "node:net"
import { requestBody } from "./requestBody.js"

type Block = { readonly type: string; readonly [key: string]: unknown }
interface WireMessage {
  readonly role: string
  readonly content: string | ReadonlyArray<Block>
}
export interface Body {
  readonly model: string
  readonly system?: unknown
  readonly tools?: unknown
  readonly messages: ReadonlyArray<WireMessage>
  readonly compaction?: { readonly instructions?: string }
  readonly [key: string]: unknown
}

interface Turn {
  readonly role: string
  readonly blocks: ReadonlyArray<Block>
}

const hash = (value: unknown): string => createHash("sha256").update(JSON.stringify(value)).digest("base64")

/** Messages of the same role in a row are one turn. */
const turnsOf = (messages: ReadonlyArray<WireMessage>): ReadonlyArray<Turn> => {
  const turns: Array<Turn> = []
  for (const { role, content } of messages) {
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content
    const last = turns.at(-1)
    if (last?.role === role) turns[turns.length - 1] = { role, blocks: [...last.blocks, ...blocks] }
    else turns.push({ role, blocks })
  }
  return turns
}

class Refused extends Error {
  constructor(
    readonly code: string,
    readonly status = 400,
  ) {
    super(code)
  }
}

export class CompactionServer {
  /** The bodies of all requests, in order, with the betas of each. */
  readonly requests: Array<{ readonly body: Body; readonly betas: ReadonlyArray<string> }> = []
  /** Answers the next requests instead of the rules. */
  answer: ((body: Body) => unknown) | null = null
  /** Runs when a request has come; the answer waits for it. */
  hold: Promise<void> | null = null
  /** Resolves when the client of a held request has gone. */
  readonly gone: Promise<void>
  private leave: () => void = () => undefined
  /** What each block stands for, by its signature. */
  private readonly blocks = new Map<
    string,
    { readonly content: string; readonly turns: ReadonlyArray<Turn> }
  >()
  private readonly server = createServer((request, response) => {
    let text = ""
    response.on("close", () => {
      if (!response.writableEnded) this.leave()
    })
    request.on("data", (chunk: Buffer) => {
      text += chunk.toString()
    })
    request.on("end", () => {
      const betas = String(request.headers["anthropic-beta"] ?? "").split(",")
      const body = requestBody(text, "messages") as Body | null
      if (body === null) {
        response.writeHead(400).end()
        return
      }
      this.requests.push({ body, betas })
      void (this.hold ?? Promise.resolve())
        .then(() => this.respond(response, body, betas))
        .catch(() => response.destroy())
    })
  })

  constructor() {
    this.gone = new Promise((resolve) => {
      this.leave = resolve
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

  private respond(response: ServerResponse, body: Body, betas: ReadonlyArray<string>): void {
    const send = (status: number, value: unknown) => {
      response.writeHead(status, { "content-type": "application/json" })
      response.end(JSON.stringify(value))
    }
    try {
      send(200, this.answer?.(body) ?? this.messageFor(body, betas))
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      const details = { error_code: error.code }
      send(error.status, {
        type: "error",
        error: { type: "invalid_request_error", message: `refused: ${JSON.stringify(body)}`, details },
      })
    }
  }

  /** Makes the answer function refuse with a code. */
  static refuse(code: string, status?: number): never {
    throw new Refused(code, status)
  }

  private messageFor(body: Body, betas: ReadonlyArray<string>): unknown {
    const turns = this.checked(body, betas)
    const base = { id: "msg_1", type: "message", role: "assistant", model: body.model, stop_sequence: null }
    const usage = { input_tokens: 100, output_tokens: 10 }
    if (body.compaction === undefined) {
      const thinking = {
        type: "thinking",
        thinking: "I think of it.",
        signature: hash([body.system, body.tools, turns]),
      }
      const asked = turns.at(-1)?.blocks.some(({ text }) => String(text).includes("look it up")) === true
      const id = `toolu_${this.requests.length}`
      const said = asked
        ? { type: "tool_use", id, name: "look", input: { at: "the page" } }
        : { type: "text", text: `answer ${this.requests.length}` }
      return { ...base, usage, content: [thinking, said], stop_reason: asked ? "tool_use" : "end_turn" }
    }
    const last = turns.at(-1)
    if (last === undefined) throw new Refused("compaction_nothing_to_summarize")
    if (last.role === "assistant" && last.blocks.some(({ type }) => type === "tool_use"))
      throw new Refused("compaction_incomplete_turn")
    const content = `Claude's summary of ${turns.length} turns.`
    const signature = hash(["block", turns])
    this.blocks.set(signature, { content, turns })
    const block = { type: "compaction", content, encrypted_content: null, signature, tool_changes: [] }
    return { ...base, usage, content: [block], stop_reason: "compaction" }
  }

  /** The turns of a request. In place of its compaction block, the turns that the block stands for. */
  private checked(body: Body, betas: ReadonlyArray<string>): ReadonlyArray<Turn> {
    const all = body.messages.flatMap(({ content }) => (typeof content === "string" ? [] : content))
    const compacted = all.filter(({ type }) => type === "compaction")
    const beta = betas.includes("compact-2026-09-04")
    if (!beta && (body.compaction !== undefined || compacted.length > 0)) throw new Refused("beta_required")
    if (compacted.length > 1) throw new Refused("compaction_block_ambiguous")
    const [block] = compacted
    const [first, ...others] = body.messages
    let before: ReadonlyArray<Turn> = []
    let messages = body.messages
    if (block !== undefined) {
      if (first === undefined || typeof first.content === "string" || first.content[0] !== block)
        throw new Refused("compaction_block_misplaced")
      const known = this.blocks.get(String(block["signature"]))
      if (known === undefined) throw new Refused("compaction_signature_invalid")
      if (known.content !== block["content"]) throw new Refused("compaction_content_mismatch")
      before = known.turns
      const rest = first.content.slice(1)
      messages = [...(rest.length === 0 ? [] : [{ ...first, content: rest }]), ...others]
    }
    // The first kept message is not merged with the last message that the block stands for.
    const turns = [...before, ...turnsOf(messages)]
    for (const [at, { role, blocks }] of turns.entries()) {
      if (blocks.length === 0) throw new Refused("empty_content")
      const at0 = blocks.findIndex(({ type }) => type === "thinking")
      if (at0 === -1) continue
      if (role !== "assistant") throw new Refused("thinking_in_user_message")
      const prefix =
        at0 === 0 ? turns.slice(0, at) : [...turns.slice(0, at), { role, blocks: blocks.slice(0, at0) }]
      if (blocks[at0]?.["signature"] !== hash([body.system, body.tools, prefix]))
        throw new Refused("thinking_bound_to_a_different_conversation")
    }
    return turns
  }
}
