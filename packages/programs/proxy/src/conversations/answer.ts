/** Asks the upstream, and has its answer stored before the client is told of its end. */
import { type Fields, isFields } from "@memfold/codec"
import { responsesAssembly } from "../answers.js"
import { ApiError } from "./ApiError.js"
import { ownResponse } from "./envelope.js"
import type { Composed } from "./compose.js"
import { ofModel } from "../Unclear.js"
import type { Hold } from "./UnderWay.js"
import type { Refusal, Sent, Upstreams } from "./upstream.js"
import { certain, UpstreamBroke } from "./UpstreamBroke.js"

export type Answered =
  | Refusal
  | { readonly _tag: "Whole"; readonly response: Fields }
  | { readonly _tag: "Stream"; readonly events: AsyncIterable<Fields> }

/** Stores an answer that has come, to what was sent. */
export type Keep = (response: Fields, sent: Sent) => Promise<void>

/** The events of a stream as this server tells them. Its last one waits until the answer is stored. */
async function* ownEvents(
  events: AsyncIterable<Fields>,
  own: (response: Fields) => Fields,
  keep: (response: Fields) => Promise<void>,
): AsyncGenerator<Fields, void, void> {
  const assembly = responsesAssembly()
  let hasEnded = false
  for await (const event of events) {
    // What comes behind the end is no part of the answer.
    if (hasEnded) continue
    const { type, response: told } = event
    const hasFailed = type === "error" || type === "response.failed"
    if (!hasFailed) certain(() => assembly.take(event))
    const assembled = hasFailed ? null : certain(() => assembly.whole())
    const whole = assembled === null ? null : certain(() => ofModel(assembled))
    hasEnded = hasFailed || whole !== null
    const response = whole ?? told
    if (!isFields(response)) yield event
    else {
      const shown = own(response)
      if (whole !== null) await keep(shown)
      yield { ...event, response: shown }
    }
  }
  if (!hasEnded) throw new UpstreamBroke()
}

/**
 * Forwards a request to its upstream.
 *
 * @param keep - stores the answer
 * @param signal - ends the request
 */
export const answerOf = async (
  upstreams: Upstreams,
  { upstream, question, beginning }: Composed,
  keep: Keep,
  signal?: AbortSignal,
): Promise<Answered> => {
  const answer = await upstreams.respond(upstream, {
    ...question,
    ...(signal === undefined ? {} : { signal }),
  })
  if (answer._tag === "Refusal") return answer
  const { sent } = answer
  const own = (response: Fields): Fields => ownResponse(response, question.body, beginning)
  if (answer._tag === "Stream")
    return { _tag: "Stream", events: ownEvents(answer.events, own, (response) => keep(response, sent)) }
  const response = own(certain(() => ofModel(answer.response)))
  await keep(response, sent)
  return { _tag: "Whole", response }
}

async function* held(
  events: AsyncIterable<Fields>,
  { done, giveUp }: Hold,
): AsyncGenerator<Fields, void, void> {
  try {
    yield* events
  } catch (error) {
    await giveUp()
    throw error
  } finally {
    done()
  }
}

/** An answer whose conversation is held until the client has it. */
export const holding = async (answer: Answered, hold: Hold): Promise<Answered> => {
  if (answer._tag === "Stream") return { _tag: "Stream", events: held(answer.events, hold) }
  if (answer._tag === "Refusal") await hold.giveUp()
  else hold.done()
  return answer
}

/** Reads an answer to its end, and returns the response as it ended. */
export const lastOf = async (
  answer: Answered,
  begun: Fields,
  tell: (event: Fields) => void,
): Promise<Fields> => {
  if (answer._tag === "Refusal")
    // What the upstream says may quote the request, and the register is not for that.
    throw new ApiError(answer.status, `The upstream refused the request with status ${answer.status}.`, {
      code: answer.status === 429 ? "rate_limit_exceeded" : "server_error",
    })
  if (answer._tag === "Whole") return answer.response
  let last = begun
  for await (const event of answer.events) {
    if (isFields(event["response"])) last = event["response"]
    if (event["type"] === "error") throw new UpstreamBroke()
    if (event["type"] !== "response.failed") tell(event)
  }
  return last
}
