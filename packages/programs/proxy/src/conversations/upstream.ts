/** Asking the upstream: one that has the Responses API, or Chat Completions alone. Both answer as the Responses API does. */
import { type Fields, isFields } from "@memfold/codec"
import type { Message } from "@memfold/core"
import { breathe } from "@memfold/log/breathe"
import { Effect } from "effect"
import type { IncomingMessage } from "node:http"
import type { Begins } from "../begins.js"
import { ask, mostRead } from "../forward.js"
import { endToEnd, type Field } from "../headers.js"
import { ownHeaders } from "../names.js"
import { readBody } from "../readBody.js"
import type { Speaker } from "../speaker.js"
import { eventReader } from "../sse.js"
import { answerIn } from "../Unclear.js"
import { chatRequest, eventsOfChunks, responseOfCompletion } from "./chat.js"
import { sentItems } from "./items.js"
import { UpstreamBroke } from "./UpstreamBroke.js"

/**
 * Where requests go.
 *
 * - `url`: the address that the paths of the API follow, such as `https://api.openai.com/v1`
 * - `api`: `responses`, `chat` for an upstream that has Chat Completions alone, or `auto`: Chat Completions once the upstream has
 *   said that it has no Responses API
 * - `patience`: how long it may be silent, in milliseconds; 15 minutes by default
 */
export interface ConversationUpstream {
  readonly url: URL
  readonly api: "responses" | "chat" | "auto"
  readonly patience?: number | undefined
}

/** What of a request is not in its body. */
export interface Asker {
  readonly upstream: ConversationUpstream
  readonly rawHeaders: ReadonlyArray<string>
  readonly speaker: Speaker
  /** Who asks and the key of the request, for requests that may be sent again; `null` without a key. */
  readonly key: ReadonlyArray<string> | null
  /** Rejects if a session may not begin. */
  readonly mayBegin: Begins
}

export interface Question {
  readonly body: Fields
  readonly messages: ReadonlyArray<Message.Message>
  /** The header fields of the client, as they came. */
  readonly rawHeaders: ReadonlyArray<string>
  /** The response as it begins, for an upstream that has none. */
  readonly begun: Fields
  readonly time: () => Promise<number>
  /** Ends the request; without it, it goes on until it is answered, because its client may leave. */
  readonly signal?: AbortSignal
}

/** The head of an answer that is passed on as it came. */
export interface Refusal {
  readonly _tag: "Refusal"
  readonly status: number
  readonly headers: ReadonlyArray<Field>
  readonly body: Buffer
}

/** A request that was accepted: where it went, and what it said. */
export interface Sent {
  /** The path of the API, such as `/v1/responses`. */
  readonly path: "/v1/responses" | "/v1/chat/completions"
  readonly url: URL
  readonly headers: ReadonlyArray<Field>
  readonly body: Fields
}

/** What came back. */
export type UpstreamAnswer =
  | Refusal
  | { readonly _tag: "Whole"; readonly response: Fields; readonly sent: Sent }
  | { readonly _tag: "Stream"; readonly events: AsyncIterable<Fields>; readonly sent: Sent }

/** Header fields that are the client's and this server's own affair, or that the new body changes. */
const stayHere = new Set([
  ...ownHeaders,
  "host",
  "expect",
  "content-length",
  "content-encoding",
  "accept-encoding",
  "idempotency-key",
])

const bytesOf = async (answer: IncomingMessage): Promise<Buffer> => {
  try {
    return await readBody(answer, mostRead)
  } catch {
    answer.destroy()
    throw new UpstreamBroke()
  }
}

/** The object in a text; `null` for any other text. */
const parsed = (text: string): Fields | null => {
  try {
    const value = answerIn(text)
    return isFields(value) ? value : null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw new UpstreamBroke()
  }
}

/** The data of server-sent events, as they come, as far as `[DONE]`. Data that is no JSON object is none. */
async function* dataOf(answer: IncomingMessage): AsyncGenerator<Fields, void, void> {
  let told: Array<Fields> = []
  let isLast = false
  const events = eventReader((_, text) => {
    isLast ||= text.trim() === "[DONE]"
    const data = isLast ? null : parsed(text)
    if (data !== null) told.push(data)
  })
  let size = 0
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > mostRead) throw new UpstreamBroke()
      events.take(chunk)
      yield* told
      told = []
      await Effect.runPromise(breathe)
    }
    events.end()
    yield* told
  } catch {
    throw new UpstreamBroke()
  }
}

const codeIn = (body: Buffer): unknown => {
  const { error } = parsed(body.toString("utf8")) ?? {}
  return isFields(error) ? error["code"] : undefined
}

/** What models without reasoning refuse to be asked for. */
const encrypted = "reasoning.encrypted_content"

/** Statuses that say that there is no such route. A missing model has 404, too, and a code. */
const isMissing = ({ status, body }: Refusal): boolean =>
  [404, 405, 501].includes(status) && codeIn(body) !== "model_not_found"

