import type { AiError } from "@effect/ai"
import { Summarizer } from "@memfold/core"

/**
 * Says what failed and what to do. Descriptions, bodies and causes of the provider are left out, because they may repeat
 * the prompt and with it the conversation.
 */
const detail = (error: AiError.AiError): string => {
  const where = `${error.module}.${error.method}`
  switch (error._tag) {
    case "HttpRequestError":
      return `the request of ${where} could not be sent (${error.reason}); check the network and the provider's address`
    case "HttpResponseError":
      return `${where} answered HTTP ${error.response.status} (${error.reason}); ${advice(error.response.status)}`
    case "MalformedInput":
      return `${where} did not accept the form of the prompt; check that the model takes system messages`
    case "MalformedOutput":
      return `the answer of ${where} could not be read; check that the provider package fits the provider's API`
    case "UnknownError":
      return `${where} failed without saying why; see the provider's own log`
  }
}

const advice = (status: number): string => {
  if (status === 401 || status === 403) return "check the API key and what it may use"
  if (status === 404) return "check the name of the model"
  if (status === 413) return "set maxInputTokens below the model's window"
  if (status === 400 || status === 422)
    return "check the model's settings, and maxInputTokens against its window"
  if (status === 429) return "the rate or spending limit is reached; it is tried again later"
  return "it is tried again later"
}

/** A provider's error as a `SummarizerError` with the reason `unavailable`, without text of the conversation. */
export const unavailable = (session: string, error: AiError.AiError): Summarizer.SummarizerError =>
  new Summarizer.SummarizerError({ session, reason: "unavailable", detail: detail(error) })
