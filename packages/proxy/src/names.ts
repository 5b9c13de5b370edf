/** Which session a request belongs to, by the names that clients give it. */
import type { IncomingHttpHeaders } from "node:http"
import { type Fields, isFields } from "@memfold/codec"

/** The session of a request. */
export interface Named {
  readonly session: string
  /** Whether the name is one that agents give, which send the whole conversation each time. */
  readonly byAgent: boolean
}

/** Headers that name a session, in the order in which they count. */
const sessionHeaders = [
  "x-session-id",
  "x-memfold-session",
  "x-session-affinity",
  "x-litellm-session-id",
  "helicone-session-id",
  "x-sm-conversation-id",
  "x-conversation-id",
] as const

/** Headers of agents: Claude Code, and Codex. */
const agentHeaders = ["x-claude-code-session-id", "session_id", "conversation_id"] as const

/** The fields that stay at the proxy: an upstream has no use for them. Its own names are the client's to send. */
export const ownHeaders: ReadonlySet<string> = new Set([
  "x-session-id",
  "x-memfold-session",
  "x-memfold-history",
  "x-memfold-token",
])

const textIn = (value: unknown): string | null =>
  typeof value === "string" && value.trim() !== "" ? value.trim() : null

/**
 * The session in the id that Claude Code gives as `metadata.user_id`: JSON with a `session_id`, or a text that ends with
 * `_session_` and an id. Any other `user_id` is a user, who has many sessions.
 */
const sessionOfUser = (user: unknown): string | null => {
  const text = textIn(user)
  if (text === null) return null
  if (text.startsWith("{")) {
    try {
      const parsed: unknown = JSON.parse(text)
      return isFields(parsed) ? textIn(parsed["session_id"]) : null
    } catch {
      return null
    }
  }
  return /_session_([\w-]{8,})$/.exec(text)?.[1] ?? null
}

const conversationOf = (conversation: unknown): string | null =>
  textIn(conversation) ?? (isFields(conversation) ? textIn(conversation["id"]) : null)

/**
 * The session that a request names; `null` if it names none. Headers count before the body, and what was made to name a session
 * before what was made for something else.
 *
 * @param headers - in lower case, as Node has them
 * @param body - the parsed body
 */
export const sessionOf = (headers: IncomingHttpHeaders, body: Fields): Named | null => {
  for (const name of sessionHeaders) {
    const session = textIn([headers[name]].flat()[0])
    if (session !== null) return { session, byAgent: false }
  }
  for (const name of agentHeaders) {
    const session = textIn([headers[name]].flat()[0])
    if (session !== null) return { session, byAgent: true }
  }
  const metadata = isFields(body["metadata"]) ? body["metadata"] : {}
  const named =
    textIn(metadata["session_id"]) ??
    textIn(metadata["conversation_id"]) ??
    conversationOf(body["conversation"]) ??
    textIn(body["session_id"])
  if (named !== null) return { session: named, byAgent: false }
  const ofUser = sessionOfUser(metadata["user_id"])
  if (ofUser !== null) return { session: ofUser, byAgent: true }
  const key = textIn(body["prompt_cache_key"])
  // In requests to Responses, it comes from agents that keep the conversation themselves.
  return key === null ? null : { session: key, byAgent: body["input"] !== undefined }
}