/** The request of a stateless upstream: the context in place of what only this server knows. */
export const statelessRequest = ({ body, messages }: Pick<Question, "body" | "messages">): Fields => {
  const {
    previous_response_id: _previous,
    conversation: _conversation,
    background: _background,
    ...rest
  } = body
  return { ...rest, input: sentItems(messages, body["model"]), store: false }
}

const addressOf = (url: URL, path: string): URL => new URL(`${url.href.replace(/\/$/, "")}/${path}`)

/** Asks upstreams, and remembers what they have. */
export class Upstreams {
  private readonly withoutResponses = new Set<string>()
  private readonly withoutReasoning = new Set<unknown>()

  private hasResponses({ url, api }: ConversationUpstream): boolean {
    return api === "responses" || (api === "auto" && !this.withoutResponses.has(url.href))
  }

  /** Sends a body to a path of the upstream, and reads the head of the answer. */
  private async answerOf(
    { url, patience }: ConversationUpstream,
    path: string,
    { rawHeaders, signal = new AbortController().signal }: Pick<Question, "rawHeaders" | "signal">,
    body: Fields,
  ): Promise<IncomingMessage | Refusal> {
    const bytes = Buffer.from(JSON.stringify(body))
    const address = addressOf(url, path)
    const answer = await ask({
      url: address,
      method: "POST",
      headers: [
        ["Host", address.host],
        ...endToEnd(rawHeaders, stayHere),
        ["Accept-Encoding", "identity"],
        ["Content-Length", String(bytes.length)],
      ],
      body: bytes,
      signal,
      patience,
    })
    const { statusCode: status = 502 } = answer
    if (status >= 200 && status < 300) return answer
    return { _tag: "Refusal", status, headers: endToEnd(answer.rawHeaders), body: await bytesOf(answer) }
  }

  async respond(upstream: ConversationUpstream, question: Question): Promise<UpstreamAnswer> {
    const { body, begun, time, rawHeaders } = question
    const sentTo = (path: string) => ({
      url: addressOf(upstream.url, path),
      headers: endToEnd(rawHeaders, stayHere),
    })
    if (this.hasResponses(upstream)) {
      const answer = await this.responsesAnswer(upstream, question)
      if (!("_tag" in answer)) {
        const sent: Sent = {
          path: "/v1/responses",
          ...sentTo("responses"),
          body: statelessRequest(question),
        }
        return isStream(answer)
          ? { _tag: "Stream", events: dataOf(answer), sent }
          : { _tag: "Whole", response: await responseIn(answer), sent }
      }
      if (upstream.api !== "auto" || !isMissing(answer)) return answer
      this.withoutResponses.add(upstream.url.href)
    }
    const request = chatRequest(body, question.messages, upstream.url)
    const answer = await this.answerOf(upstream, "chat/completions", question, request)
    if ("_tag" in answer) return answer
    const sent: Sent = { path: "/v1/chat/completions", ...sentTo("chat/completions"), body: request }
    return isStream(answer)
      ? { _tag: "Stream", events: eventsOfChunks(dataOf(answer), begun, time), sent }
      : { _tag: "Whole", response: responseOfCompletion(await wholeOf(answer), begun, await time()), sent }
  }

  /** The answer of the Responses API. Encrypted reasoning is asked for, unless the model has none. */
  private async responsesAnswer(
    upstream: ConversationUpstream,
    question: Question,
  ): Promise<IncomingMessage | Refusal> {
    const { model, include } = question.body
    const plain = statelessRequest(question)
    const asked = Array.isArray(include) ? (include as ReadonlyArray<unknown>) : []
    if (!this.withoutReasoning.has(model) && !asked.includes(encrypted)) {
      const answer = await this.answerOf(upstream, "responses", question, {
        ...plain,
        include: [...asked, encrypted],
      })
      if (!("_tag" in answer) || !/encrypted content is not supported/i.test(answer.body.toString("utf8")))
        return answer
      this.withoutReasoning.add(model)
    }
    return await this.answerOf(upstream, "responses", question, plain)
  }

  /**
   * Asks a route of the Responses API that answers without a model, such as `responses/input_tokens`.
   *
   * @returns `null` if the upstream has no such route
   */
  async helper(
    path: string,
    { upstream, rawHeaders }: Asker,
    body: Fields,
  ): Promise<Refusal | Fields | null> {
    if (!this.hasResponses(upstream)) return null
    const answer = await this.answerOf(upstream, path, { rawHeaders }, body)
    if (!("_tag" in answer)) return await wholeOf(answer)
    return isMissing(answer) ? null : answer
  }
}

const isStream = ({ headers }: IncomingMessage): boolean =>
  (headers["content-type"] ?? "").startsWith("text/event-stream")

const wholeOf = async (answer: IncomingMessage): Promise<Fields> => {
  const value = parsed((await bytesOf(answer)).toString("utf8"))
  if (value === null) throw new UpstreamBroke()
  return value
}

/** A response: a failure that is told with status 200 has no output. */
const responseIn = async (answer: IncomingMessage): Promise<Fields> => {
  const response = await wholeOf(answer)
  if (!Array.isArray(response["output"])) throw new UpstreamBroke()
  return response
}
