/** Which session a request belongs to, by the names that clients give it. */
import type { IncomingHttpHeaders } from "node:http"
import { type Fields, isFields, objectOf } from "@memfold/codec"

/** The session of a request. */
export interface Named {
  readonly session: string
  /** Whether it comes from a client that sends the whole conversation each time. */
  readonly sendsAll: boolean
  /** Whether it comes from an agent, which asks for titles and summaries under this name, too. */
  readonly isAgent: boolean
}

/** Headers that name a session, in the order in which they count. */
export const sessionHeaders = [
  "x-session-id",
  "x-memfold-session",
  "x-litellm-session-id",
  "helicone-session-id",
  "x-sm-conversation-id",
  "x-conversation-id",
] as const

/**
 * Headers of agents: Claude Code, Codex, and opencode. `x-session-affinity` asks for a server that has the start of the conversation in
 * its cache: who sends it sends the whole conversation.
 */
export const agentHeaders = [
  "x-claude-code-session-id",
  "session_id",
  "conversation_id",
  "x-session-affinity",
] as const

const byAgent = { sendsAll: true, isAgent: true } as const
const byProgram = { sendsAll: false, isAgent: false } as const

/** The fields that stay at the proxy: an upstream has no use for them. Its own names are the client's to send. */
export const ownHeaders: ReadonlySet<string> = new Set([
  "x-session-id",
  "x-memfold-session",
  "x-memfold-history",
  "x-memfold-owner",
  "x-memfold-token",
])

const textIn = (value: unknown): string | null =>
  typeof value === "string" && value.trim() !== "" ? value.trim() : null

/** Whose session it is, if a request says so. */
export const ownerOf = (headers: IncomingHttpHeaders): string | null =>
  textIn([headers["x-memfold-owner"]].flat()[0])

const mark = "_session_"

/**
 * The session in the id that Claude Code gives as `metadata.user_id`: JSON with a `session_id`, or a text that ends with
 * `_session_` and an id. Any other `user_id` is a user, who has many sessions.
 */
const sessionOfUser = (user: unknown): string | null => {
  const text = textIn(user)
  if (text === null) return null
  if (text.startsWith("{")) return textIn(objectOf(text)?.["session_id"])
  const session = text.slice(text.lastIndexOf(mark) + mark.length)
  return text.includes(mark) && /^[\w-]{8,}$/.test(session) ? session : null
}

const conversationOf = (conversation: unknown): string | null =>
  textIn(conversation) ?? (isFields(conversation) ? textIn(conversation["id"]) : null)

/**
 * The session that a request names; `null` if it names none. Headers count before the body, and what was made to name a session
 * before what was made for something else. What many share by its purpose names none: a user, a project, and `prompt_cache_key`, which
 * OpenAI recommends for requests with a common start.
 *
 * @param headers - in lower case, as Node has them
 * @param body - the parsed body
 */
export const sessionOf = (headers: IncomingHttpHeaders, body: Fields): Named | null => {
  const firstOf = (names: ReadonlyArray<string>) =>
    names.map((name) => textIn([headers[name]].flat()[0])).find((session) => session !== null)
  const [ofProgram, ofAgent] = [firstOf(sessionHeaders), firstOf(agentHeaders)]
  // opencode sends both.
  if (ofProgram !== undefined)
    return { session: ofProgram, ...(headers["x-session-affinity"] === undefined ? byProgram : byAgent) }
  if (ofAgent !== undefined) return { session: ofAgent, ...byAgent }
  const metadata = isFields(body["metadata"]) ? body["metadata"] : {}
  const named =
    textIn(metadata["session_id"]) ??
    textIn(metadata["conversation_id"]) ??
    conversationOf(body["conversation"]) ??
    textIn(body["session_id"])
  if (named !== null) return { session: named, ...byProgram }
  const ofUser = sessionOfUser(metadata["user_id"])
  return ofUser === null ? null : { session: ofUser, ...byAgent }
}
