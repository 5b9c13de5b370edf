/** The newest call of each session, for summaries in its context: what was sent, where, and with which key. Never stored. */
import type { Fields } from "@memfold/codec"
import type { Message } from "@memfold/core"
import { type Dialect, encodeAnswer } from "./dialects.js"
import type { Field } from "./headers.js"

/** A call of a model that was answered. */
export interface Call {
  readonly dialect: Dialect
  readonly url: URL
  /** The header fields that the client sent, its key among them. */
  readonly headers: ReadonlyArray<Field>
  /** The body that went upstream, as text. */
  readonly body: string
  /** Whether it has something that the memory does not store: then nothing is asked behind it again. */
  readonly isGuarded: boolean
  /** The items of the answer, as a request has them. */
  readonly answer: ReadonlyArray<unknown>
}

/** A call and what came back. An answer that waits for a result cannot stand in front of a question, and is left out. */
export const callOf = (sent: Omit<Call, "answer">, answer: ReadonlyArray<Message.Message>): Call => {
  const isOpen = answer.some(({ parts }) => parts.some(({ type }) => type === "tool-call"))
  return { ...sent, answer: isOpen ? [] : encodeAnswer(sent.dialect, answer) }
}

/** How many UTF-16 code units of bodies are kept. */
const mostText = 64 * 2 ** 20

/** The newest calls; the sessions that were asked longest ago are forgotten first. */
export class Calls {
  private readonly calls = new Map<string, Call>()
  private size = 0

  get(session: string): Call | undefined {
    return this.calls.get(session)
  }

  set(session: string, call: Call): void {
    this.drop(session)
    this.calls.set(session, call)
    this.size += call.body.length
    for (const oldest of this.calls.keys()) {
      if (this.size <= mostText || oldest === session) break
      this.drop(oldest)
    }
  }

  private drop(session: string): void {
    this.size -= this.calls.get(session)?.body.length ?? 0
    this.calls.delete(session)
  }
}

export const bodyOf = ({ body }: Call): Fields => JSON.parse(body) as Fields
