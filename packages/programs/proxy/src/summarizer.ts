/** A summarizer that asks the upstream of the session, with the key and behind the prompt of its newest call. */
import { summarizerOf, type GivenSummarizer } from "@memfold/catalog"
import { type Fields, isFields } from "@memfold/codec"
import { InContext, Message, Prompt, Summarizer } from "@memfold/core"
import { Effect } from "effect"
import { bodyOf, type Call, type Calls } from "./Calls.js"
import type { Usage } from "./dialects.js"
import { ask, mostRead } from "./forward.js"
import { readBody } from "./readBody.js"
import { answerIn } from "./Unclear.js"

/** How summaries are written. */
export interface SummaryOptions {
  /** Another model of the same upstream, which gets a prompt of its own; by default, the model of the session in its context. */
  readonly model?: string | undefined
  /** What writes the summaries of sessions that no request of the proxy has named in this process; `extractive` by default. */
  readonly otherwise?: GivenSummarizer | ReadonlyArray<GivenSummarizer> | undefined
  /** How long the provider keeps its prompt cache, in minutes; 5 by default. */
  readonly cacheMinutes?: number | undefined
  /** What a call has cost. */
  readonly onUsage: (session: string, model: unknown, usage: Usage) => void
}

/** Fields of the client's request that are wrong for another body, or for an answer that nobody passes on. */
const replaced: ReadonlySet<string> = new Set([
  "content-length",
  "content-encoding",
  "accept-encoding",
  "accept",
])

/** Whether a request lets the model answer with text: what forces a call or a form makes no summary. */
const allowsText = ({ tool_choice: choice, response_format: format, text }: Fields): boolean => {
  const forced = isFields(choice) ? !["auto", "none"].includes(String(choice["type"])) : choice === "required"
  const shape = format ?? (isFields(text) ? text["format"] : undefined)
  return !forced && (!isFields(shape) || shape["type"] === "text")
}

const failed = (session: string, detail: string): Summarizer.SummarizerError =>
  new Summarizer.SummarizerError({ session, reason: "unavailable", detail })

/** The body of the question: what the newest call sent and was answered, and the question at the end. */
const inContext = (call: Call, question: Message.Message): Fields => {
  const { dialect, answer } = call
  const body = bodyOf(call)
  const sent = Array.isArray(body[dialect.list]) ? (body[dialect.list] as ReadonlyArray<unknown>) : []
  const asked = { role: "user", content: Message.text(question) }
  return dialect.asking({ ...body, [dialect.list]: [...sent, ...answer, asked] })
}

/** Sends the question, and reads the answer. */
const answerTo = async ({ url, headers }: Call, body: Fields, signal: AbortSignal): Promise<Fields> => {
  const bytes = Buffer.from(JSON.stringify(body))
  const answer = await ask({
    url,
    method: "POST",
    headers: [
      ["Host", url.host],
      ...headers.filter(([name]) => !replaced.has(name.toLowerCase())),
      ["Accept", "application/json"],
      ["Content-Length", String(bytes.length)],
    ],
    body: bytes,
    signal,
  })
  const text = (await readBody(answer, mostRead, signal)).toString("utf8")
  // What the provider says may quote the conversation.
  if (answer.statusCode !== 200) throw new Error(`the upstream answered ${answer.statusCode}`)
  const parsed = answerIn(text)
  if (!isFields(parsed)) throw new Error("the upstream answered with something else than an object")
  return parsed
}

const reasonOf = (error: unknown): string =>
  error instanceof SyntaxError
    ? "the upstream answered with something else than JSON"
    : error instanceof Error
      ? error.message
      : "unknown"

/**
 * Makes the summarizer of a proxy. It asks at the end of what the session's newest call sent, so that the provider reads that from
 * its prompt cache.
 *
 * @param calls - the newest calls of the sessions
 * @param options - whose model writes, and what is told of its cost
 */
export const upstreamSummarizer = (calls: Calls, options: SummaryOptions): Summarizer.Service => {
  const otherwise = summarizerOf(options.otherwise ?? "extractive")
  const { model, cacheMinutes, onUsage } = options
  return {
    name: "upstream",
    asksInContext: model === undefined,
    summarize: (request) =>
      Effect.gen(function* () {
        const { session } = request
        const call = calls.get(session)
        if (call === undefined) return yield* otherwise.summarize(request)
        const sent = bodyOf(call)
        const question =
          model === undefined && !call.isGuarded && allowsText(sent)
            ? yield* InContext.now(request, {}, cacheMinutes === undefined ? {} : { cacheMinutes })
            : null
        const last = question?.messages.at(-1)
        const body =
          last === undefined
            ? call.dialect.alone(model ?? sent["model"], Prompt.forRequest(request))
            : inContext(call, last)
        const answer = yield* Effect.tryPromise({
          try: (signal) => answerTo(call, body, signal),
          catch: (error) => failed(session, reasonOf(error)),
        })
        const usage = call.dialect.usage(answer)
        if (usage !== null) onUsage(session, body["model"], usage)
        return call.dialect.text(answer)
      }),
  }
}
