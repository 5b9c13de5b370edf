/** A page of the AI SDK without a browser: the real chat of the client, which keeps its messages in a list. */
import { AbstractChat, type ChatInit, type ChatStatus, DefaultChatTransport, type UIMessage } from "ai"

/** A route of the application: what a request is answered with. */
export type Route = (request: Request) => Promise<Response>

class State {
  status: ChatStatus = "ready"
  error: Error | undefined
  constructor(public messages: Array<UIMessage>) {}
  readonly pushMessage = (message: UIMessage) => {
    this.messages = [...this.messages, message]
  }
  readonly popMessage = () => {
    this.messages = this.messages.slice(0, -1)
  }
  readonly replaceMessage = (index: number, message: UIMessage) => {
    this.messages = this.messages.with(index, message)
  }
  readonly snapshot = <T>(thing: T): T => structuredClone(thing)
}

/** What the messages say: who, and the texts. */
export const saidIn = (messages: ReadonlyArray<UIMessage>): ReadonlyArray<string> =>
  messages.map(({ role, parts }) =>
    [role, ...parts.map((part) => (part.type === "text" ? part.text : ""))].filter(Boolean).join(" "),
  )

/** A page that shows a conversation. */
export class Page extends AbstractChat<UIMessage> {
  /** The bodies of the requests so far. */
  readonly sent: Array<Record<string, unknown>> = []

  constructor(id: string, route: Route, messages: Array<UIMessage> = [], init: ChatInit<UIMessage> = {}) {
    const sent: Array<Record<string, unknown>> = []
    const fetch = async (_address: unknown, request: RequestInit | undefined) => {
      sent.push(JSON.parse(String(request?.body)) as Record<string, unknown>)
      const { signal, ...rest } = request ?? {}
      const response = await route(new Request("http://page/api/chat", rest))
      const reader = response.body!.getReader()
      // As in a server: when the client goes away, the body of the response is cancelled.
      signal?.addEventListener("abort", () => void reader.cancel().catch(() => undefined))
      const body = new ReadableStream({
        pull: async (controller) => {
          const { done, value } = await reader.read()
          if (signal?.aborted === true) controller.error(signal.reason)
          else if (done) controller.close()
          else controller.enqueue(value)
        },
      })
      return new Response(body, response)
    }
    super({ transport: new DefaultChatTransport({ fetch }), ...init, id, state: new State(messages) })
    this.sent = sent
  }

  /** What it shows. */
  get said(): ReadonlyArray<string> {
    return saidIn(this.messages)
  }
}
